package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/pprof"
	"loupe/analysis/sched"
	"loupe/format/exectrace/sweep"
	"loupe/format/loadlog"
	"loupe/format/profile"
	"loupe/insight"
	"loupe/recording"
	"loupe/report"
	"loupe/session"
)

var compareEndpoints = []endpoint{
	all("compare/sides", compareSides),
	pair("compare/figures", compareFigures),
	pair("compare/profiles", compareProfiles),
	pair("compare/traces", compareTraces),
	pair("compare/loads", compareLoads),
	pair("compare/benchmarks", compareBenchmarks),
}

// compareSide is something that can be compared: a recording, or one of the files
// that stand alone.
type compareSide struct {
	// ID is that of the source, with the name of the file behind a slash.
	ID     string           `json:"id"`
	Source string           `json:"source"`
	Name   string           `json:"name"`
	Kinds  []recording.Kind `json:"kinds"`
	// Broken says why it cannot be opened.
	Broken string `json:"broken"`
}

// compareSides lists what can be compared.
func compareSides(ctx context.Context, s *Server, q *query) ([]compareSide, error) {
	for _, name := range []string{"s", "a", "b"} {
		if id, _, _ := strings.Cut(q.Get(name), "/"); id != "" {
			_, _ = s.sources.find(id) // one that is made of its id is there from now on
		}
	}
	subjects := s.sources.there()
	list := []compareSide{}
	for _, sub := range subjects {
		o, err := sub.open(ctx)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			list = append(list, compareSide{ID: sub.id, Source: sub.id, Name: sub.Name, Kinds: []recording.Kind{}, Broken: err.Error()})
			continue
		}
		paths := looseFiles(o)
		if len(paths) != 1 {
			list = append(list, compareSide{sub.id, sub.id, sub.Name, kindsOf(o.Session, ""), ""})
		}
		for i, path := range paths {
			list = append(list, compareSide{sub.id + "/" + path, sub.id, sub.nameOf(o.Files[i].Name), kindsOf(o.Session, path), ""})
		}
	}
	return list, nil
}

// nameOf is the name of one of its files; those of selections are called alike.
func (s *subject) nameOf(file string) string {
	if s.named {
		return s.Name + ": " + file
	}
	return file
}

// looseFiles are the paths of the files that stand alone, in the order of
// Opened.Files; none of a recording.
func looseFiles(o *Opened) (paths []string) {
	for _, e := range o.Session.Manifest().Entries {
		if len(o.Files) > 0 && e.Kind != recording.Source && !slices.Contains(paths, e.Path) {
			paths = append(paths, e.Path)
		}
	}
	return paths[:min(len(paths), len(o.Files))]
}

