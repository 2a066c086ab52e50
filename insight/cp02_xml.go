package insight

import (
	"loupe/analysis/facts"
)

var cp02 = &Rule{
	ID: "CP02", Title: "XML decoding is most of the work",
	About: "encoding/xml reads one character after the other, makes strings of all names and values, and finds the fields by reflection. " +
		"A service that decodes the same documents for every request mostly does that.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.20, "share of CPU time", "measured on the lab newssearch; the lower bound of the interval counts"},
		{"warn", 0.40, "share of CPU time", "chosen: twice the first threshold"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "xml.decode", skip: []string{"startup"},
		what: "went into decoding XML", tell: func(h *hit, f *Finding) {
			f.Advice = "Keep what was decoded where the document has not changed (by its address and ETag, or a hash). Of large documents read only what is needed with Decoder.RawToken, or ask for another format."
			f.Doubts = append(f.Doubts, "a program that reads its data once, at its start, shows the same share while it does")
		}}),
}
