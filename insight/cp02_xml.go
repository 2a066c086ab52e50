package insight

import (
	"loupe/analysis/facts"
)

var cp02 = &Rule{
	ID: "CP02", Title: "XML decoding is most of the work",
	About: "encoding/xml reads one character at a time, allocates strings for all names and values, and finds the fields by reflection. " +
		"A service that decodes the same documents for every request does little else.",
	Asks: []facts.Question{facts.CPU},
	Params: []Param{
		{"share", 0.20, "share of CPU time", "measured on the lab newssearch; the lower bound of the interval counts"},
		{"warn", 0.40, "share of CPU time", "chosen: twice the first threshold"},
		g0,
	},
	Check: check(&look{of: facts.CPU, sample: "samples", limit: "share", warn: "warn", set: "xml.decode", skip: []string{"startup"},
		what: "went into decoding XML", tell: func(h *hit, f *Finding) {
			f.Advice = "Cache the decoded result while the document is unchanged (by its address and ETag, or a hash). Read only the parts of large documents that are needed with Decoder.RawToken, or use another format."
			f.Doubts = append(f.Doubts, "a program that reads its data once, at its start, shows the same share while it does")
		}}),
}
