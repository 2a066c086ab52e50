package web

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"loupe/analysis/tiles"
	"loupe/value/timeline"
)

// laneList is the answer of timeline/lanes: where tiles lie on the axis, and a
// page of the lanes.
type laneList struct {
	// Origin is where the tiles with index 0 begin on the axis, and Rate how
	// many ns of the axis go by in one of the trace: 1, but where two clocks
	// drift. Bucket i of tile n of a level begins at
	// Origin + Rate (1024 n + i) 2^level.
	Origin timeline.Time `json:"origin"`
	Rate   float64       `json:"rate"`
	// MinLevel is the finest level, on Top one bucket holds all.
	MinLevel int           `json:"minLevel"`
	Top      int           `json:"top"`
	Span     timeline.Span `json:"span"` // that the trace covers on the axis
	// Version is another one when there is more of the trace, or another one.
	// Lanes are numbered anew then.
	Version int `json:"version"`
	// Done says how much of the trace is read: 1 is all.
	Done    float64     `json:"done"`
	Dropped laneDropped `json:"dropped"`
	// Tasks counts the user's tasks, -1 where that is not known.
	Tasks int          `json:"tasks"`
	Total int          `json:"total"` // lanes that were chosen
	Lanes []laneOnAxis `json:"lanes"`
}

// laneDropped says what the timeline lacks.
type laneDropped struct {
	Goroutines     int  `json:"goroutines"` // without a lane, because they have
	MinSpans       int  `json:"minSpans"`   // fewer spans than this
	GoroutineSpans bool `json:"goroutineSpans"`
	ProcSpans      bool `json:"procSpans"`
}

// laneOnAxis is one lane.
type laneOnAxis struct {
	ID      tiles.LaneID  `json:"id"`
	Kind    string        `json:"kind"`
	Subject int64         `json:"subject"`
	Name    string        `json:"name"`
	Group   tiles.LaneID  `json:"group"`
	Members int           `json:"members"`
	Start   timeline.Time `json:"start"`
	End     timeline.Time `json:"end"`
	Spans   int           `json:"spans"`
	Base    int           `json:"base"` // -1 without a pyramid
	Exact   bool          `json:"exact"`
}

// laneKinds and laneOrders are what questions call them.
var (
	laneKinds = []string{
		tiles.KindProc: "proc", tiles.KindThread: "thread", tiles.KindGC: "gc", tiles.KindGoroutine: "goroutine",
		tiles.KindGroup: "group", tiles.KindCounter: "counter", tiles.KindLatency: "latency",
	}
	laneOrders = map[string]tiles.Order{"": tiles.ByLane, "lane": tiles.ByLane, "start": tiles.ByStart, "spans": tiles.BySpans, "length": tiles.ByLength}
)

// maxLanes is how many lanes an answer has at most.
const maxLanes = 1000

// timelineLanes lists lanes.
func timelineLanes(ctx context.Context, s *subject, q *query) (*laneList, error) {
	t, err := s.timeline(ctx, false)
	if err != nil {
		return nil, err
	}
	f, err := t.filter(q)
	if err != nil {
		return nil, err
	}
	from, err := q.number("from", 0)
	if err != nil {
		return nil, err
	}
	n, err := q.number("n", 100)
	if err != nil {
		return nil, err
	}
	page, total := t.find(f, q.Get("q"), int(max(0, from)), int(min(max(0, n), maxLanes)))
	d := t.Dropped()
	list := &laneList{
		Origin: t.Clock.At(int64(t.Origin())), Rate: 1 + t.Clock.Drift, MinLevel: tiles.MinLevel, Top: t.Top(), Span: t.On(t.Whole),
		Version: t.Number, Done: t.Done, Dropped: laneDropped{d.Goroutines, d.MinSpans, d.GoroutineSpans, d.ProcSpans}, Tasks: t.Tasks, Total: total, Lanes: make([]laneOnAxis, len(page)),
	}
	for i := range page {
		list.Lanes[i] = t.lane(&page[i])
	}
	return list, nil
}

