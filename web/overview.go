package web

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/compare"
	figures "loupe/analysis/facts" // a page has facts of its own here
	"loupe/analysis/pprof"
	"loupe/analysis/tiles"
	"loupe/format/exectrace/sweep"
	"loupe/insight"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
	"loupe/value/timeline"
	"loupe/value/unit"
)

var overviewEndpoints = []endpoint{
	on("findings", func(ctx context.Context, s *subject, _ *query) ([]insight.Finding, error) {
		seen, err := s.examined(ctx)
		if err != nil {
			return nil, err
		}
		return seen.findings, nil
	}),
	on("findings/part", findingsOfPart),
	on("cards", func(ctx context.Context, s *subject, _ *query) ([]insight.Card, error) {
		seen, err := s.examined(ctx)
		if err != nil {
			return nil, err
		}
		return seen.cards, nil
	}),
	on("incomplete", func(ctx context.Context, s *subject, _ *query) ([]string, error) {
		seen, err := s.examined(ctx)
		if err != nil {
			return nil, err
		}
		return seen.input.Incomplete(), nil
	}),
	on("overview/figures", overviewFigures),
	on("overview/time", overviewTime),
	on("overview/top", overviewTop),
	on("overview/said", overviewSaid),
}

// examined is what the rules and the comparison say of a source.
type examined struct {
	input    *insight.Input
	facts    *figures.Facts
	findings []insight.Finding
	cards    []insight.Card
}

// examined lets the rules look.
func (s *subject) examined(ctx context.Context) (*examined, error) {
	return once(ctx, s, "examined", func(ctx context.Context) (*examined, error) {
		o, err := s.open(ctx)
		if err != nil {
			return nil, err
		}
		tell := s.job("looking for what is wrong")
		defer tell(1)
		_ = s.sweep(ctx, tell, figures.Wants(o.Session)...) // what is wrong with the trace the rules tell
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in := insight.NewInput(o.Session)
		found := insight.Run(in)
		cards := insight.Cards(in, found)
		if o.Rename != nil {
			for i := range found {
				rename(&found[i], o.Rename)
			}
		}
		return &examined{in, in.Facts, found, cards}, nil
	})
}

// partFindings is what rules say of the chosen range.
type partFindings struct {
	// Checked are the rules that have judged the range; what the others say is
	// of the whole recording.
	Checked  []string          `json:"checked"`
	Findings []insight.Finding `json:"findings"`
	// Covers is the part of the range that the execution trace has; empty without
	// one.
	Covers timeline.Span `json:"covers"`
}

// findingsOfPart lets the rules that can do so judge the chosen range.
func findingsOfPart(ctx context.Context, s *subject, q *query) (*partFindings, error) {
	span, _, err := s.chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	var covers timeline.Span
	t, err := s.timeline(ctx, false)
	switch {
	case err == nil:
		whole := t.On(t.Whole)
		if covers = (timeline.Span{Start: max(span.Start, whole.Start), End: min(span.End, whole.End)}); covers.Len() <= 0 {
			covers = timeline.Span{}
		}
	case !errors.Is(err, session.ErrNone):
		return nil, err
	}
	seen, err := s.examined(ctx)
	if err != nil {
		return nil, err
	}
	return onceFew(ctx, s, "part", fmt.Sprint(span), func(ctx context.Context) (*partFindings, error) {
		tell := s.job("looking for what is wrong in the range")
		defer tell(1)
		o, err := s.open(ctx)
		if err != nil {
			return nil, err
		}
		found, err := insight.RunPart(seen.input, span, func() bool { return ctx.Err() != nil })
		if errors.Is(err, sweep.ErrStopped) {
			return nil, context.Canceled
		}
		if err != nil {
			return nil, err
		}
		p := &partFindings{Findings: found, Covers: covers, Checked: []string{}}
		for _, f := range found {
			if !slices.Contains(p.Checked, f.Rule) {
				p.Checked = append(p.Checked, f.Rule)
			}
		}
		if o.Rename != nil {
			for i := range found {
				rename(&found[i], o.Rename)
			}
		}
		return p, nil
	})
}

// rename puts the names that people know into a finding.
func rename(f *insight.Finding, known func(string) string) {
	f.Advice, f.Verify = known(f.Advice), known(f.Verify)
	for i := range f.Evidence {
		f.Evidence[i].Path = known(f.Evidence[i].Path)
	}
}

// chosen returns the range that was asked for; ok is false for all of the axis.
func (s *subject) chosen(ctx context.Context, q *query) (span timeline.Span, ok bool, err error) {
	axis, err := s.axis(ctx)
	if err != nil {
		return axis, false, err
	}
	span, err = q.span(axis)
	return span, q.Get("t0") != "" || q.Get("t1") != "", err
}

