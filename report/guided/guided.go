// Package guided shows what loupe pgo has made of profiles for the compiler, and found out about
// them.
package guided

import (
	"fmt"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/pgo"
	"loupe/report"
	"loupe/value/stack"
	"loupe/value/unit"
)

// Schema is the version of the JSON of loupe pgo.
const Schema = "loupe.pgo/1"

// Did says what became of a file.
type Did string

// What becomes of files.
const (
	Wrote    Did = "wrote"
	Replaced Did = "replaced"
	Left     Did = "left alone" // it has the content already
)

// Made is a profile for the compiler that was written.
type Made struct {
	File          string
	Did           Did
	Size, Before  int64 // Before it was replaced
	Stacks, Calls int
	Trimmed       bool
	Weighing      pgo.Weighing // "" of a single profile
	Parts         []pgo.Part
	Cut           *Cut // nil where every call is kept
}

// Cut is what was lost with the calls that were left out.
type Cut struct {
	Calls, Hot int // left out; Hot of those that the compiler took for hot
	Share      float64
	Lost       []pgo.LostCall // those that were hot
}

// CutOf says what was lost between two profiles.
func CutOf(before, after *pgo.Calls) *Cut {
	c := &Cut{Calls: len(before.Weight) - len(after.Weight), Share: 1 - float64(after.Total)/float64(before.Total)}
	still := map[pgo.Call]bool{}
	for _, one := range after.Hot(pgo.HotShare) {
		still[one] = true
	}
	for _, one := range before.Hot(pgo.HotShare) {
		if !still[one] {
			why := "it is left out"
			if after.Weight[one] > 0 {
				why = "it is now among the last 1%"
			}
			c.Hot++
			c.Lost = append(c.Lost, pgo.LostCall{Call: one, Weight: before.Weight[one], Why: why})
		}
	}
	return c
}

// Sheets are the answer, in every form.
func (m *Made) Sheets() *report.Trace {
	did := string(m.Did) + " " + m.File
	switch m.Did {
	case Replaced:
		did += " (" + unit.BytesOf(float64(m.Before)) + " before)"
	case Left:
		did += ", which already has this content"
	}
	what := fmt.Sprintf("%s: %s, %s, %s", did, unit.BytesOf(float64(m.Size)), unit.Plural(m.Stacks, "stack"), unit.Plural(m.Calls, "call"))
	if m.Trimmed && m.Cut == nil {
		what += ": what the compiler reads, and all of it"
	}
	t := &report.Trace{Schema: Schema, Facts: []report.Fact{
		fact("summary", what), fact("file", m.File), fact("did", string(m.Did)), fact("bytes", m.Size), fact("stacks", m.Stacks), fact("calls", m.Calls),
	}}
	head := &report.Sheet{Title: what}
	t.Sheets = append(t.Sheets, head)
	if m.Cut != nil {
		t.Facts = append(t.Facts, fact("left_out_calls", m.Cut.Calls), fact("left_out_share", m.Cut.Share), fact("no_longer_hot", m.Cut.Hot))
		head.Notes = append(head.Notes, fmt.Sprintf("%s with %s of the weight left out; %s longer hot for the compiler.",
			unit.Plural(m.Cut.Calls, "call"), unit.Percent(m.Cut.Share), isNo(m.Cut.Hot)))
	}
	if len(m.Parts) > 1 {
		t.Facts = append(t.Facts, fact("weighing", string(m.Weighing)))
		s := &report.Sheet{Key: "parts", Title: "Made of, " + weighed(m.Weighing), Columns: columns("name", "profile", "duration_ns", "recorded", "samples", "samples", "factor", "times", "share", "counts")}
		for _, p := range m.Parts {
			s.Rows = append(s.Rows, []any{p.Name, p.Duration, p.Samples, p.Factor, report.Share(p.Share)})
		}
		t.Sheets = append(t.Sheets, s)
	}
	return t
}

// fact is one that text does not show: the sentence has it.
func fact(key string, value any) report.Fact { return report.Fact{Key: key, Value: value} }

