package facts

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"loupe/recording"
	"loupe/value/stack"
	"loupe/value/stats"
	"loupe/value/timeline"
)

// Threads is how many threads of the operating system the program had.
type Threads struct {
	Most  float64
	Procs int // the Ps at that time
	// Round is that with the most, What tells of it.
	Round *Round
	What  string
	Entry recording.Entry
}

// CountThreads counts them by runtime/metrics, of Go 1.26 and later, or by the operating
// system; ok is false where neither tells.
func CountThreads(f *Facts) (t Threads, ok bool) {
	take := func(n float64, r *Round, what string, entry recording.Entry) {
		if n > t.Most {
			t.Most, t.Round, t.What, t.Entry, ok = n, r, what, entry, true
		}
	}
	for _, r := range ReadingsOf(f) {
		for _, n := range r.Values("/sched/threads/total:threads") {
			take(n, r.Round, r.What, r.Entry)
		}
	}
	samples, err := f.session.OS()
	if err == nil && !ok {
		entry, _ := f.Manifest.Main(recording.OS)
		for i := range f.Rounds {
			for _, s := range within(samples, f.Rounds[i].Phase.Span) {
				take(float64(s.Threads), &f.Rounds[i], "the operating system", entry)
			}
		}
	}
	if ok {
		t.Procs = f.Settings(t.Round).Procs
	}
	return t, ok
}

// InSystemCalls are the lines of the user's code at which goroutines of one look sit in a
// system call or in C code, with how many, the most first.
func InSystemCalls(f *Facts) (lines []*Line, from *AllWaits) {
	looks, _ := f.WaitsOf(recording.Goroutine)
	for _, w := range looks {
		by := map[stack.Frame]*Line{}
		for _, x := range w.All {
			if len(x.Frames) == 0 || !holdsThread(x.Frames) {
				continue
			}
			at := SiteOf(w.scope, withoutCreator(x.Frames))
			k := stack.Frame{Func: at.Func, File: at.File, Line: at.Line}
			l := by[k]
			if l == nil {
				l = &Line{At: at, Frames: x.Frames}
				by[k], lines = l, append(lines, l)
			}
			l.Weight += x.Count
		}
		slices.SortStableFunc(lines, func(a, b *Line) int { return cmp.Compare(b.Weight, a.Weight) })
		return lines, w
	}
	return nil, nil
}

// holdsThread tells whether a goroutine keeps a thread while it waits: it is in a system
// call, or in C.
func holdsThread(frames []stack.Frame) bool {
	for _, f := range frames {
		pkg := stack.Package(f.Func)
		if pkg == "syscall" || strings.HasSuffix(pkg, "runtime/syscall") || strings.HasSuffix(pkg, "runtime/syscall/linux") || f.Func == "runtime.cgocall" {
			return true
		}
		if !stack.IsRuntime(pkg) {
			return false
		}
	}
	return false
}

// Throttled is how the kernel held the program back at its CPU quota.
type Throttled struct {
	// Share is that of the periods of the quota in which threads were stopped; where the
	// recording does not count periods, that of the time.
	Share     float64
	ByPeriods bool
	Periods   float64 // how many there were
	Rounds    []*Round
}

// ThrottledIn counts it over the rounds; ok is false with fewer than two samples of the
// operating system.
func ThrottledIn(f *Facts) (t Throttled, ok bool) {
	samples, err := f.session.OS()
	if err != nil {
		return t, false
	}
	periods, stopped, time, wall := 0.0, 0.0, 0.0, 0.0
	for i := range f.Rounds {
		part := within(samples, f.Rounds[i].Phase.Span)
		if len(part) < 2 {
			continue
		}
		a, b := part[0], part[len(part)-1]
		periods += float64(b.Periods - a.Periods)
		stopped += float64(b.ThrottledPeriods - a.ThrottledPeriods)
		time += float64(b.Throttled - a.Throttled)
		wall += float64(b.At - a.At)
		t.Rounds = append(t.Rounds, &f.Rounds[i])
	}
	if wall <= 0 {
		return t, false
	}
	t.Share = math.Max(0, time/wall)
	if periods > 0 {
		t.Share, t.ByPeriods, t.Periods = stopped/periods, true, periods
	}
	return t, true
}

