package report

import (
	"fmt"
	"io"
	"strings"

	"loupe/analysis/pprof"
	"loupe/value/stack"
)

// WritePGOMatch prints how much of a profile for the compiler still holds.
func WritePGOMatch(w io.Writer, name string, m *pprof.PGOSeen, style Style) error {
	share := func(v int64) Share { return Share(float64(v) / float64(m.Total)) }
	sum := &Sheet{
		Key: "match", Title: "How much of " + name + " still holds, by the weight of its calls",
		Columns: []Column{{Key: "share", Head: "share"}, {Key: "what", Head: "calls"}},
		Rows: [][]any{
			{share(m.Calls), "are still made at the same line: the compiler uses them"},
			{share(m.Lines), "are made at another line of the same function: the compiler no longer finds them"},
			{share(m.Functions), "are between functions that still exist, but were not seen calling each other"},
			{share(m.Gone), "belong to functions that were not seen"},
		},
	}
	if err := WriteSheet(w, sum, style); err != nil || len(m.Lost) == 0 {
		return err
	}
	lost := &Sheet{
		Key: "lost", Title: "The heaviest lost calls",
		Columns: []Column{{Key: "share", Head: "share"}, {Key: "caller", Head: "caller"}, {Key: "callee", Head: "callee"}, {Key: "why", Head: "why"}},
	}
	for _, l := range m.Lost[:min(len(m.Lost), 10)] {
		caller := fmt.Sprintf("%s+%d", stack.FoldGenerics(l.Caller), l.Offset)
		lost.Rows = append(lost.Rows, []any{share(l.Weight), caller, stack.FoldGenerics(l.Callee), strings.TrimSpace(l.Why)})
	}
	if m.Calls < m.Total/2 {
		lost.Notes = []string{"Record a new profile under load and replace the old one: less than half of it is still useful."}
	}
	fmt.Fprintln(w)
	return WriteSheet(w, lost, style)
}
