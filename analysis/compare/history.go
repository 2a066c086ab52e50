package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/analysis/gc"
	"loupe/format/benchmark"
	"loupe/value/stats"
)

// HistoryFile is a file of benchmarks, as one of a series of files.
type HistoryFile struct {
	// Name is what the user calls it, Modified when it was written last.
	Name     string
	Modified time.Time
	Figures  []*benchmark.Figure
}

// HistoryRun is what was measured of one version at one time. It is the unit that statistics
// of a history count: the rounds within it share the hour and the mood of the machine.
type HistoryRun struct {
	File string `json:"file"`
	// Commit is that of git, "" where the file does not say.
	Commit string `json:"commit,omitempty"`
	// Edited tells that the working tree had changes that the commit does not have.
	Edited bool `json:"edited,omitempty"`
	// Time is by what the run is ordered: that of the commit, or that in the name of the file, or
	// when it was written. Clock says which.
	Time  time.Time `json:"time,omitzero"`
	Clock Clock     `json:"clock"`
	at    time.Time // when it was measured, by the name of the file
}

// Clock is what the time of a run was taken from.
type Clock string

// The clocks.
const (
	CommitClock Clock = "commit time"
	NameClock   Clock = "file name"
	FileClock   Clock = "modification time"
	NoClock     Clock = "order of names"
)

// Label names a run: by its commit where that is known.
func (r *HistoryRun) Label() string {
	name := r.Commit
	switch {
	case name == "":
		return r.File
	case len(name) > 12 && strings.Trim(name, "0123456789abcdef") == "":
		name = name[:12]
	}
	if r.Edited {
		name += ", edited"
	}
	return name
}

// Date is its time as a day, "" where none is known.
func (r *HistoryRun) Date() string {
	if r.Clock == NoClock || r.Time.IsZero() {
		return ""
	}
	return r.Time.UTC().Format(time.DateOnly)
}

// HistoryOptions say what of a history is looked at.
type HistoryOptions struct {
	// Match tells which benchmarks, by name; nil is all of them.
	Match func(name string) bool
	// Units are those that are looked at; none are all that do not follow from others.
	Units []string
}

// History is what became of benchmarks from run to run.
type History struct {
	Runs   []HistoryRun     `json:"runs"`
	Series []*HistorySeries `json:"series"`
	Notes  []string         `json:"notes,omitempty"`
	// Judged is how many series were tested together: they share the false alarms.
	Judged int `json:"judged"`
}

// HistorySeries is one figure of a benchmark on one kind of machine.
type HistorySeries struct {
	Package string `json:"package,omitempty"`
	Name    string `json:"name"`
	Unit    string `json:"unit"`
	// Machine is the kind of machine; what was measured on another kind is another series.
	Machine string `json:"machine,omitempty"`
	// Other tells it from others of the same name: a command, flags, a side.
	Other string `json:"other,omitempty"`
	// Runs are indexes of the history's, Values the medians of their rounds.
	Runs   []int     `json:"runs"`
	Values []float64 `json:"values"`
	// Exact tells that rounds of a run do not vary, so that any change is one.
	Exact bool `json:"exact,omitempty"`
	// P is the probability of such a series without any change, adjusted for all series that were
	// tested; 1 where it was not tested.
	P float64 `json:"p"`
	// Needs is how many more runs are needed before any change can be found.
	Needs   int           `json:"needs_runs,omitempty"`
	Changes []LevelChange `json:"changes,omitempty"`

	better Better
	rounds [][]float64
}

