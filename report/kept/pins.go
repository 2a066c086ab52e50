package kept

import (
	"time"

	"loupe/format/querier"
	"loupe/report"
)

// Pins are selections that a server keeps as they came.
func Pins(pins []querier.Pin) *report.Sheet {
	s := &report.Sheet{Key: "pins", Columns: []report.Column{{Key: "name", Head: "name"}, {Key: "selector", Head: "selector"}, {Key: "from", Head: "from"}, {Key: "until", Head: "until"}, {Key: "reason", Head: "reason"}}}
	at := func(ms int64) string {
		if ms == 0 {
			return "open"
		}
		return time.UnixMilli(ms).UTC().Format(time.RFC3339)
	}
	for _, p := range pins {
		s.Rows = append(s.Rows, []any{p.Name, p.Selector, at(p.Start), at(p.End), p.Reason})
	}
	return s
}
