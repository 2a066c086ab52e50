package tiles_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/format/exectrace/sweep"
	"loupe/value/timeline"
)

// goroutine is what the events say of one, in the simplest way.
type goroutine struct {
	at    []timeline.Time
	state []exectrace.State
	why   []string
}

// follow reads a trace and keeps every state of every goroutine.
func follow(tr *exectrace.Trace) map[exectrace.GoID]*goroutine {
	all := map[exectrace.GoID]*goroutine{}
	r := tr.Reader()
	var sync timeline.Time
	for r.Next() {
		e := r.Event()
		if e.Kind == exectrace.KindSync {
			sync = e.Time
		}
		if e.Kind != exectrace.KindGoTransition || e.From == e.To {
			continue
		}
		g, at := all[e.Goroutine()], e.Time
		if g == nil {
			g = &goroutine{}
			all[e.Goroutine()] = g
			if e.From == exectrace.Undetermined {
				at = sync
			}
		}
		g.at, g.state, g.why = append(g.at, at), append(g.state, e.To), append(g.why, r.WaitReason(e.Name, e.SubjectStack))
	}
	return all
}

// in returns the state at an instant.
func (g *goroutine) in(at timeline.Time) (exectrace.State, string) {
	state, why := exectrace.NotExist, ""
	for i, t := range g.at {
		if t > at {
			break
		}
		state, why = g.state[i], g.why[i]
	}
	return state, why
}

// fits says whether a class is what a state should look like.
func fits(class tiles.Class, s exectrace.State, why string) bool {
	switch s {
	case exectrace.Running:
		return class == tiles.GoRuns || class == tiles.GoGC
	case exectrace.Runnable:
		return class == tiles.GoRunnable
	case exectrace.Syscall:
		return class == tiles.GoSyscall
	}
	switch {
	case strings.HasPrefix(why, "chan") || why == "select":
		return class == tiles.GoChan
	case strings.HasPrefix(why, "sync"):
		return class == tiles.GoSync
	case why == "network":
		return class == tiles.GoNet
	}
	return class == tiles.ClassRest || class == tiles.GoGC
}

// TestGoroutines asks at random instants for the span of every goroutine, and
// compares it with the events.
func TestGoroutines(t *testing.T) {
	tr := open(t, record())
	s, _ := build(tr, tiles.Options{})
	all := follow(tr)
	lanes, total := s.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGoroutine}}, 0, 1<<30)
	if total != len(all) || len(lanes) != total {
		t.Fatalf("%d lanes of goroutines, %d given, want %d", total, len(lanes), len(all))
	}
	r := rand.New(rand.NewPCG(5, 6))
	pyramids := 0
	for _, l := range lanes {
		g := all[exectrace.GoID(l.Subject)]
		if g == nil {
			t.Fatalf("lane %+v is of no goroutine", l)
		}
		if l.Base >= 0 {
			pyramids++
		}
		for range 20 {
			i := r.IntN(len(g.at))
			at := g.at[i]
			if i+1 < len(g.at) {
				at += timeline.Time(r.Int64N(int64(g.at[i+1] - at)))
			}
			// Look at the end of a grain, where all of its events have been.
			at |= tiles.Grain - 1
			state, why := g.in(at)
			span, ok := s.At(l.ID, at)
			if ok != (state != exectrace.NotExist && at < s.Span().End) {
				t.Fatalf("goroutine %d at %d: a span %t, but it is %v", l.Subject, at, ok, state)
			}
			if ok && (!fits(span.Class, state, why) || !span.Contains(at)) {
				t.Fatalf("goroutine %d at %d: span %+v, but it is %v %q", l.Subject, at, span, state, why)
			}
		}
	}
	if pyramids < 2 {
		t.Errorf("%d goroutines with a pyramid, want at least 2: make the test's trace longer", pyramids)
	}
}

// total adds up how long the lanes of a kind were in each class.
func total(s *tiles.Set, k tiles.Kind) (sum [8]time.Duration) {
	lanes, _ := s.Lanes(tiles.Filter{Kinds: []tiles.Kind{k}}, 0, 1<<30)
	for _, l := range lanes {
		for at := l.Span.Start; ; {
			span, ok := s.At(l.ID, at)
			if !ok {
				break
			}
			sum[span.Class] += span.Len()
			at = span.End
		}
	}
	return sum
}

