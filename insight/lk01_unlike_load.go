package insight

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

// What a trace shows of a lock is a part of the time of the requests in it: of requests that took far less, or far longer, it may be another one.

// Limits from which on requests in the trace are not like those that the load measured: by how many times, and by how much. Chosen: a service under a profiler may well be
// twice as slow, and what the client and the network add is below a few milliseconds.
const (
	unlikeTimes = 5
	unlikeBy    = 5 * time.Millisecond
)

// unlikeLoad is the doubt that the requests of the trace are not like those that were measured under load; nothing where they are, or where one of the two is not known.
func unlikeLoad(in *Input) []string {
	u := in.Facts.Units()
	if u.Err != nil {
		return nil
	}
	var most facts.UnitGroup
	all := int64(0)
	for _, g := range u.Judged {
		if g.Unit.String() != "request" {
			continue
		}
		if all += int64(g.Seen.Count); most == nil || g.Seen.Count > most.Seen.Count {
			most = g
		}
	}
	if most == nil || 2*int64(most.Seen.Count) < all {
		return nil
	}
	for _, l := range in.Facts.Loads() {
		if doubt := unlikeTimesOf(most.Seen.Quantile(0.5), l.Load.Service.P50); doubt != "" {
			return []string{doubt}
		}
	}
	return nil
}

// unlikeTimesOf says it of the medians of the trace and of the load; empty where they are alike.
func unlikeTimesOf(traced, loaded time.Duration) string {
	low, high := min(traced, loaded), max(traced, loaded)
	if low <= 0 || high < unlikeTimes*low || high-low < unlikeBy {
		return ""
	}
	return fmt.Sprintf("half of the requests in the trace took up to %s, but half of those that the load measured up to %s: the shares are of other requests than these, which may wait for something else (before their handler begins, say)",
		unit.Duration(traced), unit.Duration(loaded))
}
