package murmurate_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/murmurate/murmurate"

// importRules is the architecture: each package, and what it may import of
// ours and of others, tests aside. A package that is not listed may import
// nothing, so a new package begins with a line here.
const importRules = `
limiter                          <
limiter/limitertest              < limiter
limiter/limitertest/conformance  < limiter limiter/limitertest
ring                             <
policy                           < limiter
transport                        < limiter
cluster                          < limiter ring
journal                          < limiter
internal/leak                    <
internal/memnet                  <
internal/race                    <
internal/testcert                <
internal/token                   <
internal/receipt                 < limiter transport internal/token
.                                < limiter ring policy transport cluster journal internal/token internal/receipt
httpapi                          < limiter policy
observe                          < limiter cluster transport httpapi
testcluster                      < . cluster limiter policy internal/memnet
testcluster/scenario             < . testcluster cluster limiter policy
config                           < . policy limiter cluster
cmd/murmurate                    < . config httpapi observe cluster limiter policy
`

// thirdPartyRules says which package may import which module. Each module
// stays in one place, except the hash that two pure packages share.
const thirdPartyRules = `
limiter       < github.com/cespare/xxhash/v2
ring          < github.com/cespare/xxhash/v2 github.com/buraksezer/consistent
cluster       < github.com/cespare/xxhash/v2 github.com/hashicorp/memberlist github.com/dchest/siphash
journal       < go.etcd.io/bbolt
.             < github.com/cespare/xxhash/v2
internal/leak < go.uber.org/goleak
internal/memnet < github.com/hashicorp/memberlist
httpapi       < github.com/dunglas/httpsfv
observe       < github.com/prometheus/client_golang
config        < github.com/spf13/viper github.com/go-viper/mapstructure/v2 go.yaml.in/yaml/v3
cmd/murmurate < github.com/spf13/cobra github.com/KimMachineGun/automemlimit
`

// pure packages take the time as an argument and start no goroutine.
var pure = []string{"limiter", "ring", "policy"}

func TestImportsFollowTheArchitecture(t *testing.T) {
	t.Parallel()
	ours, others := parseRules(importRules), parseRules(thirdPartyRules)
	for dir, imports := range packageImports(t) {
		allowed, known := ours[dir]
		if !known {
			t.Errorf("package %s is not in importRules", dir)
		}
		for _, imported := range imports {
			switch {
			case strings.HasPrefix(imported, module):
				rel := cleanRel(strings.TrimPrefix(imported, module))
				if !slices.Contains(allowed, rel) {
					t.Errorf("%s imports %s, which its line in importRules does not allow", dir, rel)
				}
			case strings.Contains(imported, "."):
				if !slices.ContainsFunc(others[dir], func(m string) bool { return imported == m || strings.HasPrefix(imported, m+"/") }) {
					t.Errorf("%s imports %s, which its line in thirdPartyRules does not allow", dir, imported)
				}
			}
		}
	}
}

func TestPurePackagesStartNothing(t *testing.T) {
	t.Parallel()
	clocks := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"}
	for _, dir := range pure {
		for _, file := range goFiles(t, dir) {
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine: that is for others", fset.Position(n.Pos()))
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
						t.Errorf("%s uses time.%s: time is an argument there", fset.Position(n.Pos()), n.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// parseRules reads "package < import import" lines.
func parseRules(text string) map[string][]string {
	rules := make(map[string][]string)
	for line := range strings.Lines(text) {
		name, imports, found := strings.Cut(line, "<")
		if found {
			rules[strings.TrimSpace(name)] = strings.Fields(imports)
		}
	}
	return rules
}

// packageImports returns what the non-test files of every package import,
// except of the folders that are not part of the product.
func packageImports(t *testing.T) map[string][]string {
	t.Helper()
	found := make(map[string][]string)
	for _, file := range goFiles(t, ".") {
		dir := path.Dir(filepath.ToSlash(file))
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		found[dir] = slices.Grow(found[dir], 1)
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			found[dir] = append(found[dir], imported)
		}
	}
	return found
}

func goFiles(t *testing.T, root string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() && file != root && (strings.HasPrefix(name, ".") || slices.Contains([]string{"bench", "e2e", "examples", "testdata"}, name)) {
			return fs.SkipDir
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func cleanRel(rel string) string {
	if rel == "" {
		return "."
	}
	return strings.TrimPrefix(rel, "/")
}
