package leak

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"loupe/analysis/facts"
	"loupe/insight"
	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/unit"
)

// What a cause is told of, chosen.
const (
	// siteShare is the part of the whole rise that a line must have, and mostCauses how many are told.
	siteShare  = 0.1
	mostCauses = 3
)

// proof takes what Go's own search has found.
func (d *decider) proof() {
	for _, f := range d.findings {
		if f.Rule != "SC10" || f.State != insight.Found || !insight.Proved(f) {
			continue
		}
		d.v.Proved = true
		c := &Cause{What: Goroutines, Rule: f.Rule, Proved: true, Summary: f.Summary, Per: "s", Advice: f.Advice, Evidence: f.Evidence, Doubts: []string{}}
		if i := f.Impact; i != nil && strings.HasSuffix(i.Unit, "every second") {
			c.Rate = [3]float64{i.Low, i.Value, i.High}
		}
		d.v.Causes = append(d.v.Causes, c)
	}
	if d.v.Proved {
		d.used = append(d.used, "SC10")
	}
}

// causes are the lines that something which grows comes from. A doubt says why they may all be
// none of the program's making.
func (d *decider) causes(l *Looked) (all []*Cause, doubt string) {
	switch l.What {
	case Heap:
		return d.heap(l, d.sites(l, leastSampled/4)), ""
	case Goroutines:
		return d.goroutines(l, d.sites(l, leastGoroutines))
	case Files:
		return d.files(l)
	case Resident:
		return d.resident(l), ""
	}
	return []*Cause{d.outside(l)}, ""
}

// causesOf are causes of lines that grow although the whole does not.
func (d *decider) causesOf(l *Looked, sites []growingSite) (all []*Cause, doubt string) {
	if l.What == Heap {
		return d.heap(l, sites), ""
	}
	return d.goroutines(l, sites)
}

// cause begins one.
func (l *Looked) cause(rate [3]float64) *Cause {
	return &Cause{What: l.What, Process: l.Process, Rate: rate, Per: l.Per, Evidence: []insight.Evidence{}, Doubts: []string{}}
}

// growingSite is a line whose own series grows.
type growingSite struct {
	*facts.GrowingSite
	rate [3]float64
	per  string
	last recording.Entry
}

// sites are the lines of a series of profiles that grow with it, the steepest first. Those of
// others' code come behind the user's.
func (d *decider) sites(l *Looked, least float64) (all []growingSite) {
	for _, o := range d.v.Looked {
		if l.growth == nil && o.What == l.What && o.Process == l.Process {
			l = o // whatever the witness is, the profiles say which lines
		}
	}
	if l.growth == nil {
		return nil
	}
	rise := l.To - l.From
	for _, s := range l.growth.Sites {
		j := judge(siteQuantity(l.growth, s, least), 0)
		if j.Shape != Grows || j.To-j.From < siteShare*rise {
			continue
		}
		all = append(all, growingSite{s, [3]float64{j.Slope.Low, j.Slope.Estimate, j.Slope.High}, l.Per, l.growth.Last})
	}
	slices.SortStableFunc(all, compareSites)
	return all
}

// compareSites puts the user's lines first, and then the steepest.
func compareSites(a, b growingSite) int {
	if a.User != b.User {
		return map[bool]int{true: -1, false: 1}[a.User]
	}
	return cmp.Compare(b.rate[1], a.rate[1])
}

