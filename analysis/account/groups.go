package account

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/stack"
	"loupe/value/timeline"
)

const (
	// MinSamples is from how many CPU samples on the running time is divided by them.
	MinSamples = 20

	maxGroups  = 64
	maxSlowest = 8
	// fewUnits is up to how many the slow ones are the slowest handful.
	fewUnits = 500
)

// collector takes units that are over and adds them up.
type collector struct {
	w       *words
	o       Options
	groups  map[groupKey]*gathered
	spare   *open
	ids     int64
	cut     int64
	others  int64
	served  int64 // requests and tasks that have ended
	one     *wanted
	wall    *wallTable
	stepped bool
	sampler
}

type groupKey struct {
	unit Unit
	name string
}

// gathered is a group in the making.
type gathered struct {
	seen    sched.Histogram // of all units; of those that were divided, wall
	wall    sched.Histogram
	classes map[int]*tally
	slowest []*kept
	calls   map[callKey]*callTally
	before  timeline.Time
	squares float64 // of the lengths of units
	fans    []fanned
	begun   []timeline.Time // of requests and tasks
	made    map[callKey][]made
}

// tally is units of about the same length.
type tally struct {
	units   int64
	wall    timeline.Time
	index   map[keyID]int32
	rows    []tallied
	samples map[stack.ID]int64
}

// kept is a slow unit with its rows.
type kept struct {
	One
	tally tally
}

func (c *collector) init(w *words, o Options) {
	c.w, c.o, c.groups, c.stepped = w, o, map[groupKey]*gathered{}, o.ID > 0
	c.sampler = newSampler(o.Sample && o.Filter == nil && o.ID == 0 && !o.Wall)
	if o.Wall {
		c.wall = &wallTable{words: w}
	}
}

// open begins a unit.
func (c *collector) open(unit Unit, at timeline.Time, g exectrace.GoID) *open {
	u := c.spare
	if u == nil {
		u = &open{}
	} else {
		c.spare = u.next
		*u = open{rows: u.rows[:0], samples: u.samples[:0], steps: u.steps[:0], calls: u.calls[:0], fans: u.fans[:0]}
	}
	u.unit, u.start, u.g, u.stepped = unit, at, g, c.stepped
	u.undivided = c.opens(unit)
	if unit == Main {
		u.name = "main.main"
	}
	return u
}

// free takes a unit back that counts nowhere.
func (c *collector) free(u *open) {
	c.frees(u.undivided)
	u.next, c.spare = c.spare, u
}

// abandon takes one back that the trace has cut off.
func (c *collector) abandon(u *open) {
	if u.unit != Exchange && u.unit != Job && u.unit != Worker && (u.unit != Request || u.real) {
		c.cut++
	}
	c.free(u)
}

// end counts a unit that is over.
func (c *collector) end(u *open, at timeline.Time) {
	defer c.free(u)
	d := at - u.start
	if d <= 0 {
		return
	}
	id := int64(0)
	if u.unit != Worker {
		c.ids++
		id = c.ids
	}
	before := c.placeOlder(u)
	if c.ends(u); u.unit <= Task {
		c.served++
	}
	if id > 0 && id == c.o.ID {
		c.one = &wanted{c.keep(u, id, at), slices.Clone(u.steps), u.more}
	}
	if c.o.Filter != nil && !c.o.Filter.Task(c.w.r, &sched.Task{Start: u.start, End: at}) {
		return
	}
	k := groupKey{u.unit, u.name}
	g := c.groups[k]
	if g == nil {
		if len(c.groups) >= maxGroups {
			c.others++
			k.name = "others"
			g = c.groups[k]
		}
		if g == nil {
			g = &gathered{classes: map[int]*tally{}}
			c.groups[k] = g
		}
	}
	g.before += before
	if g.seen.Add(time.Duration(d)); u.undivided {
		return
	}
	g.wall.Add(time.Duration(d))
	class := sched.Class(time.Duration(d))
	if g.classes[class] == nil {
		g.classes[class] = &tally{}
	}
	g.classes[class].take(u, d)
	g.takeCalls(u, d)
	g.takeFans(u)
	g.remember(u, at)
	c.wall.take(u)
	if n := len(g.slowest); n < maxSlowest || d > g.slowest[n-1].Span.End-g.slowest[n-1].Span.Start {
		g.slowest = append(g.slowest[:min(n, maxSlowest-1)], c.keep(u, id, at))
		slices.SortStableFunc(g.slowest, func(a, b *kept) int { return cmp.Compare(b.Span.Len(), a.Span.Len()) })
	}
}

