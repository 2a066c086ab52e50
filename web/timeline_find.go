package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/analysis/tiles"
	"loupe/value/timeline"
)

// timelineHit is one place that was looked for.
type timelineHit struct {
	Version int `json:"version"`
	// Total counts the hits in the range, and Number is which one this is, from
	// 1. Without a hit in that direction both the lane and the span are missing.
	Total  int         `json:"total"`
	Number int         `json:"number"`
	Lane   *laneOnAxis `json:"lane"`
	Span   *laneSpan   `json:"span"`
}

// wantedClass is a state by the name that people give it.
type wantedClass struct {
	kind  tiles.Kind
	class tiles.Class
}

var wantedClasses = map[string]wantedClass{
	"running": {tiles.KindGoroutine, tiles.GoRuns}, "runnable": {tiles.KindGoroutine, tiles.GoRunnable}, "gc": {tiles.KindGoroutine, tiles.GoGC},
	"syscall": {tiles.KindGoroutine, tiles.GoSyscall}, "sync": {tiles.KindGoroutine, tiles.GoSync}, "chan": {tiles.KindGoroutine, tiles.GoChan},
	"net": {tiles.KindGoroutine, tiles.GoNet}, "wait": {tiles.KindGoroutine, tiles.ClassRest},
	"assist": {tiles.KindProc, tiles.ProcAssist}, "sweep": {tiles.KindProc, tiles.ProcSweep}, "idle": {tiles.KindProc, tiles.ClassRest},
	"stw": {tiles.KindGC, tiles.GCSTW}, "mark": {tiles.KindGC, tiles.GCMark},
}

// search is what is looked for: spans of a class that are long enough, or
// goroutines; with a text in the name of their function.
type search struct {
	wantedClass
	spans bool
	least time.Duration
	id    int64 // of a goroutine, -1 for all
	text  string
}

// searchFor reads words like "state:sync>1ms main.worker" and "g1042".
func searchFor(text string) (*search, error) {
	s := &search{wantedClass: wantedClass{kind: tiles.KindGoroutine}, id: -1}
	for word := range strings.FieldsSeq(text) {
		state, isState := strings.CutPrefix(word, "state:")
		if !isState {
			number, isG := strings.CutPrefix(word, "g")
			if id, err := strconv.ParseInt(number, 10, 64); isG && err == nil {
				s.id = id
			} else {
				s.text = word
			}
			continue
		}
		name, least, bounded := strings.Cut(state, ">")
		var ok bool
		if s.wantedClass, ok = wantedClasses[name]; !ok {
			return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("there is no state %q: known are %s", name, strings.Join(slices.Sorted(maps.Keys(wantedClasses)), ", "))}
		}
		s.spans = true
		if bounded {
			var err error
			if s.least, err = time.ParseDuration(least); err != nil {
				return nil, &refusal{http.StatusBadRequest, fmt.Sprintf("%q is not a duration like 1ms", least)}
			}
		}
	}
	return s, nil
}

// timelineFind looks for the next place from an instant, or with dir=prev for
// the one before.
func timelineFind(ctx context.Context, s *subject, q *query) (*timelineHit, error) {
	t, err := s.timeline(ctx, false)
	if err != nil {
		return nil, err
	}
	want, err := searchFor(q.Get("q"))
	if err != nil {
		return nil, err
	}
	within, err := q.span(t.On(t.Whole))
	if err != nil {
		return nil, err
	}
	at, err := q.number("t", int64(within.Start)-1)
	if err != nil {
		return nil, err
	}
	back := q.Get("dir") == "prev"
	lane, err := q.number("lane", map[bool]int64{false: 1<<32 - 1}[back])
	if err != nil {
		return nil, err
	}
	return t.search(ctx, want, t.Own(within), place{timeline.Time(t.Clock.Own(timeline.Time(at))), tiles.LaneID(lane)}, back)
}

// place is where a hit begins; of those that begin together the lane decides.
type place struct {
	at   timeline.Time
	lane tiles.LaneID
}

func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(p.at, o.at), cmp.Compare(p.lane, o.lane))
}

func (t *traced) search(ctx context.Context, want *search, within timeline.Span, from place, back bool) (*timelineHit, error) {
	named := map[tiles.LaneID]bool{}
	if want.text != "" {
		groups, _ := t.Lanes(tiles.Filter{Kinds: []tiles.Kind{tiles.KindGroup}, Name: want.text}, 0, t.Len())
		for _, g := range groups {
			named[g.ID] = true
		}
	}
	only, found := tiles.LaneID(0), false
	if want.id >= 0 {
		if only, found = t.Find(tiles.KindGoroutine, want.id, ""); !found {
			return &timelineHit{Version: t.Number}, nil
		}
	}
	var best place
	var span tiles.Span
	have := false
	n, total, before := 0, 0, 0
	last := tiles.Owner{Lane: 1<<32 - 1}
	for o, s := range t.SpansOf(want.kind, within) {
		if n++; n&0xffff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		first := o != last
		last = o
		switch {
		case found && o.Lane != only, want.text != "" && !named[o.Group]:
			continue
		case want.spans && (s.Class != want.class || s.Len() <= want.least && want.least > 0):
			continue
		case !want.spans && !first:
			continue
		}
		total++
		here := place{s.Start, o.Lane}
		order := here.compare(from)
		if order < 0 || order == 0 && !back {
			before++
		}
		if back && order < 0 && (!have || here.compare(best) > 0) || !back && order > 0 && (!have || here.compare(best) < 0) {
			best, span, have = here, s, true
		}
	}
	out := &timelineHit{Version: t.Number, Total: total}
	if !have {
		return out, nil
	}
	out.Number = before + 1
	if back {
		out.Number = before
	}
	l := t.Lane(best.lane)
	on := t.lane(&l)
	out.Lane, out.Span = &on, t.span(want.kind, span)
	return out, nil
}
