package sched

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/filter"
	"loupe/value/timeline"
)

// FilterHelp describes the filter language in a few lines.
const FilterHelp = `A filter is a list of terms, all of which must hold:
  g=12 g=12,15        goroutines by id
  func~handle         the goroutine's start function (=, !=, ~, !~)
  stack~json          some function or file of the stack where it is (~, !~)
  state=waiting       running, runnable, waiting, syscall
  reason~chan         why it waits (=, !=, ~, !~); waits below an allocation
                      are "GC (runtime semaphore)", not "sync"
  dur>1ms dur<=10ms   how long it is in the state, as far as it is counted
  task=7 task~order   inside this task, or tasks of this type
  region~decode       inside regions of this type
  from=1.5s to=2s     between these times since the trace's start
= compares whole names, ~ takes a regular expression; quote what has spaces.
A filter selects periods of goroutines in a state: every figure covers the periods
that match all terms, and a goroutine counts if it has one of them.`

// Filter picks goroutines, and the stays in states, by a row of terms: see
// [FilterHelp]. It is made by [ParseFilter]. It serves one pass at a time.
type Filter struct {
	text  string
	terms []term

	from, to time.Duration // since the trace's start; to is 0 for the end
	start    timeline.Time
	ids      map[exectrace.GoID]bool // nil: all
	windows  map[exectrace.GoID][]timeline.Span
	inside   []term // task and region terms, which need the windows
	known    answers
	began    map[exectrace.GoID]string // the functions of those that are named late
	during   *timeline.Span            // in the trace's own time, in place of from and to; nil for none
}

type term struct {
	filter.Term
	dur     time.Duration
	id      uint64
	numeric bool
}

var grammar = filter.Grammar{
	"g": "= !=", "func": "= != ~ !~", "stack": "~ !~", "state": "= !=", "reason": "= != ~ !~",
	"dur": "< <= > >=", "task": "= ~", "region": "= ~", "from": "=", "to": "=",
}

// ParseFilter reads a filter. An empty one is nil, which lets everything
// through.
func ParseFilter(text string) (*Filter, error) {
	terms, err := grammar.Parse(text)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	f := &Filter{text: text}
	for _, t := range terms {
		if err := f.add(term{Term: t}); err != nil {
			return nil, fmt.Errorf("cannot read the filter term %q: %w", t.Key+t.Op+t.Value, err)
		}
	}
	if f.to > 0 && f.to <= f.from {
		return nil, fmt.Errorf("there is nothing between from=%v and to=%v: to must be later", f.from, f.to)
	}
	return f, nil
}

func (f *Filter) add(t term) (err error) {
	switch t.Key {
	case "g":
		return f.addIDs(t)
	case "state":
		if !slices.Contains([]string{"running", "runnable", "waiting", "syscall"}, t.Value) {
			return fmt.Errorf("no state %q; known are running, runnable, waiting, syscall", t.Value)
		}
	case "dur", "from", "to":
		if t.dur, err = time.ParseDuration(t.Value); err != nil {
			return err
		}
		switch t.Key {
		case "from":
			f.from = t.dur
			return nil
		case "to":
			f.to = t.dur
			return nil
		}
	case "task", "region":
		if t.Key == "task" && t.Op == "=" {
			if id, err := strconv.ParseUint(t.Value, 10, 64); err == nil {
				t.id, t.numeric = id, true
			}
		}
		f.inside = append(f.inside, t)
		return nil
	}
	f.terms = append(f.terms, t)
	return nil
}

func (f *Filter) addIDs(t term) error {
	if t.Op == "!=" {
		if _, err := strconv.ParseInt(t.Value, 10, 64); err != nil {
			return fmt.Errorf("%q is not a goroutine id", t.Value)
		}
		f.terms = append(f.terms, t)
		return nil
	}
	if f.ids == nil {
		f.ids = make(map[exectrace.GoID]bool)
	}
	for _, s := range strings.Split(t.Value, ",") {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return fmt.Errorf("%q is not a goroutine id", s)
		}
		f.ids[exectrace.GoID(id)] = true
	}
	return nil
}

// Prepare readies the filter for a pass over t. Terms of functions cost a pass of
// their own, as those of tasks and regions do.
func (f *Filter) Prepare(t *exectrace.Trace) (err error) {
	f.known = newAnswers()
	f.start = 0
	f.windows, f.began = nil, nil
	pass := sweep.New(t)
	if f.Has("func") {
		f.began = joinNamedLate(pass)
	}
	finish := func() {}
	if len(f.inside) > 0 {
		finish = f.joinWindows(pass)
	} else if f.began == nil {
		return nil
	}
	if err := pass.Run(nil); err != nil {
		return err
	}
	finish()
	return nil
}

