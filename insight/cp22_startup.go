package insight

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/unit"
)

var cp22 = &Rule{
	ID: "CP22", Title: "Package initialization is much of the run",
	About: "Package variables and init functions run before main.main begins, of each package that the program imports, whether the run needs it or not: lexers, " +
		"regular expressions, templates and tables for every case, of which one run uses one. Of a tool that is part of what a user waits for each time; a service does it once.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.10, "share of CPU samples", "chosen: as for CP01"},
		{"warn", 0.25, "share of CPU samples", "chosen: a quarter of what every run costs"},
		{"wall", 0.10, "share of the run's time", "chosen, for a warning: a run that mostly waits is no faster without it"},
		{"least", 0.1, "s of CPU time", "chosen: less is not felt"},
		{"service", 1, "s of CPU time", "chosen: of a service, which does it once at each start; less is not felt"},
		{"samples", 20, "samples", "chosen: as for CP01"},
	},
	Check: checkStartup,
}

// initialized is a package of which samples show the initialization.
type initialized struct {
	pkg     string
	origin  stack.Origin
	samples int64
	// declares are the lines of variables and init functions that are being initialized, and works
	// what they do: the code nearest to the machine, and what it calls.
	declares map[stack.Frame]int64
	works    map[initWork]int64
	frames   map[stack.Frame][]stack.Frame // of one stack for each line
}

// initWork is a line at which initialization spends its time, and what it calls there outside of the program.
type initWork struct {
	at     stack.Frame
	callee string
}

// started is all that the samples show of what runs before main.main.
type started struct {
	packages []*initialized // the heaviest first
	samples  int64
	total    int64
	// main tells that main.main was seen, serves that an init function serves connections.
	main, serves bool
}

// initializes are the functions of the runtime that initialize packages.
var initializes = []string{"runtime.doInit", "runtime.doInit1"}

// mainNames are functions that show that initialization has come to its end: those that it leads to.
var mainNames = []string{"main.main", "testing.tRunner", "testing.(*B).runN"}

// isMain tells of a function that initialization is over when it runs.
func isMain(function string) bool { return slices.Contains(mainNames, function) }

// agentFiles begin the names of the files that loupe adds to a recorded program.
const agentFiles = "zz_loupe_"

// startedOf adds up the samples of package initialization.
func startedOf(v *view, samples iter.Seq2[stack.ID, int64]) *started {
	s, by := &started{}, map[string]*initialized{}
	marks := v.marks("startup")
	for id, n := range samples {
		s.total += n
		frames := v.t.Frames(id)
		s.main = s.main || slices.ContainsFunc(frames, func(f stack.FrameID) bool { return isMain(v.t.Frame(f).Func) })
		at := initFrame(v, frames, marks)
		if at < 0 {
			continue
		}
		s.serves = s.serves || slices.ContainsFunc(frames[:at], func(f stack.FrameID) bool { return servesIn(v.t.Frame(f).Func) })
		s.samples += n
		f := v.t.Frame(frames[at])
		pkg := stack.Package(f.Func)
		if by[pkg] == nil {
			by[pkg] = &initialized{pkg: pkg, origin: v.origins[frames[at]], declares: map[stack.Frame]int64{}, works: map[initWork]int64{}, frames: map[stack.Frame][]stack.Frame{}}
		}
		by[pkg].add(v, frames, at, n)
	}
	s.packages = slices.SortedFunc(maps.Values(by), func(a, b *initialized) int {
		return cmp.Or(cmp.Compare(b.samples, a.samples), strings.Compare(a.pkg, b.pkg))
	})
	return s
}

// initFrame is the position of the function that initializes a package; -1 where a stack
// is of something else, of the runtime's own packages, or of loupe's agent.
func initFrame(v *view, frames []stack.FrameID, startup []bool) int {
	outer := slices.IndexFunc(frames, func(f stack.FrameID) bool { return startup[f] })
	for at := outer - 1; at >= 0; at-- {
		switch f := v.t.Frame(frames[at]); {
		case startup[frames[at]]:
			continue
		case v.origins[frames[at]] < stack.Standard || strings.HasPrefix(baseName(f.File), agentFiles):
			return -1
		}
		return at
	}
	return -1
}

// servesIn tells of a function that whoever is in it serves connections: it does not come to an end.
func servesIn(function string) bool {
	return slices.Contains(acceptors, function) || startsWithAny(function, serverRoots) || strings.HasSuffix(function, ".(*Server).Serve") || strings.HasSuffix(function, ".(*Server).ListenAndServe")
}

