package web

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"loupe/recording"
	"loupe/session"
	"loupe/value/terminal"
	"loupe/value/timeline"
)

var sourceEndpoints = []endpoint{
	all("sources", func(_ context.Context, s *Server, _ *query) (*sourceList, error) { return s.list(), nil }),
	all("sources/briefs", briefs),
	on("source", describeSource),
	on("source/grades", gradesOf),
}

// sourceList says what can be looked at.
type sourceList struct {
	// Version is that of the program.
	Version string `json:"version"`
	// Editor tells that the program can open the user's editor.
	Editor bool `json:"editor"`
	// Fleet tells that there is a store of profiles, which comes first.
	Fleet   bool         `json:"fleet"`
	Sources []sourceItem `json:"sources"`
}

// list lists the sources.
func (s *Server) list() *sourceList {
	list := &sourceList{Version: s.opts.Version, Editor: s.opts.Edit != nil, Fleet: s.opts.Fleet != nil, Sources: []sourceItem{}}
	for _, sub := range s.sources.there() {
		list.Sources = append(list.Sources, sourceItem{sub.id, sub.Name, sub.Kind, sub.live()})
	}
	return list
}

type sourceItem struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"`
	Live bool   `json:"live"`
}

// sourceInfo describes an opened source.
type sourceInfo struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Kind    string `json:"kind"`
	Live    bool   `json:"live"`
	Version int    `json:"version"`
	// Axis is the time that it covers; a source without time has an empty one.
	Axis timeline.Span `json:"axis"`
	// Start is the date of the axis's zero; empty where it is not known.
	Start    string            `json:"start,omitempty"`
	Complete bool              `json:"complete"`
	Target   recording.Target  `json:"target"`
	Host     recording.Host    `json:"host"`
	Phases   []recording.Phase `json:"phases"`
	Marks    []recording.Mark  `json:"marks"`
	Entries  []sourceEntry     `json:"entries"`
	Files    []session.File    `json:"files"`
	Notes    []string          `json:"notes"`
	Kinds    []recording.Kind  `json:"kinds"` // each that there is, once
}

// sourceEntry is one entry of a recording.
type sourceEntry struct {
	Path  string         `json:"path"`
	Kind  recording.Kind `json:"kind"`
	Phase string         `json:"phase,omitempty"`
	Span  timeline.Span  `json:"span"`
	Bytes int64          `json:"bytes"`
}

func describeSource(ctx context.Context, s *subject, _ *query) (*sourceInfo, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	axis, err := s.axis(ctx)
	if err != nil {
		return nil, err
	}
	m := o.Session.Manifest()
	version := s.pinned(ctx).version
	info := &sourceInfo{
		ID: s.id, Name: s.Name, Title: shownTitle(cmp.Or(m.Title, s.Name)), Kind: s.Kind, Live: s.live() && !m.Complete, Version: version, Axis: axis,
		Complete: m.Complete || s.Kind != "recording", Target: m.Target, Host: m.Host, Phases: m.Phases, Marks: m.Marks, Files: o.Files, Notes: m.Notes,
	}
	if !m.Start.IsZero() {
		info.Start = m.Start.Format(time.RFC3339Nano)
	}
	for _, e := range m.Entries {
		info.Entries = append(info.Entries, sourceEntry{e.Path, e.Kind, e.Phase, e.Span, e.Bytes})
		if !slices.Contains(info.Kinds, e.Kind) {
			info.Kinds = append(info.Kinds, e.Kind)
		}
	}
	return info, nil
}

// longestTitle is how much of a title people read, in characters.
const longestTitle = 200

// shownTitle makes a title one that can be shown beside others: without what
// moves the writing of the rest, and not endless.
func shownTitle(title string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if terminal.Obeyed(r) {
			return unicode.ReplacementChar
		}
		return r
	}, title))
	if len(runes) > longestTitle {
		return string(runes[:longestTitle]) + "…"
	}
	return string(runes)
}

// axisOf returns the span of the time axis as the manifest tells of it.
func axisOf(in *session.Session) timeline.Span {
	m := in.Manifest()
	span := timeline.Span{End: m.End}
	for _, p := range m.Phases {
		span.Start, span.End = min(span.Start, p.Span.Start), max(span.End, p.Span.End)
	}
	for _, e := range m.Entries {
		span.End = max(span.End, e.Span.End)
	}
	return span
}
