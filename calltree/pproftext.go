package calltree

import (
	"bytes"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// Header is what pprof prints above a table: facts about the profile that the
// stacks do not tell. Empty fields are left out.
type Header struct {
	File     string // path of the main binary: the first mapping of the profile
	BuildID  string // build id of that mapping
	Comments []string
	Type     string // sample type, such as "alloc_space"
	Unit     string // unit of the weights, such as "bytes"; it is not printed
	DocURL   string
	Time     time.Time // printed in its location
	Duration time.Duration

	// OutputUnit is pprof's -unit. "" means a unit that fits: one for a whole
	// top table, or one for each value of a listing.
	OutputUnit string
}

// WriteTop prints a ranking exactly as go tool pprof -top does.
func WriteTop(w io.Writer, h Header, r *Ranking) error {
	unit := h.outputUnit()
	if unit == minimum && len(r.Rows) > 0 {
		unit = tableUnit(h.Unit, r)
	}
	format := func(v int64) string { return scaled(v, h.Unit, unit) }

	var b bytes.Buffer
	h.write(&b, r.Total, unit)
	fmt.Fprintf(&b, "Showing nodes accounting for %s, %s of %s total\n",
		format(r.Shown), strings.TrimSpace(percent(r.Shown, r.Total)), format(r.Total))
	if r.Total != 0 {
		if r.Dropped > 0 {
			plural := "s"
			if r.Dropped == 1 {
				plural = ""
			}
			// The text takes the share of the total, though the cutoff was a
			// share of the flat weights: so does pprof.
			cutoff := abs(int64(float64(r.Total) * r.NodeFraction))
			fmt.Fprintf(&b, "Dropped %d node%s (cum <= %s)\n", r.Dropped, plural, format(cutoff))
		}
		if n := len(r.Rows); n > 0 && n < r.Functions {
			fmt.Fprintf(&b, "Showing top %d nodes out of %d\n", n, r.Functions)
		}
	}
	fmt.Fprintf(&b, "%10s %5s%% %5s%% %10s %5s%%\n", "flat", "flat", "sum", "cum", "cum")
	var sum int64
	for _, row := range r.Rows {
		sum += row.Flat
		suffix := ""
		if row.Inlining != Called {
			suffix = " " + row.Inlining.String()
		}
		fmt.Fprintf(&b, "%10s %s %s %10s %s  %s%s\n",
			format(row.Flat), percent(row.Flat, r.Total), percent(sum, r.Total),
			format(row.Cum), percent(row.Cum, r.Total), row.Name, suffix)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// WriteList prints a listing exactly as go tool pprof -list does. Of the
// header only the units are used.
func WriteList(w io.Writer, h Header, l *Listing) error {
	unit := h.outputUnit()
	format := func(v int64) string { return scaled(v, h.Unit, unit) }
	dot := func(v int64) string {
		if v == 0 {
			return "."
		}
		return format(v)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Total: %s\n", format(l.Total))
	for _, r := range l.Routines {
		if r.File == "" {
			fmt.Fprintf(&b, "No source information for %s\n", r.Func)
			continue
		}
		fmt.Fprintf(&b, "ROUTINE ======================== %s in %s\n", r.Func, r.File)
		fmt.Fprintf(&b, "%10s %10s (flat, cum) %s of Total\n", format(r.Flat), format(r.Cum), percent(r.Cum, l.Total))
		if r.Err != nil {
			fmt.Fprintf(&b, " Error: %v\n", r.Err)
			continue
		}
		for _, line := range r.Lines {
			fmt.Fprintf(&b, "%10s %10s %6d:%s\n", dot(line.Flat), dot(line.Cum), line.Number, line.Text)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (h *Header) outputUnit() string {
	if h.OutputUnit == "" {
		return minimum
	}
	return h.OutputUnit
}

func (h *Header) write(b *bytes.Buffer, total int64, unit string) {
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(b, "%s: %s\n", key, value)
		}
	}
	if h.File != "" {
		line("File", path.Base(h.File))
	}
	line("Build ID", h.BuildID)
	for _, c := range h.Comments {
		if !strings.HasPrefix(c, "#") {
			fmt.Fprintln(b, c)
		}
	}
	line("Type", h.Type)
	line("Doc", h.DocURL)
	if !h.Time.IsZero() {
		line("Time", h.Time.Format("2006-01-02 15:04:05 MST"))
	}
	if h.Duration == 0 {
		return
	}
	// For time itself, the share of one processor that was in use. The blank
	// before it stays when there is none.
	busy := ""
	if nanos, u := scale(total, h.Unit, "nanoseconds"); u == "ns" && nanos != 0 {
		busy = "(" + percent(int64(nanos), int64(h.Duration)) + ")"
	}
	fmt.Fprintf(b, "Duration: %s, Total samples = %s %s\n",
		scaled(int64(h.Duration), "nanoseconds", "auto"), scaled(total, h.Unit, unit), busy)
}

// tableUnit chooses one unit for a table: the one that fits the smallest
// weight, or a hundred times it when the total is that large, so that the
// smallest reads as 0.01.
func tableUnit(unit string, r *Ranking) string {
	var smallest int64
	for _, row := range r.Rows {
		v := abs(row.Flat)
		if v == 0 {
			v = abs(row.Cum)
		}
		if v > 0 && (smallest == 0 || v < smallest) {
			smallest = v
		}
	}
	if smallest == 0 {
		smallest = r.Total
	}
	_, best := scale(smallest, unit, minimum)
	_, largest := scale(r.Total, unit, minimum)
	if best != largest && smallest*100 < r.Total {
		_, best = scale(100*smallest, unit, minimum)
	}
	if best == "" {
		return unit
	}
	return best
}
