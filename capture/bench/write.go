package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"loupe/format/benchmark"
	"loupe/value/unit"
)

// Writer writes results in Go's benchmark format, as they come. What was going on meanwhile
// stands in comments, which readers of the format leave out.
type Writer struct {
	to io.Writer
	// names of the sides, each told apart by the key "side"; nil for one side alone.
	names  []string
	config map[string]string
	told   map[string]bool // units
}

// NewWriter makes a writer. Names are those of the sides, such as before and after; nil
// where there is one.
func NewWriter(to io.Writer, names []string) *Writer {
	return &Writer{to: to, names: names, config: map[string]string{}, told: map[string]bool{}}
}

// Comment writes a line that readers of the format leave out.
func (w *Writer) Comment(format string, args ...any) error {
	_, err := fmt.Fprintf(w.to, "# %s\n", strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
	return err
}

// ours are the units of the format that only loupe writes: less is better of all of them,
// which readers of the format are told in front of the first result that has one.
var ours = []string{CPU, ProcessCPU, Collections, Instructions, UserTime, SystemTime, PeakRSS}

// describe tells of the units of a result that were not told of.
func (w *Writer) describe(b *strings.Builder, r *Result) {
	for _, v := range r.Values {
		if slices.Contains(ours, v.Unit) && !w.told[v.Unit] {
			w.told[v.Unit] = true
			fmt.Fprintf(b, "Unit %s better=lower\n", v.Unit)
		}
	}
}

// Round writes the last round of a case, the base first whatever the order was, so that
// what reads the file takes it for the base.
func (w *Writer) Round(c *Case) error {
	var b strings.Builder
	for i, s := range c.Sides {
		if len(s.Results) == 0 {
			continue
		}
		r := s.Results[len(s.Results)-1]
		w.describe(&b, &r)
		for _, line := range c.Config {
			w.set(&b, line)
		}
		if c.Package != "" {
			w.set(&b, "pkg: "+c.Package)
		}
		if w.names != nil {
			w.set(&b, "side: "+w.names[i])
		}
		fmt.Fprintf(&b, "# %s\n", r.comment(len(c.Sides)))
		if w.names != nil {
			fmt.Fprintln(&b, benchmark.BlockLine(r.Round))
		}
		b.WriteString(r.line(c.Name))
	}
	_, err := io.WriteString(w.to, b.String())
	return err
}

// set writes a line of configuration when it has changed.
func (w *Writer) set(b *strings.Builder, line string) {
	key, value, _ := strings.Cut(line, ": ")
	if w.config[key] != value {
		w.config[key] = value
		fmt.Fprintf(b, "%s\n", line)
	}
}

// comment says what was going on during a run.
func (r *Result) comment(sides int) string {
	text := fmt.Sprintf("round %d", r.Round)
	if sides > 1 {
		text += fmt.Sprintf(", run %d of %d", r.Order, sides)
	}
	text += fmt.Sprintf(": others used %.2f CPUs, steal %.2f CPUs, load %.2f", r.Noise.Other, r.Noise.Steal, r.Noise.Load)
	if r.Noise.Throttled > 0 {
		text += ", throttled for " + unit.Duration(r.Noise.Throttled)
	}
	return text
}

// line is the result as package testing prints it.
func (r *Result) line(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\t%8d", name, r.Iterations)
	for _, v := range r.Values {
		fmt.Fprintf(&b, "\t%10s %s", number(v.Number), v.Unit)
	}
	b.WriteByte('\n')
	return b.String()
}

// number prints a figure as it is when it is whole, and with six digits otherwise.
func number(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		short = x
	}
	return strconv.FormatFloat(short, 'f', -1, 64)
}