// keep makes a copy of a unit.
func (c *collector) keep(u *open, id int64, at timeline.Time) *kept {
	k := &kept{One: One{ID: id, Unit: u.unit, Name: u.name, G: u.g, Span: timeline.Span{Start: u.start, End: at}}}
	k.tally.take(u, at-u.start)
	return k
}

// take adds a unit of a length.
func (t *tally) take(u *open, d timeline.Time) {
	if t.index == nil {
		t.index = make(map[keyID]int32, len(u.rows))
	}
	t.units++
	t.wall += d
	for _, r := range u.rows {
		t.add(r)
	}
	for _, s := range u.samples {
		if t.samples == nil {
			t.samples = map[stack.ID]int64{}
		}
		t.samples[s.stack] += s.n
	}
}

func (t *tally) add(r tallied) {
	i, ok := t.index[r.key]
	if !ok {
		t.index[r.key] = int32(len(t.rows))
		t.rows = append(t.rows, r)
		return
	}
	t.rows[i].d += r.d
	t.rows[i].n += r.n
	t.rows[i].units += r.units
	t.rows[i].q += r.q
}

// merge adds another tally.
func (t *tally) merge(o *tally) {
	if t.index == nil {
		t.index, t.samples = map[keyID]int32{}, map[stack.ID]int64{}
	}
	t.units += o.units
	t.wall += o.wall
	for _, r := range o.rows {
		t.add(r)
	}
	for id, n := range o.samples {
		t.samples[id] += n
	}
}

// part is a tally in words.
func (t *tally) part(w *words) Part {
	p := Part{Units: t.units, Wall: time.Duration(t.wall)}
	samples := int64(0)
	for _, n := range t.samples {
		samples += n
	}
	running := time.Duration(0)
	var most Row
	rows, before := t.settle(w)
	for i, r := range rows {
		row := w.row(r.key)
		row.Time, row.Count, row.Units = time.Duration(r.d), r.n, r.units
		row.Before = time.Duration(before[i])
		if k := w.keys[r.key]; !w.events[gateKey{k.kind, k.site}] {
			row.Queued = time.Duration(r.q)
		}
		if row.Kind == Running && samples >= MinSamples {
			running += row.Time
			if row.Time >= most.Time {
				most = row
			}
			continue
		}
		p.Rows = append(p.Rows, row)
	}
	p.Rows = append(p.Rows, t.sampled(w, running, samples, most)...)
	p.Rows = slices.DeleteFunc(p.Rows, func(r Row) bool { return recorded(r.Site) })
	slices.SortFunc(p.Rows, compareRows)
	return p
}

// sampled divides running time by the samples of it.
func (t *tally) sampled(w *words, running time.Duration, samples int64, most Row) (rows []Row) {
	if running == 0 {
		return nil
	}
	bySite := map[siteID]int64{}
	for id, n := range t.samples {
		bySite[w.site(id)] += n
	}
	left := running
	for s, n := range bySite {
		d := time.Duration(float64(running) * float64(n) / float64(samples))
		left -= d
		rows = append(rows, Row{Kind: Running, Site: w.sites[s], Time: d, Count: n, Units: most.Units})
	}
	slices.SortFunc(rows, compareRows)
	rows[0].Time += left
	return rows
}

// compareRows puts the larger row first, and those that are as large in a fixed order.
func compareRows(a, b Row) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Kind, b.Kind), compareSites(a.Site, b.Site),
		cmp.Compare(a.Cause.Kind, b.Cause.Kind), compareSites(a.Cause.Site, b.Cause.Site), cmp.Compare(a.What, b.What))
}

func compareSites(a, b Site) int {
	return cmp.Or(strings.Compare(a.Frame.Func, b.Frame.Func), strings.Compare(a.Frame.File, b.Frame.File), cmp.Compare(a.Frame.Line, b.Frame.Line))
}

// finish puts a unit in words.
func (k *kept) finish(w *words) *One {
	one := k.One
	one.Part = k.tally.part(w)
	return &one
}

// wanted is the unit that was asked for, see [Options.ID].
type wanted struct {
	*kept
	steps []stretch
	more  bool
}

// finish puts it in words, when all is known that it waited for; nil is none.
func (x *wanted) finish(w *words) *One {
	if x == nil {
		return nil
	}
	one := x.kept.finish(w)
	one.Truncated = x.more
	for _, s := range x.steps {
		id, _ := w.settled(s.key)
		row := w.row(id)
		row.Time, row.Count, row.Units = time.Duration(s.end-s.start), 1, 1
		one.Steps = append(one.Steps, Step{At: s.start, Row: row})
	}
	return one
}

