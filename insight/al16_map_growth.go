package insight

import (
	"loupe/analysis/facts"
)

var al16 = &Rule{
	ID: "AL16", Title: "Map growth: maps grow while they are filled",
	About: "A map created without a size hint doubles its tables repeatedly and moves all its entries each time. Filling " +
		"one of known size then takes twice the time and memory.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "research, AL16; the lower bound of the interval counts"},
		{"warn", 0.15, "share of CPU time", "chosen: three times the first threshold"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "map.grow", skip: []string{"startup"},
		direct: true, through: []string{"maps"}, what: "went into growing maps", tell: func(h *hit, f *Finding) {
			f.Advice = "If the number of entries or an upper bound is known, use make(map[K]V, n). Otherwise use an estimate from last time; too large a size costs memory."
			if how := h.calledInLoop(); how != "" {
				f.Advice = "The function that fills the map is " + how + ": if what it fills it with is the same each time, build it once before that loop and pass it in. " + f.Advice
			}
			f.Doubts = append(f.Doubts, "a long-lived map, or one whose size is not known beforehand, has to grow")
		}}),
}
