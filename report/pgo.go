package report

import (
	"fmt"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/pgo"
	"loupe/value/stack"
	"loupe/value/unit"
)

// PGOSchema is the version of the JSON of loupe pgo.
const PGOSchema = "loupe.pgo/1"

// PGODid says what became of a file.
type PGODid string

// What becomes of files.
const (
	PGOWrote    PGODid = "wrote"
	PGOReplaced PGODid = "replaced"
	PGOLeft     PGODid = "left alone" // it has the content already
)

// PGOMade is a profile for the compiler that was written.
type PGOMade struct {
	File          string
	Did           PGODid
	Size, Before  int64 // Before it was replaced
	Stacks, Calls int
	Trimmed       bool
	Weighing      pgo.Weighing // "" of a single profile
	Parts         []pgo.Part
	Cut           *PGOCut // nil where every call is kept
}

// PGOCut is what was lost with the calls that were left out.
type PGOCut struct {
	Calls, Hot int // left out; Hot of those that the compiler took for hot
	Share      float64
	Lost       []pgo.LostCall // those that were hot
}

// CutOf says what was lost between two profiles.
func CutOf(before, after *pgo.Calls) *PGOCut {
	c := &PGOCut{Calls: len(before.Weight) - len(after.Weight), Share: 1 - float64(after.Total)/float64(before.Total)}
	still := map[pgo.Call]bool{}
	for _, one := range after.Hot(pgo.HotShare) {
		still[one] = true
	}
	for _, one := range before.Hot(pgo.HotShare) {
		if !still[one] {
			why := "it is left out"
			if after.Weight[one] > 0 {
				why = "it is among the last 1% now"
			}
			c.Hot++
			c.Lost = append(c.Lost, pgo.LostCall{Call: one, Weight: before.Weight[one], Why: why})
		}
	}
	return c
}

// Sheets are the answer, in every form.
func (m *PGOMade) Sheets() *Trace {
	did := string(m.Did) + " " + m.File
	switch m.Did {
	case PGOReplaced:
		did += " (" + unit.BytesOf(float64(m.Before)) + " before)"
	case PGOLeft:
		did += ", which has this content already"
	}
	what := fmt.Sprintf("%s: %s, %s, %s", did, unit.BytesOf(float64(m.Size)), unit.Plural(m.Stacks, "stack"), unit.Plural(m.Calls, "call"))
	if m.Trimmed && m.Cut == nil {
		what += ": what the compiler reads, and all of it"
	}
	t := &Trace{Schema: PGOSchema, Facts: []Fact{
		{"summary", "", what}, {"file", "", m.File}, {"did", "", string(m.Did)}, {"bytes", "", m.Size}, {"stacks", "", m.Stacks}, {"calls", "", m.Calls},
	}}
	head := &Sheet{Title: what}
	t.Sheets = append(t.Sheets, head)
	if m.Cut != nil {
		t.Facts = append(t.Facts, Fact{"left_out_calls", "", m.Cut.Calls}, Fact{"left_out_share", "", m.Cut.Share}, Fact{"no_longer_hot", "", m.Cut.Hot})
		head.Notes = append(head.Notes, fmt.Sprintf("%s with %s of the weight left out; %s longer hot to the compiler.",
			unit.Plural(m.Cut.Calls, "call"), unit.Percent(m.Cut.Share), isNo(m.Cut.Hot)))
	}
	if len(m.Parts) > 1 {
		t.Facts = append(t.Facts, Fact{"weighing", "", string(m.Weighing)})
		s := &Sheet{Key: "parts", Title: "Made of, " + weighed(m.Weighing), Columns: []Column{
			{"name", "profile"}, {"duration_ns", "recorded"}, {"samples", "samples"}, {"factor", "times"}, {"share", "counts"},
		}}
		for _, p := range m.Parts {
			s.Rows = append(s.Rows, []any{p.Name, p.Duration, p.Samples, p.Factor, Share(p.Share)})
		}
		t.Sheets = append(t.Sheets, s)
	}
	return t
}

func isNo(n int) string {
	if n == 1 {
		return "1 call is no"
	}
	return unit.Count(int64(n)) + " calls are no"
}

func weighed(how pgo.Weighing) string {
	switch how {
	case pgo.ByRate:
		return "by CPU time per second of recording"
	case pgo.Equally:
		return "each with the same say"
	}
	return "each sample with the same say"
}

// PGOJudged is what was found out about a profile for the compiler.
type PGOJudged struct {
	Profile, Package string
	Match            *pgo.Match
	Age              PGOAge
	Done             PGODone
	// Gain are the figures with the profile against those without, GainOf what was measured; nil
	// where nothing was.
	Gain   []compare.Figure
	GainOf string
	Notes  []string
	// Sizes are those of the binary without the profile and with it, BuildTimes how long the go
	// command took; 0 where it was not built.
	Sizes      [2]int64
	BuildTimes [2]time.Duration
	Rows       int // of each table, at most
}

