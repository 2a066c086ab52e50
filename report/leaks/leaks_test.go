package leaks_test

import (
	"strings"
	"testing"

	"loupe/insight"
	"loupe/insight/leak"
	"loupe/report"
	"loupe/report/leaks"
)

// TestNamesAreText: what a terminal obeys in the names of a profile is not printed.
func TestNamesAreText(t *testing.T) {
	const evil = "main.\x1b[31mtake\u202e\x07"
	v := &leak.Verdict{
		Answer: leak.Yes, Why: evil, Needs: []string{evil}, Doubts: []string{evil},
		Causes: []*leak.Cause{{
			What: leak.Heap, Process: evil, Summary: evil, Holder: evil, Doubts: []string{evil},
			Evidence: []insight.Evidence{{Text: evil, File: "/" + evil, Line: 3, Function: evil, Source: evil, Stack: []insight.Frame{{Function: evil, File: evil, Line: 3}}}},
		}},
		Hints:  []insight.Finding{{Rule: "GC08", Summary: evil}},
		Looked: []*leak.Looked{{What: leak.Heap, Process: evil, By: evil}},
	}
	var out strings.Builder
	if err := leaks.Write(&out, v, report.Style{}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.ContainsAny(text, "\x1b\u202e\x07") || strings.Count(text, "take") < 8 {
		t.Errorf("%q", text)
	}
	if v.Causes[0].Summary != evil {
		t.Error("the verdict itself was changed")
	}
}
