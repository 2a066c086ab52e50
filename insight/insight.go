// Package insight holds the rules that say what is wrong with a program, with
// evidence: each is a value in the list [Rules], in the files that begin with its ID.
// docs/architecture.md says what the others hold.
//
// A rule never stays silent. It finds something, or says that all is fine, or
// that it does not apply to this recording, or that there is too little data;
// the last two say what to record. A finding states its impact with an
// interval, shows where it was seen, gives one piece of advice, and says how
// to verify it. The thresholds are parameters of the rule, with their source.
//
// The catalogue with the reasons is in docs/rules.
package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"loupe/analysis/compare"
	"loupe/analysis/facts"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// State is what a rule came to.
type State string

// The states.
const (
	Found         State = "finding"
	Fine          State = "fine"
	NotApplicable State = "not_applicable"
	TooLittle     State = "too_little_data"
)

// Severity grades a finding.
type Severity string

// The severities, from mild to grave.
const (
	Info     Severity = "info"
	Warning  Severity = "warning"
	Critical Severity = "critical"
)

// rank orders severities; no severity is the lowest.
func (s Severity) rank() int {
	return slices.Index([]Severity{"", Info, Warning, Critical}, s)
}

// AtLeast tells whether s is as grave as least.
func (s Severity) AtLeast(least Severity) bool { return s.rank() >= least.rank() }

// Impact is how much a finding matters: a measured value with its interval.
type Impact struct {
	Value float64 `json:"value"`
	// Unit is "share of allocated bytes", "ns", …
	Unit string  `json:"unit"`
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Evidence is one place at which a finding can be seen.
type Evidence struct {
	// Text says in words what is to be seen there.
	Text string `json:"text"`
	// Path is the entry of the recording, Phase the phase.
	Path  string `json:"path,omitempty"`
	Phase string `json:"phase,omitempty"`
	File  string `json:"file,omitempty"`
	// Short is File as the module has it: "search/rss.go"; of a dependency it is behind the path that is imported.
	Short    string `json:"short,omitempty"`
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
	// Source is the text of the line.
	Source string `json:"source,omitempty"`
	// Stack is how the program came there, the leaf first, where the rule
	// knows it. Function, File and Line are those of one of its frames.
	Stack []Frame `json:"stack,omitempty"`
	// Span is on the recording's time axis, start and end in ns.
	Span *[2]int64 `json:"span_ns,omitempty"`
	// About is what Span is of, by the name that the timeline's address has for its
	// lane: "g12" is a goroutine, "p3" a P, "gc" the collector. "request" is one
	// request of a load. Empty is no one thing.
	About string `json:"about,omitempty"`

	// waits tells that goroutines wait for a lock there.
	waits bool
}

// Frame is one call of a stack.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
}