// PGOAge is how old a profile is.
type PGOAge struct {
	Taken   time.Time // zero is not known
	Now     time.Time
	Go      []string // that built the programs that it is of
	Since   string   // what Commits counts from: a revision or a time
	Commits int      // -1: not known, as Why says
	Why     string
	Edits   []PGOEdit // of hot functions
	Asked   int       // of how many hot functions git was asked
}

// PGOEdit is a hot function that commits have touched.
type PGOEdit struct {
	Function, File, Last string
	Commits              int
	Weight               int64
}

// PGODone is what the compiler did by a profile.
type PGODone struct {
	Inlined, TooBig, Devirtualized int
}

// Sentence is the answer in short.
func (j *PGOJudged) Sentence() string {
	parts := []string{fmt.Sprintf("%s of the weight of %s still finds its call", unit.Percent(j.Match.Share()), j.Profile)}
	if !j.Age.Taken.IsZero() {
		parts = append(parts, "it is "+age(j.Age.Now.Sub(j.Age.Taken))+" old")
	}
	parts = append(parts, fmt.Sprintf("%s inlined by it and %s made direct", unit.Plural(j.Done.Inlined, "call"), unit.Count(int64(j.Done.Devirtualized))))
	for _, f := range j.Gain {
		if strings.HasSuffix(f.Unit, "cpu-ns/op") {
			parts = append(parts, gainOf(f))
			if len(j.benchmarks()) > 1 {
				parts[len(parts)-1] += " in " + strings.TrimPrefix(f.Name, "Benchmark")
			}
			break
		}
	}
	return strings.Join(parts, "; ")
}

func (j *PGOJudged) benchmarks() map[string]bool {
	names := map[string]bool{}
	for _, f := range j.Gain {
		names[f.Package+f.Name] = true
	}
	return names
}

// gainOf says in words what the CPU time came to.
func gainOf(f compare.Figure) string {
	text := "CPU time is undecided"
	switch f.Verdict {
	case compare.Faster:
		text = "CPU time is less with it"
	case compare.Slower:
		text = "CPU time is more with it"
	case compare.Same:
		text = "CPU time is the same"
	}
	return text + ", " + change(f.Change)
}

func age(d time.Duration) string {
	switch {
	case d < 2*time.Hour:
		return unit.Plural(int64(max(0, d)/time.Minute), "minute")
	case d < 48*time.Hour:
		return unit.Plural(int64(d/time.Hour), "hour")
	}
	return unit.Plural(int64(d/(24*time.Hour)), "day")
}

// Sheets are the answer, in every form.
func (j *PGOJudged) Sheets() *Trace {
	t := &Trace{Schema: PGOSchema, Facts: []Fact{
		{"sentence", "", j.Sentence()}, {"profile", "", j.Profile}, {"package", "", j.Package}, {"match", "", j.Match.Share()},
		{"hot_calls", "", j.Match.Hot}, {"hot_calls_found", "", j.Match.HotFound},
		{"inlined", "", j.Done.Inlined}, {"not_inlined_in_big_functions", "", j.Done.TooBig}, {"devirtualized", "", j.Done.Devirtualized},
	}}
	if !j.Age.Taken.IsZero() {
		t.Facts = append(t.Facts, Fact{"taken", "", j.Age.Taken.UTC().Format(time.RFC3339)})
	}
	if j.Age.Commits >= 0 {
		t.Facts = append(t.Facts, Fact{"commits_since", "", j.Age.Commits})
	}
	if j.Sizes[0] > 0 && j.Sizes[1] > 0 {
		t.Facts = append(t.Facts, Fact{"binary_bytes_without", "", j.Sizes[0]}, Fact{"binary_bytes_with", "", j.Sizes[1]})
	}
	t.Sheets = append(t.Sheets, &Sheet{Title: j.Sentence()}, j.matchSheet())
	if s := j.lostSheet(); len(s.Rows) > 0 {
		t.Sheets = append(t.Sheets, s)
	}
	t.Sheets = append(t.Sheets, j.ageSheet(), j.doneSheet())
	if len(j.Gain) > 0 {
		s := FigureSheet(j.Gain, [2]string{"without", "with"})
		t.Facts = append(t.Facts, Fact{"gain_of", "", j.GainOf}, Fact{"figures", "", MeasuredFigures(j.Gain, "without the profile")})
		s.Key, s.Title = "", "What it gains: "+j.GainOf
		s.Notes = append(s.Notes, j.Notes...)
		t.Sheets = append(t.Sheets, s)
	} else if len(j.Notes) > 0 {
		t.Sheets[len(t.Sheets)-1].Notes = append(t.Sheets[len(t.Sheets)-1].Notes, j.Notes...)
	}
	return t
}

