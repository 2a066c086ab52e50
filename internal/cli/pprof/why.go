package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"loupe/calltree"
	"loupe/collect"
	"loupe/pprof"
	"loupe/profile"
	"loupe/report"
	"loupe/unit"
	"loupe/why"
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
		routines := jsonRoutines(listing)
		for i, x := range listing.Routines {
			for n, line := range x.Lines {
				routines[i].Lines[n].Why = jsonReasons(reasons.Line(x.File, line.Number))
			}
		}
		shares := map[string]float64{}
		for c, weight := range reasons.Share {
			if reasons.Total != 0 {
				shares[why.Certainty(c).String()] = float64(weight) / float64(reasons.Total)
			}
		}
		return report.WriteJSON(w, map[string]any{
			"schema": "loupe.list/1", "type": r.Type, "unit": r.Unit, "total": r.Total, "filters": r.Filters(), "routines": routines, "explained": shares,
		})
	}
	for i := range listing.Routines {
		x := &listing.Routines[i]
		for n := range x.Lines {
			for _, site := range reasons.Line(x.File, x.Lines[n].Number) {
				x.Lines[n].Notes = append(x.Lines[n].Notes, note(site, r)...)
			}
		}
	}
	return calltree.WriteList(w, r.Header(), listing)
}

// note says why a place allocates, and how sure that is.
func note(site *why.Site, r *pprof.Report) []string {
	h := r.Header()
	weight := h.Format(site.Weight, "auto")
	sizes := ""
	switch n := len(site.Sizes); {
	case n == 1:
		sizes = ", " + unit.BytesOf(float64(site.Sizes[0])) + " each"
	case n > 1:
		sizes = fmt.Sprintf(", %s to %s each", unit.BytesOf(float64(site.Sizes[0])), unit.BytesOf(float64(site.Sizes[n-1])))
	}
	switch {
	case site.Stale:
		return []string{weight + ": the source has changed since the program was built; nothing can be said"}
	case site.Certainty == why.Unexplained:
		return []string{weight + sizes + ": neither the compiler nor the source gives a reason"}
	case site.Certainty == why.Ambiguous:
		lines := []string{fmt.Sprintf("%s%s: one of these %d:", weight, sizes, len(site.Causes))}
		for _, c := range site.Causes {
			lines = append(lines, "  "+c.Reason)
		}
		return lines
	}
	return []string{weight + sizes + ": " + site.Causes[0].Reason}
}

// jsonReason is why a line allocates. Names are only ever added.
type jsonReason struct {
	Certainty string      `json:"certainty"`
	Weight    int64       `json:"weight"`
	Sizes     []int64     `json:"sizes_bytes,omitempty"`
	Runtime   string      `json:"runtime,omitempty"`
	Stale     bool        `json:"stale,omitempty"`
	Causes    []jsonCause `json:"causes"`
}

type jsonCause struct {
	Mechanism  string `json:"mechanism"`
	Expression string `json:"expression,omitempty"`
	Reason     string `json:"reason"`
}

func jsonReasons(sites []*why.Site) (out []jsonReason) {
	for _, site := range sites {
		x := jsonReason{Certainty: site.Certainty.String(), Weight: site.Weight, Sizes: site.Sizes, Runtime: site.Runtime, Stale: site.Stale, Causes: []jsonCause{}}
		for _, c := range site.Causes {
			x.Causes = append(x.Causes, jsonCause{c.Mechanism.String(), c.Expr, c.Reason})
		}
		out = append(out, x)
	}
	return out
}

// explain compiles the packages that the listed functions and what they inline
// are of, and joins what the compiler says with the profile.
func (s *pprofSession) explain(r *pprof.Report) (*why.Report, error) {
	p, t := r.Profile, r.Profile.SampleTypes[r.Index()]
	if !slices.Contains([]string{"alloc_space", "alloc_objects", "inuse_space", "inuse_objects", "space", "objects"}, t.Type) {
		return nil, usagef("-why tells why lines allocate: it needs a profile of allocations, not %s", t.Type)
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
	if isTerminal(s.e.stderr) {
		opt.Progress = func(format string, args ...any) { s.warn(fmt.Sprintf(format, args...)) }
	}
	explain := why.Options{Source: func(file string) ([]byte, error) { return s.source(file, &r.Config) }}
	if len(p.Mappings) > 0 {
		s.readBinary(p.Mappings[0], &opt, &explain)
	}
	compiled, err := collect.Compile(s.e.ctx, opt)
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
	b, err := s.openBinary(m.File)
	if err != nil {
		s.warn(fmt.Sprintf("-why: without the binary, lines with several candidates stay open (%s: %v)", filepath.Base(m.File), err))
		return
	}
	if m.BuildID != "" && !strings.EqualFold(m.BuildID, b.BuildID) {
		s.warn(fmt.Sprintf("-why: %s is not the binary that the profile was taken of; its calls are not looked at", filepath.Base(m.File)))
		return
	}
	if info, err := b.BuildInfo(); err == nil && opt.Target == "" {
		opt.Target = strings.TrimSuffix(info.Path, ".test")
		// The test binary of a command has the path of the command. But there
		// its symbols have that path too, while in the command they have main.
		opt.Test = strings.HasSuffix(info.Path, ".test") || slices.Contains(opt.Packages, info.Path)
	}
	if callee, err := why.Calls(b.file); err == nil {
		explain.Callee = callee
	}
}
