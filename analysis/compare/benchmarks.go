package compare

import (
	"loupe/format/benchmark"
	"loupe/value/stats"
)

// Benchmarks judges the benchmarks of a table, each column against the first one; nil
// where there is nothing to compare. The benchmarks of a column have a false discovery rate in
// common: of those called better or worse, one in twenty is neither. That the results were
// measured in blocks is known of files that say so ([benchmark.BlockLine]).
func Benchmarks(t *benchmark.Table) [][]*Change {
	better := map[int]Better{1: Higher, -1: Lower}[t.Better]
	out := make([][]*Change, len(t.Rows))
	for i, row := range t.Rows {
		out[i] = make([]*Change, len(row.Cells))
		for k, c := range row.Cells {
			if k == 0 || c == nil || c.Against == nil {
				continue
			}
			base := row.Cells[0]
			one := judgeUnit(t.Unit, stats.Side{Values: base.Runs, Blocks: base.Blocks}, stats.Side{Values: c.Runs, Blocks: c.Blocks}, better, Confidence, nil)
			out[i][k] = &one
		}
	}
	for k := range t.Files {
		var column []*Change
		for i := range out {
			if c := out[i][k]; c != nil {
				column = append(column, c)
			}
		}
		settle(column, func(p []float64) []float64 { return stats.FalseDiscovery(p, 0) })
	}
	return out
}
