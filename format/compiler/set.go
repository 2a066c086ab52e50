package compiler

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// Set holds the diagnostics of many packages and finds them by place. The zero
// Set is empty and ready for use; any number of goroutines may read one that
// nobody adds to.
type Set struct {
	diags    []Diagnostic
	known    map[string]bool
	where    map[lineOf][]int32 // by innermost position
	outer    map[lineOf][]int32 // by outermost position, of those that differ or may
	byBase   map[string][]string
	hasFile  map[string]bool
	Packages map[string]bool // that have said anything
}

type lineOf struct {
	file string
	line int
}

// Add puts diagnostics into the set. What it has already is not added again:
// the compiler says things twice for generic functions, and packages that use
// the same one say the same.
func (s *Set) Add(list ...Diagnostic) {
	if s.where == nil {
		s.known, s.where, s.outer = map[string]bool{}, map[lineOf][]int32{}, map[lineOf][]int32{}
		s.byBase, s.hasFile, s.Packages = map[string][]string{}, map[string]bool{}, map[string]bool{}
	}
	for _, d := range list {
		if d.Package != "" {
			s.Packages[d.Package] = true
		}
		key := identity(&d)
		if s.known[key] {
			continue
		}
		s.known[key] = true
		id := int32(len(s.diags))
		s.diags = append(s.diags, d)
		in := d.Where()
		s.file(in.File)
		s.where[lineOf{in.File, in.Line}] = append(s.where[lineOf{in.File, in.Line}], id)
		if d.Inline != nil {
			s.file(d.Pos.File)
			s.outer[lineOf{d.Pos.File, d.Pos.Line}] = append(s.outer[lineOf{d.Pos.File, d.Pos.Line}], id)
		}
	}
}

// identity is the same for what is said twice. Two escapes of one text at one
// place are a conversion and the interface that it is put into; their flows
// tell them apart.
func identity(d *Diagnostic) string {
	b := append([]byte(place(d)), 0, byte(d.Kind), 0)
	b = append(append(b, d.Text...), 0)
	b = append(append(b, d.Dest...), 0)
	for _, f := range d.Flow {
		b = append(append(append(append(b, f.Dst...), 0), f.Src...), 0)
		for _, step := range f.Steps {
			b = append(append(b, step.Why...), 0)
		}
	}
	return string(b)
}

func (s *Set) file(name string) {
	if !s.hasFile[name] {
		s.hasFile[name] = true
		base := path.Base(name)
		s.byBase[base] = append(s.byBase[base], name)
	}
}

// Len returns the number of diagnostics.
func (s *Set) Len() int { return len(s.diags) }

// File finds the name under which the set knows a source file of a profile:
// the same, or else the one with the longest common end, at least two
// elements. A program that was built with -trimpath says
// "github.com/a/b@v1.2.3/c.go" for /home/u/go/pkg/mod/github.com/a/b@v1.2.3/c.go,
// and one that was built elsewhere has another directory in front.
func (s *Set) File(name string) (string, bool) {
	name = strings.ReplaceAll(name, "\\", "/")
	if s.hasFile[name] {
		return name, true
	}
	best, most, tie := "", 1, false
	for _, have := range s.byBase[path.Base(name)] {
		switch n := commonEnd(have, name); {
		case n > most:
			best, most, tie = have, n, false
		case n == most:
			tie = true
		}
	}
	return best, best != "" && !tie
}

// commonEnd counts the path elements that two names share at their ends.
func commonEnd(a, b string) (n int) {
	for a != "" && b != "" {
		i, j := strings.LastIndexByte(a, '/'), strings.LastIndexByte(b, '/')
		if a[i+1:] != b[j+1:] {
			return n
		}
		n++
		a, b = a[:max(i, 0)], b[:max(j, 0)]
	}
	return n
}

// At returns the diagnostics whose code stands on this line, wherever it was
// inlined to, in the order of columns. The file is one that [Set.File] returns.
func (s *Set) At(file string, line int) []*Diagnostic { return s.list(s.where[lineOf{file, line}]) }

// InlinedAt returns the diagnostics of code that was inlined at a call on this
// line.
func (s *Set) InlinedAt(file string, line int) []*Diagnostic {
	return s.list(s.outer[lineOf{file, line}])
}

func (s *Set) list(ids []int32) []*Diagnostic {
	out := make([]*Diagnostic, len(ids))
	for i, id := range ids {
		out[i] = &s.diags[id]
	}
	slices.SortStableFunc(out, func(a, b *Diagnostic) int { return cmp.Compare(a.Where().Col, b.Where().Col) })
	return out
}

// All calls yield for every diagnostic until it returns false, in the order in
// which they were added.
func (s *Set) All(yield func(*Diagnostic) bool) {
	for i := range s.diags {
		if !yield(&s.diags[i]) {
			return
		}
	}
}
