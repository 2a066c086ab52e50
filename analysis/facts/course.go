package facts

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
