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
