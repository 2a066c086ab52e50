// Package profiled opens what loupe bench has recorded of a benchmark in two builds, and tells
// what moved.
package profiled

import (
	"errors"
	"fmt"
	"math"

	"loupe/analysis/cause"
	"loupe/capture/bench"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/value/stack"
)

// Change is the figure of a benchmark that has changed.
type Change struct {
	Package, Name, Unit string
	// Before and After are the figure; Words what became of it: "slower, +61%".
	Before, After float64
	Words         string
}

// Profiler is the one that tells where a figure of a unit comes from, "" where none does.
func Profiler(unit string) string {
	switch unit {
	case "ns/op", "cpu-ns/op", "process-cpu-ns/op":
		return "cpu"
	case "B/op", "allocs/op":
		return "allocs"
	}
	return ""
}

// waits are the profilers that tell of waiting, which the time of a benchmark that does not
// change in CPU time may come from.
var waits = []string{"block", "mutex"}

// Pair are the recordings of a benchmark in two builds.
type Pair struct{ sides [2]side }

// side is one of them.
type side struct {
	*session.Session
	operations map[string][]int64
	sourced    bool
}

// Open opens what was recorded of a benchmark in two builds.
func Open(recorded [2]bench.Profiled) (*Pair, error) {
	p := &Pair{}
	for i, r := range recorded {
		rec, err := recording.OpenFile(r.Dir)
		if err != nil {
			return nil, errors.Join(err, p.Close())
		}
		p.sides[i] = side{session.New(rec), r.Operations, r.Sourced}
	}
	return p, nil
}

// Close closes the recordings.
func (p *Pair) Close() (err error) {
	for _, s := range p.sides {
		if s.Session != nil {
			err = errors.Join(err, s.Close())
		}
	}
	return err
}

// of is the side as package cause wants it, with the profiles of a kind.
func (s side) of(name string, kind recording.Kind) (out cause.Side, err error) {
	for _, e := range s.Manifest().Of(kind) {
		p, err := s.ProfileAt(e.Path)
		if err != nil {
			return out, fmt.Errorf("%s: %w", e.Path, err)
		}
		out.Profiles = append(out.Profiles, p)
	}
	for _, n := range s.operations[name] {
		out.Operations = append(out.Operations, float64(n))
	}
	if s.sourced {
		out.Source = s.Source
	}
	// Without the one or the other there are no reasons, and all the rest.
	out.Compiled, _ = s.Compiler()
	if calls, _ := s.Calls(); calls != nil {
		out.Callee = func(address uint64) string { return calls[address-1] }
	}
	return out, nil
}

// source is what is looked at in a profile of a name.
type source struct {
	kind        recording.Kind
	index, unit string
}

// sources are where the cost of a figure is found, by profiler.
var sources = map[string]source{
	"cpu":       {recording.CPU, "cpu", "ns/op"},
	"B/op":      {recording.Allocs, "alloc_space", "B/op"},
	"allocs/op": {recording.Allocs, "alloc_objects", "allocs/op"},
	"block":     {recording.Block, "delay", "ns/op"},
	"mutex":     {recording.Mutex, "delay", "ns/op"},
}

// Causes tells what moved behind a change, by each of the profilers that ran and that can
// tell.
func (p *Pair) Causes(c Change) (out []*report.MeasuredCause) {
	names := []string{Profiler(c.Unit)}
	if names[0] == "cpu" && c.Unit == "ns/op" {
		names = append(names, waits...)
	}
	for _, name := range names {
		if len(p.sides[0].operations[name]) == 0 || len(p.sides[1].operations[name]) == 0 {
			continue
		}
		out = append(out, p.cause(c, name))
	}
	return out
}

// cause is what one profiler says.
func (p *Pair) cause(c Change, name string) *report.MeasuredCause {
	from := sources[name]
	if name == "allocs" {
		from = sources[c.Unit]
	}
	out := &report.MeasuredCause{Package: c.Package, Name: c.Name, Of: c.Unit, Change: c.Words, Profile: name, Unit: from.unit, Moved: []report.MovedFunc{}}
	var sides [2]cause.Side
	var modules []string
	for i, s := range p.sides {
		var err error
		if sides[i], err = s.of(name, from.kind); err != nil {
			out.Notes = append(out.Notes, err.Error())
			return out
		}
		out.Runs = len(sides[i].Profiles)
		modules = append(modules, s.Scope().Modules...)
	}
	got, err := cause.Between(sides[0], sides[1], cause.Options{SampleIndex: from.index, Scope: stack.Scope{Modules: modules}})
	if err != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("The %s profiles show nothing: %v.", name, err))
		return out
	}
	out.Total, out.Judged = report.CostOf(&got.Total), got.Judged
	for _, f := range got.Functions {
		out.Moved = append(out.Moved, movedFunc(&f))
	}
	out.Notes = append(out.Notes, notes(out, c)...)
	for _, name := range got.Tests {
		out.Notes = append(out.Notes, fmt.Sprintf("The source of %s differs between the two builds: they may not measure the same thing.", name))
	}
	return out
}

// farOff is how many times as much, or as little, as what was measured the profiles may have
// seen moving: beyond that they have seen something else.
const farOff = 3

// notes say what the table does not, and empty it where it cannot be the cause: what was seen
// moving comes to another sum than what was measured.
func notes(m *report.MeasuredCause, c Change) []string {
	if len(m.Moved) == 0 {
		return []string{fmt.Sprintf("No function's cost moved by more than its noise (%s profiles, %d runs a side, %d functions).", m.Profile, m.Runs, m.Judged)}
	}
	sum := 0.0
	for _, f := range m.Moved {
		sum += f.Difference
	}
	measured, limit := c.After-c.Before, 0.5
	if m.Unit != "ns/op" {
		limit = 0.1 // counted, not sampled
	}
	if m.Profile == "block" || m.Profile == "mutex" || math.Abs(sum-measured) <= limit*math.Abs(measured) {
		return nil
	}
	text := fmt.Sprintf("Together these are %s per operation; the measurement found %s.", report.Difference(sum, m.Unit), report.Difference(measured, m.Unit))
	small := m.Unit == "allocs/op" && sum*measured > 0 && math.Abs(sum) < math.Abs(measured)
	if off := sum / measured; !small && (off < 1.0/farOff || off > farOff) {
		m.Moved = []report.MovedFunc{}
		return []string{fmt.Sprintf("No cause is named: the changes in the profiles add up to %s per operation, but the measurement found %s. Profiles come from separate runs and include work done while the timer is stopped; a function whose name and text changed counts as one that disappeared and one that is new.",
			report.Difference(sum, m.Unit), report.Difference(measured, m.Unit))}
	}
	if small {
		return []string{text + " Small pointer-free objects share blocks of 16 bytes, which profiles count once."}
	}
	return []string{text + " Profiles come from separate runs, which they slow down, and include work done while the timer is stopped."}
}

func movedFunc(f *cause.Function) report.MovedFunc {
	out := report.MovedFunc{Name: f.Name, Was: f.Was, MovedCost: report.CostOf(&f.Delta), Reasons: reasons(f.Reasons)}
	for _, l := range f.Lines {
		out.Lines = append(out.Lines, report.MovedLine{
			File: l.File, Line: l.Line, Text: l.Text, In: l.In, MovedCost: report.CostOf(&l.Delta), Reasons: reasons(l.Reasons),
		})
	}
	return out
}

func reasons(list []cause.Reason) (out []report.MovedReason) {
	for _, r := range list {
		out = append(out, report.MovedReason{When: string(r.When), Text: r.Text})
	}
	return out
}