// columns are those of a table, each by its key and its heading.
func columns(words ...string) (out []report.Column) {
	for i := 0; i < len(words); i += 2 {
		out = append(out, report.Column{Key: words[i], Head: words[i+1]})
	}
	return out
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
		return "each with equal weight"
	}
	return "each sample with equal weight"
}

// Judged is what was found out about a profile for the compiler.
type Judged struct {
	Profile, Package string
	Match            *pgo.Match
	Age              Age
	Done             Done
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

// Age is how old a profile is.
type Age struct {
	Taken   time.Time // zero is not known
	Now     time.Time
	Go      []string // that built the programs that it is of
	Since   string   // what Commits counts from: a revision or a time
	Edited  bool     // the files differed from that revision when the program was built
	Commits int      // -1: not known, as Why says
	Why     string
	Edits   []Edit // of hot functions
	Asked   int    // of how many hot functions git was asked
}

// Edit is a hot function that commits have touched.
type Edit struct {
	Function, File, Last string
	Commits              int
	Weight               int64
}

// Done is what the compiler did by a profile.
type Done struct {
	Inlined, TooBig, Devirtualized int
}

// Sentence is the answer in short.
func (j *Judged) Sentence() string {
	parts := []string{fmt.Sprintf("%s of the weight of %s still matches a call", unit.Percent(j.Match.Share()), j.Profile)}
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

func (j *Judged) benchmarks() map[string]bool {
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
		text = "CPU time is lower with it"
	case compare.Slower:
		text = "CPU time is higher with it"
	case compare.Same:
		text = "CPU time is the same"
	}
	return text + ", " + change(f)
}

// change prints a ratio with its interval.
func change(f compare.Figure) string {
	text := unit.Change(float64(f.Ratio))
	if f.Low.Known() && f.High.Known() {
		text += fmt.Sprintf(" [%s, %s]", unit.Change(float64(f.Low)), unit.Change(float64(f.High)))
	}
	return text
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
func (j *Judged) Sheets() *report.Trace {
	t := &report.Trace{Schema: Schema, Facts: []report.Fact{
		fact("sentence", j.Sentence()), fact("profile", j.Profile), fact("package", j.Package), fact("match", j.Match.Share()),
		fact("hot_calls", j.Match.Hot), fact("hot_calls_found", j.Match.HotFound),
		fact("inlined", j.Done.Inlined), fact("not_inlined_in_big_functions", j.Done.TooBig), fact("devirtualized", j.Done.Devirtualized),
	}}
	if !j.Age.Taken.IsZero() {
		t.Facts = append(t.Facts, fact("taken", j.Age.Taken.UTC().Format(time.RFC3339)))
	}
	if j.Age.Commits >= 0 {
		t.Facts = append(t.Facts, fact("commits_since", j.Age.Commits))
	}
	if j.Age.Edited {
		t.Facts = append(t.Facts, fact("edited", true))
	}
	if j.Sizes[0] > 0 && j.Sizes[1] > 0 {
		t.Facts = append(t.Facts, fact("binary_bytes_without", j.Sizes[0]), fact("binary_bytes_with", j.Sizes[1]))
	}
	t.Sheets = append(t.Sheets, &report.Sheet{Title: j.Sentence()}, j.matchSheet())
	if s := j.lostSheet(); len(s.Rows) > 0 {
		t.Sheets = append(t.Sheets, s)
	}
	t.Sheets = append(t.Sheets, j.ageSheet(), j.doneSheet())
	if len(j.Gain) > 0 {
		s := report.FigureSheet(j.Gain, [2]string{"without", "with"})
		t.Facts = append(t.Facts, fact("gain_of", j.GainOf), fact("figures", report.MeasuredFigures(j.Gain, "without the profile")))
		s.Key, s.Title = "", "What it gains: "+j.GainOf
		s.Notes = append(s.Notes, j.Notes...)
		t.Sheets = append(t.Sheets, s)
	} else if len(j.Notes) > 0 {
		t.Sheets[len(t.Sheets)-1].Notes = append(t.Sheets[len(t.Sheets)-1].Notes, j.Notes...)
	}
	return t
}

func (j *Judged) matchSheet() *report.Sheet {
	m := j.Match
	s := &report.Sheet{Key: "fates", Title: "Match, by the weight of calls", Columns: columns("share", "share", "fate", "", "means", "calls")}
	for _, f := range []struct {
		fate  pgo.Fate
		means string
	}{
		{pgo.Found, "found by the compiler on their line, counted from the start of the function"},
		{pgo.Moved, "are now on another line of the function"},
		{pgo.Changed, "are no longer made by that function"},
		{pgo.Gone, "belong to functions that are no longer in the program"},
	} {
		s.Rows = append(s.Rows, []any{report.Share(shareIn(m.Weight[f.fate], m.Usable())), string(f.fate), f.means})
	}
	s.Notes = []string{fmt.Sprintf("The compiler finds %s of the %s calls it considers hot.", unit.Count(int64(m.HotFound)), unit.Count(int64(m.Hot)))}
	if v := m.Weight[pgo.Sourceless]; v > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("Another %s of the profile has no call in the source (allocation, maps, the runtime, assembly, deferred calls, copies of func literals): no profile can guide those.",
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

func (j *Judged) lostSheet() *report.Sheet {
	s := &report.Sheet{Key: "lost", Title: "The heaviest lost calls", Columns: columns("share", "share", "caller", "caller", "callee", "callee", "why", "why")}
	lost := j.Match.Lost
	for _, l := range lost[:min(j.Rows, len(lost))] {
		s.Rows = append(s.Rows, []any{
			report.Share(shareIn(l.Weight, j.Match.Usable())), fmt.Sprintf("%s+%d", stack.FoldGenerics(l.Caller), l.Offset), stack.FoldGenerics(l.Callee), stack.FoldGenerics(l.Why),
		})
	}
	if more := len(lost) - j.Rows; more > 0 {
		s.Notes = []string{unit.Plural(more, "more call") + " (-n shows more)."}
	}
	return s
}

func (j *Judged) ageSheet() *report.Sheet {
	a := &j.Age
	s := &report.Sheet{Key: "edits", Title: "Age: ", Columns: columns("commits", "commits", "function", "hot function", "file", "file", "last", "the last")}
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
		s.Notes = append(s.Notes, fmt.Sprintf("%s since %s; none has touched the %s of the repository that were examined.", unit.Plural(a.Commits, "commit"), a.Since, unit.Plural(a.Asked, "hottest function")))
	default:
		s.Notes = append(s.Notes, fmt.Sprintf("%s since %s, which have touched %s of the %s of the repository that were examined.", unit.Plural(a.Commits, "commit"), a.Since, unit.Count(int64(len(a.Edits))), unit.Plural(a.Asked, "hottest function")))
	}
	if a.Edited {
		s.Notes = append(s.Notes, "The program was built from files edited since that revision: their content is not in git.")
	}
	return s
}

func (j *Judged) doneSheet() *report.Sheet {
	s := &report.Sheet{Key: "compiler", Title: "What the compiler did with it", Columns: columns("count", "calls", "what", ""), Rows: [][]any{
		{j.Done.Inlined, "inlined, although the callee is larger than the usual limit"},
		{j.Done.Devirtualized, "calls through interfaces and func values made direct, for the most frequent callee"},
		{j.Done.TooBig, "hot and not inlined, because the caller is too big"},
	}}
	if j.Sizes[0] > 0 && j.Sizes[1] > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("The binary is %s without the profile and %s with it, %s.",
			unit.BytesOf(float64(j.Sizes[0])), unit.BytesOf(float64(j.Sizes[1])), unit.Change(float64(j.Sizes[1])/float64(j.Sizes[0]))))
	}
	if j.BuildTimes[0] > 0 && j.BuildTimes[1] > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("The builds took %s without and %s with it, with whatever was in the build cache: one build each is not a comparison.",
			unit.Duration(j.BuildTimes[0]), unit.Duration(j.BuildTimes[1])))
	}
	return s
}
