package scenario

import (
	"regexp"
	"strings"
)

// everyNode stands for all nodes that run.
const everyNode = "all"

var (
	numberForm = regexp.MustCompile(`^[1-9][0-9]{0,2}$`)
	nodeForm   = regexp.MustCompile(`^[a-z]{1,8}[1-9][0-9]{0,2}$`)
)

// node takes the name of a node: 2 is n2.
func (w *words) node(what string) string { return w.nodeName(w.argument(what)) }

func (w *words) nodeName(word string) string {
	switch {
	case numberForm.MatchString(word):
		return "n" + word
	case word != "" && !nodeForm.MatchString(word):
		w.refuse("%q is no node: write 2 for n2, or letters and a number such as c1", word)
	}
	return word
}

// nodeList reads names divided by commas.
func (w *words) nodeList(text string) []string {
	names := strings.Split(text, ",")
	for i, name := range names {
		names[i] = w.nodeName(name)
	}
	return names
}

// via says which nodes are asked, in turn: all that run, those named, or, if
// neither is said, the first that runs.
type via struct {
	all   bool
	names []string
}

func (w *words) via() via {
	switch text := w.option("via", ""); text {
	case everyNode:
		return via{all: true}
	case "":
		return via{}
	default:
		return via{names: w.nodeList(text)}
	}
}
