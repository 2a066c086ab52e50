package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"loupe/analysis/calltree"
	"loupe/analysis/pprof"
	"loupe/analysis/sched"
	"loupe/analysis/why"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/report"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// profileEndpoints ask for the server, for a comparison has two sources.
var profileEndpoints = []endpoint{
	on("profile/kinds", profileKinds),
	all("profile/flame", profileFlame),
	all("profile/top", profileTop),
	all("profile/compare", profileCompare),
	all("profile/peek", profilePeek),
	all("profile/graph", profileGraph),
	all("profile/source", profileSource),
	all("profile/labels", profileLabels),
	{name: "profile/file", serve: profileFile},
}

// weightKind is one set of weighted stacks that a source has.
type weightKind struct {
	// Key names it in questions: the path of a profile, or "trace/offcpu".
	Key   string `json:"key"`
	Title string `json:"title"`
	// Kind is that of the entry, "exectrace" for what a trace tells.
	Kind recording.Kind `json:"kind"`
	// Timed tells that the weights have times, so that a range restricts them.
	Timed bool `json:"timed"`
	// Covers says in words which time the weights are of.
	Covers string        `json:"covers"`
	Types  []weightType  `json:"types"`
	Type   string        `json:"type"` // the one to show first
	Labels bool          `json:"labels"`
	Span   timeline.Span `json:"span"`
	// Error says why it cannot be shown.
	Error string `json:"error,omitempty"`
}

// weightType is one of the numbers that each stack has.
type weightType struct {
	Type  string `json:"type"`
	Unit  string `json:"unit"`
	Total string `json:"total"` // in the words of a person; "" when nobody has counted yet
	Means string `json:"means"`
}

// traceKinds are the weights that are derived from an execution trace.
var traceKinds = []struct {
	key, title string
	kind       sched.ProfileKind
}{
	{"trace/offcpu", "Off-CPU: not running, by reason", sched.ProfileOffCPU},
	{"trace/running", "Running, by where each run ended", sched.ProfileRunning},
	{"trace/cpu", "CPU samples in the trace", sched.ProfileCPU},
	{"trace/sched", "Scheduler latency, by who made it ready", sched.ProfileSched},
	{"trace/sync", "Waiting for channels, selects, locks", sched.ProfileSync},
	{"trace/net", "Waiting for the network", sched.ProfileNet},
	{"trace/syscall", "In system calls", sched.ProfileSyscall},
}

var profileTitles = map[recording.Kind]string{
	recording.CPU: "CPU", recording.Allocs: "Allocations", recording.Heap: "Heap", recording.Block: "Blocking", recording.Mutex: "Lock contention",
	recording.Goroutine: "Goroutines", recording.ThreadCreate: "Creation of threads", recording.GoroutineLeak: "Leaked goroutines",
	recording.Stacks: "Goroutines in a dump",
}

// isProfile tells whether an entry has weighted stacks.
func isProfile(e recording.Entry) bool {
	return strings.HasPrefix(string(e.Kind), "pprof") || e.Kind == recording.Stacks
}

