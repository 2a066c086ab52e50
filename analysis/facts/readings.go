package facts

import (
	"math"

	"loupe/format/metrics"
	"loupe/recording"
	"loupe/value/timeline"
)

// Readings are what runtime/metrics told in one round.
type Readings struct {
	Provenance
	Round *Round

	set *metrics.Set
}

// ReadingsOf are those of the rounds that have any.
func ReadingsOf(f *Facts) (all []*Readings) {
	for i := range f.Rounds {
		r := &f.Rounds[i]
		set, err := f.session.Metrics(r.Phase.Run)
		if err != nil || len(set.Names()) == 0 {
			continue
		}
		one := &Readings{Provenance: f.provenance(metricsEntry(f.Manifest, r.Phase.Run), 0), Round: r, set: set}
		one.What, one.Precision, one.Time = "runtime/metrics", Measured, r.Phase.Span
		if times := set.Series("/gc/cycles/total:gc-cycles").In(r.Phase.Span).Times; len(times) > 1 {
			one.Length = times[len(times)-1].Sub(times[0])
		}
		all = append(all, one)
	}
	return all
}

// metricsEntry is the entry with the samples of a run.
func metricsEntry(m *recording.Manifest, run int) (entry recording.Entry) {
	for i, e := range m.Of(recording.Metrics) {
		if i == 0 || e.Run == run {
			entry = e
		}
	}
	return entry
}

// Values are the readings of a metric within the round, in order; none where the runtime
// does not have it.
func (r *Readings) Values(name string) []float64 {
	return r.set.Series(name).In(r.Round.Phase.Span).Values
}

// At are the times of [Readings.Values].
func (r *Readings) At(name string) []timeline.Time {
	return r.set.Series(name).In(r.Round.Phase.Span).Times
}

// Last is the last reading of a metric within the round; NaN where there is none.
func (r *Readings) Last(name string) float64 {
	v := r.Values(name)
	if len(v) == 0 {
		return math.NaN()
	}
	return v[len(v)-1]
}

// Delta is by how much a metric grew within the round; NaN with fewer than two readings.
func (r *Readings) Delta(name string) float64 { return r.set.Delta(name, r.Round.Phase.Span) }

// InUse is the memory that the runtime holds and has not given back, at each reading, in
// bytes. That is what a limit of memory is about.
func (r *Readings) InUse() []float64 { return r.held().Values }

// held is [Readings.InUse] with the times. A reading that lacks one of the two says nothing.
func (r *Readings) held() (s timeline.Series) {
	const total, back = "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes"
	times, values, released := r.At(total), r.Values(total), map[timeline.Time]float64{}
	given := r.Values(back)
	for i, at := range r.At(back) {
		released[at] = given[i]
	}
	for i, at := range times {
		if less, ok := released[at]; ok {
			s.Times, s.Values = append(s.Times, at), append(s.Values, values[i]-less)
		}
	}
	return s
}

// zeroed is x, and 0 where it is unknown.
func zeroed(x float64) float64 {
	if math.IsNaN(x) {
		return 0
	}
	return x
}
