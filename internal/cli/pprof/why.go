package pprof

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"loupe/analysis/pprof"
	"loupe/analysis/why"
	"loupe/capture/collect"
	"loupe/format/profile"
	"loupe/internal/cli/command"
	"loupe/report"
)

// writeWhy prints a listing with the compiler's reason below every line that
// allocates: -list RE -why.
func (s *pprofSession) writeWhy(w io.Writer, r *pprof.Report) error {
	listing, err := r.Listing()
	if err != nil {
		return err
	}
	reasons, err := s.explain(r)
	if err != nil {
		return err
	}
	if s.flags.json {
		return report.WriteWhyJSON(w, r, listing, reasons)
	}
	return report.WriteWhy(w, r, listing, reasons)
}

// explain compiles the packages that the listed functions and what they inline
// are of, and joins what the compiler says with the profile.
func (s *pprofSession) explain(r *pprof.Report) (*why.Report, error) {
	p, t := r.Profile, r.Profile.SampleTypes[r.Index()]
	if !slices.Contains([]string{"alloc_space", "alloc_objects", "inuse_space", "inuse_objects", "space", "objects"}, t.Type) {
		return nil, command.Usagef("-why explains why lines allocate: it needs an allocation profile, not %s", t.Type)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	cache, err := collect.CompileCache()
	if err != nil {
		cache = "" // then nothing is kept
	}
	opt := collect.CompileOptions{Dir: dir, Cache: cache, Target: s.flags.target, Packages: why.Packages(matching(p, r.Param()))}
	opt.Test = s.flags.target != "" && strings.HasSuffix(s.flags.target, ".test")
	opt.Target = strings.TrimSuffix(opt.Target, ".test")
	if command.IsTerminal(s.e.Stderr) {
		opt.Progress = func(format string, args ...any) { s.warn(fmt.Sprintf(format, args...)) }
	}
	explain := why.Options{Source: func(file string) ([]byte, error) { return s.source(file, &r.Config) }}
	if len(p.Mappings) > 0 {
		s.readBinary(p.Mappings[0], &opt, &explain)
	}
	compiled, err := collect.Compile(s.e.Ctx, opt)
	if err != nil {
		return nil, fmt.Errorf("-why: %w", err)
	}
	for pkg, reason := range compiled.Failed {
		s.warn(fmt.Sprintf("-why: no answer for package %s: %s", pkg, reason))
	}
	return why.Explain(p, r.Index(), compiled.Set, explain), nil
}

// matching returns the profile with the samples that go through a function
// that matches.
func matching(p *profile.Profile, re *regexp.Regexp) *profile.Profile {
	q, _ := p.FilterNames(profile.NameFilter{Focus: re})
	return q
}

// readBinary learns from the binary which package it was built from, and which
// of the runtime's functions is called where.
func (s *pprofSession) readBinary(m profile.Mapping, opt *collect.CompileOptions, explain *why.Options) {
	b, err := s.find.Open(m.File)
	if err != nil {
		s.warn(fmt.Sprintf("-why: without the binary, lines with several candidates stay open (%s: %v)", filepath.Base(m.File), err))
		return
	}
	if m.BuildID != "" && !strings.EqualFold(m.BuildID, b.BuildID) {
		s.warn(fmt.Sprintf("-why: %s is not the binary that the profile was taken from; its calls are not used", filepath.Base(m.File)))
		return
	}
	if info, err := b.BuildInfo(); err == nil && opt.Target == "" {
		opt.Target = strings.TrimSuffix(info.Path, ".test")
		// The test binary of a command has the path of the command. But there
		// its symbols have that path too, while in the command they have main.
		opt.Test = strings.HasSuffix(info.Path, ".test") || slices.Contains(opt.Packages, info.Path)
	}
	if callee, err := why.Calls(b.File); err == nil {
		explain.Callee = callee
	}
}