func (j *PGOJudged) matchSheet() *Sheet {
	m := j.Match
	s := &Sheet{Key: "fates", Title: "Match, by the weight of calls", Columns: []Column{{"share", "share"}, {"fate", ""}, {"means", "calls"}}}
	for _, f := range []struct {
		fate  pgo.Fate
		means string
	}{
		{pgo.Found, "the compiler finds on their line, counted from the begin of the function"},
		{pgo.Moved, "are on another line of the function now"},
		{pgo.Changed, "are no longer made by that function"},
		{pgo.Gone, "are of functions that are no longer in the program"},
	} {
		s.Rows = append(s.Rows, []any{Share(shareIn(m.Weight[f.fate], m.Usable())), string(f.fate), f.means})
	}
	s.Notes = []string{fmt.Sprintf("%s of the calls that the compiler takes for hot are found, of %s.", unit.Count(int64(m.HotFound)), unit.Count(int64(m.Hot)))}
	if v := m.Weight[pgo.Sourceless]; v > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s more of the profile is no call in the source (allocation, maps, the runtime, assembly, deferred calls, copies of func literals): no profile can guide those.",
			unit.Percent(shareIn(v, m.Total))))
	}
	return s
}

func shareIn(a, b int64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func (j *PGOJudged) lostSheet() *Sheet {
	s := &Sheet{Key: "lost", Title: "The heaviest that are lost", Columns: []Column{{"share", "share"}, {"caller", "caller"}, {"callee", "callee"}, {"why", "why"}}}
	lost := j.Match.Lost
	for _, l := range lost[:min(j.Rows, len(lost))] {
		s.Rows = append(s.Rows, []any{
			Share(shareIn(l.Weight, j.Match.Usable())), fmt.Sprintf("%s+%d", stack.FoldGenerics(l.Caller), l.Offset), stack.FoldGenerics(l.Callee), stack.FoldGenerics(l.Why),
		})
	}
	if more := len(lost) - j.Rows; more > 0 {
		s.Notes = []string{unit.Plural(more, "more call") + " (-n shows more)."}
	}
	return s
}

func (j *PGOJudged) ageSheet() *Sheet {
	a := &j.Age
	s := &Sheet{Key: "edits", Title: "Age: ", Columns: []Column{{"commits", "commits"}, {"function", "hot function"}, {"file", "file"}, {"last", "the last"}}}
	switch {
	case a.Taken.IsZero():
		s.Title += "the profile does not say when it was taken"
	default:
		s.Title += "taken " + a.Taken.UTC().Format("2006-01-02 15:04") + " UTC, " + age(a.Now.Sub(a.Taken)) + " ago"
	}
	if len(a.Go) > 0 {
		s.Title += ", of a program built by " + strings.Join(a.Go, ", ")
	}
	if a.Commits < 0 {
		s.Notes = append(s.Notes, "Commits since are not known: "+a.Why+".")
		return s
	}
	for _, e := range a.Edits[:min(j.Rows, len(a.Edits))] {
		s.Rows = append(s.Rows, []any{e.Commits, stack.FoldGenerics(e.Function), e.File, e.Last})
	}
	switch {
	case a.Commits == 0:
		s.Notes = append(s.Notes, "No commit since "+a.Since+".")
	case a.Asked == 0:
		s.Notes = append(s.Notes, fmt.Sprintf("%s since %s; no hot function is in this repository.", unit.Plural(a.Commits, "commit"), a.Since))
	case len(a.Edits) == 0:
		s.Notes = append(s.Notes, fmt.Sprintf("%s since %s; none has touched the %s of the repository that were looked at.", unit.Plural(a.Commits, "commit"), a.Since, unit.Plural(a.Asked, "hottest function")))
	default:
		s.Notes = append(s.Notes, fmt.Sprintf("%s since %s, which have touched %s of the %s of the repository that were looked at.", unit.Plural(a.Commits, "commit"), a.Since, unit.Count(int64(len(a.Edits))), unit.Plural(a.Asked, "hottest function")))
	}
	return s
}

func (j *PGOJudged) doneSheet() *Sheet {
	s := &Sheet{Key: "compiler", Title: "What the compiler did by it", Columns: []Column{{"count", "calls"}, {"what", ""}}, Rows: [][]any{
		{j.Done.Inlined, "inlined, although the callee is larger than what is inlined otherwise"},
		{j.Done.Devirtualized, "through interfaces and func values made direct, where the usual callee is met"},
		{j.Done.TooBig, "hot and not inlined, because the caller is too big"},
	}}
	if j.Sizes[0] > 0 && j.Sizes[1] > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("The binary is %s without the profile and %s with it, %s.",
			unit.BytesOf(float64(j.Sizes[0])), unit.BytesOf(float64(j.Sizes[1])), unit.Change(float64(j.Sizes[1])/float64(j.Sizes[0]))))
	}
	if j.BuildTimes[0] > 0 && j.BuildTimes[1] > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("The builds took %s without and %s with it, with what was in the build cache: once each, which is no comparison.",
			unit.Duration(j.BuildTimes[0]), unit.Duration(j.BuildTimes[1])))
	}
	return s
}
