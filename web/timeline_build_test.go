package web

import (
	"bytes"
	"context"
	"errors"
	"math"
	"net/http"
	"runtime/trace"
	"strconv"
	"sync"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/analysis/tiles"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/timeline"
)

// busy is a trace of this process with some hundred thousand events.
var busy = sync.OnceValue(func() []byte {
	var buf bytes.Buffer
	if err := trace.Start(&buf); err != nil {
		panic(err)
	}
	ctx, task := trace.NewTask(context.Background(), "ping")
	a, b := make(chan int), make(chan int)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 40_000 {
			b <- <-a
		}
	})
	wg.Go(func() {
		defer trace.StartRegion(ctx, "pong").End()
		for i := range 40_000 {
			a <- i
			<-b
		}
	})
	for range 100 {
		wg.Go(func() { time.Sleep(time.Millisecond) })
	}
	wg.Wait()
	task.End()
	trace.Stop()
	return buf.Bytes()
})

// recordingOf has a trace alone.
func recordingOf(data []byte) *recordingtest.Recording {
	r := recordingtest.New("title x\nphase trace 0s..0s profiler=trace")
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, data)
	r.Manifest.Clocks = []recording.Clock{{Path: "trace.out"}}
	return r
}

// wholeSet makes the timeline at once.
func wholeSet(t *testing.T, data []byte) *tiles.Set {
	t.Helper()
	tr, err := exectrace.Open(data, exectrace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := tr.Reader()
	older, err := tiles.FindOlder(tr)
	if err != nil {
		t.Fatal(err)
	}
	b := tiles.NewBuilder(r, tiles.Options{Memory: room(tr.Size()), Older: older})
	for r.Next() {
		b.Event(r.Event())
	}
	return b.Finish()
}

// paused returns the timeline of a trace that nobody has waited for.
func paused(t *testing.T, p *pages) *build {
	t.Helper()
	s := p.sources.all[0]
	o, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.buildOf(o)
	if err != nil {
		t.Fatal(err)
	}
	b.from.take()
	b.running = true
	var ctx context.Context
	ctx, b.cancel = context.WithCancel(t.Context())
	b.run(ctx)
	return b
}

// TestTimelineCancelled: when nobody waits any more the trace is not read to
// its end, and goes on there for the next one.
func TestTimelineCancelled(t *testing.T) {
	data := busy()
	p := pagesOf(t, recordingOf(data))
	b := paused(t, p)
	if b.running || b.now != nil || b.maker == nil || b.maker.pass.Events() > 1<<16 {
		t.Fatal("the trace was read though nobody waits")
	}
	b.maker.builder.Snapshot() // as a slow machine shows one on the way
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if w := p.ask(ctx, "timeline/lanes?s=1", nil); w.Code == http.StatusOK {
		t.Errorf("somebody who has left is told %s", w.Body)
	}
	tr, err := p.sources.all[0].traced(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sameTimeline(t, tr.Set, wholeSet(t, data))
}

// TestTimelineMadeOnce: a page that found the timeline unmade, and asks for it when it
// is whole, does not have it made again. The states of that one would take the place of
// the whole timeline, and who waits for the whole would wait for ever.
func TestTimelineMadeOnce(t *testing.T) {
	p := pagesOf(t, recordingOf(busy()))
	s := p.sources.all[0]
	b, err := s.building(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	late := b.want()
	if _, err := s.traced(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, _ := b.desk.Trace().Reads()
	if err := b.desk.Prepare(t.Context(), nil, sched.Whole, late); err != nil {
		t.Fatal(err)
	}
	if readers, _ := b.desk.Trace().Reads(); readers != before {
		t.Errorf("%d readers, %d before", readers, before)
	}
	if b.made != nil || b.unmade() {
		t.Error("the timeline is made again")
	}
}

// sameTimeline wants two sets to show the same: the same lanes with the same tiles.
// Their bytes may differ, for lanes that were shown on the way have pyramids that
// begin at other levels.
func sameTimeline(t *testing.T, got, want *tiles.Set) {
	t.Helper()
	if got.Len() != want.Len() || got.Span() != want.Span() || got.Top() != want.Top() {
		t.Fatalf("%d lanes over %v, want %d over %v", got.Len(), got.Span(), want.Len(), want.Span())
	}
	lanes, _ := want.Lanes(tiles.Filter{}, 0, want.Len())
	for _, l := range lanes {
		same := got.Lane(l.ID)
		if same.Base = l.Base; same != l {
			t.Fatalf("lane %+v, want %+v", same, l)
		}
		for level := want.Top(); level >= tiles.MinLevel; level -= 3 {
			last := uint64(want.Span().Len()-1) >> level >> 10
			for _, i := range []uint64{0, last / 3, last / 2, last} {
				id := tiles.TileID{Lane: l.ID, Level: uint8(level), Index: uint32(i)}
				if got, want := got.Tile(id), want.Tile(id); got.Form != want.Form || !bytes.Equal(got.Data, want.Data) {
					t.Fatalf("tile %+v of %+v differs", id, l)
				}
			}
		}
	}
}

// TestTimelineGrows: a page that has seen a part keeps what has not changed,
// and is told to look lanes up again.
func TestTimelineGrows(t *testing.T) {
	data := busy()
	p := pagesOf(t, recordingOf(data))
	b := paused(t, p)
	set := b.maker.builder.Snapshot()
	b.publish(set, b.first+set.Version(), 0.3)
	b.mu.Lock()
	b.running = true // not yet
	b.mu.Unlock()
	var part laneList
	p.get("timeline/lanes?s=1&kinds=proc", &part)
	if part.Done != 0.3 || part.Version != b.first+1 || part.Span.Len() <= set.Span().Len() {
		t.Fatalf("a part: %+v", part)
	}
	var ids []tiles.TileID
	for _, l := range part.Lanes {
		for level := part.MinLevel; level <= part.Top; level += 2 {
			ids = append(ids, tiles.TileID{Lane: l.ID, Level: uint8(level)})
		}
	}
	had := p.tiles("s=1", ids...)
	b.mu.Lock()
	b.running = false
	b.mu.Unlock()
	tr, err := p.sources.all[0].traced(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all laneList
	p.get("timeline/lanes?s=1&kinds=proc", &all)
	if all.Done != 1 || all.Version <= part.Version || tr.Number != all.Version {
		t.Fatalf("the whole: %+v", all)
	}
	changed := p.tiles("s=1&since="+strconv.Itoa(part.Version), ids...)
	if len(changed) == 0 || len(changed) == len(ids) {
		t.Errorf("%d of %d tiles have changed", len(changed), len(ids))
	}
	have := map[tiles.TileID]tiles.Tile{}
	for _, tile := range append(had, changed...) {
		have[tiles.TileID{Lane: tile.Lane, Level: tile.Level, Index: tile.Index}] = tile
	}
	for _, want := range p.tiles("s=1", ids...) {
		got := have[tiles.TileID{Lane: want.Lane, Level: want.Level, Index: want.Index}]
		if got.Form != want.Form || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("tile %+v is shown as %+v", want, got)
		}
	}
	if same := p.tiles("s=1&since="+strconv.Itoa(all.Version), ids...); len(same) != 0 {
		t.Errorf("%d tiles have changed since the current version", len(same))
	}
	p.refused(409, "timeline/tiles?s=1&version="+strconv.Itoa(part.Version), wanted(ids...))

	// The recording has more in it, and the same trace.
	p.sources.all[0].changed()
	var again laneList
	p.get("timeline/lanes?s=1&kinds=proc", &again)
	if again.Version != all.Version {
		t.Errorf("version %d of the same trace, had %d", again.Version, all.Version)
	}
}

// TestTimelineOther: another trace has another version, and its tiles are all
// new.
func TestTimelineOther(t *testing.T) {
	data := busy()
	r := recordingOf(data)
	p := pagesFrom(t, Source{Name: "x", Kind: "recording", Open: func(context.Context) (*Opened, error) {
		rec := r.Open()
		return &Opened{Session: session.New(rec), Close: rec.Close}, nil
	}})
	var one, other laneList
	p.get("timeline/lanes?s=1", &one)
	r = recordingOf(data[:len(data)*2/3])
	p.sources.all[0].changed()
	p.get("timeline/lanes?s=1", &other)
	if other.Version <= one.Version || other.Span.Len() >= one.Span.Len() {
		t.Errorf("%+v after %+v", other.Version, one.Version)
	}
	ids := []tiles.TileID{{Lane: 0, Level: 20}, {Lane: 1, Level: 20}}
	if got := p.tiles("s=1&since="+strconv.Itoa(one.Version), ids...); len(got) != len(ids) {
		t.Errorf("%d of %d tiles of another trace", len(got), len(ids))
	}
}

// index keeps one timeline in memory.
type memoryIndex struct {
	key   tiles.Key
	data  []byte
	found int
}

func (x *memoryIndex) Find(_ string, key tiles.Key) *tiles.Set {
	if x.data == nil || key != x.key {
		return nil
	}
	x.found++
	set, _ := tiles.Open(x.data)
	return set
}

func (x *memoryIndex) Keep(entry string, set *tiles.Set) *tiles.Set {
	x.key, x.data = set.Key(), set.AppendTo(nil)
	return x.Find(entry, x.key)
}

// TestTimelineKept: what was kept is not made again.
func TestTimelineKept(t *testing.T) {
	data := append(bytes.Clone(busy()), make([]byte, 0)...)
	x := &memoryIndex{}
	for round := range 2 {
		r := recordingOf(data)
		p := pagesFrom(t, Source{Name: "x", Kind: "recording", Open: func(context.Context) (*Opened, error) {
			rec := r.Open()
			return &Opened{Session: session.New(rec), Index: x, Close: rec.Close}, nil
		}})
		s := p.sources.all[0]
		o, err := s.open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.buildOf(o)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			b.index = x // small as it is
		} else if set := x.Find(b.entry, b.key); set != nil {
			b.publish(set, b.first, 1)
		}
		got, err := b.get(t.Context(), true)
		if err != nil || got.Done != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		if round == 1 && b.running {
			t.Error("the trace is read though its timeline was kept")
		}
		if x.found == 0 {
			t.Error("the timeline was not kept")
		}
	}
}

// TestTimelineAxis: a trace that stands alone begins at zero, and ends with
// its last event.
func TestTimelineAxis(t *testing.T) {
	data := busy()
	r := recordingtest.New("title x\nphase trace 0s..0s profiler=trace")
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, data)
	p := pagesFrom(t, Source{Name: "x", Kind: "files", Open: func(context.Context) (*Opened, error) {
		s, files, err := session.Loose(r.Files, []string{"trace.out"})
		return &Opened{Session: s, Files: files}, err
	}})
	axis, err := p.sources.all[0].axis(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b := p.sources.all[0].build; b != nil {
		t.Error("the whole trace is read for its axis")
	}
	want := wholeSet(t, data).Span()
	if axis.Start != 0 || math.Abs(float64(axis.Len()-want.Len())) > 1000 {
		t.Errorf("axis %+v, want %v from 0 on", axis, want.Len())
	}
}

// TestTimelineDrift: the place of a bucket on the axis is that of the clock.
func TestTimelineDrift(t *testing.T) {
	clock := timeline.Clock{Offset: 5e9, Drift: 2e-4}
	p := pagesOf(t, smallRecording(t, clock))
	var l laneList
	p.get("timeline/lanes?s=1&kinds=goroutine", &l)
	own := wholeSet(t, smallRecording(t, clock).Files["trace.out"].Data).Origin()
	for _, level := range []int{6, 12, 20} {
		at := own + timeline.Time(1000<<level)
		want, got := clock.At(int64(at)), l.Origin+timeline.Time(l.Rate*float64(int64(1000)<<level))
		if d := got - want; d < -1 || d > 1 {
			t.Errorf("bucket 1000 of level %d begins at %d, want %d", level, got, want)
		}
	}
}

// TestTimelineDetailsCancelled: what nobody waits for is not computed to its end.
func TestTimelineDetailsCancelled(t *testing.T) {
	p := pagesOf(t, recordingOf(busy()))
	tr, err := p.sources.all[0].traced(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	lanes, _ := tr.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGoroutine}, Order: tiles.BySpans}, 0, 1)
	if _, err := tr.tasks(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("tasks: %v", err)
	}
	if _, err := tr.stats(ctx, tr.On(tr.Whole)); !errors.Is(err, context.Canceled) {
		t.Errorf("stats: %v", err)
	}
	if w := p.ask(ctx, "timeline/goroutine?s=1&g="+strconv.Itoa(int(lanes[0].Subject)), nil); w.Code == http.StatusOK {
		t.Errorf("goroutine: %s", w.Body)
	}
}
