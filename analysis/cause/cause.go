// Package cause tells why a benchmark has changed: the functions and lines of the user's
// whose cost an operation moved between two builds, with intervals, and what the compiler
// said differently of them in both.
//
// It takes profiles of runs that took turns and what the compiler said, and runs nothing.
package cause

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"loupe/analysis/compare"
	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/value/stack"
)

// Side is one of the two builds, with the profiles of its runs.
type Side struct {
	Profiles []*profile.Profile
	// Operations are how many operations of the benchmark each profile is of.
	Operations []float64
	// Source returns the text of a file that a profile names, as it was built; nil, or an
	// error, where there is none. Then no lines are told.
	Source func(file string) ([]byte, error)
	// Compiled is what the compiler said of the packages; nil where nobody asked.
	Compiled *compiler.Set
	// Callee names what is called in front of an address of the binary, as package why
	// wants it; nil where that is not known.
	Callee func(address uint64) string
}

// Options say what is looked for.
type Options struct {
	// SampleIndex is the sample type: "cpu", "alloc_space", "delay".
	SampleIndex string
	// Scope tells the code of the user, to which the cost of what it calls counts.
	Scope stack.Scope
}

// When says in which of the builds something is so.
type When string

// The times of a [Reason].
const (
	Now      When = "now"
	NoLonger When = "no longer"
	Still    When = "as before"
)

// Reason is something that the compiler says of a line or a function.
type Reason struct {
	When When   `json:"when"`
	Text string `json:"text"`
}

// String returns the reason as one phrase: "no longer: inlining call to f".
func (r Reason) String() string { return string(r.When) + ": " + r.Text }

// Line is a line whose cost has moved. It is the same in both builds when its function, its
// text and, of several of one text, its place among them are.
type Line struct {
	Text string
	// File and Line are where it is, in the second build where it is in both.
	File  string
	Line  int
	Delta compare.ProfileDelta
	// In is the function outside of the user's code and of the runtime in which more than half of
	// the difference came about; "" where there is none.
	In string
	// Reasons are what the compiler says of it.
	Reasons []Reason
}

// Function is a function of the user's whose cost has moved, with that of what it calls
// outside of the user's code. A name in brackets is what is not done for a line of the user's.
type Function struct {
	Name string
	// Was is its name in the first build, where it had another one and most of its text; "" else.
	Was     string
	Delta   compare.ProfileDelta
	Lines   []Line
	Reasons []Reason
}

// Causes is what the profiles of both sides say about a change.
type Causes struct {
	Type profile.ValueType
	// Total is the whole cost of an operation, with what the benchmark did while its timer
	// stood still.
	Total compare.ProfileDelta
	// Tests are functions of test files whose text is another one in both builds: what they
	// measure may be another thing.
	Tests []string
	// Functions are those that moved by more than their noise, the greatest first. Judged
	// is among how many.
	Functions []Function
	Judged    int
}

// smallest is the share of the cost of both sides below which a function is not looked at
// by itself. It depends on the sum of both sides alone, and not on their difference, so that
// what is left is judged as if all had been (independent filtering, Bourgon 2010).
const smallest = 0.005

// Between finds what moved between two sides. It errs as [compare.Profiles] does.
func Between(before, after Side, opt Options) (*Causes, error) {
	sides := [2]*side{newSide(&before, &opt), newSide(&after, &opt)}
	rename(sides)
	d, err := difference(sides, func(s *side, f *folded) string { return f.function })
	if err != nil {
		return nil, err
	}
	out := &Causes{Type: d.Type, Total: d.Total, Judged: d.Judged, Tests: changedTests(sides)}
	for _, row := range major(d.Rows, func(name string) bool { return name != restName }) {
		out.Functions = append(out.Functions, Function{Name: row.Name, Was: sides[0].was[row.Name], Delta: row.Flat})
	}
	if len(out.Functions) == 0 {
		return out, nil
	}
	lines, err := difference(sides, func(s *side, f *folded) string { return s.lineKey(f) })
	if err != nil {
		return nil, err
	}
	for i := range out.Functions {
		f := &out.Functions[i]
		f.Reasons = inlinability(sides, f.Name)
		if !sides[0].readable(f.Name) || !sides[1].readable(f.Name) {
			continue
		}
		for _, row := range major(lines.Rows, func(name string) bool { return strings.HasPrefix(name, f.Name+"\x00") }) {
			f.Lines = append(f.Lines, lineOf(sides, d.Type, &row))
		}
	}
	return out, nil
}

