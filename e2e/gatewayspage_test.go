package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The page on gateways shows the files that are tested.
func TestGatewaysPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/gateways.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../docs/gateways/*")
	if err != nil {
		t.Fatal(err)
	}
	tested := make(map[string]bool)
	for _, g := range gateways {
		for _, name := range g.files {
			tested[name] = true
		}
	}
	if len(files) != len(tested) {
		t.Errorf("%d files in docs/gateways, %d tested", len(files), len(tested))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name := filepath.Base(file); !tested[name] || !strings.Contains(string(page), "\n"+string(text)+"```\n") {
			t.Errorf("%s is not tested, or the page does not show it as it is", name)
		}
	}
}
