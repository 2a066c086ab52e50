package gc

import (
	"time"

	"loupe/format/godebug"
)

// Scavenger is what one run returned of its memory to the operating system, by the
// lines of scavtrace=1, and of gctrace up to Go 1.13.
type Scavenger struct {
	Run  int    `json:"run"`
	Name string `json:"name,omitempty"`
	// Lines counts the lines, Forced those that debug.FreeOSMemory caused.
	Lines  int `json:"lines"`
	Forced int `json:"forced"`
	// BackgroundBytes and EagerBytes were returned by the background scavenger and on
	// demand: while allocating, to keep within the memory limit, and by
	// debug.FreeOSMemory. Before Go 1.21 the first
	// has both.
	BackgroundBytes int64 `json:"background_bytes"`
	EagerBytes      int64 `json:"eager_bytes"`
	// BytesPerSec is how fast, between the first and the last line of the log that has
	// a time (of gctrace or schedtrace); unknown without two of them.
	BytesPerSec Figure `json:"bytes_per_sec"`
	// ReleasedBytes is what was returned at the last line, PeakReleased the most.
	ReleasedBytes int64 `json:"released_bytes"`
	PeakReleased  int64 `json:"peak_released_bytes"`
	// UtilPercent is the share of the retained heap that was in use at the last line,
	// UtilLowest the lowest; unknown for lines of scvg.
	UtilPercent Figure `json:"util_percent"`
	UtilLowest  Figure `json:"util_lowest_percent"`
	// Rows are the lines.
	Rows []ScavengerRow `json:"rows"`
}

// ScavengerRow is one line.
type ScavengerRow struct {
	Line            int   `json:"line"`
	BackgroundBytes int64 `json:"background_bytes"`
	EagerBytes      int64 `json:"eager_bytes"`
	// ReleasedBytes is what is returned now, -1 where the line does not say.
	ReleasedBytes int64  `json:"released_bytes"`
	UtilPercent   Figure `json:"util_percent"`
	Forced        bool   `json:"forced,omitempty"`
}

// AnalyseScavenger adds up the lines of each run, in order of their first appearance.
func AnalyseScavenger(l *godebug.Log) (all []*Scavenger) {
	times := timed(l)
	byRun(l.Scavenges, func(run int, lines []godebug.Scavenge) {
		s := &Scavenger{Run: run, Name: nameOf(l, run), BytesPerSec: Unknown(), UtilPercent: Unknown(), UtilLowest: Unknown()}
		first, last := times[run][0], times[run][1]
		var between int64
		for i := range lines {
			x := &lines[i]
			s.add(x)
			if x.Offset > first.offset && x.Offset < last.offset {
				between += x.Background + x.Eager
			}
		}
		if d := (last.at - first.at).Seconds(); d > 0 {
			s.BytesPerSec = Figure(float64(between) / d)
		}
		all = append(all, s)
	})
	return all
}

// add takes one line.
func (s *Scavenger) add(x *godebug.Scavenge) {
	row := ScavengerRow{Line: x.Line, BackgroundBytes: x.Background, EagerBytes: x.Eager, ReleasedBytes: x.Released, UtilPercent: Unknown(), Forced: x.Forced}
	s.Lines++
	if x.Forced {
		s.Forced++
	}
	s.BackgroundBytes += x.Background
	s.EagerBytes += x.Eager
	switch x.Form {
	case godebug.ScavTotal, godebug.ScavNow:
		row.UtilPercent = Figure(x.Util)
		s.UtilPercent = row.UtilPercent
		if !s.UtilLowest.Known() || row.UtilPercent < s.UtilLowest {
			s.UtilLowest = row.UtilPercent
		}
	case godebug.ScvgReleased:
		row.ReleasedBytes = -1
	}
	if row.ReleasedBytes >= 0 {
		s.ReleasedBytes = row.ReleasedBytes
		s.PeakReleased = max(s.PeakReleased, row.ReleasedBytes)
	}
	s.Rows = append(s.Rows, row)
}

// moment is a line of a log that has a time.
type moment struct {
	offset int64
	at     time.Duration
}

// timed returns the first and the last line of each run that have a time.
func timed(l *godebug.Log) map[int][2]moment {
	runs := map[int][2]moment{}
	see := func(p godebug.Position, at time.Duration) {
		m := moment{p.Offset, at}
		ends, found := runs[p.Run]
		if !found || m.offset < ends[0].offset {
			ends[0] = m
		}
		if !found || m.offset > ends[1].offset {
			ends[1] = m
		}
		runs[p.Run] = ends
	}
	for i := range l.Cycles {
		see(l.Cycles[i].Position, l.Cycles[i].At)
	}
	for i := range l.Samples {
		see(l.Samples[i].Position, l.Samples[i].At)
	}
	return runs
}

// byRun hands the records of each run over, in order of their first appearance.
func byRun[T any, P interface {
	*T
	godebug.Record
}](records []T, each func(run int, of []T)) {
	var order []int
	runs := map[int][]T{}
	for i := range records {
		run := P(&records[i]).Pos().Run
		if _, seen := runs[run]; !seen {
			order = append(order, run)
		}
		runs[run] = append(runs[run], records[i])
	}
	for _, run := range order {
		each(run, runs[run])
	}
}

// nameOf is what a log calls the process of a run.
func nameOf(l *godebug.Log, run int) string {
	if run < len(l.Names) {
		return l.Names[run]
	}
	return ""
}
