package lsp

import (
	"fmt"
	"strings"
	"testing"
)

// TestMoved: lines are followed to where they are, and to nowhere where they have changed.
func TestMoved(t *testing.T) {
	f := func(before, after, want string) {
		t.Helper()
		got := strings.Trim(fmt.Sprint(moved(strings.Split(before, " "), strings.Split(after, " "))), "[]")
		if got != want {
			t.Errorf("%s | %s: %s, want %s", before, after, got, want)
		}
	}
	f("a b c", "a b c", "0 1 2")
	f("a b c", "x a b c", "1 2 3")
	f("a b c", "a x c", "0 -1 2")
	f("a b c", "", "-1 -1 -1")
	f("a } b } c }", "a } x } b } c }", "0 1 4 5 6 7")
	f("first second third", "third first second", "1 2 0")      // moved, by its text
	f("first } second", "second } first", "2 -1 0")             // a brace says nothing
	f("same same", "same", "0 -1")                              // one of them is gone
	f("a a a b", "a a b", "0 1 -1 2")                           // which one nobody knows
	f("only twice twice", "twice only x twice", "1 0 3")        // each of two
	f("long1 long2 x long3", "long3 x long2 long1", "3 2 -1 0") // each for itself
}
