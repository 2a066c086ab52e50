package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// A rule is fine only where it could have found something. What was cut, lost or
// damaged, and functions without names, may hold what it looks for: then it is
// unknown ([TooLittle]) and not [Fine]. A finding that stands is one all the same.

// gaps are what is missing of the evidence.
type gaps struct{ *Input }

// minKnown is the share of a profile that must have names before the absence of
// something says anything. Chosen: the limits of the rules are some hundredths,
// but C code and the kernel have no names in good profiles either.
const minKnown = 0.8

// Incomplete says what of the recording was cut, lost or damaged, one clause for
// each file, with what to do about it. It is empty where all is there.
func (in *Input) Incomplete() []string { return gaps{in}.all() }

func (in gaps) all() (all []string) {
	if !in.Session.Manifest().Complete {
		all = append(all, "the recording was cut off, or is still being written: what is here is valid, but the end is missing")
	}
	seen := map[string]bool{}
	for _, e := range in.Session.Manifest().Entries {
		if seen[e.Path] {
			continue
		}
		seen[e.Path] = true
		main, ok := in.Session.Manifest().Main(e.Kind)
		isMain := ok && main.Path == e.Path
		why := cmp.Or(in.cut(e), in.endsWithin(e))
		if why == "" && isMain {
			why = in.unreadable(e)
		}
		if why != "" {
			all = append(all, why)
		}
		if isMain {
			if why := in.unnamed(e.Kind); why != "" {
				all = append(all, why)
			}
		}
	}
	if why := in.withoutSymbols(); why != "" {
		all = append(all, why)
	}
	if why := in.outdated(); why != "" {
		all = append(all, why)
	}
	return append(all, in.faults...)
}

// outdated says which sources are not what the program was built from, of which nothing is read.
func (in gaps) outdated() string {
	names := map[string]string{}
	for _, e := range in.Session.Manifest().Of(recording.Source) {
		names[e.Source] = e.SourceName()
	}
	var all []string
	for _, file := range in.Session.Outdated() {
		all = append(all, strings.TrimPrefix(names[file], "abs"))
	}
	const most = 3
	switch n := len(all); {
	case n == 0:
		return ""
	case n == 1:
		return all[0] + " has changed since the program was built: nothing is told from this file; build the program anew and record that"
	case n > most:
		all = append(all[:most-1], fmt.Sprintf("%d more files", n-most+1))
	}
	return andList(all) + " have changed since the program was built: nothing is told from these files; build the program anew and record that"
}

// withoutSymbols says that the program is stripped, where no profile tells [be01] whether
// anything is missing for it.
func (in gaps) withoutSymbols() string {
	switch t := &in.Session.Manifest().Target; {
	case in.missing(be01) == "":
	case stripped(t.BuildSettings["-ldflags"]):
		return "the program is stripped (-ldflags " + t.BuildSettings["-ldflags"] + "): C functions and variables have no names; build it without -s and -w"
	case t.Stripped:
		return "the program is stripped (its file has no symbol table): C functions and variables have no names; record it before strip"
	}
	return ""
}

// stripped tells whether flags of the linker leave the tables of symbols out.
func stripped(flags string) bool {
	return slices.ContainsFunc(strings.Fields(flags), func(f string) bool {
		f = "-" + strings.TrimLeft(strings.Trim(f, `"'`), "-")
		return f == "-s" || f == "-s=true" || f == "-w" || f == "-w=true"
	})
}

// cut says what is missing of an entry, and what to do; empty when nothing is.
func (in gaps) cut(e recording.Entry) string {
	if p, ok := in.Session.Manifest().PhaseNamed(e.Phase); ok && p.Error != "" && isCapture(e.Kind) {
		return fmt.Sprintf("phase %s, which %s belongs to, failed (%s): record it again", p.Name, e.Path, p.Error)
	}
	if e.Kind == recording.ExecTrace {
		if main, ok := in.Session.Manifest().Main(recording.ExecTrace); !ok || main.Path != e.Path {
			return partial(e)
		}
		t := in.trace()
		if t.Err == nil && len(t.Info.Problems) > 0 {
			return fmt.Sprintf("not all of %s could be read (%v): record the trace again", e.Path, t.Info.Problems[0])
		}
	}
	if n := in.Session.Unread(e); n > 0 {
		return fmt.Sprintf("%s of %s cannot be read, and what depends on them is not known: record it again", unit.Plural(n, "line"), e.Path)
	}
	return partial(e)
}