// TestProcs compares what all Ps did with what package sched says of all
// goroutines.
func TestProcs(t *testing.T) {
	tr := open(t, record())
	s, events := build(tr, tiles.Options{})
	var want sched.Stats
	var assist time.Duration // in assists, but waiting
	pass := sweep.New(tr)
	r := pass.Reader()
	sum := sched.NewSummarizer(pass.Goroutines(), sched.Sink{Goroutine: func(g *sched.Goroutine) {
		want.Exec += g.Exec
		want.Syscall += g.Syscall
		want.SchedWait += g.SchedWait
		for reason, d := range g.Blocked.All() {
			if strings.HasPrefix(r.Name(reason), "GC mark assist") {
				assist += d
			}
		}
	}}, sched.SummaryOptions{})
	pass.Join(sum)
	if err := pass.Run(nil); err != nil {
		t.Fatal(err)
	}
	sum.Finish()
	near := func(what string, got, want time.Duration) {
		t.Helper()
		// Each end of a span may be less than a grain off.
		if limit := time.Duration(events) * tiles.Grain / 10; (got - want).Abs() > limit {
			t.Errorf("%s: %v, want %v within %v", what, got, want, limit)
		}
	}
	p := total(s, tiles.KindProc)
	near("running", p[tiles.ProcRuns]+p[tiles.ProcGC]+p[tiles.ProcAssist]+p[tiles.ProcSweep]+p[tiles.ProcSTW], want.Exec)
	near("in system calls", p[tiles.ProcSyscall], want.Syscall)
	g := total(s, tiles.KindGoroutine)
	near("goroutines running", g[tiles.GoRuns]+g[tiles.GoGC], want.Exec+assist)
	near("goroutines runnable", g[tiles.GoRunnable], want.SchedWait)
	for c, name := range []string{"runs", "GC work", "syscall", "mark assist", "sweep", "stop-the-world", "scheduler", "idle"} {
		if p[c] == 0 {
			t.Logf("no P was ever in class %s: the test's trace says nothing of it", name)
		}
		if got := tiles.ClassName(tiles.KindProc, tiles.Class(c)); got != name {
			t.Errorf("class %d is %q, want %q", c, got, name)
		}
	}
}

// TestRareStates looks for every stop-the-world and every assist of the trace
// at every zoom.
func TestRareStates(t *testing.T) {
	tr := open(t, record())
	s, _ := build(tr, tiles.Options{})
	procs := map[int64]tiles.LaneID{}
	lanes, _ := s.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindProc}}, 0, 1<<30)
	for _, l := range lanes {
		procs[l.Subject] = l.ID
	}
	found := map[tiles.Class]int{}
	r := tr.Reader()
	for r.Next() {
		e := r.Event()
		if e.Kind != exectrace.KindRangeBegin || e.Scope() != exectrace.ScopeGoroutine {
			continue
		}
		class := tiles.ProcSTW
		if e.Name == exectrace.NameMarkAssist {
			class = tiles.ProcAssist
		}
		found[class]++
		for level := tiles.MinLevel; level <= s.Top(); level++ {
			at := uint64(e.Time-s.Origin()) >> level
			tile := s.Tile(tiles.TileID{Lane: procs[int64(e.P)], Level: uint8(level), Index: uint32(at >> 10)})
			seen := false
			for i, b := range tile.Buckets() {
				seen = seen || uint64(i) == at&1023 && b.Present>>class&1 != 0
			}
			for span := range tile.Spans(s.Origin()) {
				seen = seen || span.Class == class && span.Start <= e.Time && e.Time < span.End+tiles.Grain
			}
			if !seen {
				t.Fatalf("level %d: class %d at %d of P %d is not to be seen", level, class, e.Time, e.P)
			}
		}
	}
	t.Logf("%d stop-the-worlds, %d assists", found[tiles.ProcSTW], found[tiles.ProcAssist])
	if found[tiles.ProcSTW] == 0 {
		t.Error("no stop-the-world in the trace")
	}
}

// everyTile returns tiles of all lanes and levels in wire form.
func everyTile(s *tiles.Set) []byte {
	var ids []tiles.TileID
	r := rand.New(rand.NewPCG(7, 8))
	for lane := range min(s.Len(), 300) {
		for level := 0; level < 64; level += 3 {
			last := uint64(s.Span().Len()) >> level >> 10
			ids = append(ids, tiles.TileID{Lane: tiles.LaneID(lane), Level: uint8(level), Index: uint32(r.Uint64N(last + 2))})
		}
	}
	return s.AppendTiles(nil, ids)
}

