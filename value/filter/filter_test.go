package filter

import (
	"fmt"
	"strings"
	"testing"
)

var known = Grammar{"func": "= != ~ !~", "age": "< <= > >=", "leaked": ""}

func TestParse(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		terms, err := known.Parse(text)
		var all []string
		for _, term := range terms {
			all = append(all, fmt.Sprintf("%s %s %s", term.Key, term.Op, term.Value))
		}
		if got := strings.Join(all, ", "); err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
	f("", "")
	f(" \t ", "")
	f("func=main.main", "func = main.main")
	f(`func~'a b' age>=5m`, "func ~ a b, age >= 5m")
	f(`func!="x"y leaked`, "func != xy, leaked  ")
	f(`func=''`, "func = ")
	f(`func~it's'`, "func ~ its")

	wrong := func(text, want string) {
		t.Helper()
		if _, err := known.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	wrong("nonsense", "should be like")
	wrong("Func=x", "should be like")
	wrong("colour=red", `there is no "colour"; known are age, func, leaked`)
	wrong("age=5m", `age cannot be compared by =; it takes < <= > >=`)
	wrong("age", "age wants one of < <= > >= behind it")
	wrong("leaked=yes", "stands alone")
	wrong("func~(", "missing closing")
	wrong("func~'a", "is not closed")
}

func TestHolds(t *testing.T) {
	f := func(text, word string, want bool) {
		t.Helper()
		terms, err := known.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := terms[0].Holds(word); got != want {
			t.Errorf("%s of %s: %v", text, word, got)
		}
	}
	f("func=main", "main", true)
	f("func=main", "main.main", false)
	f("func!=main", "main.main", true)
	f("func~^main", "main.main", true)
	f("func!~^main", "main.main", false)
}
