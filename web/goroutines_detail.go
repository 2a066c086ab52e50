package web

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"loupe/analysis/explain"
	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/dump"
	"loupe/report"
	"loupe/value/stack"
	"loupe/value/timeline"
	"loupe/value/unit"
)

// groupView is an opened group.
type groupView struct {
	Title string `json:"title"`
	// Stacks are its stacks, the most frequent first; More counts those that
	// are not among them.
	Stacks []stackView `json:"stacks"`
	More   int         `json:"more"`
	// Goroutines lists them; Places are their positions for goroutines/one.
	Goroutines *table `json:"goroutines"`
	Places     []int  `json:"places"`
}

type stackView struct {
	Count  int64       `json:"count"`
	State  string      `json:"state"`
	Frames []frameView `json:"frames"`
}

const (
	maxStacks  = 20     // of a group
	maxMembers = 20_000 // goroutines that are listed
)

func viewGroup(ctx context.Context, s *subject, q *query) (*groupView, error) {
	l, err := lookOf(ctx, s, q)
	if err != nil {
		return nil, err
	}
	f := l.of.file
	type kind struct {
		stack stack.ID
		state string
	}
	counts := map[kind]int64{}
	var order []kind
	v := &groupView{Places: []int{}}
	key, wanted := l.keys(f), q.Get("key")
	var total int64
	for g := range f.IDs {
		n := f.Count(g)
		if n == 0 || !l.keep(g) || key(g) != wanted {
			continue
		}
		k := kind{f.StackIDs[g], f.State(g).Name}
		if counts[k] == 0 {
			order = append(order, k)
		}
		counts[k] += n
		total += n
		if f.IDs[g] != 0 {
			v.Places = append(v.Places, g)
		}
	}
	if total == 0 {
		return nil, nothing("there is no such group here: its goroutines are gone, or the filter hides them")
	}
	slices.SortStableFunc(order, func(a, b kind) int { return cmp.Compare(counts[b], counts[a]) })
	for _, k := range order[:min(len(order), maxStacks)] {
		v.Stacks = append(v.Stacks, stackView{counts[k], k.state, framesOf(f, k.stack)})
	}
	v.More = len(order) - len(v.Stacks)
	v.Title = unit.Plural(total, "goroutine") + ", " + report.StackPlace(f, order[0].stack)
	v.list(l.of)
	return v, nil
}

// list makes the table of the goroutines of a group, the oldest first.
func (v *groupView) list(x *shot) {
	slices.SortStableFunc(v.Places, func(a, b int) int { return cmp.Compare(x.age(b), x.age(a)) })
	sheet := &report.Sheet{Key: "group", Columns: []report.Column{{Key: "id", Head: "goroutine"}, {Key: "state", Head: "state"}, {Key: "age_ns", Head: "age"}, {Key: "creator", Head: "made by"}, {Key: "labels", Head: "labels"}}}
	if more := len(v.Places) - maxMembers; more > 0 {
		v.Places = v.Places[:maxMembers]
		sheet.Notes = append(sheet.Notes, unit.Count(int64(more))+" more goroutines are not listed: filter for them.")
	}
	labelled := false
	for _, g := range v.Places {
		var age, by any
		switch a := x.age(g); {
		case x.ages == nil:
			age = report.Minutes(x.file.Waits[g])
		case a >= 0:
			age = a
		}
		if c := x.file.Creators[g]; c != 0 {
			by = fmt.Sprintf("g%d", c)
		}
		labels := x.file.State(g).Labels
		labelled = labelled || labels != ""
		sheet.Rows = append(sheet.Rows, []any{fmt.Sprintf("g%d", x.file.IDs[g]), x.file.State(g).Name, age, by, labels})
	}
	if !labelled {
		sheet.Columns = sheet.Columns[:4]
		for i := range sheet.Rows {
			sheet.Rows[i] = sheet.Rows[i][:4]
		}
	}
	if len(sheet.Rows) == 0 {
		sheet.Notes = append(sheet.Notes, "A profile counts goroutines and does not number them.")
	}
	v.Goroutines = tableOf(sheet)
}

// framesOf is a stack, leaf first.
func framesOf(f *dump.File, id stack.ID) []frameView {
	out := []frameView{}
	for _, frame := range f.Stacks.Frames(id) {
		r := f.Stacks.Frame(frame)
		name, created := strings.CutPrefix(r.Func, dump.CreatedBy)
		out = append(out, frameView{Function: name, File: r.File, Line: r.Line, Inlined: r.Inlined, Created: created})
	}
	return out
}