// add counts a stack for the package.
func (x *initialized) add(v *view, frames []stack.FrameID, at int, n int64) {
	x.samples += n
	f := v.t.Frame(frames[at])
	line := stack.Frame{Func: f.Func, File: f.File, Line: f.Line}
	x.declares[line] += n
	if x.frames[line] == nil {
		for _, id := range frames {
			x.frames[line] = append(x.frames[line], v.t.Frame(id))
		}
	}
	near := slices.IndexFunc(frames[:at+1], func(f stack.FrameID) bool { return v.origins[f] >= x.origin })
	if near < 0 {
		return
	}
	f = v.t.Frame(frames[near])
	work := initWork{at: stack.Frame{Func: f.Func, File: f.File, Line: f.Line}}
	if near > 0 && v.origins[frames[near-1]] >= stack.Standard {
		work.callee = stack.FoldGenerics(v.t.Frame(frames[near-1]).Func)
	}
	x.works[work] += n
}

// heaviest lists the keys of weights, the heaviest first, and of equal ones by their text.
func heaviest[K comparable](weights map[K]int64) []K {
	return slices.SortedFunc(maps.Keys(weights), func(a, b K) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
}

func checkStartup(r *Rule, in *Input) []Finding {
	w, err := in.Facts.Weights(facts.CPU, "samples")
	if err != nil {
		return []Finding{r.answer(TooLittle, "%v", err)}
	}
	if total := w.Total(); total < int64(r.param("samples")) {
		return []Finding{r.short("%s has %d samples; %g are needed: give the program more to do", w.Entry.Path, total, r.param("samples"))}
	}
	s := startedOf(in.view(w.Profile), w.Profile.Samples(w.Index))
	if s.samples == 0 {
		return []Finding{r.answer(Fine, nothing+"%s", w.Entry.Path)}
	}
	seen := fmt.Sprintf("%s of the CPU samples are in package initialization", unit.Percent(float64(s.samples)/float64(s.total)))
	if s.serves {
		return []Finding{r.answer(Fine, "%s, where the program serves connections: that is its work, and no start-up", seen)}
	}
	of := slices.IndexFunc(s.packages, func(x *initialized) bool { return x.origin >= stack.Dependency })
	if of < 0 {
		return []Finding{r.answer(Fine, "%s, none of it in packages outside of the standard library", seen)}
	}
	x := s.packages[of]
	share := stats.Wilson(float64(x.samples), float64(s.total), compare.Confidence)
	took := cpuOf(w, s.total, x.samples) / time.Duration(livesOfPhase(in, w.Entry))
	least := r.param("least")
	if in.public().serves() {
		least = r.param("service")
	} else if share.Low < r.param("share") {
		least = -1
	}
	if least < 0 || took.Seconds() < least || x.samples < minHits {
		return []Finding{r.answer(Fine, "%s, %s of them in that of package %s", seen, unit.Percent(share.Estimate), x.pkg)}
	}
	return []Finding{startupFinding(r, in, w, s, x, share, took)}
}

// cpuOf is the CPU time of so many of a profile's samples.
func cpuOf(w *facts.Weights, total, samples int64) time.Duration {
	index, err := w.Profile.Index("cpu")
	if err != nil || total == 0 {
		return time.Duration(samples) * 10 * time.Millisecond // 100 a second
	}
	return time.Duration(float64(w.Profile.Total(index)) * float64(samples) / float64(total))
}

// partOfRun is what a time is of that of the run, at least: what runs before main.main runs alone. It is 1 where
// nobody knows how long the run took.
func partOfRun(in *Input, w *facts.Weights, took time.Duration) float64 {
	whole := time.Duration(w.Profile.Duration) / time.Duration(livesOfPhase(in, w.Entry))
	if p, ok := in.Session.Manifest().PhaseNamed(w.Entry.Phase); ok && whole <= 0 {
		whole = p.Span.Len()
	}
	if whole <= 0 {
		return 1
	}
	return min(1, float64(took)/float64(whole))
}

func startupFinding(r *Rule, in *Input, w *facts.Weights, s *started, x *initialized, share stats.Interval, took time.Duration) Finding {
	lines := heaviest(x.declares)
	top := lines[0]
	f := r.answer(Found, "before main begins, the initialization of package %s takes %s of CPU time, %s of the run's", x.pkg, unit.Duration(took), unit.Percent(share.Estimate))
	f.Severity, f.Score = Info, score(share.Estimate, 0.20, 0.60)
	f.Impact = &Impact{share.Estimate, "share of CPU samples", share.Low, share.High}
	wall, p := partOfRun(in, w, took), in.public()
	tool := !p.serves() && in.Session.Manifest().Target.Kind != "test"
	switch {
	case p.serves():
		f.Title = "Package initialization makes the start slow"
		f.Summary = fmt.Sprintf("at the start, before main begins, the initialization of package %s takes %s of CPU time", x.pkg, unit.Duration(took))
		f.Impact = exactly(took.Seconds(), "s of CPU time at each start")
	case tool && p.computes() && s.main && share.Low >= r.param("warn") && wall >= r.param("wall"):
		f.Severity = Warning
	}
	f.Summary += clockOf(in, w.Entry, x.pkg)
	if rest := s.samples - x.samples; !p.serves() && float64(rest) >= r.param("share")*float64(s.total) {
		f.Summary += fmt.Sprintf(", and that of other packages %s", unit.Percent(float64(rest)/float64(s.total)))
	}
	works := heaviest(x.works)
	if len(lines) > 1 {
		f.Summary += fmt.Sprintf("; the samples are spread over %s, the first %s:%d", unit.Plural(int64(len(lines)), "line"), baseName(top.File), top.Line)
	} else {
		f.Summary += fmt.Sprintf("; all of it for %s:%d", baseName(top.File), top.Line)
	}
	if len(works) > 0 && works[0].callee != "" && 2*x.works[works[0]] >= x.samples {
		at := works[0].at
		f.Summary += fmt.Sprintf(", mostly in %s at %s:%d (%d of %s)", works[0].callee, baseName(at.File), at.Line, x.works[works[0]], unit.Plural(x.samples, "sample"))
	}
	f.Evidence = startupEvidence(in, w, s, x, lines, works)
	for _, line := range lines {
		f.costs = append(f.costs, cost{file: line.File, line: line.Line})
	}
	f.saves = true
	entries := entriesAt(in.code, lines)
	if entries.count > 1 {
		f.Summary += fmt.Sprintf("; the source has at least %d calls of %s there", entries.count, entries.call)
	}
	tellStartup(in, &f, x, entries)
	if !s.main {
		f.Doubts = append(f.Doubts, "no sample is in main.main: if the program does its work in an init function, this is that work, and not a preparation for it")
	}
	f.Verify = "Record again: the share of runtime.doInit should be small (" + profiled(w.Entry, "-top -cum") + "); GODEBUG=inittrace=1 shows the time of each package."
	f.Doubts = append(f.Doubts, in.doubts()...)
	return f
}

// tellStartup says what to do about it.
func tellStartup(in *Input, f *Finding, x *initialized, entries initEntries) {
	if x.origin < stack.User {
		f.Advice = fmt.Sprintf("The package is of another module, and does this in every program that imports it. If this run does not need it, do not import it there (go mod why %s tells who does): move what needs it to a program of its own, or look for a version that does it on first use.", x.pkg)
		if at, ok := importOf(in.code, x.pkg); ok {
			f.Evidence = append(f.Evidence, at)
			f.Advice = fmt.Sprintf("The package is of another module, and does this in every program that imports it, as %s:%d does. If this run does not need it, take the import out there: move what needs it to a program of its own, or look for a version that does it on first use.", baseName(at.File), at.Line)
		}
		return
	}
	switch {
	case entries.count > 1:
		f.Advice = "If one run does not need all of them, build each on first use: register under its name how it is built (a function in sync.OnceValue), and build it where it is looked up. What is the same in each run can also be generated or embedded in its final form."
	default:
		f.Advice = "If not each run needs all of it, build it on first use: sync.OnceValue in place of the variable, and of a table one for each entry. What is the same in each run can also be generated or embedded in its final form."
	}
	f.Doubts = append(f.Doubts, "if each run needs all of it, doing it later saves nothing")
}

// clockOf says what the initialization took by the clock, where the runtime has told
// (GODEBUG=inittrace=1).
func clockOf(in *Input, entry recording.Entry, pkg string) string {
	log, err := in.Session.Runtime(max(0, entry.Run))
	if err != nil {
		return ""
	}
	took, main := time.Duration(-1), time.Duration(0)
	for i := range log.Inits {
		t := &log.Inits[i]
		if t.Run != log.Inits[0].Run {
			continue // of a process that it has started
		}
		if main = max(main, t.At+t.Clock); t.Package == pkg {
			took = t.Clock
		}
	}
	if took < 0 {
		return ""
	}
	return fmt.Sprintf(", %s of the %s until main began", unit.Duration(took), unit.Duration(main))
}

// startupEvidence shows the lines that are initialized and what they do.
func startupEvidence(in *Input, w *facts.Weights, s *started, x *initialized, lines []stack.Frame, works []initWork) (out []Evidence) {
	for i, line := range lines {
		if i == 3 || i > 0 && x.declares[line] < x.declares[lines[0]]/4 {
			break
		}
		e := in.fileAt(w.Entry, line, x.frames[line], "%d of %d samples are of the initialization of this line", x.declares[line], s.total)
		out = append(out, e)
	}
	if len(works) > 0 && !slices.ContainsFunc(lines, func(f stack.Frame) bool { return f == works[0].at }) {
		at := works[0].at
		text := fmt.Sprintf("%d of the %d samples of package initialization are here", x.works[works[0]], s.samples)
		if works[0].callee != "" {
			text += ", in " + works[0].callee
		}
		out = append(out, in.fileAt(w.Entry, at, nil, "%s", text))
	}
	return out
}