// unreadable says of the main profile or trace of its kind that it is not there or makes no sense; empty when it is none.
func (in gaps) unreadable(e recording.Entry) string {
	var err error
	switch {
	case e.Kind == recording.ExecTrace:
		_, _, err = in.Session.Trace()
	case strings.HasPrefix(string(e.Kind), "pprof."):
		_, err = in.Session.ProfileAt(e.Path)
	}
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%s cannot be read (%v): record it again", e.Path, err)
}

// endsWithin says of a log that it ends within a line, or within a dump, although
// nothing tells that its program has ended there; empty when it does not. One that is
// still being written, or whose program was killed, is a shorter log. So it is for all
// rules but the one that asks how the program ended.
func (in gaps) endsWithin(e recording.Entry) string {
	m := in.Session.Manifest()
	if e.Kind != recording.Stderr || e.Run >= 0 && e.Run < len(m.Target.Runs) && m.Target.Runs[e.Run].Exit != "" || !m.Complete {
		return ""
	}
	l, err := in.Session.Runtime(e.Run)
	if err != nil || l.Ends == nil && !l.Open {
		return ""
	}
	return fmt.Sprintf("%s ends in the middle of a line: it was truncated, or is still being written, and the rest is missing: get the complete file", e.Path)
}

// partial says of a capture that was not closed that its end is missing. A log
// that ends early is a shorter log.
func partial(e recording.Entry) string {
	if e.Partial && isCapture(e.Kind) {
		return fmt.Sprintf("%s was cut off, its end is missing: record it again", e.Path)
	}
	return ""
}

// isCapture tells whether an entry of a kind is one piece, which is worth little
// without its end: a trace or a profile, not a log.
func isCapture(kind recording.Kind) bool {
	return kind == recording.ExecTrace || strings.HasPrefix(string(kind), "pprof.")
}

// unnamed says that too much of the main profile of a kind has no names of
// functions; empty when enough has.
func (in gaps) unnamed(kind recording.Kind) string {
	if !strings.HasPrefix(string(kind), "pprof.") {
		return ""
	}
	p, entry, err := in.Session.Profile(kind)
	if err != nil || len(p.SampleTypes) == 0 {
		return ""
	}
	if known := named(p); known < minKnown {
		return fmt.Sprintf("%s of %s has no function names: symbolize it with its program (loupe pprof -proto PROGRAM %s)",
			unit.Percent(1-known), entry.Path, baseName(entry.Path))
	}
	return ""
}

// named is the share of a profile with a named function on its stacks, by the
// first type of sample that has any weight; 1 where none has. A stack without code, as
// a profile has of goroutines that have not begun yet, has nothing to be named.
func named(p *profile.Profile) float64 {
	for index := range p.SampleTypes {
		all, known := int64(0), int64(0)
		for id, w := range p.Samples(index) {
			frames := p.Stacks.Frames(id)
			if w <= 0 || !slices.ContainsFunc(frames, func(f stack.FrameID) bool { return p.Stacks.Frame(f).Address != beforeZero }) {
				continue
			}
			all += w
			if slices.ContainsFunc(frames, func(f stack.FrameID) bool { return isName(p.Stacks.Frame(f).Func) }) {
				known += w
			}
		}
		if all > 0 {
			return float64(known) / float64(all)
		}
	}
	return 1
}

// beforeZero is where a call would be that returns to 0. Package runtime/pprof writes the unused rest of
// the stacks of a threadcreate profile as such calls.
const beforeZero = math.MaxUint64

// isName tells a name from none, and from an address that somebody has put in
// its place.
func isName(function string) bool { return function != "" && !strings.HasPrefix(function, "0x") }

