package report

import (
	"path"
	"path/filepath"
	"strconv"

	"loupe/analysis/calltree"
	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/value/stack"
)

// ProfileFlame makes the boxes of a report: of a comparison, those of both sides.
func ProfileFlame(r *pprof.Report) *Flame {
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
	opt := calltree.FlameOptions{MinShare: FlameShare, NoInlines: r.Config.NoInlines, FoldGenerics: true}
	if diff {
		opt.Base = weights(true)
	}
	if r.Config.Group != "" {
		opt.Name = r.Config.Grouping()
	}
	f := &Flame{Header: r.Header(), Diff: diff, Source: func(id stack.FrameID) string {
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

// StacksFlame draws goroutines from the go statement down to where they are.
func StacksFlame(v *Stacks, keep func(int) bool) *Flame {
	f := v.File
	samples := calltree.Samples(f.Samples(keep))
	opt := calltree.FlameOptions{MinShare: FlameShare, FoldGenerics: true}
	out := &Flame{
		Header: calltree.Header{Type: "goroutine", Unit: "count"}, Title: "goroutines of " + v.Name,
		Source: func(id stack.FrameID) string {
			r := f.Stacks.Frame(id)
			if r.File == "" {
				return ""
			}
			return path.Base(r.File) + ":" + strconv.Itoa(r.Line)
		},
	}
	if v.Filter != "" {
		out.Header.Filters = []string{v.Filter}
	}
	out.Graph = calltree.Flame(f.Stacks, samples, opt)
	opt.Inverted = true
	out.Inverted = calltree.Flame(f.Stacks, samples, opt)
	return out
}
