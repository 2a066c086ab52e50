// Package insight holds the rules that say what is wrong with a program, with
// evidence: one file per rule, a value in the list [Rules].
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
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"loupe/compare"
	"loupe/recording"
	"loupe/sched"
	"loupe/session"
	"loupe/timeline"
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
	// Short is File as the module has it: "search/rss.go".
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
	// Doubts are reasons why the finding may be less than it seems.
	Doubts []string `json:"doubts,omitempty"`
	// Short tells, of too little data, that a longer recording would have
	// enough; otherwise something is damaged, or says nothing at any length.
	Short bool `json:"-"`
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
	// Needs lists the kinds of entries without which the rule does not
	// apply.
	Needs []recording.Kind `json:"needs"`
	// Instead lists kinds of which one will do in place of all in Needs.
	Instead []recording.Kind `json:"instead,omitempty"`
	Params  []Param          `json:"params"`
	// Part tells that the rule can judge a part of a recording's time: all that
	// it counts is of that part then, see [RunPart].
	Part bool `json:"part,omitempty"`
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
		gc01, gc02, gc03, gc04, gc05, gc08, gc09,
		al01, al02, al03, al04, al05, al06, al07, al08, al09, al10, al11, al12, al13, al14, al15, al16, al17, al18, al19, al21, al22,
		cp01, cp02, cp03, cp04, cp05, cp06, cp07, cp08, cp12, cp13, cp14, cp15, cp16, cp17,
		sc01, sc02, sc03, sc04, sc05, sc06, sc07, sc10, sc11, sc14, sc15, sc17, lk01, lk02, lk04, lk06, be06,
		ld01, ld02, ld03, ld04, ld05, ld06, ld07,
	}
}

// Input is what rules look at.
type Input struct {
	Session *session.Session
	Facts   *compare.Facts
	// part tells that Facts are of a part of the recording's time alone.
	part bool
	// waiters says at the first call who waited for the program's answers.
	waiters func() (audience, string)
	// noisy says why the host was not quiet, empty when it was.
	noisy string
	// trace analyses the execution trace at the first call.
	trace func() *traced
	// reasons says at the first call why the lines of the allocs profile
	// allocate.
	reasons func() *reasons
	// slow says at the first call what the slowest requests met.
	slow func() []compare.Slow
	// parsed are the source files that were looked at.
	parsed map[string]*syntax
	// views is what rules ask of the frames of profiles.
	views views
}

// NewInput gathers what rules need of a recording.
func NewInput(s *session.Session) *Input {
	in := &Input{Session: s, Facts: compare.Gather(s), parsed: map[string]*syntax{}}
	in.noisy = hostNoise(in).reason
	in.trace = sync.OnceValue(func() *traced { return analyze(s) })
	in.reasons = sync.OnceValue(in.explain)
	in.slow = sync.OnceValue(func() []compare.Slow { return compare.SlowRequests(s) })
	in.waiters = sync.OnceValues(in.findWaiters)
	return in
}

