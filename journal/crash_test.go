package journal

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

// writerEnv makes the test's program one that writes into its working
// directory until it is killed.
const writerEnv = "MURMURATE_TEST_JOURNAL_WRITER"

// write puts one record after the other and prints each when it is durable.
func write() {
	j, err := Open(".", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := 0; ; n++ {
		if err := j.Bucket(Overrides).Put(map[string][]byte{fmt.Sprint(n): {1}, "newest": []byte(fmt.Sprint(n))}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(n)
	}
}

// What was acknowledged is there after kill -9, and the file is whole.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, lines := range []int{1, 7, 30} {
		child := exec.CommandContext(t.Context(), os.Args[0])
		child.Dir, child.Env = dir, append(os.Environ(), writerEnv+"=1")
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		acknowledged := -1
		for reader := bufio.NewScanner(out); lines > 0 && reader.Scan(); lines-- {
			if acknowledged, err = strconv.Atoi(reader.Text()); err != nil {
				t.Fatalf("the writer says %q", reader.Text())
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // it was killed
		if _, err := read(dir + "/" + fileName); err != nil {
			t.Errorf("after %d: %v", acknowledged, err)
		}
		j := opened(t, dir)
		records := all(t, j.Bucket(Overrides))
		newest, err := strconv.Atoi(string(records["newest"]))
		if err != nil || newest < acknowledged || newest > acknowledged+1 && len(records) < acknowledged+2 {
			t.Errorf("%q is the newest of %d, acknowledged was %d", records["newest"], len(records), acknowledged)
		}
		for n := range acknowledged + 1 {
			if records[fmt.Sprint(n)] == nil {
				t.Errorf("record %d is lost", n)
			}
		}
		closed(t, j)
	}
}
