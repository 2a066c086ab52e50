package insight

import (
	"loupe/analysis/facts"
)

var al16 = &Rule{
	ID: "AL16", Title: "Map growth: maps grow while they are filled",
	About: "A map that is made without a size doubles its tables again and again, and moves all its entries each time. " +
		"Filling one of known size then takes twice the time and the memory.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.05, "share of CPU time", "research, AL16; the lower bound of the interval counts"},
		{"warn", 0.15, "share of CPU time", "chosen: three times the first threshold"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "map.grow", skip: []string{"startup"},
		direct: true, through: []string{"maps"}, what: "went into growing maps", tell: func(h *hit, f *Finding) {
			f.Advice = "Where the number of entries is known, or an upper bound: make(map[K]V, n). Where it is not known, a guess from the last time: too large a one costs memory."
			f.Doubts = append(f.Doubts, "a map whose size nobody knows beforehand, or that lives long, grows with reason")
		}}),
}
