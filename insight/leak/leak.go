// Package leak decides whether a program leaks: one verdict from whatever was recorded of it.
// Everything that was measured again and again is judged as a series (judge): what has
// stopped growing, came back, or rises with the load is no leak. What still grows is put
// down to lines and to what holds it.
package leak

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/insight"
	"loupe/recording"
	"loupe/value/unit"
)

// Schema is that of the JSON form.
const Schema = "loupe.leak/1"

// Answer is what a verdict comes to.
type Answer string

// The answers.
const (
	Yes       Answer = "leak"
	No        Answer = "no leak"
	Undecided Answer = "undecided"
)

// Verdict is whether a program leaks, and everything that goes with it.
type Verdict struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Answer Answer `json:"answer"`
	// Proved tells that Go itself has shown that goroutines never go on.
	Proved bool `json:"proved"`
	// Why is the answer's reason in a sentence.
	Why string `json:"why"`
	// Causes are what leaks, or may, the one to start with first.
	Causes []*Cause `json:"causes"`
	// Limits are what a leak of memory runs into.
	Limits []Limit `json:"limits"`
	// Looked is what was measured again and again.
	Looked []*Looked `json:"looked"`
	// Hints are what rules have found that shows no trend by itself.
	Hints []insight.Finding `json:"hints"`
	// Needs says what would decide, where the answer is open.
	Needs []string `json:"needs"`
	// Doubts are what speaks against the answer.
	Doubts []string `json:"doubts"`
}

// Cause is one thing that becomes more and more.
type Cause struct {
	What Matter `json:"what"`
	// Process says of which process it is, where there are several.
	Process string `json:"process,omitempty"`
	// Rule is the rule that has found the same, "" where none has.
	Rule    string `json:"rule,omitempty"`
	Summary string `json:"summary"`
	// Rate is how fast, with the interval in front and behind: goroutines, descriptors or bytes
	// per second, or per look. Per is "s" or "look".
	Rate [3]float64 `json:"rate"`
	Per  string     `json:"per"`
	// PerRequest is what of it each request leaves behind; 0 without a load.
	PerRequest float64 `json:"per_request,omitempty"`
	// KeptShare is the part of everything allocated that stays; 0 where that is not known.
	KeptShare float64 `json:"kept_share,omitempty"`
	Proved    bool    `json:"proved"`
	// Bounded tells that the source has a bound, so that it may be a cache that still fills.
	Bounded bool `json:"bounded"`
	// Holder is what holds it, by the heap graph of a core.
	Holder   string             `json:"holder,omitempty"`
	Advice   string             `json:"advice,omitempty"`
	Evidence []insight.Evidence `json:"evidence"`
	Doubts   []string           `json:"doubts"`
}

// Line is where it comes from: the first evidence that has a line; nil where nothing knows.
func (c *Cause) Line() *insight.Evidence {
	for i := range c.Evidence {
		if c.Evidence[i].Line > 0 {
			return &c.Evidence[i]
		}
	}
	return nil
}

// Options are what is asked.
type Options struct {
	Name string
	// Least is the shortest time that can show a leak; 0 is ten seconds.
	Least time.Duration
	// Limit is a limit of memory to reckon with, in bytes; 0 takes those that were recorded.
	Limit int64
	// Left says what could not be read and was left out, or counts once.
	Left []string
	// Order is that of files which do not tell when they were made.
	Order Order
}

// Order is how profiles that do not tell their time were put in order.
type Order struct {
	// By says how: "in the order of their names". Empty is not known.
	By string
	// Known tells that it is the order in which they were made.
	Known bool
	// Against says what speaks against it; empty for nothing.
	Against string
}

// DefaultLeast is the shortest time that can show a leak, unless Options say otherwise.
const DefaultLeast = 10 * time.Second