// MemoryLimit is the tightest limit of memory that a cgroup sets the program, in bytes; 0
// for none.
func MemoryLimit(f *Facts) (limit int64) {
	samples, _ := f.session.OS()
	for _, s := range samples {
		if s.CgroupLimit > 0 && (limit == 0 || s.CgroupLimit < limit) {
			limit = s.CgroupLimit
		}
	}
	if limit == 0 && OursToRun(f) {
		limit = f.Manifest.Host.MemoryLimit
	}
	return limit
}

// OursToRun tells whether the program was started by who recorded it, so that the limits of
// the recorder's cgroup are its own. One that was attached to may be in another container.
func OursToRun(f *Facts) bool {
	return f.Manifest.Target.Kind != "url" && f.Manifest.Target.Kind != "pid"
}

// Resident is the memory of the program that the operating system counts beside what the
// runtime knows of, at the moment in the rounds whose difference is the median. Pages of
// files are not in it.
type Resident struct {
	// Anon is what the kernel counts, Go what the runtime holds, in bytes.
	Anon, Go float64
	Round    *Round
	At       timeline.Time
}

// ResidentIn compares them: at the moment whose difference is in the middle of all, and at the one with the most resident. ok is
// false where a recording does not know the one or the other.
func ResidentIn(f *Facts) (middle, most Resident, ok bool) {
	var all []Resident
	for i := range f.Rounds {
		all = append(all, residents(f, &f.Rounds[i], f.Rounds[i].Phase.Run, f.Rounds[i].Phase.Span)...)
	}
	if len(all) == 0 {
		return middle, most, false
	}
	most = slices.MaxFunc(all, func(a, b Resident) int { return cmp.Compare(a.Anon, b.Anon) })
	slices.SortFunc(all, func(a, b Resident) int { return cmp.Compare(a.Anon-a.Go, b.Anon-b.Go) })
	return all[len(all)/2], most, true
}

// OutsideIn is the memory that the operating system counts beyond what the runtime holds, over
// a span of the life of a process, in bytes, and beside it what the runtime holds. The
// difference is below zero where the runtime holds pages that were never touched, as of large
// buffers that are filled in part: it counts as zero then, since touching them later is no
// growth of anything else. As much outside would not show: untouched is how much the runtime holds, in the
// middle of the moments, beyond what is resident.
func OutsideIn(f *Facts, run int, in timeline.Span) (outside, held timeline.Series, untouched float64) {
	var more []float64
	for _, r := range residents(f, nil, run, in) {
		more = append(more, max(0, r.Go-r.Anon))
		outside.Times, outside.Values = append(outside.Times, r.At), append(outside.Values, max(0, r.Anon-r.Go))
		held.Values = append(held.Values, r.Go)
	}
	held.Times = outside.Times
	if len(more) > 0 {
		untouched = stats.Median(more)
	}
	return outside, held, untouched
}

// residents are all moments in a span at which both are known.
func residents(f *Facts, round *Round, run int, in timeline.Span) (all []Resident) {
	samples, err := f.session.OS()
	if err != nil {
		return nil
	}
	set, err := f.session.Metrics(run)
	if err != nil {
		return nil
	}
	readings := Readings{Round: &Round{Phase: recording.Phase{Span: in}}, set: set}
	held := readings.held()
	inUse, at := held.Values, held.Times
	first := 0
	for _, s := range within(samples, in) {
		// Both are taken at an interval, but not at the same time, and memory may have
		// come and gone between them: the largest of the readings around it counts.
		// Behind the last of them, and in a gap, nobody knows what the runtime held: one
		// side alone is not enough, unless both were taken at almost the same time.
		near, before, behind := 0.0, false, false
		for first < len(inUse) && at[first]+aside < s.At {
			first++
		}
		for i := first; i < len(inUse) && at[i] <= s.At+aside; i++ {
			near = max(near, inUse[i])
			before, behind = before || at[i] <= s.At+together, behind || at[i] >= s.At-together
		}
		if s.Anon > 0 && near > 0 && before && behind {
			all = append(all, Resident{Anon: float64(s.Anon), Go: near, Round: round, At: s.At})
		}
	}
	return all
}

// aside is how far from each other readings of the runtime and of the operating system may
// be to belong together: both are taken once a second.
const aside = 1_500e6

// together is how far from each other they may be to be of the same moment.
const together = 300e6
