package leak

import (
	"fmt"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience is for memberlist, whose goroutines finish what they are at after
// its shutdown: a probe takes up to a second, an exchange of states two, and
// longer on a busy machine.
const patience = 20 * time.Second

// Main runs the tests, waits until all goroutines have ended, and exits.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run is Main without the exit: it returns the exit code.
func Run(m interface{ Run() int }) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	if err := find(); err != nil {
		fmt.Fprintln(os.Stderr, "goroutines left behind:", err)
		return 1
	}
	return 0
}

// find returns what is still there when patience ends. goleak itself looks
// for about two seconds.
func find() error {
	deadline := time.Now().Add(patience)
	err := goleak.Find()
	for err != nil && time.Now().Before(deadline) {
		err = goleak.Find()
	}
	return err
}
