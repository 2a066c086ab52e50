package pprof_test

import (
	"io"
	"testing"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

// FuzzShell types a line into the shell, as an option, a command or a filter
// of labels: no panic, and whatever it wants to run can be made or refused.
func FuzzShell(f *testing.F) {
	p, err := profile.Decode(profiletest.Synthetic(50, 20), profile.Options{})
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range []string{
		"top10 -cum Method -Type", "tagfocus=bytes=32:64kb", "tagfocus=:1mb", "tagignore=bytes=16b", "focus=[", "sample_index=2", "alloc_space",
		"peek Method1 >out", "list . | sort", "granularity=lines //:", "nodecount=-1", "tags bytes -x", "top tagfocus=1", "o", "help top", ":",
		"tagroot=bytes", "unit=kb", "mean=1", "divide_by=0", "traces", "raw >/x", "dot 5", "comments", "-", "=", "save x", "q",
	} {
		f.Add(line, "top")
		f.Add("top", line)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		if len(first)+len(second) > 1000 {
			return
		}
		s := pprof.NewShell(p, pprof.Defaults(), io.Discard, func(string) {}, func(command []string, cfg pprof.Config) error {
			r, err := pprof.New(p, command, cfg, nil)
			if err != nil || r.Command.Image != "" || r.Command.Viewer != "" {
				return err
			}
			return r.Write(io.Discard)
		})
		_ = s.Exec(first) || s.Exec(second)
	})
}