// viewGoroutine is one goroutine as it stands in the dump, with the words of its
// arguments.
func viewGoroutine(ctx context.Context, s *subject, q *query) (*goroutineText, error) {
	l, err := lookOf(ctx, s, q)
	if err != nil {
		return nil, err
	}
	g, err := q.number("g", -1)
	if err != nil {
		return nil, err
	}
	if g < 0 || g >= int64(l.of.file.Len()) || !l.of.keep(int(g)) {
		return nil, nothing("there is no such goroutine here")
	}
	return l.of.text(int(g), !handedOn(ctx)), nil
}

// text is a goroutine with its frames, with the values of arguments where they are
// asked for.
func (x *shot) text(g int, values bool) *goroutineText {
	f := x.file
	t := &goroutineText{ID: f.IDs[g], Title: f.State(g).Name, Frames: []frameView{}}
	if f.Waits[g] > 0 {
		t.Title += ", " + shownText(report.Minutes(f.Waits[g]))
	} else if x.ages != nil && x.ages[g] >= 0 {
		t.Title += ", " + unit.Duration(x.ages[g])
	}
	if f.State(g).Locked {
		t.Title += ", locked to thread"
	}
	calls, err := f.Calls(g)
	var known []explain.Frame
	if values {
		known = x.explained(g, len(calls))
	}
	for i, c := range calls {
		v := frameView{Function: c.Func, File: c.File, Line: c.Line, Inlined: c.Inlined, Created: c.Created}
		switch {
		case c.Elided != 0:
			v.Function = "… frames elided"
		case c.HasArgs:
			v.Args = "(" + c.Args + ")"
		}
		if c.PC != 0 {
			v.PC = fmt.Sprintf("%#x", c.PC)
		}
		if known != nil {
			v.Params, v.Why = paramsOf(&known[i]), shownText(known[i].Why)
		}
		t.Frames = append(t.Frames, v)
	}
	if err != nil || len(calls) == 0 {
		t.Frames = framesOf(f, f.StackIDs[g])
	}
	return t
}

