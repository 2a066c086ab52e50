package facts

import (
	"slices"

	"loupe/value/stats"
)

// Course is how something rose over the time that it was measured. Whoever says of a quantity
// that it goes on rising asks [CourseOf], so that two answers about the same readings agree.
type Course int

// The courses.
const (
	// NoRise is of what has no more at the end.
	NoRise Course = iota
	// Evenly is of what rises as fast at the end as before.
	Evenly
	// Slower is of what still rises, but more slowly than before: a cache that fills does.
	Slower
	// Unevenly is of what rose in a part of the time alone, and still does.
	Unevenly
	// LevelOff is of what has levelled off.
	LevelOff
)

// OnAgain is what the last quarter of the time must have of the average rise, and the second
// half of the rise of the first, for something to rise as before. Chosen.
const OnAgain = 0.5

// CourseOf tells by the rise of each quarter of the time, and not of the measurements, whether
// it has stopped: a heap that is small is collected often, so that most of its readings are of
// the beginning. quarter are the rises as parts of the average one.
func CourseOf(times, values []float64) (c Course, quarter [4]float64) {
	if len(times) < 2 {
		return NoRise, quarter
	}
	quarter, all := quarters(times, values)
	if all <= 0 {
		return NoRise, quarter
	}
	rising := 0
	for _, q := range quarter {
		if q >= Flat {
			rising++
		}
	}
	early, late := (quarter[0]+quarter[1])/2, (quarter[2]+quarter[3])/2
	switch {
	case quarter[3] < Flat:
		return LevelOff, quarter
	case early < Flat || rising < 3:
		return Unevenly, quarter
	case quarter[3] < OnAgain || late < OnAgain*early:
		return Slower, quarter
	}
	return Evenly, quarter
}

// What a rise needs to have come to an end; chosen.
const (
	// stoodFor is how long it has to have stood, as a part of the time that it rose.
	stoodFor = 0.5
	// withinRise is the part of the rise by which what stands may differ, and of all that is no rise.
	withinRise = 0.1
	// longerThan is how often the longest pause between two jumps has to fit into it: the table of a map doubles, so that
	// the next pause is twice as long as the one before.
	longerThan = 2
)

// Stood tells of what has risen that it has stood at the end for a fair part of the time that it rose, and for much longer
// than between two jumps on the way: a few readings that are alike are no end. What has hardly risen stands.
func Stood(times, values []float64) bool {
	n := len(values)
	if n < 3 {
		return false
	}
	level := smoothed(values)
	end := stats.Median(values[n-3:])
	rise := end - level[0]
	if rise <= withinRise*end {
		return true
	}
	from := n - 1
	for from > 0 && level[from-1] >= end-withinRise*rise {
		from--
	}
	pause, jumped, top := 0.0, times[0], level[0]
	for i := range from + 1 {
		if level[i] >= top+withinRise*rise {
			pause, jumped, top = max(pause, times[i]-jumped), times[i], level[i]
		}
	}
	flat := times[n-1] - times[from]
	return flat >= stoodFor*(times[from]-times[0]) && flat >= longerThan*pause
}

// smoothed are the medians of each value and its neighbours; the ends stay what they are.
func smoothed(values []float64) []float64 {
	level := slices.Clone(values)
	for i := 1; i < len(values)-1; i++ {
		level[i] = stats.Median(values[i-1 : i+2])
	}
	return level
}
