package sched_test

import (
	"strings"
	"testing"

	"loupe/analysis/sched"
)

func TestParseFilter(t *testing.T) {
	for _, text := range []string{"", "  ", "g=12", "g=1,2,3 func~'a b'", `func="main.main" state!=running`, "dur>1ms dur<=2s", "task=7", "task~order region~decode", "from=1s to=2.5s reason!~chan stack!~runtime"} {
		if _, err := sched.ParseFilter(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"nonsense":      "it should be like func~handle",
		"colour=red":    `there is no "colour"`,
		"dur=1ms":       "dur cannot be compared by =",
		"dur>soon":      "invalid duration",
		"func~(":        "missing closing",
		"state=lost":    `no state "lost"`,
		"g=x":           `"x" is not a goroutine id`,
		"func~'a":       "is not closed",
		"from=never":    "invalid duration",
		"stack=main":    "it takes ~ !~",
		"from=5s to=1s": "there is nothing between from=5s and to=1s",
	} {
		if _, err := sched.ParseFilter(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