// explained are the frames of a goroutine with what their words are; nil where
// nothing tells.
func (x *shot) explained(g, calls int) []explain.Frame {
	if x.explain == nil {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	e := x.explain()
	if e == nil {
		return nil
	}
	frames, err := e.By.Goroutine(g)
	if err != nil || len(frames) != calls {
		return nil
	}
	return frames
}

func paramsOf(f *explain.Frame) (all []paramView) {
	for i := range f.Params {
		p := &f.Params[i]
		name, text, sure := report.ParamText(p)
		all = append(all, paramView{name, shownText(p.Type), text, sure})
	}
	return all
}

// shownText is the text of a cell.
func shownText(v any) string {
	shown, _, _ := report.Cell(v)
	return shown
}

// failure is why a dump was printed, or how the program of a core ended; nil for one
// without a reason.
func failure(x *shot, values bool) *panicView {
	if x.Kind != "dump" && x.Kind != "core" {
		return nil
	}
	i := slices.IndexFunc(x.file.Dumps, func(d dump.Dump) bool { return d.First < d.End && x.keep(d.First) })
	if i < 0 {
		return nil
	}
	d := &x.file.Dumps[i]
	if d.Kind == dump.Goroutines || d.Kind == dump.Profile {
		return nil
	}
	v := &panicView{Kind: d.Kind.String(), Message: d.Message, Signal: d.SignalLine, Values: []string{}, Threads: []threadView{}}
	for _, p := range d.Panics {
		text := p.Value
		switch {
		case p.Repanicked:
			text += " (recovered, and panicked with again)"
		case p.Recovered:
			text += " (recovered)"
		}
		v.Values = append(v.Values, text)
	}
	for g := d.First; g < d.End; g++ { // the stack of a thread is none of a goroutine
		if x.file.Count(g) > 0 {
			v.First = x.text(g, values)
			break
		}
	}
	for _, th := range d.Threads[:min(len(d.Threads), 64)] {
		t := threadView{Title: strings.TrimSpace(fmt.Sprintf("thread m=%d %s", th.M, th.Signal)), Registers: []registerView{}}
		for _, r := range th.Registers {
			t.Registers = append(t.Registers, registerView{r.Name, fmt.Sprintf("%#x", r.Value)})
		}
		v.Threads = append(v.Threads, t)
	}
	return v
}

// races are the reports of the race detector in the file of a dump.
func races(x *shot) []raceView {
	out := []raceView{}
	for _, r := range x.file.Races[:min(len(x.file.Races), 50)] {
		v := raceView{Accesses: []accessView{}}
		for _, a := range r.Accesses {
			v.Accesses = append(v.Accesses, accessView{fmt.Sprintf("%s of %#x by %s", a.What, a.Address, a.By), framesOf(x.file, a.Stack)})
		}
		for _, g := range r.Goroutines {
			v.Accesses = append(v.Accesses, accessView{fmt.Sprintf("goroutine %d (%s) was created at", g.ID, g.State), framesOf(x.file, g.Created)})
		}
		out = append(out, v)
	}
	return out
}

// goroutinesOver is what loupe trace goroutines prints of the range.
func goroutinesOver(ctx context.Context, s *subject, q *query) (*facts, error) {
	in, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	clock, err := in.TraceClock()
	if err != nil {
		return nil, err
	}
	text := ""
	if q.Get("t0") != "" || q.Get("t1") != "" {
		set, err := s.traced(ctx)
		if err != nil {
			return nil, err
		}
		own := set.Span()
		span, err := q.span(set.On(own))
		if err != nil {
			return nil, err
		}
		from, to := timeline.Time(clock.Own(span.Start)).Sub(own.Start), timeline.Time(clock.Own(span.End)).Sub(own.Start)
		if to <= 0 {
			return nil, nothing("the range is in front of the trace")
		}
		text = fmt.Sprintf("from=%s to=%s", max(0, from), to)
	}
	a, err := onceFew(ctx, s, "goroutines over", text, func(ctx context.Context) (*sched.Analysis, error) {
		return s.analysis(ctx, "adding up the goroutines of the trace", text)
	})
	if err != nil {
		return nil, err
	}
	return factsOf(report.TraceGoroutines(a, q.Get("by") == "creator", 1000)), nil
}

// trendSteps is how many values a trend has at most.
const trendSteps = 96

// trend is how many goroutines of a function there were over the range.
type trend struct {
	Entry  string    `json:"entry"`
	Values []float64 `json:"values"`
}

// goroutineTrends are the courses of the functions with the most goroutines.
func goroutineTrends(ctx context.Context, s *subject, q *query) ([]trend, error) {
	set, err := s.traced(ctx)
	if err != nil {
		return nil, err
	}
	span, err := q.span(set.On(set.Span()))
	if err != nil {
		return nil, err
	}
	own := set.Own(span)
	out := []trend{}
	lanes, _ := set.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGroup}, Order: tiles.BySpans}, 0, 500)
	for i := range lanes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out = append(out, trend{lanes[i].Name, countsOver(set.Set, lanes[i].ID, own)})
	}
	return out, nil
}

// countsOver returns how many goroutines of a group there were in each of at
// most trendSteps stretches of a span.
func countsOver(set *tiles.Set, lane tiles.LaneID, span timeline.Span) []float64 {
	span.Start, span.End = max(span.Start, set.Origin()), min(span.End, set.Span().End)
	if span.Len() <= 0 {
		return []float64{}
	}
	level := tiles.MinLevel
	for level < set.Top() && span.Len()>>level > trendSteps {
		level++
	}
	width := time.Duration(1) << level
	steps := int((span.Len() + width - 1) / width)
	out := make([]float64, min(steps, trendSteps+1))
	first := int64(span.Start.Sub(set.Origin())) >> level
	for index := first >> 10; index <= (first+int64(len(out)))>>10; index++ {
		t := set.Tile(tiles.TileID{Lane: lane, Level: uint8(level), Index: uint32(index)})
		if t.Form != tiles.FormCounts {
			continue
		}
		// A lane without so fine a level gives its finest one.
		shift := int(t.Level) - level
		for i, counts := range t.Counts() {
			sum := 0.0
			for _, c := range counts {
				sum += c
			}
			from := (int64(t.Index)<<10+int64(i))<<shift - first
			for n := max(0, from); n < min(int64(len(out)), from+1<<shift); n++ {
				out[n] = sum
			}
		}
	}
	return out
}
