package policy

import "strings"

// Nearest returns the candidate that name was most likely meant to be: the
// one at the smallest edit distance, if that is at most a third of the
// name's length (but at least 1 for two letters and more). Empty: none is
// near. Case makes no difference.
func Nearest(name string, candidates []string) string {
	best, bestDistance := "", max(len(name)/3, min(len(name)-1, 1))+1
	folded := strings.ToLower(name)
	for _, c := range candidates {
		if max(len(name)-len(c), len(c)-len(name)) >= bestDistance {
			continue // not worth the table: callers choose the length of name
		}
		if d := distance(folded, strings.ToLower(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	return best
}

// distance is the optimal string alignment distance: insertions, deletions,
// substitutions and swaps of neighbours, each of which costs 1.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