// LevelChange is a change within a series. Runs are indexes of those of the series.
type LevelChange struct {
	// Shape is "step", "trend" or "step or trend".
	Shape string `json:"shape"`
	// Since is the first run of the new level where it came at once, Last the one before
	// it; of a trend they are its first and its last run.
	Since int `json:"since"`
	Last  int `json:"last_before"`
	// SinceRun and LastRun are their labels.
	SinceRun string `json:"since_run"`
	LastRun  string `json:"last_before_run"`
	// Earliest and Latest are what Since may be as well.
	Earliest int `json:"earliest"`
	Latest   int `json:"latest"`
	// Before and After are the levels, of BeforeRuns and AfterRuns runs.
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
	BeforeRuns int     `json:"before_runs"`
	AfterRuns  int     `json:"after_runs"`
	// Ratio is after by before, with its interval.
	Ratio gc.Figure `json:"ratio"`
	Low   gc.Figure `json:"low"`
	High  gc.Figure `json:"high"`
	// P is adjusted for all series that were tested; 0 of what is exact.
	P       float64 `json:"p"`
	Exact   bool    `json:"exact,omitempty"`
	Verdict Verdict `json:"verdict"`
	Worse   bool    `json:"worse,omitempty"`
	// Unsure tells that neighbouring runs are so alike that the series may have wandered.
	Unsure bool `json:"unsure,omitempty"`
	// Newest tells that no other change has come since.
	Newest bool `json:"newest,omitempty"`
}

// The shapes of changes.
const (
	StepShape   = "step"
	TrendShape  = "trend"
	EitherShape = "step or trend"
)

var shapes = map[stats.Shape]string{stats.Step: StepShape, stats.Gradual: TrendShape, stats.StepOrGradual: EitherShape}

// FewestRuns is the number of runs from which on a change can be found, of values that vary.
const FewestRuns = stats.FewestValues

// enoughExact is the number of equal values from which on a level is taken for exact: as many
// as the rounds that a comparison wants.
const enoughExact = EnoughRounds

// maxHistoryRuns bounds the runs of a history: what is older is left out.
const maxHistoryRuns = 500

// HistoryOf orders the runs of files and finds the changes of all their benchmarks. Of the
// series that are said to have changed, 5 % have not (Benjamini and Hochberg 1995), if their
// runs are independent; within one that has, further changes have the error that is left.
func HistoryOf(files []HistoryFile, opt HistoryOptions) *History {
	h := &History{}
	figures := h.order(files)
	h.collect(figures, opt)
	h.judge()
	h.tellApart()
	return h
}

// runFigures are the figures of one run.
type runFigures struct {
	run     HistoryRun
	figures []*benchmark.Figure
}

// collect makes series of the figures of runs, which are in their order.
func (h *History) collect(runs []runFigures, opt HistoryOptions) {
	index := map[string]*HistorySeries{}
	strange := 0
	for i, r := range runs {
		h.Runs = append(h.Runs, r.run)
		for _, f := range r.figures {
			if opt.Match != nil && !opt.Match(f.Name) || len(opt.Units) > 0 && !slices.Contains(opt.Units, f.Unit) || len(opt.Units) == 0 && explains(f.Unit) {
				continue
			}
			values := slices.DeleteFunc(slices.Clone(f.Values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
			strange += len(f.Values) - len(values)
			if len(values) == 0 {
				continue
			}
			one := &HistorySeries{Package: f.Config["pkg"], Name: f.Name, Unit: f.Unit, Machine: machineOf(f.Config), Other: otherOf(f.Config)}
			key := strings.Join([]string{one.Package, one.Name, one.Unit, one.Machine, one.Other}, "\x00")
			if index[key] == nil {
				index[key], h.Series = one, append(h.Series, one)
			}
			one = index[key]
			one.better = betterOf(f)
			if n := len(one.Runs); n > 0 && one.Runs[n-1] == i { // of another configuration that tells nothing apart
				one.rounds[n-1] = append(one.rounds[n-1], values...)
				continue
			}
			one.Runs, one.rounds = append(one.Runs, i), append(one.rounds, values)
		}
	}
	if strange > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("%d values are left out that are not numbers or infinite.", strange))
	}
	for _, s := range h.Series {
		for _, r := range s.rounds {
			s.Values = append(s.Values, stats.Median(r))
		}
	}
	place := map[string]int{}
	for i, s := range h.Series { // the order in which benchmarks came first
		if _, ok := place[s.Package+" "+s.Name]; !ok {
			place[s.Package+" "+s.Name] = i
		}
	}
	slices.SortStableFunc(h.Series, func(a, b *HistorySeries) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), cmp.Compare(a.Other, b.Other),
			cmp.Compare(place[a.Package+" "+a.Name], place[b.Package+" "+b.Name]), cmp.Compare(unitPlace(a.Unit), unitPlace(b.Unit)))
	})
}

