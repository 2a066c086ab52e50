package insight

import (
	"loupe/analysis/facts"
	"loupe/session"
)

// benchmarks are those that rules judge; none is the answer where there are none.
func (r *Rule) benchmarks(in *Input) (all []*facts.Benchmark, none []Finding) {
	all, err := facts.BenchmarksIn(in.Facts)
	switch {
	case err == nil:
		return all, nil
	case len(in.Session.Manifest().Of(session.BenchmarkOutput)) == 0:
		return nil, []Finding{r.answer(NotApplicable, "the program's output has no benchmark results")}
	}
	return nil, []Finding{r.answer(TooLittle, "%v", err)}
}
