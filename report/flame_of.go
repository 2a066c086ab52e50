package cli

import (
	"io"
	"path/filepath"
	"strconv"

	"loupe/calltree"
	"loupe/pprof"
	"loupe/profile"
	"loupe/report"
	"loupe/stack"
)

// webList writes source and instructions as a page. Without the binary it
// shows the source alone and says why.
func (s *pprofSession) webList(w io.Writer, r *pprof.Report) error {
	listing, err := r.Listing()
	if err != nil {
		return err
	}
	page := &report.WebList{Listing: listing, Header: r.Header()}
	if page.Routines, err = r.Disassembly(); err != nil {
		page.Notes = append(page.Notes, "Source without instructions: "+err.Error())
	}
	return report.WebListHTML(w, page)
}

// flame writes a flame graph: as SVG if the name of the file says so, or else
// as a page.
func (s *pprofSession) flame(w io.Writer, r *pprof.Report) error {
	if filepath.Ext(s.flags.config.Output) == ".svg" {
		return report.FlameSVG(w, flameOf(r))
	}
	return report.FlameHTML(w, flameOf(r))
}

// flameOf makes the boxes of a report: of a comparison, those of both sides.
func flameOf(r *pprof.Report) *report.Flame {
	p := r.Profile
	isBase, diff := make([]bool, p.NumLabelSets()), false // looked up once and not for every sample
	if p.HasLabels(pprof.BaseLabel) {
		for set := range isBase {
			isBase[set] = r.IsBase(profile.LabelSet(set))
			diff = diff || isBase[set]
		}
	}
	weights := func(base bool) calltree.Samples {
		column := p.Values[r.Index()]
		return func(yield func(stack.ID, int64) bool) {
			for row, id := range p.StackIDs {
				if v := column[row]; isBase[p.SetOf(row)] == base {
					if base {
						v = -v // it was subtracted
					}
					if !yield(id, v) {
						return
					}
				}
			}
		}
	}
	opt := calltree.FlameOptions{MinShare: report.FlameShare, NoInlines: r.Config.NoInlines, FoldGenerics: true}
	if diff {
		opt.Base = weights(true)
	}
	if r.Config.Group != "" {
		opt.Name = r.Grouping()
	}
	f := &report.Flame{Header: r.Header(), Diff: diff, Source: func(id stack.FrameID) string {
		f := p.Stacks.Frame(id)
		if f.File == "" {
			return ""
		}
		return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
	}}
	f.Graph = calltree.Flame(p.Stacks, weights(false), opt)
	opt.Inverted = true
	f.Inverted = calltree.Flame(p.Stacks, weights(false), opt)
	return f
}