// betterOf says which way a figure is better.
func betterOf(f *benchmark.Figure) Better {
	switch {
	case describeUnit(f.Unit).judged:
		return Lower
	case f.Unit == "gc-cycles/op" || explains(f.Unit): // follow from others
		return Neither
	}
	return map[int]Better{1: Higher, -1: Lower}[f.Better]
}

// machineOf is the kind of machine of a configuration: "linux/amd64, AMD EPYC 7763, GOMAXPROCS 2".
func machineOf(config map[string]string) string {
	var parts []string
	if system := strings.Trim(config["goos"]+"/"+config["goarch"], "/"); system != "" {
		parts = append(parts, system)
	}
	if cpu := config["cpu"]; cpu != "" {
		parts = append(parts, cpu)
	}
	if procs := config[benchmark.ProcsKey]; procs != "" {
		parts = append(parts, "GOMAXPROCS "+procs)
	}
	return strings.Join(parts, ", ")
}

// otherOf is what else makes results others.
func otherOf(config map[string]string) string {
	var parts []string
	for _, key := range []string{benchmark.CommandKey, benchmark.BuildKey, "side"} {
		if v := config[key]; v != "" {
			parts = append(parts, key+": "+v)
		}
	}
	return strings.Join(parts, ", ")
}

// judge finds the changes of all series.
func (h *History) judge() {
	var tested []*HistorySeries
	var p []float64
	var search stats.ChangeSearch
	for _, s := range h.Series {
		s.P = 1
		if s.exact() {
			continue
		}
		if s.Needs = max(0, FewestRuns-len(s.Values)); s.Needs == 0 {
			tested = append(tested, s)
		}
	}
	// The smallest p has to be small enough for one among all.
	search.Shuffles = min(max(9_999, 40*len(tested)), 40_000)
	for _, s := range tested {
		p = append(p, search.Steady(s.Values))
	}
	h.Judged = len(tested)
	changed := 0
	adjusted := stats.FalseDiscovery(p, 0)
	for _, q := range adjusted {
		if q < 1-Confidence {
			changed++
		}
	}
	for i, s := range tested {
		if s.P = adjusted[i]; s.P >= 1-Confidence {
			continue
		}
		share := float64(changed) / float64(len(tested))
		for _, m := range search.Course(s.Values, (1-Confidence)*share).Moves {
			s.add(m, 1/share)
		}
	}
	for _, s := range h.Series {
		for i := range s.Changes {
			c := &s.Changes[i]
			c.Newest = i == len(s.Changes)-1
			c.SinceRun, c.LastRun = h.Runs[s.Runs[c.Since]].Label(), h.Runs[s.Runs[c.Last]].Label()
		}
	}
}

// add enters a move, whose p counts so many times among all series.
func (s *HistorySeries) add(m stats.Move, times float64) {
	c := LevelChange{
		Shape: shapes[m.Shape], Since: m.At, Last: m.At - 1, Earliest: m.From, Latest: m.To, P: min(1, m.P*times), Unsure: m.Wanders,
		BeforeRuns: m.Before[1] - m.Before[0], AfterRuns: m.After[1] - m.After[0],
		Ratio: gc.Unknown(), Low: gc.Unknown(), High: gc.Unknown(),
	}
	if m.Shape == stats.Gradual {
		c.Since, c.Last = m.From, m.To
		c.BeforeRuns, c.AfterRuns = m.To-m.From+1, m.To-m.From+1
		s.trend(&c, s.Values[m.From:m.To+1])
	} else {
		before, after := s.Values[m.Before[0]:m.Before[1]], s.Values[m.After[0]:m.After[1]]
		c.Before, c.After = stats.Median(before), stats.Median(after)
		if r := stats.Compare(stats.Side{Values: before}, stats.Side{Values: after}, Confidence); !math.IsNaN(r.Estimate) {
			c.Ratio, c.Low, c.High = gc.Figure(r.Estimate), gc.Figure(r.Low), gc.Figure(r.High)
		}
	}
	if c.Ratio.Known() && (math.Abs(float64(c.Ratio)-1) <= ROPE || c.Low <= 1 && c.High >= 1) {
		return // as much as counts as none
	}
	if c.After != c.Before {
		s.inWords(&c)
		s.Changes = append(s.Changes, c)
	}
}