// joinWindows lets a pass find out when goroutines are inside of the tasks and
// regions that are wanted.
func (f *Filter) joinWindows(pass *sweep.Pass) (finish func()) {
	f.windows = make(map[exectrace.GoID][]timeline.Span)
	r := pass.Reader()
	names := make(map[exectrace.TaskID]exectrace.NameID)
	var end timeline.Time
	add := func(g exectrace.GoID, from, to timeline.Time) {
		f.windows[g] = append(f.windows[g], timeline.Span{Start: from, End: to})
	}
	s := NewSummarizer(pass.Goroutines(), Sink{Region: func(re *Region) {
		for _, t := range f.inside {
			if t.Key == "region" && !t.Holds(r.Name(re.Name)) || t.Key == "task" && !t.matchesTask(re.Task, r.Name(names[re.Task])) {
				return
			}
		}
		to := re.End
		if to == 0 {
			to = end
		}
		add(re.G, re.Start, to)
	}}, SummaryOptions{})
	pass.Join(sweep.On(sweep.Of(exectrace.KindSync, exectrace.KindTaskBegin), func(e *exectrace.Event) {
		end = e.Time
		if e.Kind == exectrace.KindTaskBegin {
			names[e.Task()] = e.Name
		}
	}))
	pass.Join(s)
	return func() {
		s.Finish()
		for g, list := range f.windows {
			f.windows[g] = outermost(list)
		}
	}
}

// outermost sorts spans and drops those that begin inside of another.
func outermost(list []timeline.Span) []timeline.Span {
	slices.SortFunc(list, func(a, b timeline.Span) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End)) })
	out := list[:0]
	for _, s := range list {
		if n := len(out); n == 0 || s.Start >= out[n-1].End {
			out = append(out, s)
		}
	}
	return out
}

func (t *term) matchesTask(id exectrace.TaskID, name string) bool {
	if t.numeric {
		return uint64(id) == t.id
	}
	return id != exectrace.BackgroundTask && t.Holds(name)
}

// During returns a filter that restricts nothing but the time, which is that of
// the trace's clock.
func During(span timeline.Span) *Filter { return &Filter{during: &span} }

// Begin tells the filter when the trace begins.
func (f *Filter) Begin(at timeline.Time) { f.start = at }

// Times returns the span of a trace that begins at a time, when the filter
// restricts nothing but times.
func (f *Filter) Times(begin timeline.Time) (timeline.Span, bool) {
	return (&Filter{start: begin, from: f.from, to: f.to}).span(), len(f.terms)+len(f.inside)+len(f.ids) == 0
}

// span is the time that the filter is interested in.
func (f *Filter) span() timeline.Span {
	if f.during != nil {
		return *f.during
	}
	s := timeline.Span{Start: f.start + timeline.Time(f.from), End: 1<<63 - 1}
	if f.to > 0 {
		s.End = f.start + timeline.Time(f.to)
	}
	return s
}

// Stays appends to dst what of a stay in a state counts: it is cut to the times
// that the filter is interested in, and to each of the regions that it names, and
// then held against the other terms. Nothing is appended for a stay of which
// nothing counts.
func (f *Filter) Stays(r *exectrace.Reader, i *Interval, dst []Interval) []Interval {
	if f.ids != nil && !f.ids[i.G] {
		return dst
	}
	part := *i
	if !cut(&part, f.span()) {
		return dst
	}
	if f.windows == nil {
		if f.holds(r, &part) {
			dst = append(dst, part)
		}
		return dst
	}
	windows := f.windows[part.G]
	at, _ := slices.BinarySearchFunc(windows, part.Start, func(w timeline.Span, t timeline.Time) int {
		if w.End <= t {
			return -1
		}
		return 1
	})
	for _, w := range windows[at:] {
		piece := part
		if !cut(&piece, w) {
			break
		}
		if f.holds(r, &piece) {
			dst = append(dst, piece)
		}
	}
	return dst
}

// holds says whether a stay passes all terms but those of times and regions.
func (f *Filter) holds(r *exectrace.Reader, i *Interval) bool {
	for n := range f.terms {
		if !f.intervalTerm(r, n, i) {
			return false
		}
	}
	return true
}

// cut clips i to a span and says whether anything is left.
func cut(i *Interval, s timeline.Span) bool {
	i.Start, i.End = max(i.Start, s.Start), min(i.End, s.End)
	return i.Start < i.End
}