// lane puts a lane onto the axis.
func (t *traced) lane(l *tiles.Lane) laneOnAxis {
	on := t.On(l.Span)
	return laneOnAxis{l.ID, laneKinds[l.Kind], l.Subject, l.Name, l.Group, l.Members, on.Start, on.End, l.Spans, l.Base, l.Exact}
}

// filter reads which lanes are wanted.
func (t *traced) filter(q *query) (f tiles.Filter, err error) {
	for name := range strings.SplitSeq(q.Get("kinds"), ",") {
		if name == "" {
			continue
		}
		i := slices.Index(laneKinds, name)
		if i < 0 {
			return f, &refusal{http.StatusBadRequest, fmt.Sprintf("kinds: there is no kind %q", name)}
		}
		f.Kinds = append(f.Kinds, tiles.Kind(i))
	}
	var ok bool
	if f.Order, ok = laneOrders[q.Get("order")]; !ok {
		return f, &refusal{http.StatusBadRequest, fmt.Sprintf("order: there is no order %q", q.Get("order"))}
	}
	group, err := q.number("group", -1)
	if err != nil {
		return f, err
	}
	if group >= 0 {
		if l := t.Lane(tiles.LaneID(group)); l.Kind != tiles.KindGroup {
			return f, &refusal{http.StatusBadRequest, fmt.Sprintf("group: lane %d is not a group", group)}
		}
		f.Group = tiles.LaneID(group)
	}
	if q.Has("t0") || q.Has("t1") {
		on, err := q.span(t.On(t.Whole))
		if err != nil {
			return f, err
		}
		f.Within = t.Own(on)
	}
	f.Name = q.Get("q")
	return f, nil
}

// find chooses lanes. A goroutine goes by its function, and by its number as
// people write it: g12.
func (t *traced) find(f tiles.Filter, text string, from, n int) ([]tiles.Lane, int) {
	number, isG := strings.CutPrefix(text, "g")
	id, err := strconv.ParseInt(number, 10, 64)
	if !isG || err != nil {
		return t.Lanes(f, from, n)
	}
	lane, ok := t.Find(tiles.KindGoroutine, id, "")
	if !ok || len(f.Kinds) > 0 && !slices.Contains(f.Kinds, tiles.KindGoroutine) {
		return nil, 0
	}
	page := []tiles.Lane{t.Lane(lane)}
	return page[min(from, 1):min(from+n, 1)], 1
}

// maxTiles is how many tiles can be asked for at once, and tileAsked how many
// bytes ask for one.
const (
	maxTiles  = 4096
	tileAsked = 12
)

// timelineTiles answers a list of lane, level and index with the tiles.
func timelineTiles(ctx context.Context, s *subject, w http.ResponseWriter, q *query) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, q.Body, maxTiles*tileAsked))
	if err != nil || len(body)%tileAsked != 0 {
		return &refusal{http.StatusBadRequest, fmt.Sprintf("a list of at most %d tiles is wanted: lane, level and index, four bytes each", maxTiles)}
	}
	since, err := q.number("since", 0)
	if err != nil {
		return err
	}
	t, err := s.timeline(ctx, false)
	if err != nil {
		return err
	}
	// Numbers of lanes are of one version.
	if v, err := q.number("version", int64(t.Number)); err != nil {
		return err
	} else if v != int64(t.Number) {
		return errRenumbered
	}
	ids := make([]tiles.TileID, len(body)/tileAsked)
	for i := range ids {
		b := body[i*tileAsked:]
		ids[i] = tiles.TileID{
			Lane: tiles.LaneID(binary.LittleEndian.Uint32(b)), Level: uint8(min(255, binary.LittleEndian.Uint32(b[4:]))), Index: binary.LittleEndian.Uint32(b[8:]),
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return writeBytes(w, q, "application/octet-stream", t.appendTiles(nil, int(since), ids))
}

// appendTiles appends the tiles that are others than in an earlier state of
// the timeline, which may be that of another trace.
func (t *traced) appendTiles(dst []byte, since int, ids []tiles.TileID) []byte {
	switch {
	case since == t.Number:
		return t.AppendTiles(dst, nil)
	case t.Version() > 0 && since>>versionBits == t.Number>>versionBits:
		return t.AppendChanged(dst, since&(1<<versionBits-1), ids)
	}
	return t.AppendTiles(dst, ids)
}