// Finding is the answer of a rule. Of a state other than Found only Rule,
// Title, State and Summary are set.
type Finding struct {
	Rule     string   `json:"rule"`
	Title    string   `json:"title"`
	State    State    `json:"state"`
	Severity Severity `json:"severity,omitempty"`
	// Score orders findings by what could be saved: 0 to 100.
	Score int `json:"score"`
	// Summary says what was measured, in one sentence.
	Summary  string     `json:"summary"`
	Impact   *Impact    `json:"impact,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Advice   string     `json:"advice,omitempty"`
	// Verify says how to see that the advice helped.
	Verify string `json:"verify,omitempty"`
	// Prove is the command that runs what was recorded again, to see whether a change has
	// helped; empty where it cannot be run again. RECORDING stands for the recording.
	Prove string `json:"prove,omitempty"`
	// Doubts are reasons why the finding may be less than it seems.
	Doubts []string `json:"doubts,omitempty"`
	// Short tells, of too little data, that a longer recording would have
	// enough; otherwise something is damaged, or says nothing at any length.
	Short bool `json:"-"`

	// costs say which CPU time it is about.
	costs []cost
	// arguments tells that the costs are those of making arguments for a log call: how that is
	// done matters less than that it is done at all.
	arguments bool
	// belows tells that what the program allocates below the lines of the evidence goes with them.
	belows bool
	// part is the part of what the costs find that it is about; 0 is all of it.
	part float64
	// handsOver is, of goroutines that hand over items, the part of the waits of the program's goroutines that these are: so much of what
	// the scheduler takes by itself is theirs. 0 is not about that.
	handsOver float64
	// saves tells that what the costs are of is gone where the advice is followed.
	saves bool
	// unexplained tells that it says where the time goes, and that nothing shows why that would be needless.
	unexplained bool
	// more tells that this is not all that is saved then.
	more bool
	// grows tells that the part of the time grows with the input: what a profile has seen of it
	// is no bound.
	grows bool
	// waitsFor is, of a wait, what it is for, by the key of its kind.
	waitsFor string
	// felt is the part of the time of requests or tasks that it is about, 0 where that is
	// not known or said by the impact.
	felt float64
	// holds is how many bytes one line has in use in a heap profile, where it is about that; else 0.
	holds int64
	// atPeak tells that its lines are those which hold most at a peak, not those which were seen to keep more and more.
	atPeak bool
	// wastes tells of memory that is kept whether that is, or may be, a waste: a small part that
	// keeps the whole.
	wastes waste
	// ends tells of such a part that the source says where it ends.
	ends bool
	// expires is, of memory that is held until a time is over, by a timer or a context, where these are made.
	expires Evidence
	// crowd tells that a finding about stacks is one about goroutines that wait to begin.
	crowd bool
	// crowded tells that its doubts name the busy machine as the reason.
	crowded bool
	// lets is, of memory that is kept, where the source takes something out of what keeps it.
	lets Evidence
	// counted tells of it that the counts of blocks show that nothing leaves what keeps it.
	counted bool
	// keeps tells that the first evidence is the line that keeps memory, see [keepsAll].
	keeps bool
	// bounds is, of such memory, where the source shortens what keeps it beside what adds to it.
	bounds Evidence
	// waits are the parts of the time of units that it is about.
	waits []*facts.UnitRow
	// outer tells of calls that a loop makes one after another that the line to change is that of a loop around it.
	outer bool
	// slight tells of such calls that it is a remark because they take too little of the time, and for no other reason.
	slight bool
	// waitsInside tells of counted calls that each takes long: their time is that of the clock, which the count hardly changes.
	waitsInside bool
	// again tells of calls that repeat that these are most of the calls: who waits for all of them waits less without them.
	again bool
	// connects tells that it is about connections that are made anew.
	connects bool
	// fills tells that it is about calls which fill the slots that others queue for.
	fills bool
	// staysOpen tells of waits at a line that most of them were still going on when the recording ended.
	staysOpen bool
	// holder tells of contention that it says what the holder of the lock does meanwhile.
	holder bool
	// lasts tells of a heap that grows that this is what survives collections that were asked for.
	lasts bool
	// lockAt is, of those who queue for others that wait for a lock, the line at which these do.
	lockAt string
}

// Param is a threshold of a rule.
type Param struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
	// Source says where the value comes from.
	Source string `json:"source"`
}

// Rule is one thing to look for.
type Rule struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// About says what it looks for and why it matters.
	About string `json:"about"`
	// Asks lists the questions that it asks, all of which must have an answer; which
	// files give one, and what to record where none does, the questions say.
	Asks   []facts.Question `json:"asks"`
	Params []Param          `json:"params"`
	// Part tells that the rule can judge a part of a recording's time: all that
	// it counts is of that part then, see [RunPart].
	Part bool `json:"part,omitempty"`
	// Measurement tells that it judges how the recording came about, and not the
	// program: what it finds is a doubt about all other figures.
	Measurement bool `json:"measurement,omitempty"`
	// Aside tells that it names something to try that is the cause of nothing: it is no
	// card, see [Cards].
	Aside bool `json:"aside,omitempty"`
	// Check looks; it returns at least one finding of any state.
	Check func(r *Rule, in *Input) []Finding `json:"-"`
}

// param returns the value of a rule's parameter.
func (r *Rule) param(name string) float64 {
	for _, p := range r.Params {
		if p.Name == name {
			return p.Value
		}
	}
	panic("BUG: rule " + r.ID + " has no parameter " + name)
}

// answer begins a finding of the rule.
func (r *Rule) answer(state State, format string, args ...any) Finding {
	return Finding{Rule: r.ID, Title: r.Title, State: state, Summary: fmt.Sprintf(format, args...)}
}

// short begins a finding of a recording that is too short for the rule.
func (r *Rule) short(format string, args ...any) Finding {
	f := r.answer(TooLittle, format, args...)
	f.Short = true
	return f
}

// Rules lists all rules in the order of the catalogue.
func Rules() []*Rule {
	return []*Rule{
		fa01, fa02,
		gc01, gc02, gc03, gc04, gc05, gc06, gc07, gc08, gc09, gc10, gc11, gc12, gc13, gc14, gc15, gc16, gc17, gc18,
		al01, al02, al03, al04, al05, al06, al07, al08, al09, al10, al11, al12, al13, al14, al15, al16, al17, al18, al19, al20, al21, al22, al23,
		cp01, cp02, cp03, cp04, cp05, cp06, cp07, cp08, cp09, cp10, cp11, cp12, cp13, cp14, cp15, cp16, cp17, cp18, cp19, cp20, cp21, cp22, cp23, cp24, cp25, cp26, cp27, cp28, cp29, cp30,
		sc01, sc02, sc03, sc04, sc05, sc06, sc07, sc08, sc09, sc10, sc11, sc12, sc13, sc14, sc15, sc16, sc17, sc18, sc19, lk01, lk02, lk03, lk04, lk05, lk06, lk07, lk08, wt01, wt02, wt03, wt04, wt05, wt06, wt07, wt08, wt09, wt10, wt11, be01, be02, be03, be04, be05, be06, be08, be09, be10, be11,
		bm01, bm02, bm03, bm04,
		ld01, ld02, ld03, ld04, ld05, ld06, ld07,
	}
}

// Input is what rules look at.
type Input struct {
	Session *session.Session
	// Facts answers what rules ask of the program.
	Facts *facts.Facts
	// public says at the first call who waited for the program's answers.
	public func() public
	// reasons says at the first call why the lines of the allocs profile
	// allocate.
	reasons func() *reasons
	// slow says at the first call what the slowest requests met.
	slow func() []compare.Slow
	// code is the source of the program.
	code *code
	// views is what rules ask of the frames of profiles.
	views views
	// faults says which rules could not judge, and why: see [Rule.check].
	faults []string
}

// NewInput gathers what rules need of a recording.
func NewInput(s *session.Session) *Input {
	in := &Input{Session: s, Facts: facts.Gather(s), code: newCode(s)}
	in.reasons = sync.OnceValue(func() *reasons { return explain(in) })
	in.slow = sync.OnceValue(func() []compare.Slow { return compare.SlowRequests(s) })
	in.public = sync.OnceValue(func() public { return findPublic(in) })
	return in
}

// Run lets every rule look and returns the answers: findings first, the
// gravest of them first.
func Run(in *Input) []Finding {
	var all []Finding
	for _, r := range Rules() {
		if missing := in.missing(r); missing != "" {
			all = append(all, r.answer(NotApplicable, "%s", missing))
			continue
		}
		all = append(all, gaps{in}.settleFine(r, r.check(in))...)
	}
	oneOfHeap(all)
	all = fold(all)
	byWorth(in, all)
	raiseLoops(all)
	raiseCauses(in, all)
	raiseHeld(in, all)
	underCause(all)
	shorten(in, all)
	foldShapes(all)
	proveCommands(in, all)
	withoutLoad(in, all)
	order := []State{Found, TooLittle, Fine, NotApplicable}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(
			slices.Index(order, a.State)-slices.Index(order, b.State),
			b.Severity.rank()-a.Severity.rank(),
			b.Score-a.Score,
		)
	})
	return all
}

// RunPart lets the rules that can judge a part of the recording's time look at
// one, on its axis, and returns their answers in the order of the catalogue. That
// reads the execution trace, where there is one, unless stop says to end, with
// an error that is [facts.Stopped]. What the trace does not cover the rules that need it say so.
func RunPart(in *Input, part timeline.Span, stop func() bool) ([]Finding, error) {
	within := &Input{Session: in.Session, Facts: facts.GatherIn(in.Session, part, stop), reasons: in.reasons, slow: in.slow, code: newCode(in.Session)}
	if err := within.Facts.Trace().Err; facts.Stopped(err) {
		return nil, err
	}
	within.public = sync.OnceValue(func() public { return findPublic(within) })
	var all []Finding
	for _, r := range Rules() {
		if r.Part && within.missing(r) == "" {
			all = append(all, gaps{within}.settleFine(r, r.check(within))...)
		}
	}
	oneOfHeap(all)
	shorten(in, all)
	foldShapes(all)
	return all, nil
}

// foldShapes leaves out of what findings say the types that the compiler has chosen for the instances of generic functions. Functions and stacks of the
// evidence keep the names that profiles have.
func foldShapes(all []Finding) {
	for i := range all {
		f := &all[i]
		for _, text := range []*string{&f.Title, &f.Summary, &f.Advice, &f.Verify} {
			*text = stack.FoldShapes(*text)
		}
		for d := range f.Doubts {
			f.Doubts[d] = stack.FoldShapes(f.Doubts[d])
		}
		for e := range f.Evidence {
			f.Evidence[e].Text = stack.FoldShapes(f.Evidence[e].Text)
		}
	}
}

// shorten fills in the short paths of files that the recording keeps.
func shorten(in *Input, all []Finding) {
	short := map[string]string{}
	for _, e := range in.Session.Manifest().Of(recording.Source) {
		if rel := e.SourceName(); !strings.HasPrefix(rel, "abs/") {
			short[e.Source] = rel
		}
	}
	for _, e := range in.Session.Manifest().Of(recording.Dependency) {
		pkg, name := e.DependencyName()
		short[e.Source] = pkg + "/" + name
	}
	for _, f := range all {
		for i := range f.Evidence {
			if s, ok := short[f.Evidence[i].File]; ok {
				f.Evidence[i].Short = s
			}
		}
	}
}

// missing says what the recording lacks for a rule; empty when nothing.
func (in *Input) missing(r *Rule) string {
	for _, q := range r.Asks {
		if missing := in.Facts.Missing(q); missing != "" {
			return missing
		}
	}
	return ""
}

// from are the kinds of entries that the rule may be answered from.
func (r *Rule) from() (kinds []recording.Kind) {
	for _, q := range r.Asks {
		kinds = append(kinds, q.From()...)
	}
	return kinds
}

// score maps a value onto 0..100 so that x25 scores 25 and x75 scores 75,
// saturating above: the curve of JDK Mission Control's rules (mapExp100).
func score(v, x25, x75 float64) int {
	if v <= 0 || math.IsNaN(v) {
		return 0
	}
	a := math.Log(0.75) / x25
	if v >= x75 {
		// Beyond x75 the rest closes in on 100.
		b := math.Log(0.25) / x75
		return int(math.Round(100 * (1 - math.Exp(b*v))))
	}
	if v <= x25 {
		return int(math.Round(100 * (1 - math.Exp(a*v))))
	}
	return int(math.Round(25 + 50*(v-x25)/(x75-x25)))
}

// uncollected is what a rule about collections says where there are none to judge:
// nothing tells of them, or none ran. It is nil where there are some.
func uncollected(r *Rule, in *Input) []Finding {
	c := in.Facts.Collector()
	switch {
	case c.Untold != "":
		return []Finding{r.answer(TooLittle, "%s", c.Untold)}
	case c.None:
		return []Finding{r.answer(Fine, "no collection ran in %s", unit.Duration(c.Length))}
	}
	return nil
}

// fewCollections is the answer where n collections, as gctrace tells of them, are fewer than
// a rule needs. The trace of a part may have seen others: then that is said, and is
// the number that every view has.
func fewCollections(r *Rule, in *Input, n int64) Finding {
	if seen := in.Facts.Collector().Traced; seen > n {
		return r.short("%s in %s in the execution trace, %d in gctrace lines; %g of those are needed", unit.Plural(seen, "collection"), in.where(), n, r.param("cycles"))
	}
	return r.short("%d collections were seen in %s; %g are needed", n, in.where(), r.param("cycles"))
}

// doubts lists what speaks against any measurement of time here.
func (in *Input) doubts() (all []string) {
	if noisy := in.Facts.Noise().Reason; noisy != "" {
		all = append(all, "the machine was noisy: "+noisy)
	}
	if build := builtOtherwise(in); build != "" {
		all = append(all, build)
	}
	for _, r := range in.Facts.Rounds {
		if in.Facts.Part && r.Phase.Profiler != "" {
			return append(all, "most of this time lies in phases with a profiler, which has a cost too")
		}
	}
	return all
}

// where says what time the figures are of.
func (in *Input) where() string {
	if in.Facts.Part {
		return "this time"
	}
	return "the bare phases"
}