// TestFile closes a set and opens it again.
func TestFile(t *testing.T) {
	data := record()
	key, err := tiles.Identify(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	s, _ := build(open(t, data), tiles.Options{Key: key})
	var file bytes.Buffer
	if n, err := s.WriteTo(&file); err != nil || n != int64(s.Size()) {
		t.Fatalf("wrote %d bytes of %d: %v", n, s.Size(), err)
	}
	if !bytes.Equal(file.Bytes(), s.AppendTo(nil)) {
		t.Error("AppendTo gives other bytes than WriteTo")
	}
	again, err := tiles.Open(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if again.Key() != key || again.Span() != s.Span() || again.Len() != s.Len() || again.Dropped() != s.Dropped() {
		t.Errorf("opened again: %+v", again.Span())
	}
	a, _ := s.Lanes(tiles.Filter{Order: tiles.BySpans}, 3, 500)
	b, _ := again.Lanes(tiles.Filter{Order: tiles.BySpans}, 3, 500)
	if !reflect.DeepEqual(a, b) || len(a) != 500 {
		t.Errorf("%d and %d lanes, or other ones", len(a), len(b))
	}
	wire := everyTile(s)
	if !bytes.Equal(wire, everyTile(again)) {
		t.Error("the set that was opened again has other tiles")
	}
	list, err := tiles.ReadTiles(wire)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[tiles.Form]int{}
	for _, tile := range list {
		forms[tile.Form]++
		if want := s.Tile(tiles.TileID{Lane: tile.Lane, Level: tile.Level, Index: tile.Index}); !reflect.DeepEqual(tile.Data, want.Data) && len(tile.Data)+len(want.Data) > 0 {
			t.Fatalf("lane %d level %d tile %d: other data behind the wire", tile.Lane, tile.Level, tile.Index)
		}
	}
	for form := range tiles.FormLatencies + 1 {
		if forms[form] == 0 {
			t.Errorf("no tile of form %d", form)
		}
	}
	for n := range wire[:min(len(wire), 5000)] {
		if _, err := tiles.ReadTiles(wire[:n]); err == nil {
			t.Fatalf("%d bytes of the tiles are read without an error", n)
		}
	}
}

// TestDamaged reads a trace with nonsense in the middle: what was before and
// what comes after must be there, and no lane may go on between.
func TestDamaged(t *testing.T) {
	data := bytes.Clone(record())
	copy(data[len(data)/2:], bytes.Repeat([]byte{0xff}, 500))
	tr := open(t, data)
	s, _ := build(tr, tiles.Options{})
	resets, r := 0, tr.Reader()
	for r.Next() {
		if r.Event().Reset() {
			resets++
		}
	}
	t.Logf("%d resets, %v", resets, r.Problems())
	if len(r.Problems()) == 0 {
		t.Fatal("the damage was not seen")
	}
	lanes, _ := s.Lanes(tiles.Filter{}, 0, 1<<30)
	for _, l := range lanes {
		if !l.Exact {
			continue
		}
		at := l.Span.Start
		for at < l.Span.End {
			span, ok := s.At(l.ID, at)
			if !ok || span.End <= at {
				t.Fatalf("lane %+v: nothing at %d", l, at)
			}
			at = span.End
		}
	}
	everyTile(s)
}

// TestMemory builds with less and less memory.
func TestMemory(t *testing.T) {
	tr := open(t, record())
	full, events := build(tr, tiles.Options{})
	was := full.Len()
	for _, limit := range []int64{int64(full.Size()) * 3 / 4, int64(events), 1} {
		s, _ := build(tr, tiles.Options{Memory: limit})
		d := s.Dropped()
		t.Logf("bound %d: %d bytes, %d lanes, %+v", limit, s.Size(), s.Len(), d)
		if s.Len()+d.Goroutines != full.Len() || s.Len() > was {
			t.Errorf("bound %d: %d lanes and %d dropped, want %d together", limit, s.Len(), d.Goroutines, full.Len())
		}
		was = s.Len()
		if s.Size() > int(limit)+int(limit)/20 && !d.ProcSpans {
			t.Errorf("bound %d: %d bytes", limit, s.Size())
		}
		everyTile(s)
		if a, b := groups(full), groups(s); !reflect.DeepEqual(a, b) {
			t.Errorf("bound %d: the groups have changed", limit)
		}
	}
}

// groups returns what may not depend on the memory.
func groups(s *tiles.Set) (out []any) {
	lanes, _ := s.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGroup}}, 0, 1<<30)
	for _, l := range lanes {
		tile := s.Tile(tiles.TileID{Lane: l.ID, Level: uint8(s.Top())})
		out = append(out, l.Name, l.Members, l.Spans, tile.Data)
	}
	return out
}

