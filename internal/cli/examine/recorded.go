package examine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"loupe/format/dump"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/recording"
	"loupe/session"
	"loupe/source"
)

// LastDump reads the last dump of a recording.
func LastDump(in *source.Input) (*dump.File, error) {
	rec, err := recording.OpenFile(in.Path)
	if err != nil {
		return nil, err
	}
	defer rec.Close()
	all, err := session.New(rec).Stacks()
	if len(all) == 0 && !errors.Is(err, session.ErrNone) {
		return nil, fmt.Errorf("cannot read the goroutine dumps of %s: %w", in.Name, err)
	}
	if len(all) == 0 {
		instead := ""
		if p := rec.Of(recording.Goroutine); len(p) > 0 {
			instead = fmt.Sprintf("; its goroutine profile is shown by loupe pprof -top %s/%s", command.ShellWord(in.Name), p[0].Path)
		}
		return nil, command.Nothingf("%s has no goroutine dump (record one: loupe attach -phases stacks)%s", in.Name, instead)
	}
	return all[len(all)-1].File, nil
}

// MainProfile reads the profile of a recording: its CPU profile, or the first other one.
// A note says which one it is where there are several.
func MainProfile(in *source.Input) (p *profile.Profile, note string, err error) {
	rec, err := recording.OpenFile(in.Path)
	if err != nil {
		return nil, "", err
	}
	defer rec.Close()
	var others []string
	for _, e := range rec.Entries {
		if strings.HasPrefix(string(e.Kind), "pprof.") && e.Kind != recording.CPU {
			others = append(others, e.Path)
		}
	}
	entry, ok := rec.Main(recording.CPU)
	if !ok {
		if len(others) == 0 {
			return nil, "", command.Nothingf("%s has no profile (record one: loupe run -phases bare,cpu …)", in.Name)
		}
		entry = recording.Entry{Path: others[0]}
	}
	if more := slices.DeleteFunc(others, func(path string) bool { return path == entry.Path }); len(more) > 0 {
		note = fmt.Sprintf("%s of %s; it also has %s", entry.Path, in.Name, strings.Join(more, ", "))
	}
	p, err = session.New(rec).ProfileAt(entry.Path)
	return p, note, err
}
