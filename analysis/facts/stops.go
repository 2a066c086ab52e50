package facts

import (
	"strings"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
)

// The names of the two stops of a collection.
const (
	SweepTermination = "sweep termination"
	MarkTermination  = "mark termination"
)

// StopName says what a stop of the world was for: "sweep termination".
func (t *Trace) StopName(kind exectrace.NameID) string {
	return strings.TrimPrefix(exectrace.StopReason(t.Reader.Name(kind)), "GC ")
}

// OfCollector tells the collector's stops from those for a profile, for a change of
// GOMAXPROCS and for the begin of the trace itself.
func (t *Trace) OfCollector(kind exectrace.NameID) bool {
	name := t.StopName(kind)
	return name == SweepTermination || name == MarkTermination
}

// ForCollector are the stops of the world for the collector, those of all kinds
// together, and how long it took until the last P stood still.
func (t *Trace) ForCollector() (whole, stopping sched.Histogram) {
	for i := range t.GC.Pauses {
		if p := &t.GC.Pauses[i]; t.OfCollector(p.Kind) {
			whole.Merge(&p.Histogram)
			stopping.Merge(&p.Stopping)
		}
	}
	return whole, stopping
}
