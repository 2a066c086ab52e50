package cli

import (
	"bufio"
	"errors"
	"path"
	"strconv"

	"loupe/calltree"
	"loupe/dump/goroutineprofile"
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
		p, err := goroutineprofile.Of(v.File, keep)
		if errors.Is(err, goroutineprofile.ErrEmpty) {
			err = exitError{exitNothing, err}
		}
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