// trend says how much a line has moved from its first run to its last.
func (s *HistorySeries) trend(c *LevelChange, values []float64) {
	x, y := make([]float64, len(values)), slices.Clone(values)
	ratios := slices.Min(values) > 0
	for i := range x {
		x[i] = float64(i)
		if ratios {
			y[i] = math.Log(y[i])
		}
	}
	slope := stats.TheilSen(x, y, Confidence)
	middle := make([]float64, len(y))
	for i := range y {
		middle[i] = y[i] - slope.Estimate*x[i]
	}
	first, length := stats.Median(middle), float64(len(values)-1)
	if c.Before, c.After = first, first+slope.Estimate*length; !ratios {
		return
	}
	c.Before, c.After = math.Exp(c.Before), math.Exp(c.After)
	c.Ratio, c.Low, c.High = gc.Figure(math.Exp(slope.Estimate*length)), gc.Figure(math.Exp(slope.Low*length)), gc.Figure(math.Exp(slope.High*length))
}

// inWords gives a change its verdict.
func (s *HistorySeries) inWords(c *LevelChange) {
	grown := c.After > c.Before
	if c.Ratio.Known() {
		grown = c.Ratio > 1
	}
	c.Worse = s.better == Lower && grown || s.better == Higher && !grown
	switch time := describeUnit(s.Unit).time; {
	case time && grown:
		c.Verdict = Slower
	case time:
		c.Verdict = Faster
	case grown:
		c.Verdict = More
	default:
		c.Verdict = Less
	}
}

// exact finds the changes of counts that do not vary within a run, and tells whether this is
// such a series. Four of five rounds of each run have to agree: now and then the runtime
// allocates for itself while a benchmark runs. A level is one of five equal values at least, of whatever runs; what is of
// fewer is passed over. Where the levels change in every third run or more often, it is chance
// that changes them.
func (s *HistorySeries) exact() bool {
	if !describeUnit(s.Unit).count {
		return false
	}
	type level struct {
		value            float64
		first, last, all int
	}
	var levels []level
	for i, r := range s.rounds {
		usual, equal := s.Values[i], 0
		for _, v := range r {
			if v == usual {
				equal++
			}
		}
		if 5*equal < 4*len(r) {
			return false
		}
		if n := len(levels); n > 0 && levels[n-1].value == usual {
			levels[n-1].last, levels[n-1].all = i, levels[n-1].all+equal
			continue
		}
		levels = append(levels, level{usual, i, i, equal})
	}
	if turns := len(levels) - 1; turns >= 4 && 3*turns >= len(s.rounds) {
		return false
	}
	s.Exact = true
	levels = slices.DeleteFunc(levels, func(l level) bool { return l.all < enoughExact })
	for i := 1; i < len(levels); i++ {
		a, b := levels[i-1], levels[i]
		if a.value == b.value {
			levels[i].first = a.first
			continue
		}
		c := LevelChange{
			Shape: StepShape, Since: b.first, Last: a.last, Earliest: a.last + 1, Latest: b.first, Before: a.value, After: b.value, Exact: true,
			BeforeRuns: a.last - a.first + 1, AfterRuns: b.last - b.first + 1, Ratio: gc.Unknown(), Low: gc.Unknown(), High: gc.Unknown(),
		}
		if a.value != 0 {
			c.Ratio = gc.Figure(b.value / a.value)
		}
		s.inWords(&c)
		s.Changes = append(s.Changes, c)
	}
	return true
}

// Regressed are the series whose newest stretch is worse than the one before by more than a
// share. What may be wandering does not count.
func (h *History) Regressed(share float64) (worse []*HistorySeries) {
	for _, s := range h.Series {
		n := len(s.Changes)
		if n == 0 {
			continue
		}
		if c := &s.Changes[n-1]; c.Worse && !c.Unsure && s.beyond(c, share) {
			worse = append(worse, s)
		}
	}
	return worse
}

// beyond tells whether a change for the worse is of more than a share.
func (s *HistorySeries) beyond(c *LevelChange, share float64) bool {
	switch ratio := float64(c.Ratio); {
	case !c.Ratio.Known():
		return true
	case s.better == Higher:
		return ratio < 1-share
	default:
		return ratio > 1+share
	}
}