// lacks says what of the evidence that a rule judges is missing; empty when
// nothing is.
func (in gaps) lacks(r *Rule) string {
	m := in.Session.Manifest()
	kinds := r.from()
	if slices.Contains(kinds, recording.CPU) && len(m.Of(recording.CPU)) == 0 {
		kinds = append(kinds, recording.ExecTrace) // which has the samples
	}
	for _, kind := range kinds {
		e, ok := m.Main(kind)
		if !ok {
			continue
		}
		if why := cmp.Or(in.cut(e), in.unnamed(kind)); why != "" {
			return why
		}
	}
	if r == fa01 {
		for _, e := range m.Of(recording.Stderr) {
			if why := in.endsWithin(e); why != "" {
				return why
			}
		}
	}
	if r == gc08 || r == gc09 {
		if why := in.outside(); why != "" {
			return why
		}
	}
	if slices.Contains(kinds, recording.Compiler) {
		if _, err := in.Session.Compiler(); err != nil {
			return fmt.Sprintf("not all of the compiler's output could be read (%v): record again", err)
		}
		if slices.Contains(kinds, recording.CPU) {
			return in.unasked()
		}
	}
	return ""
}

// outsideLeast is by how much the memory of a process has to grow beyond what Go
// knows of before that is told: by so many bytes, and by a fifth of what it was.
const (
	outsideLeast  = 32 << 20
	outsideGrowth = 0.2
)

// outside says that the process has taken memory of which Go knows nothing: that
// of C code, or files that were mapped. No profile of Go shows it.
func (in gaps) outside() string {
	samples, err := in.Session.OS()
	set, serr := in.Session.Metrics(0)
	if err != nil || serr != nil || len(samples) == 0 {
		return ""
	}
	total, released := set.Series("/memory/classes/total:bytes"), set.Series("/memory/classes/heap/released:bytes")
	if len(total.Values) == 0 {
		total, released = set.Series("memstats.Sys"), set.Series("memstats.HeapReleased")
	}
	last := func(s timeline.Series, at timeline.Time) float64 {
		before := s.In(timeline.Span{Start: math.MinInt64, End: at + 1})
		if len(before.Values) == 0 {
			return 0
		}
		return before.Values[len(before.Values)-1]
	}
	var rss, beyond []float64
	for _, s := range samples {
		if s.PID != samples[0].PID || s.RSS == 0 || len(total.Times) == 0 || s.At < total.Times[0] || s.At > total.Times[len(total.Times)-1].Add(2*time.Second) {
			continue
		}
		rss = append(rss, float64(s.RSS))
		// What Go has mapped and not given back may all be resident.
		beyond = append(beyond, max(0, float64(s.RSS)-(last(total, s.At)-last(released, s.At))))
	}
	if len(rss) < 2 {
		return ""
	}
	end := len(rss) - 1
	if grown := beyond[end] - beyond[0]; grown < outsideLeast || grown < outsideGrowth*rss[0] {
		return ""
	}
	return fmt.Sprintf("the process grew from %s to %s resident, %s of which is outside the Go runtime (C code, or files mapped into memory): no Go profile shows that; a malloc profiler such as heaptrack does",
		unit.BytesOf(rss[0]), unit.BytesOf(rss[end]), unit.BytesOf(beyond[end]-beyond[0]))
}

// unaskedShare is the share of the CPU time in code about which the compiler was
// not asked from which on its silence says nothing: the smallest limit of the
// rules that hold one against the other.
const unaskedShare = 0.05

// unasked says that much of the CPU time is that of the user's packages about
// which the compiler has said nothing.
func (in gaps) unasked() string {
	cpu, err := in.Facts.Weights(facts.CPU, "samples")
	set, _ := in.compiled()
	if err != nil || set == nil {
		return ""
	}
	p, index, entry := cpu.Profile, cpu.Index, cpu.Entry
	missing, most, heaviest := int64(0), "", int64(0)
	by := map[string]int64{}
	for _, l := range in.ownLines(p, index, []string{interrupted}, lineOf) {
		pkg := stack.Package(l.at.Func)
		if set.Packages[pkg] {
			continue
		}
		missing += l.samples
		if by[pkg] += l.samples; by[pkg] > heaviest {
			most, heaviest = pkg, by[pkg]
		}
	}
	share := float64(missing) / float64(max(1, p.Total(index)))
	if share < unaskedShare {
		return ""
	}
	return fmt.Sprintf("there is no compiler output for package %s and similar ones, which take %s of the CPU time in %s: record with loupe run in the module of that package",
		most, unit.Percent(share), entry.Path)
}

