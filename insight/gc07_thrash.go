package insight

import (
	"fmt"
	"slices"
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/gc"
	"loupe/recording"
	"loupe/value/stats"
	"loupe/value/unit"
)

var gc07 = &Rule{
	ID: "GC07", Title: "GC thrashing: a memory limit keeps the collector running",
	About: "Under GOMEMLIMIT the runtime collects as soon as memory use approaches the limit. If the live heap takes most of it, a collection " +
		"frees little, and the next one follows at once.",
	Asks: []facts.Question{facts.Counters},
	Params: []Param{
		{"full", 0.8, "share of the limit", "chosen: between two collections memory use goes from the live heap, in whose place garbage grows, up to the limit"},
		{"share", 0.10, "share of the busy time", "research, GC07"},
		{"critical", 0.25, "share of the busy time", "as GC03's"},
		{"decided", 0.5, "share of the readings", "chosen: in which the limit, not GOGC, set the heap goal"},
	},
	Part:  true,
	Check: checkThrash,
}

func checkThrash(r *Rule, in *Input) []Finding {
	all, none := r.readings(in, "/gc/gomemlimit:bytes", "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	if none != nil {
		return none
	}
	fine := r.answer(Fine, "no memory limit was in force")
	for _, one := range all {
		limit := limitIn(one)
		if limit == 0 {
			continue
		}
		used := one.InUse()
		slices.Sort(used)
		full, by := stats.Quantile(used, 0.5)/limit, limited(one)
		share, source := gcShare(in, one.Round)
		if full < r.param("full") || by < r.param("decided") || !(share >= r.param("share")) {
			fine = r.answer(Fine, "memory use was %s of the limit of %s, which set the heap goal in %s of the readings; garbage collection took %s",
				unit.Percent(full), mib(limit), unit.Percent(by), unit.Percent(share))
			continue
		}
		live := one.Last("/gc/heap/live:bytes")
		f := r.answer(Found, "memory use was %s of the limit of %s, and %s of it is live heap: garbage collection took %s (%s)", unit.Percent(full), mib(limit), mib(live), unit.Percent(share), source)
		f.Impact = exactly(share, "share of the busy time")
		f.Severity, f.Score = Warning, score(share, r.param("share"), 0.40)
		if share >= r.param("critical") {
			f.Severity = Critical
		}
		n := one.Delta("/gc/cycles/total:gc-cycles")
		f.Evidence = []Evidence{readFrom(one, "%.0f collections in %s; the limit set the heap goal in %s of the readings", n, unit.Duration(one.Length), unit.Percent(by))}
		f.Evidence = append(f.Evidence, limitFrom(in, limit)...)
		f.Verify = "Record again under the same load: the collector's share should fall below 5%."
		f.Doubts = in.doubts()
		adviseLimit(in, &f, one, limit)
		f.Advice += whereLimit(in, limit)
		return []Finding{f}
	}
	return []Finding{fine}
}

// adviseLimit advises on a limit of memory that is too small: as much more as the predictor
// says to gain, where the machine has it.
func adviseLimit(in *Input, f *Finding, from *facts.Readings, limit float64) {
	wanted := int64(2*limit) >> 20 << 20
	if have := facts.MemoryLimit(in.Facts); have > 0 && float64(wanted) > 0.9*float64(have) {
		f.Advice = "Keep less (GC16 says what is kept), or give the container more than its " + mib(float64(have)) + ": there is no room to raise the limit."
		return
	}
	set := in.Facts.Settings(from.Round).Collector
	f.Advice = "Raise the memory limit if memory allows, or keep less (GC16 says what is kept): a limit near the live heap saves no memory, since the runtime exceeds it rather than stop the program."
	if set == nil {
		return
	}
	to := *set
	to.Limit = wanted
	tellRoom(f, to, predicted(in, from.Round, to))
}

// tellRoom says what a prediction says of a larger limit; what there is to gain is that of
// what is advised.
func tellRoom(f *Finding, to gc.Settings, m room) {
	switch {
	case m.Gains:
		f.Advice = "Raise the limit: " + to.String() + ". Or keep less (GC16 says what is kept)."
		f.Evidence = append(f.Evidence, m.Evidence...)
	case m.Little:
		f.Advice = "Keep less (GC16 says what is kept), or allocate less: that is where the gain is, since doubling the limit alone is predicted to change little (" + to.String() + ")."
	case m.Why != "":
		f.Doubts = append(f.Doubts, "how much a limit of "+mib(float64(to.Limit))+" gains: "+m.Why)
	}
}

// limitOf is who has set a limit of memory.
type limitOf int

const (
	limitUnknown limitOf = iota // the environment of the program is not known
	limitEnv                    // GOMEMLIMIT
	limitSource                 // a call, since the environment has another limit or none
)

// whoLimits tells who has set a limit that was in force. Of a program that was started for the
// recording the environment is known.
func whoLimits(m *recording.Manifest, limit float64) limitOf {
	for _, kv := range m.Target.Env {
		if !strings.HasPrefix(kv, "GOMEMLIMIT=") {
			continue
		}
		asked, err := gc.ParseSettings(kv, gc.Settings{GOGC: 100})
		switch {
		case err != nil:
			return limitUnknown
		case asked.Limit == int64(limit):
			return limitEnv
		}
	}
	if len(m.Target.Runs) == 0 {
		return limitUnknown
	}
	return limitSource
}

// limitFrom are the calls in the source that may have set the limit.
func limitFrom(in *Input, limit float64) []Evidence {
	if whoLimits(in.Session.Manifest(), limit) == limitEnv {
		return nil
	}
	return setTo(in.code, "runtime/debug", "SetMemoryLimit", int64(limit))
}

// whereLimit says where the limit is to be changed, as far as that is known.
func whereLimit(in *Input, limit float64) string {
	calls := setTo(in.code, "runtime/debug", "SetMemoryLimit", int64(limit))
	switch who := whoLimits(in.Session.Manifest(), limit); {
	case who == limitEnv && len(calls) > 0:
		return fmt.Sprintf(" This limit is GOMEMLIMIT in the environment: change it there. A call to debug.SetMemoryLimit (%s:%d) would override it, if it runs.", baseName(calls[0].File), calls[0].Line)
	case who == limitEnv:
		return " This limit is GOMEMLIMIT in the environment: change it there."
	case len(calls) == 0:
		return ""
	case who == limitSource:
		return " The source sets the limit and overrides GOMEMLIMIT in the environment: change it there."
	}
	return fmt.Sprintf(" The limit is GOMEMLIMIT in the environment, or debug.SetMemoryLimit (%s:%d), which overrides it if it runs.", baseName(calls[0].File), calls[0].Line)
}