// TestDetails brings back the spans of one goroutine.
func TestDetails(t *testing.T) {
	tr := open(t, record())
	full, _ := build(tr, tiles.Options{})
	most, _ := full.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGoroutine}, Order: tiles.BySpans}, 0, 1)
	id := exectrace.GoID(most[0].Subject)
	one, _ := build(tr, tiles.Options{Goroutines: func(g exectrace.GoID) bool { return g == id }})
	lanes, n := one.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGoroutine}}, 0, 10)
	if n != 1 || lanes[0].Spans != most[0].Spans || lanes[0].Span != most[0].Span || lanes[0].Name != most[0].Name {
		t.Fatalf("%d lanes, %+v, want %+v", n, lanes, most)
	}
	if g := full.Generation(full.Span().Start); g != 0 {
		t.Errorf("the trace begins in generation %d, want 0", g)
	}
	if g := full.Generation(full.Span().End); g > len(tr.Generations()) {
		t.Errorf("the trace ends in generation %d of %d", g, len(tr.Generations()))
	}
}

// TestLanes chooses and sorts.
func TestLanes(t *testing.T) {
	s, _ := build(open(t, record()), tiles.Options{})
	all, total := s.Lanes(tiles.Filter{}, 0, 1<<30)
	if total != s.Len() || len(all) != total {
		t.Fatalf("%d lanes, %d given, want %d", total, len(all), s.Len())
	}
	for i, l := range all {
		if l.ID != tiles.LaneID(i) || !reflect.DeepEqual(s.Lane(l.ID), l) {
			t.Fatalf("lane %d is %+v, and alone %+v", i, l, s.Lane(l.ID))
		}
	}
	page, n := s.Lanes(tiles.Filter{}, 7, 5)
	if n != total || !reflect.DeepEqual(page, all[7:12]) {
		t.Errorf("a page of %d is %+v", n, page)
	}
	byStart, _ := s.Lanes(tiles.Filter{Order: tiles.ByStart}, 0, 1<<30)
	byLength, _ := s.Lanes(tiles.Filter{Order: tiles.ByLength}, 0, 1<<30)
	for i := 1; i < total; i++ {
		if byStart[i-1].Span.Start > byStart[i].Span.Start || byLength[i-1].Span.Len() < byLength[i].Span.Len() {
			t.Fatalf("lane %d is out of order", i)
		}
	}
	groups, _ := s.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGroup}}, 0, 1<<30)
	for _, g := range groups {
		if _, n := s.Lanes(tiles.Filter{Group: g.ID, Kinds: []tiles.Kind{tiles.KindGoroutine}}, 0, 0); n != g.Members {
			t.Errorf("group %q has %d lanes, and says %d", g.Name, n, g.Members)
		}
	}
	if _, n := s.Lanes(tiles.Filter{Name: "WaitGroup"}, 0, 0); n == 0 || n == total {
		t.Errorf("%d lanes of %d have a name with WaitGroup in it", n, total)
	}
	if l := s.Lane(tiles.LaneID(total)); !reflect.DeepEqual(l, tiles.Lane{}) {
		t.Errorf("lane %d does not exist and is %+v", total, l)
	}
}

// FuzzBuild makes sets of traces with nonsense in them.
func FuzzBuild(f *testing.F) {
	for _, n := range []int{0, 100, 5000} {
		f.Add(uint32(n), []byte("\xff\x01\x00\x80"))
	}
	f.Fuzz(func(t *testing.T, at uint32, damage []byte) {
		data := bytes.Clone(record()[:100_000])
		copy(data[int(at)%len(data):], damage)
		tr, err := exectrace.Open(data, exectrace.Options{})
		if err != nil {
			return
		}
		s, _ := build(tr, tiles.Options{Memory: int64(at)})
		s.Lanes(tiles.Filter{}, 0, 10)
	})
}

func FuzzOpen(f *testing.F) {
	s, _ := build(open(f, record()), tiles.Options{Memory: 1})
	f.Add(s.AppendTo(nil))
	tr, err := exectrace.Open([]byte("go 1.26 trace\x00\x00\x00"), exectrace.Options{})
	if err != nil {
		f.Fatal(err)
	}
	s, _ = build(tr, tiles.Options{})
	f.Add(s.AppendTo(nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := tiles.Open(data)
		if err != nil {
			return
		}
		lanes, _ := s.Lanes(tiles.Filter{Order: tiles.BySpans}, 0, 20)
		for _, l := range lanes {
			s.At(l.ID, l.Span.Start)
			s.At(l.ID, s.Span().End)
			for level := 0; level < 70; level += 5 {
				tile := s.Tile(tiles.TileID{Lane: l.ID, Level: uint8(level), Index: uint32(len(data) % 3)})
				for range tile.Buckets() {
				}
				for range tile.Counts() {
				}
				for range tile.Values() {
				}
				for range tile.Latencies() {
				}
				for range tile.Spans(0) {
				}
			}
		}
		s.Generation(s.Origin() + 5)
		tiles.ReadTiles(data)
	})
}