// profileEntries are the entries of a source that are profiles, each file once,
// in the order in which people ask for them.
func profileEntries(m *recording.Manifest) []recording.Entry {
	order := []recording.Kind{recording.CPU, recording.Allocs, recording.Heap, recording.Block, recording.Mutex, recording.Goroutine, recording.GoroutineLeak, recording.ThreadCreate}
	var list []recording.Entry
	seen := map[string]bool{}
	for _, e := range m.Entries {
		if isProfile(e) && !seen[e.Path] {
			seen[e.Path] = true
			list = append(list, e)
		}
	}
	rank := func(e recording.Entry) int {
		if i := slices.Index(order, e.Kind); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(list, func(a, b recording.Entry) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// maxKinds bounds how many profiles are read to be listed.
const maxKinds = 200

// profileKinds lists what weighted stacks a source has.
func profileKinds(ctx context.Context, s *subject, _ *query) ([]weightKind, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	m := o.Session.Manifest()
	entries := profileEntries(m)
	titles := map[string]int{}
	for _, e := range entries {
		titles[profileTitle(e)]++
	}
	list := []weightKind{}
	for _, e := range entries[:min(len(entries), maxKinds)] {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k := weightKind{Key: e.Path, Kind: e.Kind, Title: profileTitle(e), Span: e.Span, Types: []weightType{}}
		if titles[k.Title] > 1 {
			k.Title += " (" + e.Path + ")"
		}
		p, err := s.profile(ctx, e.Path)
		if err != nil {
			k.Error = err.Error()
			list = append(list, k)
			continue
		}
		k.Covers = covers(m, e, p)
		k.Labels = p.NumLabelSets() > 1
		for i, t := range p.SampleTypes {
			k.Types = append(k.Types, weightType{t.Type, t.Unit, weightText(p.Total(i), t.Unit), pprof.Meaning(p, i)})
		}
		if i, err := p.Index(""); err == nil {
			k.Type = p.SampleTypes[i].Type
		}
		if e.Kind == recording.Allocs && slices.ContainsFunc(p.SampleTypes, func(t profile.ValueType) bool { return t.Type == "alloc_space" }) {
			k.Type = "alloc_space"
		}
		list = append(list, k)
	}
	if trace, ok := m.Main(recording.ExecTrace); ok {
		for _, t := range traceKinds {
			k := weightKind{Key: t.key, Kind: recording.ExecTrace, Title: t.title, Timed: true, Covers: "the execution trace", Span: trace.Span, Type: traceTypes(t.kind)[len(traceTypes(t.kind))-1].Type}
			for _, v := range traceTypes(t.kind) {
				k.Types = append(k.Types, weightType{Type: v.Type, Unit: v.Unit, Means: traceMeaning(t.kind, v.Type)})
			}
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		return nil, nothing("%s", noProfiles)
	}
	return list, nil
}

const noProfiles = "There are no profiles and no execution trace here. Record some: loupe run ./cmd/server, or open a profile: loupe open cpu.pb.gz."

func profileTitle(e recording.Entry) string {
	return cmp.Or(profileTitles[e.Kind], path.Base(e.Path))
}

// covers says which time a profile is of.
func covers(m *recording.Manifest, e recording.Entry, p *profile.Profile) string {
	var parts []string
	switch {
	case m.Target.Kind == "files" && !p.Time.IsZero():
		parts = append(parts, "taken "+p.Time.UTC().Format("2006-01-02 15:04:05")+" UTC")
	case m.Target.Kind != "files" && e.Phase != "":
		parts = append(parts, "phase "+e.Phase)
		if e.Span.Len() > 0 {
			parts = append(parts, fmt.Sprintf("%.3g s to %.3g s of the recording", e.Span.Start.Seconds(), e.Span.End.Seconds()))
		}
	}
	if p.Duration > 0 {
		parts = append(parts, "over "+weightText(int64(p.Duration), "nanoseconds"))
	}
	if len(parts) == 0 {
		return "the profile does not say which time"
	}
	return strings.Join(parts, ", ")
}

// weightText prints a weight as sheets do.
func weightText(v int64, unit string) string {
	shown, _, _ := report.Cell(report.Value(v, unit))
	return shown
}

// profile returns the profile of an entry as go tool pprof would take it.
func (s *subject) profile(ctx context.Context, at string) (*profile.Profile, error) {
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(in.Manifest().Entries, func(e recording.Entry) bool { return e.Path == at && isProfile(e) }) {
		return nil, nothing("There is no profile %q here.", at)
	}
	return once(ctx, s, "profile "+at, func(ctx context.Context) (*profile.Profile, error) {
		p, err := in.With(ctx).ProfileAt(at)
		if err != nil {
			return nil, err
		}
		p = pprof.Demangle(p, "", false)
		if q, err := p.RemoveUninteresting(); err == nil {
			p = q
		}
		return p, nil
	})
}

// stays is what the trace of a source says of where its goroutines were, and
// the clock that maps its time onto the axis.
type stays struct {
	*sched.Stays
	clock timeline.Clock
}

// stays reads the trace of a source once for all profiles of all ranges.
func (s *subject) stays(ctx context.Context) (*stays, error) {
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	return once(ctx, s, "stays", func(ctx context.Context) (*stays, error) {
		clock, err := in.With(ctx).TraceClock()
		if err != nil {
			return nil, err
		}
		all, err := swept(ctx, s, "finding where goroutines were", sched.AllStays)
		return &stays{all, clock}, err
	})
}

// own maps a span of the axis into the trace's own time.
func (s *stays) own(axis timeline.Span) timeline.Span {
	rate := 1 + s.clock.Drift
	at := func(t timeline.Time) timeline.Time { return timeline.Time(float64(t-s.clock.Offset) / rate) }
	if s.clock.Drift == 0 {
		at = func(t timeline.Time) timeline.Time { return t - s.clock.Offset }
	}
	return timeline.Span{Start: at(axis.Start), End: at(axis.End)}
}

// traceTypes are the sample types of a kind, those of go tool trace -pprof
// where it has the kind.
func traceTypes(kind sched.ProfileKind) []profile.ValueType {
	switch kind {
	case sched.ProfileCPU:
		return []profile.ValueType{{Type: "samples", Unit: "count"}}
	case sched.ProfileRunning:
		return []profile.ValueType{{Type: "runs", Unit: "count"}, {Type: "running", Unit: "nanoseconds"}}
	}
	return []profile.ValueType{{Type: "contentions", Unit: "count"}, {Type: "delay", Unit: "nanoseconds"}}
}

func traceMeaning(kind sched.ProfileKind, of string) string {
	switch {
	case kind == sched.ProfileCPU:
		return "samples of the CPU profiler that ran beside the tracer, usually one every 10 ms of CPU time"
	case of == "contentions" || of == "runs":
		return "how often"
	case kind == sched.ProfileRunning:
		return "time that goroutines had a P, by the stack at which each run ended; CPU samples say where within"
	case kind == sched.ProfileSched:
		return "time that goroutines were ready and waited for a P, by the stack of whoever made them ready"
	case kind == sched.ProfileOffCPU:
		return "time that goroutines did not run, by their own stack, with the reason as its leaf"
	}
	return "time in the state, by the goroutine's own stack"
}

// traceProfile is the profile of a kind that a range of the trace has.
func (s *subject) traceProfile(ctx context.Context, kind sched.ProfileKind, q *query, prefix string) (*profile.Profile, string, error) {
	if handedOn(ctx) && q.Get(prefix+"t0") == "" && q.Get(prefix+"t1") == "" {
		// Nobody will ask a file for a part of the time.
		whole, err := swept(ctx, s, "finding where goroutines were", sched.WholeProfiles)
		if err != nil {
			return nil, "", err
		}
		return profileOf(whole[kind], "the whole execution trace")
	}
	st, err := s.stays(ctx)
	if err != nil {
		return nil, "", err
	}
	span, said := timeline.Span{}, "the whole execution trace"
	if q.Get(prefix+"t0") != "" || q.Get(prefix+"t1") != "" {
		all := timeline.Span{Start: st.clock.At(int64(st.Span().Start)), End: st.clock.At(int64(st.Span().End))}
		part, err := (&query{q.Request, map[string][]string{"t0": {q.Get(prefix + "t0")}, "t1": {q.Get(prefix + "t1")}}}).span(all)
		if err != nil {
			return nil, "", err
		}
		span, said = st.own(part), "the range"
		if part.Overlap(all) == 0 {
			// An empty span would be all of it.
			return nil, "", nothing("The execution trace has nothing in this range: it goes from %.6g s to %.6g s.", all.Start.Seconds(), all.End.Seconds())
		}
	}
	return profileOf(st.Profile(kind, span), said)
}

// profileOf makes a profile of what a trace says of the time that said names.
func profileOf(p *sched.StateProfile, said string) (*profile.Profile, string, error) {
	kind := p.Kind
	if len(p.IDs) == 0 {
		switch kind {
		case sched.ProfileCPU:
			return nil, "", nothing("The execution trace has no CPU samples in %s. They are there when the CPU profiler runs beside the tracer.", said)
		}
		return nil, "", nothing("No goroutine was in this state in %s.", said)
	}
	out := &profile.Profile{
		SampleTypes: traceTypes(kind), PeriodType: profile.ValueType{Type: "trace", Unit: "count"}, Period: 1,
		Stacks: p.Stacks, StackIDs: p.IDs, Values: [][]int64{p.Counts},
	}
	if p.Nanos != nil {
		out.Values = append(out.Values, p.Nanos)
	}
	if p.Unfinished.Count > 0 {
		said += fmt.Sprintf("; %s of it was cut off by the end of the trace", weightText(int64(p.Unfinished.Time), "nanoseconds"))
	}
	return out, said, nil
}

// weighed returns the profile that parameters with a prefix name, and what it
// covers.
func (s *subject) weighed(ctx context.Context, q *query, prefix string) (*profile.Profile, string, error) {
	key := q.Get(prefix + "p")
	for _, k := range traceKinds {
		if k.key == key {
			return s.traceProfile(ctx, k.kind, q, prefix)
		}
	}
	in, err := s.session(ctx)
	if err != nil {
		return nil, "", err
	}
	entries := profileEntries(in.Manifest())
	i := 0
	if key != "" {
		i = slices.IndexFunc(entries, func(e recording.Entry) bool { return e.Path == key })
	}
	if i < 0 || i >= len(entries) {
		if key == "" && len(in.Manifest().Entries) > 0 {
			return s.traceProfile(ctx, sched.ProfileOffCPU, q, prefix)
		}
		return nil, "", nothing("There is no profile %q here.", key)
	}
	p, err := s.profile(ctx, entries[i].Path)
	if err != nil {
		return nil, "", err
	}
	said := covers(in.Manifest(), entries[i], p)
	if q.Get(prefix+"t0") != "" {
		said += "; a profile has no times, so the range does not restrict it"
	}
	return p, said, nil
}

// shown is what the parameters of a question choose: a report, what it covers
// and what it is compared with.
type shown struct {
	*pprof.Report
	scope   stack.Scope
	explain func() *why.Report // nil where nobody knows why it allocates
	source  func(file string) ([]byte, error)
	covers  string
	means   string // what the numbers are
	timed   bool   // it comes from a trace, whose every stay is known
	diff    bool
	warned  []string
	// a and b are the sides of a comparison, neither filtered.
	a, b *profile.Profile
}

// profileFields are the options of go tool pprof that a question may have.
var profileFields = []string{"focus", "ignore", "hide", "show", "show_from", "tagfocus", "tagignore", "noinlines", "relative_percentages"}

// recentReports keeps the reports that were asked for last: who zooms asks for
// the same one again and again.
type recentReports struct {
	mu   sync.Mutex
	keys []string
	by   map[string]*shown
}

const maxRecent = 6

// report makes the report that a question is about.
func (s *Server) report(ctx context.Context, q *query, change func(*pprof.Config), command ...string) (*shown, error) {
	sub, err := s.sources.find(q.Get("s"))
	if err != nil {
		return nil, err
	}
	recent, err := once(ctx, sub, "profile recent", func(context.Context) (*recentReports, error) {
		return &recentReports{by: map[string]*shown{}}, nil
	})
	if err != nil {
		return nil, err
	}
	key := strings.Join(command, "\x00") + fmt.Sprint(change != nil)
	for _, name := range slices.Concat([]string{"p", "t0", "t1", "type", "bs", "bp", "bt0", "bt1", "norm"}, profileFields) {
		key += "\x00" + q.Get(name)
	}
	if q.Get("bs") != "" && q.Get("bs") != sub.id {
		if other, err := s.sources.find(q.Get("bs")); err == nil {
			key += fmt.Sprint("\x00", other.pinned(ctx).version)
		}
	}
	recent.mu.Lock()
	r := recent.by[key]
	recent.mu.Unlock()
	if r != nil {
		return r, nil
	}
	if r, err = (&asked{sub, s.sources, q}).report(ctx, change, command); err != nil {
		return nil, err
	}
	recent.mu.Lock()
	defer recent.mu.Unlock()
	if recent.by[key] == nil {
		recent.keys = append(recent.keys, key)
	}
	recent.by[key] = r
	if len(recent.keys) > maxRecent {
		delete(recent.by, recent.keys[0])
		recent.keys = recent.keys[1:]
	}
	return r, nil
}

// asked is a question about a profile of a source, which may be compared with one of another.
type asked struct {
	sub     *subject
	sources *shelf
	q       *query
}

// report makes the report.
func (a *asked) report(ctx context.Context, change func(*pprof.Config), command []string) (*shown, error) {
	sub, q := a.sub, a.q
	p, said, err := sub.weighed(ctx, q, "")
	if err != nil {
		return nil, err
	}
	in, err := sub.session(ctx)
	if err != nil {
		return nil, err
	}
	r := &shown{scope: in.Scope(), covers: said}
	cfg := pprof.Defaults()
	cfg.SampleIndex = q.Get("type")
	if q.Get("bp") != "" {
		if p, err = a.against(ctx, r, p); err != nil {
			return nil, err
		}
	}
	for _, name := range profileFields {
		if v := q.Get(name); v != "" {
			if err := pprof.FindField(name).Set(&cfg, name, v); err != nil {
				return nil, &refusal{http.StatusBadRequest, err.Error()}
			}
		}
	}
	if change != nil {
		change(&cfg)
	}
	env, err := sub.profileEnv(ctx, p)
	if err != nil {
		return nil, err
	}
	r.source = func(file string) ([]byte, error) { return env.Source(file, nil) }
	env.Warn = func(m string) { r.warned = append(r.warned, m) }
	if r.Report, err = pprof.New(p, command, cfg, env); err != nil {
		return nil, &refusal{http.StatusBadRequest, err.Error()}
	}
	r.means = pprof.Meaning(r.Profile, r.Index())
	for _, k := range traceKinds {
		if k.key == q.Get("p") {
			r.means = traceMeaning(k.kind, r.Type)
			r.timed = k.kind != sched.ProfileCPU && !r.diff
		}
	}
	if set, _ := in.Compiler(); set != nil && !r.diff && slices.Contains(allocationTypes, r.Type) {
		r.explain = sync.OnceValue(func() *why.Report {
			opt := why.Options{Source: in.Source}
			if calls, err := in.Calls(); err == nil {
				opt.Callee = func(address uint64) string { return calls[address-1] }
			}
			return why.Explain(r.Profile, r.Index(), set, opt)
		})
	}
	return r, nil
}

// allocationTypes are those whose lines the compiler explains.
var allocationTypes = []string{"alloc_space", "alloc_objects", "inuse_space", "inuse_objects"}

// against subtracts what a profile is compared with.
func (a *asked) against(ctx context.Context, r *shown, p *profile.Profile) (*profile.Profile, error) {
	q := a.q
	other, err := a.sources.find(cmp.Or(q.Get("bs"), q.Get("s")))
	if err != nil {
		return nil, err
	}
	base, said, err := other.weighed(ctx, q, "b")
	if err != nil {
		return nil, fmt.Errorf("what is compared with: %w", err)
	}
	r.a, r.b, r.diff = base, p, true
	r.covers += "; compared with " + other.Name + ", " + said
	both, err := pprof.Subtract(p, base.WithLabel(pprof.BaseLabel, "true"), q.Get("norm") != "")
	if err != nil {
		return nil, &refusal{http.StatusBadRequest, "these cannot be compared: " + err.Error()}
	}
	return both, nil
}

// errNoSource tells that a source is not on this machine.
var errNoSource = errors.New("the source is neither in the recording nor on this machine")

// sourceEndings are the files that are shown as sources: a profile may name
// any file.
var sourceEndings = []string{".go", ".s", ".S", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".rs", ".java", ".py"}

// profileEnv is the world outside for reports about a profile.
func (s *subject) profileEnv(ctx context.Context, p *profile.Profile) (*pprof.Env, error) {
	o, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	return &pprof.Env{Binary: o.Binary, Source: func(file string, _ *pprof.Config) ([]byte, error) {
		if text, err := o.Session.Source(file); err == nil {
			return text, nil
		}
		if o.Source == nil || !slices.Contains(sourceEndings, path.Ext(file)) {
			return nil, errNoSource
		}
		text, err := o.Source(p, file)
		if err != nil {
			return nil, errNoSource
		}
		return text, nil
	}}, nil
}

// weights returns the stacks of a report: of one side of a comparison, or all.
func (r *shown) weights(base bool) calltree.Samples {
	p := r.Profile
	if !r.diff {
		return calltree.Samples(r.Weights())
	}
	return sideOf(r.Report, p, base)
}
