package insight

import (
	"testing"

	"loupe/session"
)

// TestRunsInSpin: what runs only in the turns of a loop that find nothing stands under the finding about that loop.
func TestRunsInSpin(t *testing.T) {
	for _, c := range []struct {
		name     string
		rule     string
		line     int
		severity Severity
		spin     Severity
		want     string
	}{
		{"the clock", "CP12", 9, Warning, Warning, "SC13(CP12)"},
		{"a warning under a remark", "CP12", 9, Warning, Info, "CP12 SC13"},
		{"what it publishes", "CP12", 10, Warning, Warning, "SC13 CP12"},
		{"it runs for long", "SC14", 9, Info, Warning, "SC13(SC14)"},
		{"another runs for long", "SC14", 3, Info, Warning, "SC13 SC14"},
	} {
		in := NewInput(session.New(spinning(300, 120, 100, 40, 440).Open()))
		spin := seenAt("SC13", c.spin, 60, "/src/shop.go", 5).costing(cost{file: "/src/shop.go", line: 5}, cost{file: "/src/shop.go", line: 8}, cost{file: "/src/shop.go", line: 9})
		other := seenAt(c.rule, c.severity, 100, "/src/shop.go", c.line)
		if c.rule != "SC14" {
			other = other.costing(cost{file: "/src/shop.go", line: c.line})
		}
		all := []Finding{other, spin}
		if got := drawn(all, Cards(in, all)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