func (f *Filter) intervalTerm(r *exectrace.Reader, n int, i *Interval) bool {
	switch t := &f.terms[n]; t.Key {
	case "g":
		return strconv.FormatInt(int64(i.G), 10) != t.Value
	case "func":
		if i.Name == exectrace.NameNone {
			return t.Holds(f.began[i.G])
		}
		return f.known.ofName(r, t, n, i.Name)
	case "stack":
		return f.known.ofStack(r, t, n, i.Stack)
	case "state":
		return (strings.ToLower(i.State.String()) == t.Value) == (t.Op == "=")
	case "reason":
		return f.known.ofName(r, t, n, r.WaitReasonID(i.Reason, i.Stack))
	case "dur":
		return compareDur(i.Len(), t.Op, t.dur)
	}
	return true
}

func compareDur(a time.Duration, op string, b time.Duration) bool {
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}

// Region says whether a region counts: by its goroutine, task and type.
func (f *Filter) Region(r *exectrace.Reader, re *Region) bool {
	if f.ids != nil && !f.ids[re.G] {
		return false
	}
	for i := range f.inside {
		if t := &f.inside[i]; t.Key == "region" && !t.Holds(r.Name(re.Name)) || t.Key == "task" && t.numeric && uint64(re.Task) != t.id {
			return false
		}
	}
	s := f.span()
	return re.End == 0 || re.End >= s.Start && re.Start < s.End
}

// Task says whether a task counts: by its id, type and time.
func (f *Filter) Task(r *exectrace.Reader, k *Task) bool {
	for i := range f.inside {
		if t := &f.inside[i]; t.Key == "task" && !t.matchesTask(k.ID, r.Name(k.Name)) {
			return false
		}
	}
	for i := range f.terms {
		if t := &f.terms[i]; t.Key == "dur" && k.Complete() && !compareDur(k.Duration(), t.Op, t.dur) {
			return false
		}
	}
	s := f.span()
	return k.End == 0 || k.End >= s.Start && k.Start < s.End
}

// Has says whether the filter has a term of this key.
func (f *Filter) Has(key string) bool {
	return slices.ContainsFunc(f.terms, func(t term) bool { return t.Key == key })
}

// Terms returns the keys of the filter's terms that restrict more than times,
// each once, in the order in which they were first given.
func (f *Filter) Terms() (keys []string) {
	if f.ids != nil {
		keys = append(keys, "g")
	}
	for _, list := range [][]term{f.terms, f.inside} {
		for _, t := range list {
			if !slices.Contains(keys, t.Key) {
				keys = append(keys, t.Key)
			}
		}
	}
	return keys
}

// Event says whether an event counts: by its own goroutine or the one that it
// changes, the new state, the reason, its stack and its time. How long a state
// will last is not known at an event, so that dur does not apply. The goroutines are
// those of the pass that has the event.
func (f *Filter) Event(gs *sweep.Goroutines, e *exectrace.Event) bool {
	i := Interval{G: e.G, Reason: e.Name, State: e.To, Start: e.Time, End: e.Time + 1, Stack: e.Stack}
	slot := e.GSlot
	if e.Kind == exectrace.KindGoTransition {
		i.G, slot = e.Goroutine(), e.SubjectSlot
	}
	if slot != exectrace.NoSlot {
		i.Name = gs.In(slot).Name
	}
	if f.ids != nil && !f.ids[i.G] && !f.ids[e.G] {
		return false
	}
	if !cut(&i, f.span()) {
		return false
	}
	if f.windows != nil && !slices.ContainsFunc(f.windows[i.G], func(w timeline.Span) bool { return w.Contains(e.Time) }) {
		return false
	}
	for n := range f.terms {
		if f.terms[n].Key != "dur" && !f.intervalTerm(gs.Reader(), n, &i) {
			return false
		}
	}
	return true
}

// namedLate returns the functions of the goroutines that no event names at first:
// those that are older than the trace, and tell where they are only when they do
// something.
func namedLate(t *exectrace.Trace) (map[exectrace.GoID]string, error) {
	pass := sweep.New(t)
	names := joinNamedLate(pass)
	return names, pass.Run(nil)
}

// joinNamedLate is namedLate for a pass that has other listeners, which fills the
// map.
func joinNamedLate(pass *sweep.Pass) map[exectrace.GoID]string {
	names := make(map[exectrace.GoID]string)
	r := pass.Reader()
	pass.Join(sweep.On(sweep.Of(exectrace.KindGoTransition), func(e *exectrace.Event) {
		g := e.Goroutine()
		switch name, late := names[g]; {
		case (e.From == exectrace.Undetermined || e.From == exectrace.NotExist) && e.SubjectStack == 0:
			if !late {
				names[g] = ""
			}
		case late && name == "" && e.SubjectStack != 0:
			names[g] = r.Name(r.Root(e.SubjectStack))
		}
	}))
	return names
}
