package pprof

import (
	"io"
	"math"
	"path/filepath"

	"loupe/analysis/pprof"
	"loupe/report"
)

// webList writes source and instructions as a page. Without the binary it
// shows the source alone and says why.
func webList(w io.Writer, r *pprof.Report) error { return webListOf(w, r, math.MaxInt) }

// webListOf is webList of the files with the most weight of their own, so many at most,
// and of as many functions in instructions.
func webListOf(w io.Writer, r *pprof.Report, most int) error {
	listing, err := r.Listing()
	if err != nil {
		return err
	}
	listing.Keep(most)
	page := &report.WebList{Listing: listing, Header: r.Header()}
	if page.Routines, err = r.Disassembly(); err != nil {
		page.Notes = append(page.Notes, "Source without instructions: "+err.Error())
	}
	if len(page.Routines) > most {
		page.Routines = pprof.Heaviest(page.Routines, most)
	}
	return report.WebListHTML(w, page)
}

// flame writes a flame graph: as SVG if the name of the file says so, or else
// as a page.
func (s *pprofSession) flame(w io.Writer, r *pprof.Report) error {
	if filepath.Ext(s.flags.config.Output) == ".svg" {
		return report.FlameSVG(w, report.ProfileFlame(r))
	}
	return report.FlameHTML(w, report.ProfileFlame(r))
}