// group puts a group in words.
func (g *gathered) group(k groupKey, w *words) *Group {
	out := &Group{Unit: k.unit, Name: k.name, Seen: g.seen, Wall: g.wall, Before: time.Duration(g.before)}
	for _, s := range g.slowest {
		if s.ID > 0 {
			out.Slowest = append(out.Slowest, s.finish(w))
		}
	}
	var classes []int
	var all, typical, slow tally
	for class, t := range g.classes {
		classes = append(classes, class)
		all.merge(t)
	}
	slices.Sort(classes)
	before := int64(0)
	n := g.wall.Count
	for _, class := range classes {
		t := g.classes[class]
		if after := before + t.units; 4*after > n && 4*before < 3*n {
			typical.merge(t)
		}
		if before += t.units; n >= fewUnits && 100*before > 99*n {
			slow.merge(t)
		}
	}
	if n < fewUnits {
		for _, s := range g.slowest[:min(int64(len(g.slowest)), max(1, n/10))] {
			slow.merge(&s.tally)
		}
	}
	for _, s := range all.samples {
		out.Samples += s
	}
	out.Calls, out.Fans = g.callsOf(w), g.fansOf(w)
	out.All, out.Typical, out.Slow = all.part(w), typical.part(w), slow.part(w)
	return out
}

// asked marks the requests that the program sends itself, by their number: those of one group
// or of all are as many as the calls of its clients, and none of them sends any.
func asked(groups []*Group, calls int64) {
	as := func(n int64) bool { return calls > 0 && 5*n >= 4*calls && 4*n <= 5*calls }
	var silent []*Group
	all := int64(0)
	for _, g := range groups {
		if g.Unit == Request && !slices.ContainsFunc(g.All.Rows, func(r Row) bool { return r.Kind == Answer || r.Cause.Kind == Answer }) {
			silent = append(silent, g)
			all += g.Wall.Count
		}
	}
	for _, g := range silent {
		g.Asked = as(all) || as(g.Wall.Count)
	}
}

// Finish ends what still goes on, and returns the account. Units that the end of the
// trace cuts off are counted, but for main, which is as long as the trace has it.
func (b *Builder) Finish() *Account {
	b.restAll()
	for i := range b.tracks {
		b.units.abandonAll(&b.tracks[i])
	}
	c := &b.units
	a := &Account{Reader: b.r, Span: timeline.Span{Start: b.begin, End: b.last}, One: c.one.finish(b.w), Cut: c.cut, Others: c.others, Gates: b.gatesOf(), Tries: triesOf(b.w, b.tried), Peers: peersOf(b.w, b.peers), wall: c.wall}
	for k, g := range c.groups {
		if housekeeping(b, k, g) {
			continue
		}
		if a.Undivided += g.seen.Count - g.wall.Count; g.wall.Count == 0 {
			a.Others += g.seen.Count
			continue
		}
		out := g.group(k, b.w)
		out.Stampedes = g.stampedesOf(b.w, c.unnamed(k))
		a.Groups = append(a.Groups, out)
	}
	asked(a.Groups, b.calls)
	a.Groups = withoutWorkers(a.Groups)
	slices.SortFunc(a.Groups, func(x, y *Group) int {
		return cmp.Or(cmp.Compare(x.Unit, y.Unit), cmp.Compare(y.Seen.Sum, x.Seen.Sum), strings.Compare(x.Name, y.Name))
	})
	return a
}

// unnamed is when units began that may be of a group, since nothing tells their names.
func (c *collector) unnamed(k groupKey) []timeline.Time {
	if g := c.groups[groupKey{unit: k.unit}]; g != nil && k.name != "" {
		return g.begun
	}
	return nil
}

// restAll ends the units that are as long as the trace has them.
func (b *Builder) restAll() {
	b.gs.Each(func(slot exectrace.Slot, g *sweep.Goroutine) {
		if t := b.living(slot); t != nil && t.units != nil {
			b.rest(t, g)
		}
	})
}

// rest ends those of a goroutine that are as long as the trace has them.
func (b *Builder) rest(t *track, g *sweep.Goroutine) {
	switch g.State {
	case exectrace.Running:
		b.ran(t, g.Waited, 0, b.last)
	case exectrace.Runnable:
		b.ready(t, g.Waited, b.last)
	case exectrace.Syscall:
		b.put(t, b.last, b.w.at(plainCall, g.Stack), g.Stack)
	case exectrace.Waiting:
		_, k := b.w.wait(g.Reason, g.Stack)
		b.put(t, b.last, k, g.Stack)
	}
	for u := t.units; u != nil; {
		next := u.next
		if !u.unit.many() {
			t.unlink(u)
			b.units.end(u, b.last)
		}
		u = next
	}
}
