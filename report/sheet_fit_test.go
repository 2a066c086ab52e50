package report

import (
	"fmt"
	"strings"
	"testing"
)

// TestFitNames: names that differ are never shortened to the same text, and nothing is
// shortened where no terminal shows it.
func TestFitNames(t *testing.T) {
	long := strings.Repeat("x", 60)
	t1 := &Sheet{Columns: []Column{{Key: "name", Head: "name"}, {Key: "n", Head: "n"}}}
	for i := range 3 {
		t1.Rows = append(t1.Rows, []any{fmt.Sprintf("Benchmark%s/size=%d/%s", long, i, long), int64(i)})
	}
	show := func(s Style) string {
		t.Helper()
		var b strings.Builder
		if err := WriteSheet(&b, t1, s); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for i := range 3 {
		if want := fmt.Sprintf("size=%d", i); !strings.Contains(show(Style{Width: 80}), want) {
			t.Errorf("%s is missing:\n%s", want, show(Style{Width: 80}))
		}
	}
	t1.Rows = t1.Rows[:1]
	if !strings.Contains(show(Style{Width: 80}), "…") {
		t.Errorf("a terminal of 80 columns shows\n%s", show(Style{Width: 80}))
	}
	if strings.Contains(show(Style{Width: 80, Whole: true}), "…") {
		t.Errorf("a pipe gets\n%s", show(Style{Width: 80, Whole: true}))
	}
}