// factsIn are the figures of the range that was asked for, of all bare phases
// without one.
func (s *subject) factsIn(ctx context.Context, q *query) (*figures.Facts, error) {
	span, part, err := s.chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	key := "facts"
	if part {
		key = fmt.Sprint("facts ", span.Start, " ", span.End)
	}
	return once(ctx, s, key, func(ctx context.Context) (*figures.Facts, error) {
		in, err := s.session(ctx)
		if err != nil {
			return nil, err
		}
		if part {
			return figures.GatherIn(in, span, nil), nil
		}
		return figures.Gather(in), nil
	})
}

// figurePage is the key figures.
type figurePage struct {
	// Of says what they are of.
	Of      string `json:"of"`
	Figures *table `json:"figures"`
}

func overviewFigures(ctx context.Context, s *subject, q *query) (*figurePage, error) {
	f, err := s.factsIn(ctx, q)
	if err != nil {
		return nil, err
	}
	if len(f.Rounds) == 0 {
		return figuresOfTrace(ctx, s, q)
	}
	t := compare.Compare(f)
	page := &figurePage{Figures: tableOf(report.Figures(t))}
	_, part, _ := s.chosen(ctx, q)
	page.Of = ofRounds(f, t, part)
	return page, nil
}

// figuresOfTrace are those of a trace that stands alone, as loupe trace summary
// prints them.
func figuresOfTrace(ctx context.Context, s *subject, q *query) (*figurePage, error) {
	span, _, err := s.chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	page, err := schedOf(ctx, s, span)
	if err != nil {
		return nil, nothing("No phase of the recording lies in this time.")
	}
	sheet := &report.Sheet{Key: "figures", Columns: []report.Column{{Key: "figure", Head: "figure"}, {Key: "value", Head: "value"}, {Key: "rounds", Head: "rounds"}}}
	for _, f := range page.summary.Facts {
		if f.Head != "" {
			sheet.Rows = append(sheet.Rows, []any{f.Head, f.Shown, ""})
		}
	}
	return &figurePage{Of: "of the execution trace", Figures: tableOf(sheet)}, nil
}

// ofRounds says in words what figures are of.
func ofRounds(f *figures.Facts, t *compare.Table, part bool) string {
	var names, with []string
	for i := range f.Rounds {
		r := &f.Rounds[i]
		name := r.Phase.Name
		if part {
			name = partName(r)
		}
		names = append(names, name)
		if r.Phase.Profiler != "" {
			with = append(with, r.Phase.Profiler)
		}
	}
	text := report.Rounds(t)
	switch {
	case len(names) == 1 && part:
		text = "of phase " + names[0]
	case part:
		text = "medians over the phases " + strings.Join(names, ", ")
	case text == "":
		text = "of phase " + names[0]
	}
	if len(with) > 0 {
		text += ", whose profiler (" + strings.Join(with, ", ") + ") has a cost too"
	}
	return text
}

// titledRound is a round of the range that was asked for, with its name.
type titledRound struct {
	*figures.Round
	title string
}

// roundsIn are the rounds of the range that was asked for, all of them without
// one. Of a part of a round the name says which.
func (s *subject) roundsIn(ctx context.Context, q *query) ([]titledRound, error) {
	f, err := s.factsIn(ctx, q)
	if err != nil {
		return nil, err
	}
	_, part, _ := s.chosen(ctx, q)
	var all []titledRound
	for i := range f.Rounds {
		r := titledRound{&f.Rounds[i], f.Rounds[i].Phase.Name}
		if part {
			r.title = partName(r.Round)
		}
		all = append(all, r)
	}
	return all, nil
}

// partName names the part of a phase that figures are of.
func partName(r *figures.Round) string {
	return fmt.Sprintf("%s, %s to %s", r.Phase.Name, seconds(r.Phase.Span.Start), seconds(r.Phase.Span.End))
}

// timeShare is one part of what time was spent on.
type timeShare struct {
	Key   string  `json:"key"`
	Title string  `json:"title"`
	Share float64 `json:"share"`
	Shown string  `json:"shown"` // how long, all together
}

// timePage is where the time of goroutines and Ps goes.
type timePage struct {
	// Span is the part of the range that the trace covers.
	Span       timeline.Span `json:"span"`
	Goroutines []timeShare   `json:"goroutines"`
	Procs      []timeShare   `json:"procs"`
}

