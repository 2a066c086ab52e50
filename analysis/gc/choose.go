package gc

// SweepGOGC are the settings that a table of predictions goes through.
var SweepGOGC = []int{50, 100, 200, 400, 800}

// Sweep predicts the usual settings: every GOGC of [SweepGOGC] without a limit,
// then each limit with GOGC=100 and alone.
func (r *Replay) Sweep(limits ...int64) []Prediction {
	var out []Prediction
	for _, gogc := range SweepGOGC {
		out = append(out, r.Predict(Settings{GOGC: gogc}))
	}
	for _, limit := range limits {
		out = append(out, r.Predict(Settings{GOGC: 100, Limit: limit}), r.Predict(Settings{GOGC: GOGCOff, Limit: limit}))
	}
	if len(limits) == 0 {
		out = append(out, r.Predict(Settings{GOGC: GOGCOff}))
	}
	return out
}

// Verdict says whether a program fits into a container.
type Verdict string

// The verdicts.
const (
	// Fits: the heap grows by GOGC alone, the limit is a net below it.
	Fits Verdict = "fits"
	// Tight: the limit starts collections even at GOGC=50.
	Tight Verdict = "tight"
	// TooSmall: the live heap and what is around it leave no room.
	TooSmall Verdict = "too small"
)

// Choice is what to set in a container of a size.
type Choice struct {
	Container  int64       `json:"container"` // bytes
	Verdict    Verdict     `json:"verdict"`
	Prediction *Prediction `json:"prediction"`
	// NeedMB is the memory that the live heap takes with what is around it:
	// below it nothing can be set.
	NeedMB Figure `json:"need_mb"`
}

const (
	// containerShare is the part of a container that the Go runtime may have:
	// the Go garbage collection guide leaves 5 to 10 % to what it does not
	// see, as C memory, mapped files and the kernel's buffers.
	containerShare = 0.9
	// worthIt is by how many percent of the Ps' time a larger heap has to
	// spare the collector to be worth its memory.
	worthIt = 0.5
)

// containerLimit is the memory limit for a container, in whole MiB.
func containerLimit(container int64) int64 {
	return int64(float64(container)*containerShare) >> 20 << 20
}

// Choose returns the settings for a container of a size in bytes: nine tenths
// of it as the limit, and the largest GOGC that stays below it by itself, as
// far as it buys anything. The limit is then there for the day on which the
// live heap is larger; GOGC=off would use all the memory on every day.
func (r *Replay) Choose(container int64) Choice {
	return chooseWithin(r, container, containerLimit(container))
}

// chooseWithin chooses for a container of which the Go runtime may have a part.
func chooseWithin(r *Replay, container, limit int64) Choice {
	c := Choice{Container: container, Verdict: TooSmall}
	least := r.Predict(Settings{GOGC: SweepGOGC[0] / 5})
	c.NeedMB = least.MemoryMB.Estimate
	if limit <= 0 {
		return c
	}
	for _, gogc := range SweepGOGC {
		p := r.Predict(Settings{GOGC: gogc, Limit: limit})
		free := r.Predict(Settings{GOGC: gogc})
		if p.State != Unlimited || float64(free.MemoryMB.High) > float64(limit)/(1<<20) {
			break
		}
		// Less than the usual is for where that does not fit.
		if gogc > 100 && float64(c.Prediction.GCPercent-p.GCPercent) < worthIt {
			break
		}
		c.Verdict, c.Prediction = Fits, &p
	}
	if c.Prediction != nil {
		return c
	}
	if p := r.Predict(Settings{GOGC: 100, Limit: limit}); p.State != Thrashing {
		c.Verdict, c.Prediction = Tight, &p
	}
	return c
}

// UsualSettings are the settings of [Replay.Sweep] with the limits that are worth a row: that of a
// container of so many bytes, or without one (0) one and a half and three times what the
// live heap takes.
func UsualSettings(r *Replay, container int64) (all []Settings) {
	limits := []int64{containerLimit(container)}
	if container <= 0 {
		need := float64(r.Choose(1).NeedMB)
		limits = []int64{roundMB(1.5 * need), roundMB(3 * need)}
	}
	for _, p := range r.Sweep(limits...) {
		all = append(all, p.Settings)
	}
	return all
}

// roundMB rounds a number of MB up to two digits, in bytes.
func roundMB(mb float64) int64 {
	step := int64(1)
	for int64(mb)/step >= 100 {
		step *= 10
	}
	return (int64(mb)/step + 1) * step << 20
}