// lineOf is a line that moved.
func lineOf(sides [2]*side, of profile.ValueType, row *compare.ProfileRow) Line {
	_, text, _ := strings.Cut(row.Name, "\x00")
	text, _, _ = strings.Cut(text, "\x00")
	at, ok := sides[1].find(row.Name)
	if !ok {
		at, _ = sides[0].find(row.Name)
	}
	return Line{
		Text: text, File: at.file, Line: at.line, Delta: row.Flat, In: doer(sides, row),
		Reasons: reasonsOf(sides, row.Name, strings.HasPrefix(of.Type, "alloc")),
	}
}

// doer is the function outside of the user's code in which most of the difference of a line
// came about. It describes and is not judged: the difference of the line is.
func doer(sides [2]*side, row *compare.ProfileRow) (most string) {
	by := map[string]float64{}
	for i, s := range sides {
		for n, profile := range s.folded {
			for at := range profile {
				f := &profile[at]
				if f.doer != "" && s.lineKey(f) == row.Name {
					by[f.doer] += float64(2*i-1) * float64(s.values(n)[at]) / s.of.Operations[n] / float64(len(s.folded))
				}
			}
		}
	}
	for name, difference := range by {
		if share := difference / row.Flat.Difference.Estimate; share > 0.5 && (most == "" || share > by[most]/row.Flat.Difference.Estimate) {
			most = name
		}
	}
	return most
}

// minor is the part of the greatest move, among functions, or among the lines of one, below
// which another is not told: it explains nothing.
const minor = 0.05

// major are the rows that moved beyond chance and that count, the greatest first.
func major(rows []compare.ProfileRow, of func(name string) bool) (out []compare.ProfileRow) {
	size := func(r *compare.ProfileRow) float64 { return math.Abs(r.Flat.Difference.Estimate) }
	for _, r := range rows {
		if r.Flat.Significance.Beyond() && of(r.Name) {
			out = append(out, r)
		}
	}
	slices.SortStableFunc(out, func(a, b compare.ProfileRow) int { return cmp.Compare(size(&b), size(&a)) })
	return slices.DeleteFunc(out, func(r compare.ProfileRow) bool { return size(&r) < minor*size(&out[0]) })
}

// difference compares the sides by a key of what was folded.
func difference(sides [2]*side, key func(*side, *folded) string) (*compare.ProfileDiff, error) {
	small := smallOnes(sides, key)
	name := func(s *side, f *folded) string {
		k := key(s, f)
		if small[k] {
			return restName
		}
		return k
	}
	return compare.Profiles(sides[0].rewritten(name), sides[1].rewritten(name), compare.ProfileOptions{
		SampleIndex: sides[0].opt.SampleIndex, Divide: [2][]float64{sides[0].of.Operations, sides[1].of.Operations},
	})
}

// restName is what all that is small is called together.
const restName = "(less than 0.5% each)"

// smallOnes are the keys that have little of the cost of both sides.
func smallOnes(sides [2]*side, key func(*side, *folded) string) map[string]bool {
	weights, total := map[string]float64{}, 0.0
	for _, s := range sides {
		for i, f := range s.folded {
			for row, one := range f {
				if one.function == "" {
					continue
				}
				w := math.Abs(float64(s.values(i)[row])) / s.of.Operations[i] / float64(len(s.folded))
				weights[key(s, &one)] += w
				total += w
			}
		}
	}
	small := map[string]bool{}
	for k, w := range weights {
		small[k] = w < smallest*total
	}
	return small
}