func placeOf(at stack.Frame) string {
	return fmt.Sprintf("%s:%d in %s", path.Base(strings.ReplaceAll(at.File, `\`, "/")), at.Line, stack.Short(at.Func))
}

// heap puts growth of the heap down to lines.
func (d *decider) heap(l *Looked, sites []growingSite) (all []*Cause) {
	for _, s := range sites {
		if !s.User || len(all) == mostCauses {
			break
		}
		c := l.cause(s.rate)
		c.Summary = fmt.Sprintf("memory allocated at %s stays in use: %s", placeOf(s.At), moreText(l.What, s.rate[1], l.Per))
		c.Evidence = append(c.Evidence, insight.SeenAt(d.in, s.last, s.At, s.Frames, "in use from here: %s in the first look, %s in the last", unit.BytesOf(s.Values[0]), unit.BytesOf(s.Values[len(s.Values)-1])))
		d.hold(c, s.At, s.Frames)
		all = append(all, c)
	}
	if len(all) > 0 {
		d.perLoad(all[0], l)
		d.use("GC08", all[0])
		return all
	}
	if first := d.withLine(); first != nil {
		// What leaked goroutines and connections refer to stays in memory with them.
		first.Evidence = append(first.Evidence, insight.Evidence{Text: fmt.Sprintf("of the heap, %s is in use (%s), which they may hold", moreText(l.What, l.Rise[1], l.Per), l.By)})
		return nil
	}
	c := l.cause(l.Rise)
	c.Summary = fmt.Sprintf("of the heap, %s is in use, by %s", moreText(l.What, l.Rise[1], l.Per), l.By)
	if kept, err := d.in.Facts.Kept(); err == nil {
		if lines := kept.Lines(); len(lines) > 0 && float64(lines[0].Weight) >= 0.3*float64(kept.Bytes) {
			at := lines[0]
			c.Evidence = append(c.Evidence, insight.SeenAt(d.in, kept.Entry, at.At, at.Frames, "of %s in use, %s were allocated here", unit.BytesOf(float64(kept.Bytes)), unit.Percent(float64(at.Weight)/float64(kept.Bytes))))
			c.Doubts = append(c.Doubts, "the line is the one with the most in one heap profile: whether it is the one that grows only several profiles tell")
			d.hold(c, at.At, at.Frames)
		}
	}
	d.perLoad(c, l)
	d.use("GC08", c)
	if c.Line() == nil {
		c.Advice = "Find the line: take at least six heap profiles some time apart and give them to loupe leak, or let it sample the program: loupe leak -for 1m PID or URL."
	}
	return []*Cause{c}
}

// withLine is the first cause whose line is known; nil where there is none.
func (d *decider) withLine() *Cause {
	for _, c := range d.v.Causes {
		if c.Line() != nil {
			return c
		}
	}
	return nil
}

// hold says what holds the memory of a line.
func (d *decider) hold(c *Cause, at stack.Frame, frames []stack.Frame) {
	h := insight.HoldingOf(d.in, at, frames)
	c.Bounded, c.Holder, c.Advice = h.Bounded, h.By, h.Advice
	c.Evidence, c.Doubts = append(c.Evidence, h.Evidence...), append(c.Doubts, h.Doubts...)
	if n := len(c.Evidence) - len(h.Evidence); h.Keeps && n > 0 { // the line to change comes first
		c.Evidence = slices.Insert(slices.Delete(c.Evidence, n, n+1), 0, h.Evidence[0])
	}
}

// use takes the rule that has found the same as a cause.
func (d *decider) use(rule string, c *Cause) {
	for _, f := range d.findings {
		if f.Rule != rule || f.State != insight.Found {
			continue
		}
		c.Rule = rule
		if c.Advice == "" {
			c.Advice = f.Advice
		}
		if c.Line() == nil {
			c.Evidence = append(c.Evidence, f.Evidence...)
		}
		d.used = append(d.used, rule)
	}
}

// perLoad says how much of the memory each request leaves, or what part of all that is
// allocated stays.
func (d *decider) perLoad(c *Cause, l *Looked) {
	if l.Per != "s" {
		return
	}
	for _, r := range d.in.Facts.Loads() {
		if n := r.Requests(); n > 0 && r.Duration > 0 {
			c.PerRequest = c.Rate[1] * r.Duration.Seconds() / float64(n)
		}
	}
	for i := range d.in.Facts.Rounds {
		if rate := d.in.Facts.Rounds[i].AllocRate; l.What == Heap && !math.IsNaN(rate) && rate > 0 {
			c.KeptShare = min(1, c.Rate[1]/rate)
		}
	}
}

// What goroutines of the standard library stand for.
const (
	readLoop  = "net/http.(*persistConn).readLoop"
	writeLoop = "net/http.(*persistConn).writeLoop"
	serving   = "net/http.(*conn).serve"
)

// goroutines puts more and more goroutines down to the lines where they wait.
func (d *decider) goroutines(l *Looked, sites []growingSite) (all []*Cause, doubt string) {
	outside, connections := 0, false
	for _, s := range sites {
		root := s.Frames[len(s.Frames)-1].Func
		if root == readLoop || root == writeLoop {
			if !connections {
				connections = true
				all = append(all, d.connections(l, s))
			}
			continue
		}
		if insight.WaitsOutside(s.Frames) {
			outside++
			continue
		}
		if len(all) == mostCauses {
			continue
		}
		if d.proved(s.At) {
			d.proofGrows(s)
			continue
		}
		c := l.cause(s.rate)
		c.Summary = fmt.Sprintf("goroutines pile up at %s: %s", placeOf(s.At), moreText(l.What, s.rate[1], l.Per))
		c.Evidence = append(c.Evidence, insight.SeenAt(d.in, s.last, s.At, s.Frames, "%s here in the first look, %s in the last", countOf(s.Values[0], "goroutine"), whole(s.Values[len(s.Values)-1])))
		d.use("SC10", c)
		c.Advice = waitAdvice(s.At, s.Frames, insight.SendsAgain(d.in, s.At))
		if ends, shown := insight.WaitEnds(d.in, s.At); ends != "" {
			c.Advice, c.Evidence = ends, append(c.Evidence, shown...)
		}
		if limit, found := insight.TimeLimit(d.in, s.Frames, time.Duration(l.Seconds*1e9)); found {
			c.Bounded, c.Evidence = true, append(c.Evidence, limit)
		} else if unread := insight.SourceUnread(d.in, s.Frames); unread != "" {
			c.Doubts = append(c.Doubts, unread)
		}
		all = append(all, c)
	}
	switch {
	case len(all) > 0 || d.v.Proved:
		return all, ""
	case outside > 0:
		return nil, "the goroutines that become more wait on the network or sleep: more clients look the same"
	}
	c := l.cause(l.Rise)
	c.Summary = fmt.Sprintf("there are %s, by %s", strings.Replace(moreText(l.What, l.Rise[1], l.Per), "more", "more goroutines", 1), l.By)
	d.use("SC10", c)
	if c.Line() == nil {
		c.Advice = "Find the line: take at least six goroutine profiles some time apart and give them to loupe leak, or let it sample the program: loupe leak -for 1m PID or URL."
	}
	return []*Cause{c}, ""
}

// countOf is a number of things: "1 goroutine".
func countOf(n float64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return whole(n) + " " + noun
}

// whole prints a number without a fraction, also one that no int64 holds.
func whole(n float64) string {
	if math.Abs(n) < 1<<63 {
		return unit.Count(int64(math.Round(n)))
	}
	return unit.Number(n)
}

// proved tells whether the proof has named a line already.
func (d *decider) proved(at stack.Frame) bool {
	return slices.ContainsFunc(d.v.Causes, func(c *Cause) bool {
		e := c.Line()
		return c.Proved && e != nil && e.File == at.File && e.Line == at.Line
	})
}

// proofGrows gives a proved cause its rate.
func (d *decider) proofGrows(s growingSite) {
	for _, c := range d.v.Causes {
		if e := c.Line(); c.Proved && e != nil && e.File == s.At.File && e.Line == s.At.Line {
			c.Rate = s.rate
		}
	}
}

// waitAdvice fits what goroutines wait for at a line, by the first functions of their stack; again tells of a send that its function makes many.
func waitAdvice(at stack.Frame, frames []stack.Frame, again bool) string {
	names := []string{}
	own := func(part string) bool { // and not a library's
		i := slices.IndexFunc(frames, func(f stack.Frame) bool { return strings.Contains(f.Func, part) })
		return i >= 0 && i+1 < len(frames) && frames[i+1].Func == at.Func
	}
	for _, f := range frames[:min(4, len(frames))] {
		names = append(names, f.Func)
	}
	has := func(part string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, part) })
	}
	switch {
	case has("context.(*"):
		return "They wait for a context to end: call the cancel function of each one that is made when what it is for is over (defer cancel()), on every path."
	case has("sync.(*WaitGroup)"):
		return "End what the WaitGroup waits for, or call Done on every way out of it."
	case has("sync.(*Cond)"):
		return "Signal the condition, or let the wait end with a context."
	case has("chanrecv"):
		return "They receive from a channel that nobody closes. Of a time.Ticker: end the loop by a context or a done channel, and call Stop; ranging over its channel never ends. Of another: close it when nobody sends any more."
	case has("chansend") && again:
		return "They send again and again, and nobody receives any more. Select on a context as well at the send, which ends with whoever receives; a buffer would only fill up."
	case has("chansend"):
		return "They send, and nobody receives any more. Give the channel room for one (make(chan T, 1)), or select on a context as well."
	case own("selectgo"):
		return "Add a way out to the select: a context's Done, or a channel that is closed at the end."
	}
	return "Give the wait a way out: a context, or a channel that is closed when nobody listens any more."
}

// connections is the cause of more and more connections of the HTTP client.
func (d *decider) connections(l *Looked, s growingSite) *Cause {
	c := l.cause(s.rate)
	idle := insight.WaitsOutside(s.Frames)
	c.Summary = fmt.Sprintf("connections of the HTTP client are never given back: %s", moreText(Goroutines, s.rate[1], l.Per))
	bodies := insight.UnreleasedIn(d.in).Bodies
	c.Evidence = append(c.Evidence, bodies[:min(3, len(bodies))]...)
	c.Evidence = append(c.Evidence, insight.SeenAt(d.in, s.last, s.At, s.Frames, "%s here in the first look, %s in the last", countOf(s.Values[0], "goroutine"), whole(s.Values[len(s.Values)-1])))
	c.Advice = "Close the body of each response, even if its status is an error or nobody reads it: defer resp.Body.Close()."
	switch {
	case idle:
		c.Advice = "They are idle: use one http.Client for all requests; a new Transport for each keeps its own connections. Or call CloseIdleConnections when a client is given up."
	case len(bodies) == 0:
		c.Doubts = append(c.Doubts, "no function in the sources opens a response and never closes it: look for a body that is handed on, or closed on some ways only")
	}
	d.use("LD07", c)
	return c
}

// files puts more and more descriptors down to what opens them.
func (d *decider) files(l *Looked) (all []*Cause, doubt string) {
	if i := slices.IndexFunc(d.v.Causes, func(c *Cause) bool { return strings.HasPrefix(c.Summary, "connections of the HTTP client") }); i >= 0 {
		e := d.v.Causes[i]
		e.Evidence = append(e.Evidence, insight.Evidence{Text: fmt.Sprintf("open descriptors went from %s to %s (%s)", unit.Number(l.From), unit.Number(l.To), l.By)})
		return nil, ""
	}
	for _, o := range d.v.Looked {
		if o.What != Goroutines || o.growth == nil {
			continue
		}
		for _, s := range o.growth.Sites {
			if len(s.Frames) == 0 || s.Grew() < (l.To-l.From)/2 {
				continue
			}
			root := s.Frames[len(s.Frames)-1].Func
			if root == serving || root != readLoop && root != writeLoop && insight.WaitsOutside(s.Frames) {
				return nil, "the descriptors that become more are connections that goroutines serve or wait for, at " + placeOf(s.At) + ": more clients look the same"
			}
		}
	}
	for _, c := range d.v.Causes {
		if c.What == Goroutines && c.Bounded && c.Rate[1] >= l.Rise[1]/4 { // a connection in one process has two
			return nil, "the descriptors that become more may be held by the goroutines that do"
		}
	}
	c := l.cause(l.Rise)
	c.Summary = fmt.Sprintf("open file descriptors rise from %s to %s: %s", unit.Number(l.From), unit.Number(l.To), moreText(l.What, l.Rise[1], l.Per))
	u := insight.UnreleasedIn(d.in)
	opened := append(slices.Clone(u.Files), u.Bodies...)
	ran := d.ran(opened)
	c.Evidence = append(c.Evidence, ran[:min(3, len(ran))]...)
	if len(ran) == 0 && len(opened) > 0 {
		c.Doubts = append(c.Doubts, fmt.Sprintf("%s in the sources open something that is never closed in its function, but no profile has seen any of them run: none is named", unit.Plural(int64(len(opened)), "line")))
	}
	c.Advice = "Close what is opened on every way out: defer f.Close(), defer resp.Body.Close(), defer rows.Close(). ls -l /proc/PID/fd says what they are."
	d.use("LD07", c)
	return []*Cause{c}, ""
}

// ran leaves of lines those that a profile has a stack through: a line that opens what is never
// closed leaks nothing as long as it is not called.
func (d *decider) ran(lines []insight.Evidence) (some []insight.Evidence) {
	seen := map[stack.Frame]bool{}
	for _, e := range d.in.Session.Manifest().Entries {
		if len(lines) == 0 || !strings.HasPrefix(string(e.Kind), "pprof.") {
			continue
		}
		p, err := d.in.Session.ProfileAt(e.Path)
		if err != nil {
			continue
		}
		for _, id := range p.StackIDs {
			for _, f := range p.Stacks.Frames(id) {
				at := p.Stacks.Frame(f)
				seen[stack.Frame{File: at.File, Line: at.Line}] = true
			}
		}
	}
	for _, e := range lines {
		if seen[stack.Frame{File: e.File, Line: e.Line}] {
			some = append(some, e)
		}
	}
	return some
}

// resident is the cause of memory of which nobody knows whether it is Go's.
func (d *decider) resident(l *Looked) []*Cause {
	text := fmt.Sprintf("resident memory (without files) rises from %s to %s: %s", unit.BytesOf(l.From), unit.BytesOf(l.To), moreText(l.What, l.Rise[1], l.Per))
	if first := d.withLine(); first != nil {
		first.Evidence = append(first.Evidence, insight.Evidence{Text: text + ", which it may hold"})
		return nil
	}
	c := l.cause(l.Rise)
	c.Summary = text
	c.Advice = "Find out what it is: a program that serves /debug/pprof, or is started by loupe run, shows its heap line by line. loupe core capture PID takes a core, whose heap shows what holds the memory."
	return []*Cause{c}
}

// outside is the cause of memory that the runtime does not know of.
func (d *decider) outside(l *Looked) *Cause {
	c := l.cause(l.Rise)
	c.Summary = fmt.Sprintf("memory that the Go runtime does not know of (C, mmap) rises from %s to %s: %s", unit.BytesOf(max(0, l.From)), unit.BytesOf(l.To), moreText(l.What, l.Rise[1], l.Per))
	u := insight.UnreleasedIn(d.in)
	lines := d.byCalls(u.C)
	if len(lines) == 0 {
		lines = d.byCalls(u.CalledC)
	}
	c.Evidence = append(c.Evidence, lines[:min(3, len(lines))]...)
	c.Evidence = append(c.Evidence, insight.Evidence{Text: fmt.Sprintf("of the heap of Go, the same time shows: %s", d.heapShape())})
	c.Advice = "No heap profile shows it. Free what C allocates: defer C.free(unsafe.Pointer(p)) after C.CString, C.CBytes and C.malloc, and call the library's own release function. valgrind, or jemalloc's profiles, show the C side."
	if len(lines) == 0 {
		c.Advice = "No heap profile shows it. Look for explicit mmap calls and C libraries: /proc/PID/smaps lists the mappings; valgrind, or jemalloc's profiles, show the C side."
	}
	d.perLoad(c, l)
	d.use("GC10", c)
	return c
}

func (d *decider) heapShape() string {
	if main, _ := d.first(Heap); main != nil {
		return fmt.Sprintf("%s (%s)", main.Shape, main.By)
	}
	return "not measured"
}

// byCalls orders lines of the source by how much CPU time went into C below them, as far as a
// CPU profile tells.
func (d *decider) byCalls(lines []insight.Evidence) []insight.Evidence {
	p, _, err := d.in.Session.Profile(recording.CPU)
	if err != nil || len(lines) < 2 {
		return lines
	}
	weight := map[stack.Frame]int64{}
	for id, w := range p.Samples(0) {
		for _, f := range facts.Frames(p.Stacks, id) {
			weight[stack.Frame{File: f.File, Line: f.Line}] += w
		}
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b insight.Evidence) int {
		return cmp.Compare(weight[stack.Frame{File: b.File, Line: b.Line}], weight[stack.Frame{File: a.File, Line: a.Line}])
	})
	return lines
}

// first is the witness of the first process that leaks, or else of the first one.
func (d *decider) first(what Matter) (main *Looked, open string) {
	for _, process := range d.processes(what) {
		l, why := d.witness(what, process)
		if main == nil || main.Shape != Grows && l.Shape == Grows {
			main, open = l, why
		}
	}
	return main, open
}

// Limit is what growing memory runs into.
type Limit struct {
	// Of is "GOMEMLIMIT", "the container's memory limit", "the machine's memory".
	Of    string `json:"of"`
	Bytes int64  `json:"bytes"`
	// Left is what is free below it.
	Left int64 `json:"left"`
	// Seconds is when it is hit: at the earliest, probably, at the latest; Inf is written as -1.
	Seconds [3]float64 `json:"seconds"`
	// What happens then.
	Then string `json:"then"`
}

// limits says when memory that grows hits what.
func (d *decider) limits() {
	var slope, heap [3]float64
	for _, what := range []Matter{Heap, Outside, Resident} {
		main, _ := d.first(what)
		if main == nil || main.Shape != Grows || main.Per != "s" {
			continue
		}
		for i := range slope {
			slope[i] += main.Rise[i]
			if what == Heap {
				heap[i] = main.Rise[i]
			}
		}
	}
	if d.v.Answer != Yes || slope[1] <= 0 {
		return
	}
	settings := d.in.Facts.Settings(nil)
	room := 1.0 // the garbage that GOGC allows for grows along
	if c := settings.Collector; c != nil {
		room = 1 + float64(max(c.GOGC, 0))/100
		if main, _ := d.first(Heap); c.Limit > 0 && main != nil && heap[1] > 0 {
			d.limit("GOMEMLIMIT", c.Limit, c.Limit-int64(main.To), heap, "the collector runs all the time and the program slows down")
		}
	}
	grows := [3]float64{}
	for i := range grows {
		grows[i] = slope[i] - heap[i] + heap[i]*room
	}
	samples, _ := d.in.Session.OS()
	used, machine, free := int64(0), int64(0), int64(0)
	for _, s := range samples {
		if s.RSS > 0 {
			used = s.RSS
		}
		if s.Memory > 0 {
			machine, free = s.Memory, s.Memory-s.MemoryUsed
		}
	}
	limit := cmp.Or(d.opt.Limit, facts.MemoryLimit(d.in.Facts))
	if main, _ := d.first(Heap); used == 0 && main != nil { // of a log: what the heap may take
		used = int64(main.To * room)
	}
	if limit > 0 && used > 0 {
		d.limit("the container's memory limit", limit, limit-used, grows, "the kernel kills the program")
	}
	if machine > 0 && (limit == 0 || limit > machine) {
		d.limit("the machine's memory", machine, free, grows, "the machine swaps, or the kernel kills a program")
	}
}

func (d *decider) limit(of string, bytes, left int64, slope [3]float64, then string) {
	l := Limit{Of: of, Bytes: bytes, Left: max(0, left), Then: then}
	for i := range slope {
		l.Seconds[i] = -1
		if v := slope[2-i]; v > 0 {
			l.Seconds[i] = float64(l.Left) / v
		}
	}
	d.v.Limits = append(d.v.Limits, l)
}
