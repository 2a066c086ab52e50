package why

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"loupe/format/compiler"
)

// Digest is what the compiler says about a program, summed up: what a log of -m, -m=2
// or -json is read for.
type Digest struct {
	// Packages counts those that have said anything.
	Packages int `json:"packages"`
	// Escapes are the values whose memory comes from the heap, in the order of places.
	Escapes []Escaping `json:"escapes"`
	// CanInline counts the functions that may be inlined, InlinedCalls the calls that
	// were.
	CanInline    int `json:"can_inline"`
	InlinedCalls int `json:"inlined_calls"`
	// NotInlined are the reasons why functions and calls are not inlined, the most
	// frequent first.
	NotInlined []NotInlined `json:"not_inlined"`
	// BoundsChecks and SliceChecks count what is checked at run time, NilChecks too;
	// Checks are the lines with the most of the first two.
	BoundsChecks int     `json:"bounds_checks"`
	SliceChecks  int     `json:"slice_checks"`
	NilChecks    int     `json:"nil_checks"`
	Checks       []Check `json:"checks"`
	// Leaking counts the parameters that outlive their calls, or whose targets do.
	Leaking int `json:"leaking_params"`
}

// Escaping is a value, or a variable, whose memory comes from the heap.
type Escaping struct {
	Pos      compiler.Pos `json:"pos"`
	Package  string       `json:"package,omitempty"`
	Function string       `json:"function,omitempty"`
	// What is the expression, or the variable where Variable is set.
	What     string `json:"what"`
	Variable bool   `json:"variable,omitempty"`
	// Way is how it gets to the heap, in words; "" where the compiler was not asked (-m).
	Way string `json:"way,omitempty"`
}

// NotInlined is a reason, with the functions or calls that it is given for.
type NotInlined struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
	// Functions are some of them, in the order of places.
	Functions []InlineSite `json:"functions"`
}

// InlineSite is a function that is not inlined, or a call.
type InlineSite struct {
	Pos  compiler.Pos `json:"pos"`
	Name string       `json:"name,omitempty"`
	// Cost and Budget are those of inlining; 0 means unknown.
	Cost   int `json:"cost,omitempty"`
	Budget int `json:"budget,omitempty"`
}

// Check is a line on which indexes or bounds of slices are checked at run time.
type Check struct {
	Pos   compiler.Pos `json:"pos"`
	Count int          `json:"count"`
}

// maxExamples is how many functions stand for a reason.
const maxExamples = 5

// costWords are the figures in a reason, by which reasons would not be alike.
var costWords = regexp.MustCompile(`cost -?\d+ exceeds (budget|max cost) -?\d+`)

// DigestOf sums a set up.
func DigestOf(set *compiler.Set) *Digest {
	d := &Digest{Packages: len(set.Packages), Escapes: []Escaping{}, NotInlined: []NotInlined{}, Checks: []Check{}}
	reasons := map[string]int{}
	checks := map[compiler.Pos]int{}
	for x := range set.All {
		switch x.Kind {
		case compiler.Escape, compiler.MovedToHeap:
			d.Escapes = append(d.Escapes, Escaping{x.Where(), x.Package, x.Function, x.Text, x.Kind == compiler.MovedToHeap, FlowWords(x)})
		case compiler.LeakingParam:
			d.Leaking++
		case compiler.CanInline:
			d.CanInline++
		case compiler.InlinedCall:
			d.InlinedCalls++
		case compiler.CannotInline, compiler.CannotInlineCall:
			d.notInlined(reasons, x)
		case compiler.BoundsCheck, compiler.SliceCheck:
			if x.Kind == compiler.BoundsCheck {
				d.BoundsChecks++
			} else {
				d.SliceChecks++
			}
			where := x.Where()
			checks[compiler.Pos{File: where.File, Line: where.Line}]++
		case compiler.NilCheck:
			d.NilChecks++
		}
	}
	for pos, n := range checks {
		d.Checks = append(d.Checks, Check{pos, n})
	}
	slices.SortFunc(d.Checks, func(a, b Check) int { return cmp.Or(cmp.Compare(b.Count, a.Count), byPlace(a.Pos, b.Pos)) })
	slices.SortStableFunc(d.Escapes, func(a, b Escaping) int { return byPlace(a.Pos, b.Pos) })
	slices.SortStableFunc(d.NotInlined, func(a, b NotInlined) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Reason, b.Reason))
	})
	return d
}

// notInlined enters a function, or a call, under its reason.
func (d *Digest) notInlined(reasons map[string]int, x *compiler.Diagnostic) {
	reason := costWords.ReplaceAllString(x.Reason, "the cost exceeds the $1")
	if x.Kind == compiler.CannotInlineCall {
		reason = "call: " + reason
	}
	reason = strings.TrimPrefix(reason, "function too complex: ")
	i, ok := reasons[reason]
	if !ok {
		i = len(d.NotInlined)
		reasons[reason] = i
		d.NotInlined = append(d.NotInlined, NotInlined{Reason: reason})
	}
	r := &d.NotInlined[i]
	r.Count++
	if len(r.Functions) < maxExamples {
		r.Functions = append(r.Functions, InlineSite{x.Where(), x.Text, x.Cost, x.Budget})
	}
}

// byPlace orders places as a reader goes through the files.
func byPlace(a, b compiler.Pos) int {
	return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}
