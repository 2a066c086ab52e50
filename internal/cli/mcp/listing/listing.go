// Package listing reads the source of functions of a profile with what its lines cost, and why
// they allocate, from what a recording has kept.
package listing

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/pprof"
	"loupe/analysis/why"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/internal/cli/door"
	"loupe/internal/cli/examine"
	"loupe/internal/cli/programs"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/source"
	"loupe/value/stack"
)

// Question asks for the source of functions.
type Question struct {
	// Of is the recording or the file, Name the profile: Of itself, or an entry of it.
	Of, Name string
	// Pattern matches the functions, Focus those on whose stacks samples count.
	Pattern, Focus string
	SampleType     string
}

// Listing is an answer.
type Listing struct {
	JSON    []byte // as loupe pprof -list -json prints it
	reasons *why.Report
}

// Of reads the source of functions.
func Of(ctx context.Context, e *command.Env, q Question) (*Listing, error) {
	p, with, done, err := opened(ctx, e, q.Of, q.Name)
	if err != nil {
		return nil, err
	}
	defer done()
	cfg := pprof.Defaults()
	cfg.SampleIndex = q.SampleType
	cfg.Focus = q.Focus
	r, err := pprof.New(p, []string{"list", q.Pattern}, cfg, &pprof.Env{Source: func(file string, _ *pprof.Config) ([]byte, error) { return with.source(file) }})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := report.WriteProfileJSON(&out, r); err != nil {
		return nil, err
	}
	return &Listing{out.Bytes(), with.reasons(r)}, nil
}

// Why puts the reasons of a line into one text, with those of calls that were inlined there; ""
// where nothing is known.
func (l *Listing) Why(file, line string) string {
	reasons := l.reasons
	if reasons == nil {
		return ""
	}
	var all []string
	for i := range reasons.Sites {
		site := &reasons.Sites[i]
		if site.Stale || !slices.ContainsFunc(site.Frames, func(f stack.Frame) bool { return f.File == file && strconv.Itoa(f.Line) == line }) {
			continue
		}
		for _, c := range site.Causes {
			all = append(all, fmt.Sprintf("%s: %s", site.Certainty, c.Reason))
		}
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), "; ")
}

// allocations are the sample types whose lines the compiler explains.
var allocations = []string{"alloc_space", "alloc_objects", "inuse_space", "inuse_objects"}

// beside is what lies beside a profile: sources, and what the compiler has said.
type beside struct {
	session *session.Session
	profile *profile.Profile
	find    *programs.Finder
}

// opened opens a profile, alone or in a recording.
func opened(ctx context.Context, e *command.Env, of, name string) (*profile.Profile, *beside, func(), error) {
	b := &beside{find: programs.NewFinder(ctx, func(string) {})}
	if source.IsRecording(of) {
		rec, err := recording.OpenFile(of)
		if err != nil {
			return nil, nil, nil, err
		}
		b.session = session.New(rec)
		done := func() { rec.Close(); b.find.Close() }
		if name == of {
			entry, ok := rec.Main(recording.CPU)
			for _, k := range []recording.Kind{recording.Allocs, recording.Heap, recording.Block, recording.Mutex, recording.Goroutine} {
				if !ok {
					entry, ok = rec.Main(k)
				}
			}
			if !ok {
				done()
				return nil, nil, nil, command.Nothingf("the recording has no profile")
			}
			name = of + "/" + entry.Path
		}
		b.profile, err = b.session.ProfileAt(strings.TrimPrefix(name, of+"/"))
		if err != nil {
			done()
		}
		return b.profile, b, done, err
	}
	inputs, err := door.Take(e, door.New(e, "", nil), name)
	if err != nil {
		return nil, nil, nil, err
	}
	l := examine.NewLoose(inputs)
	if b.session, _, err = session.Loose(l.Files, l.Short); err == nil {
		b.profile, err = b.session.ProfileAt(l.Short[0])
	}
	return b.profile, b, func() { b.find.Close() }, err
}

// source reads a Go file: as the recording has kept it, or of this machine.
func (b *beside) source(file string) ([]byte, error) {
	if text, err := b.session.Source(file); err == nil {
		return text, nil
	}
	if path.Ext(file) != ".go" {
		return nil, os.ErrNotExist
	}
	return b.find.SourceAt(b.profile, file)
}

// reasons says why lines allocate; nil where nothing tells.
func (b *beside) reasons(r *pprof.Report) *why.Report {
	set, _ := b.session.Compiler()
	if set == nil || !slices.Contains(allocations, r.Type) {
		return nil
	}
	opt := why.Options{Source: b.session.Source}
	if calls, err := b.session.Calls(); err == nil {
		opt.Callee = func(address uint64) string { return calls[address-1] }
	}
	return why.Explain(r.Profile, r.Index(), set, opt)
}
