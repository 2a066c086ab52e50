package profile

import "slices"

// perfEvents gives each event of a recording a sample type of its own: nanoseconds,
// faults and switches have no sum.
type perfEvents struct {
	names []string // in the order in which they were seen
	rows  []int    // the event of each row of the builder
}

// maxPerfEvents is how many sample types there are at most; the events beyond are one.
const maxPerfEvents = 32

const otherEvents = "other events"

// of returns the number of an event.
func (e *perfEvents) of(name string) int {
	if i := slices.Index(e.names, name); i >= 0 {
		return i
	}
	if len(e.names) == maxPerfEvents {
		e.names = append(e.names, otherEvents)
	}
	if len(e.names) > maxPerfEvents {
		return maxPerfEvents
	}
	e.names = append(e.names, name)
	return len(e.names) - 1
}

// added notes the event of the row that the builder has got, if it is new.
func (e *perfEvents) added(b *builder, event int) {
	if b.rows.len() > len(e.rows) {
		e.rows = append(e.rows, event)
	}
}

// split turns the two columns of the builder, samples and periods, into one for each
// event: its periods, or its samples where perf has said no periods. It returns the
// type to show first: time, else cycles, else the event that came first.
func (e *perfEvents) split(b *builder, periods bool) (first string) {
	n := len(e.names)
	values := make([]int64, n*b.rows.len())
	for row, event := range e.rows {
		from := 2 * row
		if periods {
			from++
		}
		values[row*n+event] = b.rows.values[from]
	}
	clocks := 0
	for _, name := range e.names {
		if perfType(name).Unit == "nanoseconds" {
			clocks++
		}
	}
	b.types, b.rows.values = b.types[:0], values
	best := 0
	rank := func(name string) int {
		return 1 + slices.Index([]string{"task-clock", "cpu-clock", "ref-cycles", "cpu-cycles", "cycles"}, name) // 0 is none of them
	}
	for i, name := range e.names {
		t := perfType(name)
		if clocks > 1 && t.Unit == "nanoseconds" {
			t.Type = name // one is not the other
		}
		if !periods {
			t = ValueType{name, "count"}
		}
		b.types = append(b.types, t)
		clock, other := t.Unit == "nanoseconds", b.types[best].Unit == "nanoseconds"
		if clock && !other || !clock && !other && rank(name) > rank(e.names[best]) {
			best = i
		}
	}
	return b.types[best].Type
}
