package facts

import (
	"loupe/format/loadlog"
	"loupe/recording"
	"loupe/value/timeline"
)

// LoadRound is a bare phase under load, with every request of it.
type LoadRound struct {
	*Round
	Log  *loadlog.Log
	Path string
	// Start is where the log's own time begins on the recording's axis.
	Start timeline.Time
}

// Loads are the bare phases under load that could be read.
func (f *Facts) Loads() (all []LoadRound) {
	for i := range f.Rounds {
		r := &f.Rounds[i]
		if r.Load == nil {
			continue
		}
		if l, _ := f.session.Load(r.Phase.Name); l != nil {
			all = append(all, LoadRound{r, l, f.session.LoadEntry(r.Phase.Name).Path, f.session.OnAxis(l, r.Phase.Name).At(0)})
		}
	}
	return all
}

// OpenFiles are how many files and connections the program had open, sample by
// sample, those of the load left out.
type OpenFiles struct {
	Provenance
	Times []timeline.Time
	Open  []float64
}

// OpenFiles are those of a load from its first quarter on, since connections are
// opened in the beginning.
func (f *Facts) OpenFiles(l *LoadRound) (d OpenFiles) {
	samples, err := f.session.OS()
	if err != nil || len(f.Manifest.Of(recording.OS)) == 0 {
		return d
	}
	d.Provenance = Provenance{Entry: f.Manifest.Of(recording.OS)[0], What: "samples of the operating system", Precision: Sampled}
	for _, s := range within(samples, timeline.Span{Start: l.Start.Add(l.Log.Elapsed / 4), End: l.Start.Add(l.Log.Elapsed)}) {
		if s.FDs > 0 {
			d.Times = append(d.Times, s.At)
			d.Open = append(d.Open, float64(s.FDs-openAt(l.Log, timeline.Time(s.At.Sub(l.Start)))))
		}
	}
	if n := len(d.Times); n > 0 {
		d.Time = timeline.Span{Start: d.Times[0], End: d.Times[n-1]}
		d.Length = d.Time.Len()
	}
	return d
}

// openAt is how many connections of the load were open at an instant.
func openAt(l *loadlog.Log, t timeline.Time) (n int) {
	for i := range l.Connections {
		if c := &l.Connections[i]; c.Opened <= t && t < c.Closed {
			n++
		}
	}
	return n
}
