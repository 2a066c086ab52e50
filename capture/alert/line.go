package alert

import (
	"fmt"
	"strings"

	"loupe/value/unit"
)

// Line is one line about the program: what is known of it at the instant, and what
// is not is left out.
func (now Reading) Line() string {
	var parts []string
	add := func(head, name string, show func(float64) string) {
		v, ok := now.Values[name]
		if !ok {
			return
		}
		text := head + " " + show(v)
		if whole := now.Wholes[name]; whole > 0 && (name == "rss" || name == "machine" || name == "cgroup") {
			text += " (" + unit.Percent(v/whole) + ")"
		}
		parts = append(parts, text)
	}
	count := func(v float64) string { return unit.Count(int64(v)) }
	two := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	add("RSS", "rss", unit.BytesOf)
	add("heap", "heap", unit.BytesOf)
	add("goal", "goal", unit.BytesOf)
	add("goroutines", "goroutines", count)
	add("CPUs", "cpu", two)
	add("GC", "gcs", func(v float64) string { return two(v) + "/s" })
	add("threads", "threads", count)
	add("machine", "machine", unit.BytesOf)
	return strings.Join(parts, "  ")
}