// Decide looks at a recording, or files, with what the rules have said of it.
func Decide(in *insight.Input, findings []insight.Finding, opt Options) *Verdict {
	if opt.Least == 0 {
		opt.Least = DefaultLeast
	}
	v := &Verdict{Schema: Schema, Name: opt.Name, Causes: []*Cause{}, Limits: []Limit{}, Needs: []string{}, Doubts: []string{}}
	var untimed bool
	if v.Looked, untimed = gather(in, opt.Least.Seconds(), opt.Order); untimed {
		v.Doubts = append(v.Doubts, "profiles and dumps that do not tell when they were made are taken "+opt.Order.By)
	}
	d := &decider{in: in, v: v, findings: findings, opt: opt}
	d.proof()
	open := []string{}
	grows := len(v.Causes) > 0
	for _, what := range []Matter{Goroutines, Files, Outside, Heap, Resident} {
		for _, process := range d.processes(what) {
			leaks, why := d.matter(what, process)
			grows = grows || leaks
			if why != "" && process != "" {
				why = process + ": " + why
			}
			if why != "" {
				open = append(open, why)
			}
		}
	}
	d.answer(grows, open)
	d.hints()
	d.limits()
	if v.Hints == nil {
		v.Hints = []insight.Finding{}
	}
	return v
}

// processes are those that a matter was measured of.
func (d *decider) processes(what Matter) (all []string) {
	for _, l := range d.v.Looked {
		if l.What == what && !slices.Contains(all, l.Process) {
			all = append(all, l.Process)
		}
	}
	return all
}

// matter judges one matter of one process: it tells whether it leaks, or why that is open.
func (d *decider) matter(what Matter, process string) (leaks bool, open string) {
	main, why := d.witness(what, process)
	if main == nil {
		return false, ""
	}
	if what == Resident && slices.ContainsFunc(d.v.Looked, func(l *Looked) bool { return l.What == Heap }) {
		return false, d.besideHeap(main)
	}
	if main.Shape == Grows && why == "" {
		causes, doubt := d.causes(main)
		d.addCauses(causes)
		switch {
		case doubt != "":
			return false, doubt
		case len(causes) == 0: // what grows belongs to a cause that there is already
			first := d.withLine()
			return first == nil || !first.Bounded, ""
		case slices.ContainsFunc(causes, func(c *Cause) bool { return !c.Bounded }):
			return true, ""
		}
		return false, boundText(what, causes[0])
	}
	if main.growth != nil {
		grows, doubt := d.hidden(main)
		if grows {
			return true, ""
		}
		if doubt != "" && why != "" {
			why += "; " + doubt
		} else if doubt != "" {
			why = doubt
		}
	}
	if main.Shape == Short && process != "" && main.To-main.From < leastTraced && d.judgedElsewhere(what, process) {
		d.v.Doubts = append(d.v.Doubts, fmt.Sprintf("%s: %s: %s", process, what, main.Why))
		return false, ""
	}
	return false, why
}