// Run lets every rule look and returns the answers: findings first, the
// gravest of them first.
func Run(in *Input) []Finding {
	var all []Finding
	for _, r := range Rules() {
		if missing := r.missing(in.Session.Manifest()); missing != "" {
			all = append(all, r.answer(NotApplicable, "%s", missing))
			continue
		}
		all = append(all, in.settleFine(r, r.Check(r, in))...)
	}
	all = fold(all)
	in.shorten(all)
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
// [sched.ErrStopped]. What the trace does not cover the rules that need it say so.
func RunPart(in *Input, part timeline.Span, stop func() bool) ([]Finding, error) {
	t := analyzePart(in.Session, part, stop)
	if errors.Is(t.err, sched.ErrStopped) {
		return nil, t.err
	}
	within := &Input{
		Session: in.Session, Facts: compare.GatherIn(in.Session, part), part: true,
		trace: func() *traced { return t }, reasons: in.reasons, slow: in.slow, parsed: map[string]*syntax{},
	}
	within.noisy = hostNoise(within).reason
	within.waiters = sync.OnceValues(within.findWaiters)
	var all []Finding
	for _, r := range Rules() {
		if r.Part && r.missing(in.Session.Manifest()) == "" {
			all = append(all, within.settleFine(r, r.Check(r, within))...)
		}
	}
	in.shorten(all)
	return all, nil
}

// shorten fills in the short paths of files that the recording keeps.
func (in *Input) shorten(all []Finding) {
	short := map[string]string{}
	for _, e := range in.Session.Manifest().Of(recording.Source) {
		if rel := e.SourceName(); !strings.HasPrefix(rel, "abs/") {
			short[e.Source] = rel
		}
	}
	for _, f := range all {
		for i := range f.Evidence {
			if s, ok := short[f.Evidence[i].File]; ok {
				f.Evidence[i].Short = s
			}
		}
	}
}

// missing says what the recording lacks for the rule; empty when nothing.
func (r *Rule) missing(m *recording.Manifest) string {
	for _, kind := range r.Instead {
		if len(m.Of(kind)) > 0 {
			return ""
		}
	}
	for _, kind := range r.Needs {
		if len(m.Of(kind)) > 0 {
			continue
		}
		missing := "the recording has no " + Describe(kind)
		for _, kind := range r.Instead {
			missing += ", and no " + Describe(kind)
		}
		return missing
	}
	return ""
}

// describe names what a kind holds and how to get it.
var describe = map[recording.Kind]string{
	recording.Stderr:   "standard error of the program, where gctrace goes (loupe run records it; attach cannot)",
	recording.Allocs:   "allocs profile (record with -phases allocs)",
	recording.CPU:      "CPU profile (record with -phases cpu)",
	recording.OS:       "samples of the operating system",
	recording.Metrics:  "samples of runtime/metrics",
	recording.Vars:     "/debug/vars",
	recording.Compiler: "words of the compiler (loupe run of a package or a test keeps them)",

	recording.Load:      "load (record with -load URL)",
	recording.ExecTrace: "execution trace (record with -phases trace)",
	recording.Block:     "block profile (record with -phases block)",
	recording.Mutex:     "mutex profile (record with -phases mutex)",
	recording.Goroutine: "goroutine profile (record with -phases goroutine)",
	recording.Heap:      "heap profile (record with -phases heap)",
	recording.Stacks:    "dump of goroutines (record with -phases stacks)",
	session.CoreFile:    "core file (loupe open CORE)",

	recording.GoroutineLeak: "search for leaked goroutines (record with -phases goroutineleak)",
}

// Describe names what a kind of entry holds and says how to get it.
func Describe(kind recording.Kind) string {
	if text, ok := describe[kind]; ok {
		return text
	}
	return string(kind)
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

// minQuiet is the length from which the absence of collections says something.
const minQuiet = time.Second

// noCollections tells that gctrace was on in every bare phase and had nothing
// to say, and for how long.
func (in *Input) noCollections() (length time.Duration, none bool) {
	for _, r := range in.Facts.Rounds {
		if r.GC == nil || r.GC.Derived.Collections > 0 {
			return 0, false
		}
		length += r.Duration
	}
	return length, length >= minQuiet
}

// untold says why nothing is known of the program's collections: gctrace told
// of none, and the program's answer is not that there were none. It is empty
// when something is known.
func (in *Input) untold() string {
	for _, r := range in.Facts.Rounds {
		if r.GC != nil {
			return ""
		}
	}
	if len(in.Facts.Rounds) == 0 {
		return "" // too little of anything
	}
	if len(in.Session.Manifest().Of(recording.Stderr)) == 0 {
		return "nothing tells of single collections: that takes gctrace, and the recording has no " + describe[recording.Stderr]
	}
	return "the runtime told nothing of its collections: no Go program, gctrace=0 in GODEBUG, or a closed standard error"
}

// doubts lists what speaks against any measurement of time here.
func (in *Input) doubts() (all []string) {
	if in.noisy != "" {
		all = append(all, "the machine was not quiet: "+in.noisy)
	}
	for _, r := range in.Facts.Rounds {
		if in.part && r.Phase.Profiler != "" {
			return append(all, "most of this time lies in phases with a profiler, which costs something too")
		}
	}
	return all
}

// where says what time the figures are of.
func (in *Input) where() string {
	if in.part {
		return "this time"
	}
	return "the bare phases"
}
