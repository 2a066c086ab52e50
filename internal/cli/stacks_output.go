package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"loupe/calltree"
	"loupe/dump"
	"loupe/profile"
	"loupe/report"
	"loupe/stack"
)

// writeStackFiles writes the files that were asked for, and tells whether any was.
func writeStackFiles(f *stacksFlags, v *report.Stacks) (written bool, err error) {
	keep := v.Chosen()
	if f.flame != "" || f.svg != "" {
		flame := stacksFlame(v, keep)
		for _, out := range []struct {
			name  string
			write func(*bufio.Writer) error
		}{
			{f.flame, func(w *bufio.Writer) error { return report.FlameHTML(w, flame) }},
			{f.svg, func(w *bufio.Writer) error { return report.FlameSVG(w, flame) }},
		} {
			if out.name != "" {
				if err := writeFile(out.name, out.write); err != nil {
					return true, err
				}
			}
		}
	}
	if f.proto != "" {
		p, err := stacksProfile(v.File, keep)
		if err == nil {
			err = writeFile(f.proto, func(w *bufio.Writer) error { return p.Encode(w) })
		}
		if err != nil {
			return true, err
		}
	}
	return f.flame != "" || f.svg != "" || f.proto != "", nil
}

// stacksFlame draws the goroutines from the go statement down to where they are.
func stacksFlame(v *report.Stacks, keep func(int) bool) *report.Flame {
	f := v.File
	samples := calltree.Samples(f.Samples(keep))
	opt := calltree.FlameOptions{MinShare: report.FlameShare, FoldGenerics: true}
	out := &report.Flame{
		Header: calltree.Header{Type: "goroutine", Unit: "count"}, Title: "goroutines of " + v.Name,
		Source: func(id stack.FrameID) string {
			r := f.Stacks.Frame(id)
			if r.File == "" {
				return ""
			}
			return path.Base(r.File) + ":" + strconv.Itoa(r.Line)
		},
	}
	if v.Filter != "" {
		out.Header.Filters = []string{v.Filter}
	}
	out.Graph = calltree.Flame(f.Stacks, samples, opt)
	opt.Inverted = true
	out.Inverted = calltree.Flame(f.Stacks, samples, opt)
	return out
}

// stacksProfile makes a goroutine profile with labels for state and wait.
//
// Package profile reads dumps, and knows what becomes a label and what a
// location. So that the two readers agree in that, it is given one goroutine
// of each kind in the form of debug=2, and the counts afterwards.
func stacksProfile(f *dump.File, keep func(int) bool) (*profile.Profile, error) {
	type key struct {
		stack stack.ID
		state dump.StateID
		wait  int32
	}
	at := map[key]int{}
	var counts []int64
	var text bytes.Buffer
	for g, id := range f.StackIDs {
		n := f.Count(g)
		if n == 0 || !keep(g) {
			continue
		}
		k := key{id, f.StateIDs[g], f.Waits[g]}
		i, ok := at[k]
		if !ok {
			i = len(counts)
			at[k] = i
			counts = append(counts, 0)
			writeGoroutine(&text, f, g, i+1)
		}
		counts[i] += n
	}
	if len(counts) == 0 {
		return nil, exitError{exitNothing, fmt.Errorf("there is no goroutine to write")}
	}
	p, err := profile.Decode(text.Bytes(), profile.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot make a profile of the dump: %w", err)
	}
	if p.Len() != len(counts) {
		return nil, fmt.Errorf("cannot make a profile of the dump: %d kinds of goroutines have become %d samples", len(counts), p.Len())
	}
	p.Values = [][]int64{slices.Clone(counts)}
	return p, nil
}

// writeGoroutine prints a goroutine as debug=2 does.
func writeGoroutine(b *bytes.Buffer, f *dump.File, g, number int) {
	s := f.State(g)
	fmt.Fprintf(b, "goroutine %d [%s", number, s.Name)
	for _, flag := range []struct {
		set  bool
		text string
	}{{s.Leaked, " (leaked)"}, {s.Scan, " (scan)"}, {s.Durable, " (durable)"}} {
		if flag.set {
			b.WriteString(flag.text)
		}
	}
	if f.Waits[g] > 0 {
		fmt.Fprintf(b, ", %d minutes", f.Waits[g])
	}
	if s.Locked {
		b.WriteString(", locked to thread")
	}
	if s.Bubble != "" {
		b.WriteString(", synctest bubble " + s.Bubble)
	}
	if s.More != "" {
		b.WriteString(", " + s.More)
	}
	if s.Labels != "" {
		b.WriteString(" labels:{" + s.Labels + "}")
	}
	b.WriteString("]:\n")
	for _, id := range f.Stacks.Frames(f.StackIDs[g]) {
		r := f.Stacks.Frame(id)
		switch {
		case r.Func == dump.FramesElided:
			b.WriteString("...additional frames elided...\n")
			continue
		case r.Func == dump.NoStack:
			b.WriteString("\tgoroutine running on other thread; stack unavailable\n")
			continue
		case r.Func == dump.NotGo && r.File == "":
			b.WriteString("non-Go function at pc=0x0\n")
			continue
		case strings.HasPrefix(r.Func, dump.CreatedBy):
			b.WriteString(r.Func)
		case r.Inlined:
			b.WriteString(r.Func + "(...)")
		default:
			b.WriteString(r.Func + "()")
		}
		fmt.Fprintf(b, "\n\t%s:%d\n", cmp.Or(r.File, "?"), r.Line)
	}
	b.WriteByte('\n')
}