// kindsOf are the kinds of entries, of one file or of all.
func kindsOf(in *session.Session, path string) []recording.Kind {
	kinds := []recording.Kind{}
	for _, e := range in.Manifest().Entries {
		if (path == "" || e.Path == path) && !slices.Contains(kinds, e.Kind) {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

// side is one of two that are compared.
type side struct {
	*subject
	name string
	in   *session.Session
	path string // of a file that stands alone
}

// pair makes an endpoint that answers a question about two sides, a and b.
func pair[T any](name string, answer func(ctx context.Context, a, b *side, q *query) (T, error)) endpoint {
	return all(name, func(ctx context.Context, s *Server, q *query) (T, error) {
		var none T
		var both [2]*side
		for i, name := range []string{"a", "b"} {
			var err error
			if both[i], err = s.side(ctx, q.Get(name)); err != nil {
				return none, err
			}
		}
		return answer(ctx, both[0], both[1], q)
	})
}

// parts are the profiles that one of the side is the sum of; none where it is no sum.
func (s *side) parts(ctx context.Context, entry string) ([]*profile.Profile, error) {
	o, err := s.open(ctx)
	if err != nil || o.Parts == nil {
		return nil, err
	}
	return onceFew(ctx, s.subject, "parts", entry, func(ctx context.Context) ([]*profile.Profile, error) { return o.Parts(ctx, entry) })
}

func (s *Server) side(ctx context.Context, id string) (*side, error) {
	source, path, _ := strings.Cut(id, "/")
	sub, err := s.sources.find(source)
	if err != nil {
		return nil, err
	}
	o, err := sub.open(ctx)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return &side{sub, sub.Name, o.Session, ""}, nil
	}
	at := slices.Index(looseFiles(o), path)
	if at < 0 {
		return nil, &refusal{http.StatusNotFound, fmt.Sprintf("there is no file %q among those of source %s", path, source)}
	}
	in, err := once(ctx, sub, "only "+path, func(context.Context) (*session.Session, error) { return o.Session.Only(path), nil })
	if err != nil {
		return nil, err
	}
	return &side{sub, o.Files[at].Name, in.With(ctx), path}, nil
}

// examined lets the rules look at a side.
func (s *side) examined(ctx context.Context) (*examined, error) {
	if s.path == "" {
		return s.subject.examined(ctx)
	}
	return once(ctx, s.subject, "examined "+s.path, func(ctx context.Context) (*examined, error) {
		in := insight.NewInput(s.in.With(ctx))
		return &examined{input: in, facts: in.Facts, findings: insight.Run(in)}, nil
	})
}

// compareView is two sides as loupe compare shows them.
type compareView struct {
	Titles []string               `json:"titles"`
	Rounds []int                  `json:"rounds"`
	Rows   []report.ComparisonRow `json:"rows"`
	Notes  []string               `json:"notes"`
	// Gone are findings of A that B does not have, New those of B that A does
	// not; Both have the others.
	Gone []insight.Finding `json:"gone"`
	New  []insight.Finding `json:"new"`
	Both []insight.Finding `json:"both"`
	// Regressed tells that a key row got worse.
	Regressed bool `json:"regressed"`
}

func compareFigures(ctx context.Context, a, b *side, _ *query) (*compareView, error) {
	var seen [2]*examined
	for i, s := range []*side{a, b} {
		var err error
		if seen[i], err = s.examined(ctx); err != nil {
			return nil, err
		}
	}
	t := compare.Compare(seen[0].facts, seen[1].facts)
	v := &compareView{Titles: t.Titles, Rounds: t.Rounds, Rows: report.ComparisonRows(t), Notes: report.ComparisonNotes(t), Regressed: t.Regressed(), Both: []insight.Finding{}}
	v.Gone, v.New = report.CameAndWent(seen[0].findings, seen[1].findings)
	v.Gone, v.New = append([]insight.Finding{}, v.Gone...), append([]insight.Finding{}, v.New...)
	for _, f := range seen[1].findings {
		if f.State == insight.Found && slices.ContainsFunc(seen[0].findings, func(g insight.Finding) bool { return g.Rule == f.Rule && g.State == insight.Found }) {
			v.Both = append(v.Both, f)
		}
	}
	return v, nil
}

// compareDiff is two profiles side by side.
type compareDiff struct {
	// Kinds are those that both sides have.
	Kinds []recording.Kind `json:"kinds"`
	Kind  recording.Kind   `json:"kind"`
	// Types are the sample types, of which one is compared.
	Types []string `json:"types"`
	Type  string   `json:"type"`
	// Paths are those of the two profiles in their sources.
	Paths [2]string `json:"paths"`
	Page  *facts    `json:"page"`
}

func compareProfiles(ctx context.Context, a, b *side, q *query) (*compareDiff, error) {
	d := &compareDiff{Kinds: []recording.Kind{}, Types: []string{}}
	theirs := kindsOf(b.in, "")
	for _, k := range kindsOf(a.in, "") {
		if strings.HasPrefix(string(k), "pprof.") && slices.Contains(theirs, k) {
			d.Kinds = append(d.Kinds, k)
		}
	}
	if len(d.Kinds) == 0 {
		return nil, nothing("The two have no profile of one kind.")
	}
	d.Kind = recording.Kind(cmp.Or(q.Get("kind"), string(d.Kinds[0])))
	var both [2]*profile.Profile
	var parts [2][]*profile.Profile
	for i, s := range []*side{a, b} {
		var err error
		var e recording.Entry
		if both[i], e, err = s.in.Profile(d.Kind); err != nil {
			return nil, err
		}
		d.Paths[i] = e.Path
		if parts[i], err = s.parts(ctx, e.Path); err != nil {
			return nil, err
		}
	}
	if len(parts[0]) < 2 || len(parts[1]) < 2 {
		parts = [2][]*profile.Profile{{both[0]}, {both[1]}}
	}
	for _, t := range both[0].SampleTypes {
		d.Types = append(d.Types, t.Type)
	}
	opt := compare.ProfileOptions{SampleIndex: q.Get("type"), Per: q.Get("per"), Normalize: q.Get("normalize") != "", Cum: q.Get("cum") != ""}
	diff, err := compare.Profiles(parts[0], parts[1], opt)
	switch {
	case errors.Is(err, compare.ErrIncomparable):
		return nil, nothing("%v", err)
	case err != nil:
		return nil, &refusal{http.StatusBadRequest, err.Error()}
	}
	d.Type = diff.Type.Type
	view := report.ProfileView{A: a.name, B: b.name, Top: 200}
	if index, err := both[0].Index(d.Type); err == nil {
		view.Meaning = pprof.Meaning(both[0], index)
	}
	page := report.ProfileComparison(diff, view)
	// Those without a name are for programs.
	page.Facts = slices.DeleteFunc(page.Facts, func(f report.Fact) bool { return f.Head == "" && f.Key != "" })
	d.Page = factsOf(page)
	return d, ctx.Err()
}

func compareTraces(ctx context.Context, a, b *side, _ *query) (*facts, error) {
	var both [2]*sched.Analysis
	for i, s := range []*side{a, b} {
		desk, err := s.in.Sweep()
		if err != nil {
			return nil, err
		}
		tell := s.job("comparing traces")
		both[i], err = sweep.Get(ctx, desk, tell, sched.Whole)
		tell(1)
		if err != nil {
			return nil, err
		}
	}
	return factsOf(report.TraceComparison(sched.Compare(both[0], both[1]), a.name, b.name, compareTop)), nil
}

// compareTop is how many rows a list of a comparison of traces has, as on the
// command line.
const compareTop = 20

func compareLoads(ctx context.Context, a, b *side, _ *query) (*compareView, error) {
	var sides []compare.LoadSide
	var when [2][]time.Time
	for i, s := range []*side{a, b} {
		one := compare.LoadSide{Title: s.name}
		for _, p := range s.in.BarePhases() {
			l, err := s.in.Load(p.Name)
			if l == nil || err != nil && l.Len() == 0 {
				continue
			}
			one.Open = one.Open || l.Open
			one.Runs, when[i] = append(one.Runs, l.Summary()), append(when[i], l.Start)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		if len(one.Runs) == 0 {
			return nil, nothing("%s has no load run without a profiler.", s.name)
		}
		one.Starts = when[i]
		sides = append(sides, one)
	}
	t := compare.Loads(sides, loadlog.TookTurns(when[:]))
	var seen [2]*examined
	for i, s := range []*side{a, b} {
		var err error
		if seen[i], err = s.examined(ctx); err != nil {
			return nil, err
		}
	}
	t.Follow(compare.Compare(seen[0].facts, seen[1].facts))
	return &compareView{Titles: t.Titles, Rounds: t.Rounds, Rows: report.ComparisonRows(t), Notes: report.ComparisonNotes(t), Regressed: t.Regressed(),
		Gone: []insight.Finding{}, New: []insight.Finding{}, Both: []insight.Finding{}}, nil
}

func compareBenchmarks(_ context.Context, a, b *side, q *query) (*benchView, error) {
	first, err := a.in.Benchmarks()
	if err != nil {
		return nil, err
	}
	second, err := b.in.Benchmarks()
	if err != nil {
		return nil, err
	}
	return benchTables(append(first, second...), q)
}
