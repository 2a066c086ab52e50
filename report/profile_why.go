package report

import (
	"fmt"
	"io"

	"loupe/analysis/calltree"
	"loupe/analysis/pprof"
	"loupe/analysis/why"
	"loupe/value/unit"
)

// WriteWhyJSON prints a listing with the compiler's reasons as JSON.
func WriteWhyJSON(w io.Writer, r *pprof.Report, listing *calltree.Listing, reasons *why.Report) error {
	routines := jsonRoutines(listing)
	for i, x := range listing.Routines {
		for n, line := range x.Lines {
			routines[i].Lines[n].Why = jsonReasons(reasons.Line(x.File, line.Number))
		}
	}
	shares := map[string]float64{}
	for c, weight := range reasons.Share {
		if reasons.Total != 0 {
			shares[why.Certainty(c).String()] = float64(weight) / float64(reasons.Total)
		}
	}
	return WriteJSON(w, map[string]any{
		"schema": "loupe.list/1", "type": r.Type, "unit": r.Unit, "total": r.Total, "filters": r.Filters(), "routines": routines, "explained": shares,
	})
}

// WriteWhy prints a listing with the compiler's reason below every line that
// allocates.
func WriteWhy(w io.Writer, r *pprof.Report, listing *calltree.Listing, reasons *why.Report) error {
	for i := range listing.Routines {
		x := &listing.Routines[i]
		for n := range x.Lines {
			for _, site := range reasons.Line(x.File, x.Lines[n].Number) {
				x.Lines[n].Notes = append(x.Lines[n].Notes, whyNote(site, r)...)
			}
		}
	}
	return calltree.WriteList(w, r.Header(), listing)
}

// whyNote says why a place allocates, and how sure that is.
func whyNote(site *why.Site, r *pprof.Report) []string {
	h := r.Header()
	weight := h.Format(site.Weight, "auto")
	sizes := ""
	switch n := len(site.Sizes); {
	case n == 1:
		sizes = ", " + unit.BytesOf(float64(site.Sizes[0])) + " each"
	case n > 1:
		sizes = fmt.Sprintf(", %s to %s each", unit.BytesOf(float64(site.Sizes[0])), unit.BytesOf(float64(site.Sizes[n-1])))
	}
	switch {
	case site.Stale:
		return []string{weight + ": the source has changed since the program was built; nothing can be said"}
	case site.Certainty == why.Unexplained:
		return []string{weight + sizes + ": neither the compiler nor the source gives a reason"}
	case site.Certainty == why.Ambiguous:
		lines := []string{fmt.Sprintf("%s%s: one of these %d:", weight, sizes, len(site.Causes))}
		for _, c := range site.Causes {
			lines = append(lines, "  "+c.Reason)
		}
		return lines
	}
	return []string{weight + sizes + ": " + site.Causes[0].Reason}
}

// jsonReason is why a line allocates. Names are only ever added.
type jsonReason struct {
	Certainty string      `json:"certainty"`
	Weight    int64       `json:"weight"`
	Sizes     []int64     `json:"sizes_bytes,omitempty"`
	Runtime   string      `json:"runtime,omitempty"`
	Stale     bool        `json:"stale,omitempty"`
	Causes    []jsonCause `json:"causes"`
}

type jsonCause struct {
	Mechanism  string `json:"mechanism"`
	Expression string `json:"expression,omitempty"`
	Reason     string `json:"reason"`
}

func jsonReasons(sites []*why.Site) (out []jsonReason) {
	for _, site := range sites {
		x := jsonReason{Certainty: site.Certainty.String(), Weight: site.Weight, Sizes: site.Sizes, Runtime: site.Runtime, Stale: site.Stale, Causes: []jsonCause{}}
		for _, c := range site.Causes {
			x.Causes = append(x.Causes, jsonCause{c.Mechanism.String(), c.Expr, c.Reason})
		}
		out = append(out, x)
	}
	return out
}
