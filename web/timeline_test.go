package web

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"loupe/analysis/tiles"
	"loupe/format/exectrace/fixture"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/report/reporttest"
	"loupe/session"
	"loupe/value/timeline"
)

// pages is a server with one source, as the pages see it.
type pages struct {
	*Server
	t testing.TB
}

// pagesOf serves a recording.
func pagesOf(t testing.TB, r *recordingtest.Recording) *pages {
	t.Helper()
	return pagesFrom(t, Source{Name: "test", Kind: "recording", Open: func(context.Context) (*Opened, error) {
		rec := r.Open()
		return &Opened{Session: session.New(rec), Close: rec.Close}, nil
	}})
}

func pagesFrom(t testing.TB, src Source) *pages {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s, err := New(ctx, "127.0.0.1:1", Options{Sources: []Source{src}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return &pages{s, t}
}

// ask asks a question about the only source: with a body it is a POST.
func (p *pages) ask(ctx context.Context, question string, body []byte) *httptest.ResponseRecorder {
	p.t.Helper()
	method, text := http.MethodGet, io.Reader(nil)
	if body != nil {
		method, text = http.MethodPost, bytes.NewReader(body)
	}
	r := httptest.NewRequestWithContext(ctx, method, p.Address()+"api/"+question, text)
	if body != nil {
		r.Header.Set("Origin", "http://127.0.0.1:1")
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	if strings.Contains(w.Header().Get("Content-Type"), "json") {
		for _, wrong := range reporttest.CheckOutput(w.Body.Bytes()) {
			p.t.Errorf("%s answers what cannot be: %s", question, wrong)
		}
	}
	return w
}

// get asks for a value.
func (p *pages) get(question string, v any) {
	p.t.Helper()
	w := p.ask(p.t.Context(), question, nil)
	if w.Code != http.StatusOK {
		p.t.Fatalf("%s: %d %s", question, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), v); err != nil {
		p.t.Fatalf("%s: %v", question, err)
	}
}

// refused asks what is to be refused with a status.
func (p *pages) refused(status int, question string, body []byte) {
	p.t.Helper()
	if w := p.ask(p.t.Context(), question, body); w.Code != status {
		p.t.Errorf("%s: %d %s, want %d", question, w.Code, w.Body, status)
	}
}

// wanted is the body that asks for tiles.
func wanted(ids ...tiles.TileID) []byte {
	body := []byte{}
	for _, id := range ids {
		body = binary.LittleEndian.AppendUint32(body, uint32(id.Lane))
		body = binary.LittleEndian.AppendUint32(body, uint32(id.Level))
		body = binary.LittleEndian.AppendUint32(body, id.Index)
	}
	return body
}

// tiles asks for tiles.
func (p *pages) tiles(question string, ids ...tiles.TileID) []tiles.Tile {
	p.t.Helper()
	w := p.ask(p.t.Context(), "timeline/tiles?"+question, wanted(ids...))
	if w.Code != http.StatusOK {
		p.t.Fatalf("tiles: %d %s", w.Code, w.Body)
	}
	out, err := tiles.ReadTiles(w.Body.Bytes())
	if err != nil {
		p.t.Fatal(err)
	}
	return out
}

// small is a trace of two Ps and three goroutines: 1 begins 7 and waits for
// it, 9 has long been in a system call.
const small = `
Trace Go1.22
EventBatch gen=1 m=0 time=1000000
ProcStatus dt=0 p=0 pstatus=running
GoStatus dt=0 g=1 m=0 gstatus=running
GoCreate dt=1000000 new_g=7 new_stack=main.worker@w.go:3 stack=main.main@m.go:9
GoBlock dt=1000000 reason_string="chan receive" stack=main.main@m.go:12
GoStart dt=0 g=7 g_seq=1
GoUnblock dt=2000000 g=1 g_seq=1 stack=main.worker@w.go:8
GoDestroy dt=1000000
GoStart dt=500000 g=1 g_seq=2
GoStop dt=500000 reason_string="preempted" stack=main.main@m.go:13
EventBatch gen=1 m=1 time=1000000
ProcStatus dt=0 p=1 pstatus=idle
GoStatus dt=0 g=9 m=1 gstatus=syscall
`

// smallRecording has the trace from the second on.
func smallRecording(t testing.TB, clock timeline.Clock) *recordingtest.Recording {
	r := recordingtest.New("title x\nphase bare 0s..1s\nphase trace 1s..2s profiler=trace")
	r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, small))
	r.Manifest.Clocks = []recording.Clock{{Path: "trace.out", Clock: clock}}
	return r
}

func TestTimelineLanes(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	var all laneList
	p.get("timeline/lanes?s=1", &all)
	if want := (timeline.Span{Start: 1001e6, End: 1007e6 + 64}); all.Origin != 1001e6 || all.Span != want || all.Rate != 1 || all.Total != len(all.Lanes) {
		t.Errorf("lanes = %+v, want them on the axis from 1.001 s on", all)
	}
	f := func(question string, want ...string) {
		t.Helper()
		var l laneList
		p.get("timeline/lanes?s=1&"+question, &l)
		var have []string
		for _, l := range l.Lanes {
			have = append(have, fmt.Sprint(l.Kind, " ", l.Subject, " ", l.Name))
		}
		if fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", question, have, want)
		}
	}
	f("kinds=proc", "proc 0 ", "proc 1 ")
	f("kinds=goroutine&q=worker", "goroutine 7 main.worker")
	f("q=g7", "goroutine 7 main.worker")
	f("q=g70")
	f("kinds=goroutine&order=start&n=2", "goroutine 1 main.main", "goroutine 9 ")
	f("kinds=goroutine&order=spans&from=1&n=1", "goroutine 7 main.worker")
	f("kinds=goroutine&t0=1006000000", "goroutine 1 main.main", "goroutine 9 ")
	f("kinds=proc,gc&n=2&from=1", "proc 1 ", "gc 0 ")
	p.refused(http.StatusBadRequest, "timeline/lanes?s=1&kinds=cats", nil)
	p.refused(http.StatusBadRequest, "timeline/lanes?s=1&order=cats", nil)
	p.refused(http.StatusBadRequest, "timeline/lanes?s=1&group=0", nil)
}

func TestTimelineTiles(t *testing.T) {
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	var l laneList
	p.get("timeline/lanes?s=1&q=g7", &l)
	id := tiles.TileID{Lane: l.Lanes[0].ID, Level: uint8(l.Top)}
	got := p.tiles("s=1", id, id)
	if len(got) != 2 || got[0].Form != tiles.FormSpans {
		t.Fatalf("tiles = %+v", got)
	}
	var have []tiles.Span
	for span := range got[0].Spans(l.Origin) {
		have = append(have, span)
	}
	want := []tiles.Span{{Span: timeline.Span{Start: 1002e6, End: 1003e6}, Class: tiles.GoRunnable}, {Span: timeline.Span{Start: 1003e6, End: 1006e6}, Class: tiles.GoRuns}}
	if !slices.Equal(have, want) {
		t.Errorf("spans %v, want %v", have, want)
	}
	p.refused(http.StatusBadRequest, "timeline/tiles?s=1", make([]byte, 11))
	p.refused(http.StatusBadRequest, "timeline/tiles?s=1", make([]byte, (maxTiles+1)*tileAsked))
	p.refused(http.StatusConflict, "timeline/tiles?s=1&version=99", wanted(id))
	p.refused(http.StatusMethodNotAllowed, "timeline/tiles?s=1", nil)
}