// overviewTime reads where time goes off the tiles of the trace, so that it
// follows the range at once.
func overviewTime(ctx context.Context, s *subject, q *query) (*timePage, error) {
	span, _, err := s.chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	g, err := (&laneView{Span: span, points: 512, in: in, s: s}).grid(ctx)
	if err != nil {
		return nil, err
	}
	if g == nil {
		if _, err := s.traced(ctx); errors.Is(err, session.ErrNone) {
			return nil, nothing(noTrace)
		}
		return nil, nothing("The trace covers none of this time.")
	}
	page := &timePage{Span: timeline.Span{Start: max(span.Start, g.at(0)), End: min(span.End, g.at(g.n))}}
	states, err := g.states(ctx)
	if err != nil {
		return nil, err
	}
	rest := class{"sleep", "asleep, or other", []tiles.Class{tiles.ClassRest}}
	page.Goroutines = g.shares(span, append(groupClasses[:len(groupClasses):len(groupClasses)], rest), states)
	procs := make([][8]float64, g.n)
	for _, p := range g.lanesOf(tiles.KindProc) {
		g.occupied(p.ID, func(c int64, class tiles.Class, share float64) { procs[c][class] += share })
	}
	page.Procs = g.shares(span, procClasses, procs)
	return page, nil
}

// shares adds up columns. Those at the edges count for the part in the span.
func (g *grid) shares(span timeline.Span, classes []class, sums [][8]float64) []timeShare {
	var total float64
	time := make([]float64, len(classes))
	for i := range sums {
		column := timeline.Span{Start: g.at(int64(i)), End: g.at(int64(i) + 1)}
		part := g.covered(int64(i))
		if part == 0 {
			continue
		}
		d := float64(column.Overlap(span)) / part
		for k, c := range classes {
			for _, of := range c.of {
				time[k] += sums[i][of] * d
				total += sums[i][of] * d
			}
		}
	}
	out := []timeShare{}
	for k, c := range classes {
		if time[k] > 0 {
			out = append(out, timeShare{c.key, c.title, time[k] / total, unit.Nanoseconds(time[k])})
		}
	}
	return out
}

// topPage is the heaviest functions.
type topPage struct {
	Table *table `json:"table"`
	// Note says what a range cannot restrict, View where there is more of it,
	// Path which profile it is.
	Note string `json:"note"`
	View string `json:"view"`
	Path string `json:"path,omitempty"`
}

// topKinds are the profiles that a first look takes the heaviest functions
// from, the most telling first.
var topKinds = []recording.Kind{recording.CPU, recording.Allocs, recording.Heap, recording.Block, recording.Mutex, recording.Goroutine, session.OtherProfile}

// topOf ranks the functions of a profile.
func topOf(in *session.Session) (*topPage, error) {
	for _, kind := range topKinds {
		p, e, err := in.Profile(kind)
		if errors.Is(err, session.ErrNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		cfg := pprof.Defaults()
		cfg.NodeCount = 12
		r, err := pprof.New(p, []string{"top"}, cfg, nil)
		if err != nil {
			return nil, err
		}
		// There is no room for the intervals, which the view of profiles has.
		t := tableOf(report.ProfileTable(r, false)).only("flat", "flat_share", "cum", "cum_share", "function")
		return &topPage{Table: t, View: "profile", Path: e.Path}, nil
	}
	return nil, session.ErrNone
}

// overviewTop is what ran: of the CPU profile, or in a range, which a profile
// knows nothing of, of the trace.
func overviewTop(ctx context.Context, s *subject, q *query) (*topPage, error) {
	span, part, err := s.chosen(ctx, q)
	if err != nil {
		return nil, err
	}
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	if part {
		page, err := schedOf(ctx, s, span)
		if err == nil {
			return &topPage{Table: page.groups, Note: "What ran in the part of the range that the trace covers.", View: "timeline"}, nil
		}
		var none *refusal
		if !errors.As(err, &none) && !errors.Is(err, session.ErrNone) {
			return nil, err
		}
	}
	top, err := once(ctx, s, "top", func(ctx context.Context) (*topPage, error) { return topOf(in.With(ctx)) })
	if err == nil {
		top := *top
		if part {
			top.Note = "A profile has no times: this is of all of it, not of the range."
		}
		return &top, nil
	}
	if !errors.Is(err, session.ErrNone) {
		return nil, err
	}
	page, err := schedOf(ctx, s, span)
	if err != nil {
		return nil, nothing("No profile and no execution trace. Record both: loupe run -phases bare,cpu,trace ./cmd/server")
	}
	return &topPage{Table: page.groups, View: "timeline"}, nil
}
