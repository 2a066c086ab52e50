package stacks

import (
	"bufio"
	"errors"

	"loupe/format/dump/goroutineprofile"
	"loupe/internal/cli/command"
	"loupe/report"
)

// writeStackFiles writes the files that were asked for, and tells whether any was.
func writeStackFiles(f *stacksFlags, v *report.Stacks) (written bool, err error) {
	keep := v.Chosen()
	if f.flame != "" || f.svg != "" {
		flame := report.StacksFlame(v, keep)
		for _, out := range []struct {
			name  string
			write func(*bufio.Writer) error
		}{
			{f.flame, func(w *bufio.Writer) error { return report.FlameHTML(w, flame) }},
			{f.svg, func(w *bufio.Writer) error { return report.FlameSVG(w, flame) }},
		} {
			if out.name != "" {
				if err := command.WriteFile(out.name, out.write); err != nil {
					return true, err
				}
			}
		}
	}
	if f.proto != "" {
		p, err := goroutineprofile.Of(v.File, keep)
		if errors.Is(err, goroutineprofile.ErrEmpty) {
			err = command.Nothing(err)
		}
		if err == nil {
			err = command.WriteFile(f.proto, func(w *bufio.Writer) error { return p.Encode(w) })
		}
		if err != nil {
			return true, err
		}
	}
	return f.flame != "" || f.svg != "" || f.proto != "", nil
}