// settleFine turns answers that are fine into unknown ones where evidence is
// missing.
func (in gaps) settleFine(r *Rule, answers []Finding) []Finding {
	if !slices.ContainsFunc(answers, func(f Finding) bool { return f.State == Fine }) {
		return answers
	}
	why := in.lacks(r)
	if why == "" {
		return answers
	}
	for i := range answers {
		if f := &answers[i]; f.State == Fine {
			f.State, f.Summary = TooLittle, "cannot tell: "+why+". From what is there: "+f.Summary
		}
	}
	return answers
}

// Judged is how many rules could judge a recording, of how many.
type Judged struct {
	// Could is the number of rules that found something or are fine, Unknown of
	// those that had too little, Without of those whose data were not recorded.
	Could, Unknown, Without int
	// Record are what most rules are without, most wanted first: "execution
	// trace (record with -phases trace)".
	Record []string
	// Failed are those that were asked for and are not there, with the reason: "execution trace (the program
	// ended)".
	Failed []string
}

// Judge counts what rules could answer.
func Judge(m *recording.Manifest, all []Finding) (j Judged) {
	state := states(all)
	wanted := map[recording.Kind]int{}
	for _, r := range Rules() {
		switch state[r.ID] {
		case Found, Fine:
			j.Could++
		case TooLittle:
			j.Unknown++
		case NotApplicable:
			if !slices.ContainsFunc(r.Asks, func(q facts.Question) bool { return !q.Answered(m) }) {
				break // it has no say here, whatever is recorded
			}
			j.Without++
			for _, q := range r.Asks {
				if !q.Answered(m) {
					wanted[q.From()[0]]++
				}
			}
		}
	}
	var kinds []recording.Kind
	for kind := range wanted {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b recording.Kind) int {
		return cmp.Or(wanted[b]-wanted[a], strings.Compare(string(a), string(b)))
	})
	j.Failed, kinds = unrecorded(m, kinds)
	for _, kind := range kinds[:min(3, len(kinds))] {
		j.Record = append(j.Record, facts.Describe(kind))
	}
	return j
}

// unrecorded says of the kinds that were asked for and are not there why, those of one reason together, and
// returns the others.
func unrecorded(m *recording.Manifest, kinds []recording.Kind) (failed []string, others []recording.Kind) {
	var reasons []string
	of := map[string][]string{}
	for _, kind := range kinds {
		why := facts.Unrecorded(m, kind)
		if why == "" {
			others = append(others, kind)
			continue
		}
		if of[why] == nil {
			reasons = append(reasons, why)
		}
		of[why] = append(of[why], facts.Name(kind))
	}
	for _, why := range reasons {
		failed = append(failed, strings.Join(of[why], ", ")+" ("+why+")")
	}
	return failed, others
}

// Headline says what a report without findings is worth, in one or two
// sentences: a recording in which few rules could look is no clean bill.
func (j Judged) Headline() string {
	all := j.Could + j.Unknown + j.Without
	var text string
	switch {
	case j.Could == 0:
		text = fmt.Sprintf("No rule could judge this: none of %s has the data it needs.", unit.Plural(int64(all), "rule"))
	case 2*j.Could < all:
		text = fmt.Sprintf("Little could be judged: %d of the %s that may apply found nothing, and %d had too little data, or none.", j.Could, unit.Plural(int64(all), "rule"), all-j.Could)
	default:
		text = fmt.Sprintf("The %d of %s that could be applied found nothing.", j.Could, unit.Plural(int64(all), "rule"))
	}
	if len(j.Failed) > 0 {
		text += " Asked for, but not recorded: " + strings.Join(j.Failed, "; ") + "."
	}
	if len(j.Record) > 0 && j.Without > 0 {
		text += " Not recorded: " + strings.Join(j.Record, "; ") + "."
	} else if j.Unknown > 0 && len(j.Failed) == 0 {
		text += " What the others need is listed below."
	}
	return text
}
