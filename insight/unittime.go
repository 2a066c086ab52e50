package insight

import (
	"fmt"
	"time"

	"loupe/analysis/facts"
	"loupe/value/unit"
)

// unitTime is what requests or tasks spend on something.
type unitTime struct {
	name string // "requests"
	// wall is how long they took together; time is the part of it that is asked for, of
	// which, in starved, the goroutine that they wait for had no P.
	wall, time, starved time.Duration
	// seen is how long all of them took, those whose time is not divided, too.
	seen time.Duration
	// slow is the part of the slowest ones.
	slow float64
	rows []*facts.UnitRow // what was added up
}

// unitsSpend adds up the rows of requests or tasks for which keep is true; false where the
// trace has none from begin to end.
func unitsSpend(in *Input, keep func(row *facts.UnitRow) bool) (u unitTime, ok bool) {
	units := in.Facts.Units()
	if units.Err != nil {
		return u, false
	}
	var slow, slowWall time.Duration
	for _, g := range units.Judged {
		if name := g.Unit.String(); name != "request" && name != "task" {
			continue
		}
		u.name = g.Unit.String() + "s"
		u.wall += g.All.Wall
		u.seen += max(g.Seen.Sum, g.All.Wall)
		slowWall += g.Slow.Wall
		for i := range g.All.Rows {
			if row := &g.All.Rows[i]; keep(row) {
				u.rows = append(u.rows, row)
				u.time += row.Time
				if row.Cause.Kind.Key() == "runnable" {
					u.starved += row.Time
				}
			}
		}
		for i := range g.Slow.Rows {
			if row := &g.Slow.Rows[i]; keep(row) {
				slow += row.Time
			}
		}
	}
	u.slow = float64(slow) / float64(max(1, slowWall))
	return u, u.wall > 0
}

// all is how long all of them spend on it, where the time of a sample is divided.
func (u unitTime) all() time.Duration {
	return time.Duration(float64(u.time) * float64(u.seen) / float64(max(1, u.wall)))
}

// share is the part of the time of all.
func (u unitTime) share() float64 { return float64(u.time) / float64(u.wall) }

// own is the same without the time in which whoever is waited for has no P.
func (u unitTime) own() float64 { return float64(u.time-u.starved) / float64(u.wall) }

// String says it: "4.2% of the time of requests".
func (u unitTime) String() string {
	return fmt.Sprintf("%s of the time of %s", unit.Percent(u.share()), u.name)
}
