package insight

import (
	"testing"

	"loupe/session"
)

// TestPays: what costs more than twice of what the advice for another finding saves is a cause of its own, however much of it is among the samples of that.
func TestPays(t *testing.T) {
	in := NewInput(session.New(working("10s").Open()))
	repeats := func(part float64) Finding {
		f := seenAt("CP26", Warning, 90, "/src/search.go", 5).costing(cost{file: "/src/search.go", line: 5})
		f.part = part
		return f
	}
	hot := seenAt("CP01", Info, 40, "/src/search.go", 5)
	hot.costs = []cost{{function: "shop.search"}}
	line := seenAt("CP08", Warning, 40, "/src/search.go", 5)
	for _, c := range []struct {
		name  string
		all   []Finding
		under bool
	}{
		{"a hot function, a tenth of which repeats", []Finding{hot, repeats(0.1)}, false},
		{"one of which a third repeats", []Finding{hot, repeats(0.35)}, true},
		{"one of which most repeats", []Finding{hot, repeats(0.9)}, true},
		{"one of which all that was counted does", []Finding{hot, repeats(0)}, true},
		{"text that is converted, in calls of which a tenth repeats", []Finding{seenAt("AL09", Warning, 10, "/src/search.go", 5).costing(cost{file: "/src/search.go", line: 5, callee: "strings.ToLower"}), repeats(0.1)}, false},
		{"in calls of which most repeat", []Finding{seenAt("AL02", Warning, 10, "/src/search.go", 5).costing(cost{file: "/src/search.go", line: 5, callee: "strings.ToLower"}), repeats(0.7)}, true},
		{"a line of which no sample is known", []Finding{line, repeats(0.1)}, true},
		{"what is costly in small reads that take little", []Finding{seenAt("CP03", Warning, 10, "/src/search.go", 5).costing(cost{file: "/src/search.go", line: 5}), func() Finding {
			f := seenAt("CP04", Warning, 90, "/src/search.go", 5).costing(cost{file: "/src/page.go", line: 9})
			f.Title = "Small reads"
			return f
		}()}, false},
	} {
		if got := newCausal(in, c.all).causeOf(0) == 1; got != c.under {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

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