// boundText says which bound leaves it open whether what grows leaks.
func boundText(what Matter, c *Cause) string {
	if n := len(c.Evidence); what == Goroutines && n > 0 {
		limit := c.Evidence[n-1]
		return fmt.Sprintf("the goroutines become more, but the source sets a time limit at %s:%d (%s): whether they end by it was not seen", path.Base(strings.ReplaceAll(limit.File, `\`, "/")), limit.Line, limit.Text)
	}
	for _, e := range c.Evidence {
		if e.Line > 0 && strings.HasPrefix(e.Text, "the source has a bound here") {
			return fmt.Sprintf("the %s grows, but the source has a bound at %s:%d (%s): it may be a cache that still fills; whether the bound is reached was not seen", what, path.Base(strings.ReplaceAll(e.File, `\`, "/")), e.Line, strings.TrimPrefix(e.Text, "the source has a bound here: "))
		}
	}
	return fmt.Sprintf("the %s grows, but the source removes something at a bound: it may be a cache that still fills", what)
}

// addCauses adds causes: one line that leaks in several processes, or after each start, is told once.
func (d *decider) addCauses(causes []*Cause) {
	for _, c := range causes {
		at := c.Line()
		again := slices.IndexFunc(d.v.Causes, func(o *Cause) bool {
			e := o.Line()
			return at != nil && e != nil && o.What == c.What && o.Process != c.Process && e.File == at.File && e.Line == at.Line
		})
		if again < 0 {
			d.v.Causes = append(d.v.Causes, c)
			continue
		}
		o := d.v.Causes[again]
		o.Evidence = append(o.Evidence, insight.Evidence{Text: fmt.Sprintf("the same in %s: %s", c.Process, moreText(c.What, c.Rate[1], c.Per))})
	}
}

// besideHeap says why resident memory that grows leaves it open whether there is a leak: where
// the heap does not grow it may be memory of C, or mapped files, and it may be garbage.
func (d *decider) besideHeap(resident *Looked) string {
	for _, c := range d.v.Causes {
		if c.What.bytes() {
			return "" // which explains it
		}
	}
	if resident.Shape != Grows || slices.ContainsFunc(d.v.Looked, func(l *Looked) bool {
		return l.What == Outside && l.Shape.judged() && l.unseen < leastOutside+resident.To-resident.From
	}) {
		return "" // what is outside Go was measured by itself: the rest is the heap and its garbage
	}
	text := fmt.Sprintf("resident memory grows (from %s to %s, %s)", unit.BytesOf(resident.From), unit.BytesOf(resident.To), moreText(Resident, resident.Rise[1], resident.Per))
	if !judged(d.v.Looked, Heap) {
		return text + ", and nothing tells whether it is in use or garbage that no collection has freed yet"
	}
	return text + ", but the heap of Go does not: it is memory outside Go (C, mmap, mapped files), stacks, or garbage that waits for a collection; /proc/PID/smaps lists the mappings"
}

// judgedElsewhere tells whether a matter was measured well enough of another process.
func (d *decider) judgedElsewhere(what Matter, process string) bool {
	return slices.ContainsFunc(d.v.Looked, func(l *Looked) bool { return l.What == what && l.Process != process && l.Shape.judged() })
}

// decider makes a verdict. It has more methods than most because each matter has causes, doubts
// and words of its own, and all of them add to the one verdict.
type decider struct {
	in       *insight.Input
	v        *Verdict
	findings []insight.Finding
	opt      Options
	used     []string // the rules whose findings are in a cause
}

// witness is what speaks for a matter, and why it does not decide; nil where nothing was
// measured.
func (d *decider) witness(what Matter, process string) (main *Looked, open string) {
	var others []*Looked
	for _, l := range d.v.Looked {
		switch {
		case l.What != what || l.Process != process:
		case main == nil || !main.Shape.judged() && l.Shape.judged():
			main = l
		default:
			others = append(others, l)
		}
	}
	if main == nil {
		return nil, ""
	}
	if slices.ContainsFunc(others, main.settledBy) {
		return main, ""
	}
	about := fmt.Sprintf("%s (%s)", what, main.By)
	switch main.Shape {
	case Short, Unordered:
		return main, fmt.Sprintf("%s: %s", about, main.Why)
	case Slowing:
		return main, fmt.Sprintf("%s still rises, but more slowly than before (%s): a cache that fills does the same", about, main.Why)
	case Stepped:
		return main, d.steppedText(about, main)
	case Slight:
		return main, fmt.Sprintf("%s: %s%s", about, main.Why, main.byHow())
	case Steady:
		if main.What == Heap && main.hides() && !slices.ContainsFunc(others, func(o *Looked) bool { return o.counted && o.Shape.judged() && !o.hides() && !o.moreInEnd() }) {
			return main, fmt.Sprintf("%s goes up and down so much that a rise of up to %s a second would not show", about, unit.BytesOf(main.Rise[2]))
		}
	case Late:
		return main, fmt.Sprintf("%s: %s", about, main.lateWhy())
	case WithHeap:
		return main, fmt.Sprintf("%s: %s; /proc/PID/smaps lists the mappings", about, main.Why)
	case WithLoad:
		return main, fmt.Sprintf("%s rises no faster than the load: only a steady load can tell", about)
	case Grows:
		return main, ""
	}
	for _, o := range others {
		if o.Shape == Grows || o.counted && o.moreInEnd() {
			return main, fmt.Sprintf("%s: %s, but by %s it %s", about, main.Shape, o.By, map[bool]string{true: "still grows", false: "has more at the end than at the beginning"}[o.Shape == Grows])
		}
	}
	return main, ""
}

// moreInEnd tells that it has more in the end, and that this is no chance.
func (l *Looked) moreInEnd() bool { return l.Shape.rises() && l.P < chance }

// hides tells that what is called steady goes up and down so much that it may rise, in the time that was
// looked at, by as much as half of it, and by more than twice what counts.
func (l *Looked) hides() bool {
	may := l.Rise[2] * l.Seconds
	return l.Per == "s" && may >= max(2*leastSampled, l.From/2)
}

// byHow says by how much something rises slightly.
func (l *Looked) byHow() string {
	if l.What.bytes() {
		return fmt.Sprintf(" (from %s to %s, %s)", unit.BytesOf(l.From), unit.BytesOf(l.To), moreText(l.What, l.Rise[1], l.Per))
	}
	return fmt.Sprintf(" (from %s to %s, %s)", unit.Number(l.From), unit.Number(l.To), moreText(l.What, l.Rise[1], l.Per))
}

// settledBy tells that what is open of something by its samples is settled by another measurement,
// which counts all of it and saw it stop: for as long, but for an eighth of the time at either end.
func (l *Looked) settledBy(o *Looked) bool {
	open := l.Shape == Late || l.Shape == Stepped || l.Shape == Slowing
	quiet := o.Shape == Levelled || o.Shape == Steady || o.Shape == Returned || o.Shape == Falls
	end := (l.span[1] - l.span[0]) / 8
	return open && l.growth != nil && o.counted && quiet && end > 0 && o.span[0] <= l.span[0]+end && o.span[1] >= l.span[1]-end
}

// steppedText says of what rises in steps which line most of it comes from.
func (d *decider) steppedText(about string, l *Looked) string {
	text := fmt.Sprintf("%s rises in steps, as a slice, map or buffer does that is reallocated when it is full (%s): it may have stopped, or the next step is yet to come", about, l.Why)
	if l.growth == nil {
		return text
	}
	var most *facts.GrowingSite
	for _, s := range l.growth.Sites {
		if most == nil || s.Grew() > most.Grew() {
			most = s
		}
	}
	if most != nil && most.Grew() >= back*(l.To-l.From) {
		text += "; most of it comes from " + placeOf(most.At)
	}
	return text
}

func (l *Looked) lateWhy() string {
	if strings.HasPrefix(l.Why, "it ") {
		return l.Why
	}
	return "it rises in a part of the time alone (" + l.Why + ")"
}

// answer puts it together.
func (d *decider) answer(grows bool, open []string) {
	v := d.v
	enough := slices.ContainsFunc(v.Looked, func(l *Looked) bool { return l.Shape.judged() })
	if !judged(v.Looked, Heap) && !judged(v.Looked, Resident) && d.in.Session.Manifest().Target.Kind != "files" {
		// Of a program that was recorded, no leak would be taken for one of any kind.
		open = append(open, "its heap was not measured often enough")
	}
	if recorded := d.in.Session.Manifest().Of(recording.Metrics); len(recorded) > 0 && !d.metricsRead(recorded) {
		open = append(open, recorded[0].Path+" has no readings that go with the recording: it is empty, missing or damaged")
	}
	switch {
	case v.Proved:
		v.Answer, v.Why = Yes, "Go's own search found goroutines that nothing can wake up"
	case grows:
		v.Answer = Yes
		v.Why = strings.Join(matters(v.Causes), " and ") + " keep growing" + d.toTheEnd()
		if len(matters(v.Causes)) == 1 && v.Causes[0].What != Goroutines && v.Causes[0].What != Files {
			v.Why = strings.Replace(v.Why, "keep growing", "keeps growing", 1)
		}
		v.Doubts = append(v.Doubts, "growth that would stop at a bound later looks the same until it does: watch for several times as long if one is expected")
	case len(open) > 0 || !enough:
		v.Answer, v.Why = Undecided, strings.Join(open, "; ")
		if v.Why == "" {
			v.Why = "nothing here was measured more than once"
		}
		v.Needs = d.needs()
	default:
		v.Answer, v.Why = No, d.quiet()
		if missing := unmeasured(v.Looked); missing != "" {
			v.Doubts = append(v.Doubts, missing+" not measured")
		}
	}
	for _, note := range d.in.Session.Manifest().Notes {
		if strings.HasPrefix(note, "the program ended in the phase growth") {
			v.Doubts = append(v.Doubts, note)
		}
	}
	v.Doubts = append(v.Doubts, d.opt.Left...)
	if rec := d.in.Incomplete(); len(rec) > 0 {
		v.Doubts = append(v.Doubts, rec...)
	}
}

// metricsRead tells whether there are readings of the runtime in any of the files that have to have them.
func (d *decider) metricsRead(files []recording.Entry) bool {
	return slices.ContainsFunc(files, func(e recording.Entry) bool {
		set, err := d.in.Session.Metrics(e.Run)
		return err == nil && len(set.Series("/sched/goroutines:goroutines").Values)+len(set.Series("memstats.HeapAlloc").Values) > 0
	})
}

// fewForEnd is how many measurements can tell how fast something grows at the end: two in each
// quarter of the time.
const fewForEnd = 8

// toTheEnd says of what grows that it does so as fast at the end as before, where all of it was
// measured often enough and has grown evenly.
func (d *decider) toTheEnd() string {
	grows := 0
	for _, l := range d.v.Looked {
		if l.Shape == Grows {
			grows++
			if l.Points < fewForEnd {
				return ""
			}
			if l.Why == sinceStart {
				return ", evenly since a quick start"
			}
		}
	}
	if grows == 0 {
		return ""
	}
	return ", as fast at the end as before"
}

// matters are those of causes, each once.
func matters(all []*Cause) (names []string) {
	for _, c := range all {
		if name := subject(c.What, c.Process); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// quiet says what was seen not to grow, and how much a leak could still be.
func (d *decider) quiet() string {
	var parts []string
	for _, l := range d.v.Looked {
		if !l.Shape.judged() || slices.ContainsFunc(parts, func(p string) bool { return strings.HasPrefix(p, l.Subject()+" ") }) {
			continue
		}
		if l.What == Resident && judged(d.v.Looked, Heap) && l.Shape != Steady {
			continue // it has the garbage in it
		}
		if slices.ContainsFunc(d.v.Looked, func(o *Looked) bool { return o.What == l.What && o.Process == l.Process && l.settledBy(o) }) {
			continue
		}
		text := fmt.Sprintf("%s %s", l.Subject(), verb(l.What, l.Shape))
		switch {
		case l.Shape == Steady && l.What == Heap && l.Rise[2] > 0 && l.Per == "s":
			text += fmt.Sprintf(" (it rises by no more than %s a second)", unit.BytesOf(l.Rise[2]))
		case l.What == Outside && (l.Shape == Steady || l.Shape == WithHeap):
			text += fmt.Sprintf(" (a rise of less than %s would not show)", unit.BytesOf(l.unseen))
		}
		parts = append(parts, text)
	}
	return "nothing that was measured keeps growing: " + strings.Join(parts, ", ")
}

// unmeasured names what a leak could be of that nothing was measured of.
func unmeasured(all []*Looked) string {
	var missing []string
	for _, m := range []Matter{Heap, Goroutines, Files, Outside} {
		if !judged(all, m) {
			missing = append(missing, string(m))
		}
	}
	return strings.Join(missing, ", ")
}

// needs says what to record.
func (d *decider) needs() (all []string) {
	m := d.in.Session.Manifest()
	longest := 0.0
	for _, l := range d.v.Looked {
		longest = max(longest, l.Seconds)
	}
	longer := max(60, 3*longest)
	files := m.Target.Kind == "files"
	switch {
	case files && len(m.Of(recording.Heap))+len(m.Of(recording.Goroutine)) > 0:
		all = append(all, fmt.Sprintf("%s of one program in the order of their time, some minutes apart%s: loupe leak FIRST … LAST", d.more(), d.collected()))
	case files && len(m.Of(recording.Stderr)) > 0:
		all = append(all, "a longer log (GODEBUG=gctrace=1), under a steady load")
	}
	all = append(all, fmt.Sprintf("a sample of the running program, under a steady load: loupe leak -for %s PID or URL; or of one to start: loupe run -phases bare:10s,growth:%s,goroutineleak PROGRAM", seconds(longer), seconds(longer)))
	if len(all) > 1 {
		all[1] = "or " + all[1]
	}
	return all
}

// more says how many profiles would decide: more than there are, or over a longer time.
func (d *decider) more() string {
	most := 0
	for _, l := range d.v.Looked {
		most = max(most, l.Points)
	}
	if most < fewest {
		return fmt.Sprintf("at least %d profiles or dumps", fewest)
	}
	return fmt.Sprintf("more profiles or dumps than these %d, or over several times as long,", most)
}

// collected asks for a collection before each heap profile, where there are such.
func (d *decider) collected() string {
	if len(d.in.Session.Manifest().Of(recording.Heap)) == 0 {
		return ""
	}
	return ", each after a collection (/debug/pprof/heap?gc=1)"
}

// hints are findings of the rules about memory and goroutines that no cause has.
func (d *decider) hints() {
	if d.v.Answer == No || slices.ContainsFunc(d.v.Causes, func(c *Cause) bool { return c.Line() != nil }) {
		return
	}
	for _, f := range d.findings {
		if f.State != insight.Found || slices.Contains(d.used, f.Rule) || !slices.Contains([]string{"GC08", "GC09", "GC10", "GC16", "SC10", "SC11", "LD07"}, f.Rule) {
			continue
		}
		if f.Rule == "GC08" && !judged(d.v.Looked, Heap) {
			continue // it looks at the same figures, which decide nothing
		}
		if f.Rule == "GC16" && slices.ContainsFunc(d.v.Looked, func(l *Looked) bool { return l.uncollected }) {
			continue // what it takes to be in use may be garbage
		}
		same := func(c *Cause) bool {
			at := c.Line()
			return at != nil && slices.ContainsFunc(f.Evidence, func(e insight.Evidence) bool { return e.File == at.File && e.Line == at.Line })
		}
		if !slices.ContainsFunc(d.v.Causes, same) {
			d.v.Hints = append(d.v.Hints, f)
		}
	}
}

// bytes tells that it is memory.
func (m Matter) bytes() bool { return m == Heap || m == Outside || m == Resident }

// moreText prints how fast something grows: "3.2 MiB more a second".
func moreText(what Matter, v float64, per string) string {
	amount := unit.Number(v)
	if what.bytes() {
		amount = unit.BytesOf(v)
	}
	if per == "look" {
		return amount + " more from look to look"
	}
	return amount + " more a second"
}

func seconds(s float64) string { return unit.Duration(time.Duration(s * 1e9)) }
