package insight

import (
	"testing"

	"loupe/session"
)

// TestSearchOverCalls: library calls that are made for one element after another go under the search that makes them, which is no less severe; not where
// the search has a few elements, or the calls are elsewhere.
func TestSearchOverCalls(t *testing.T) {
	in := NewInput(session.New(working("10s").Open()))
	match := seenAt("CP23", Warning, 95, "/src/search.go", 5).costing(cost{file: "/src/search.go", line: 5, callee: "strings.ToLower"})
	search := func(severity Severity, saves bool, advice string, line int) Finding {
		f := seenAt("CP20", severity, 60, "/src/search.go", line).costing(cost{file: "/src/search.go", line: line})
		f.saves, f.Advice = saves, advice
		return f
	}
	const few = "According to the source all has 4 elements, so a map gains nothing there"
	for _, c := range []struct {
		name  string
		all   []Finding
		under bool
	}{
		{"a search", []Finding{match, search(Warning, true, lookUp, 5)}, true},
		{"a remark about one", []Finding{match, search(Info, true, lookUp, 5)}, true},
		{"one among rules", []Finding{match, search(Info, false, lookUpBy(matchRules), 5)}, true},
		{"one by a pattern", []Finding{match, search(Info, false, lookAtFewer+"group the elements", 5)}, true},
		{"one of a few elements", []Finding{match, search(Info, false, few, 5)}, false},
		{"one elsewhere", []Finding{match, search(Warning, true, lookUp, 8)}, false},
	} {
		raiseCauses(in, c.all)
		g := newCausal(in, c.all)
		if got := g.causeOf(0) == 1; got != c.under || got && (g.causeOf(1) >= 0 || c.all[1].Severity != Warning) {
			t.Errorf("%s: %v, %s", c.name, got, c.all[1].Severity)
		}
	}
}

// TestBoxedForText: values that are boxed for a text go under the finding that has all lines which make texts, and that is no less severe.
func TestBoxedForText(t *testing.T) {
	in := NewInput(session.New(working("10s").Open()))
	boxed := func(line int, advice string) Finding {
		f := seenAt("AL03", Warning, 95, "/src/search.go", line).costing(cost{file: "/src/search.go", line: line, allocating: true})
		f.Advice = advice
		return f
	}
	text := func(severity Severity, advice string) Finding {
		f := seenAt("AL11", severity, 20, "/src/search.go", 5).costing(cost{file: "/src/search.go", line: 5}, cost{file: "/src/search.go", line: 8})
		f.Advice = advice
		return f
	}
	const plain, padded = appendPlainly + " with strconv.AppendInt", "Format less often: keep the text"
	for _, c := range []struct {
		name  string
		all   []Finding
		under bool
	}{
		{"its first line", []Finding{boxed(5, formatPlainly), text(Warning, plain)}, true},
		{"another one of its lines", []Finding{boxed(8, formatPlainly), text(Warning, plain)}, true},
		{"a remark about all of them", []Finding{boxed(8, formatPlainly), text(Info, plain)}, true},
		{"a remark about texts with a width", []Finding{boxed(8, formatPlainly), text(Info, padded)}, false},
		{"another line", []Finding{boxed(30, formatPlainly), text(Warning, plain)}, false},
		{"boxed for something else", []Finding{boxed(8, "Keep the concrete type"), text(Warning, plain)}, false},
	} {
		raiseCauses(in, c.all)
		g := newCausal(in, c.all)
		if got := g.causeOf(0) == 1; got != c.under || got && g.causeOf(1) >= 0 {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
