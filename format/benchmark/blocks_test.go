package benchmark

import (
	"fmt"
	"slices"
	"testing"
)

// TestBlocks: a line says which block the results behind it are of; nobody else sees it.
func TestBlocks(t *testing.T) {
	tabulate := func(text string) *Result {
		r, err := Tabulate([]File{{Name: "a", Data: []byte(text)}}, Everything())
		if err != nil || len(r.Tables) != 1 || len(r.Tables[0].Rows) != 1 || len(r.Problems) > 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	cell := tabulate("goos: linux\n" + BlockLine(3) + "\nBenchmarkX 1 5 ns/op\nBenchmarkX 1 4 ns/op\n" + BlockLine(0) + "\nBenchmarkX 1 6 ns/op\n").Tables[0].Rows[0].Cells[0]
	if fmt.Sprint(cell.Blocks) != "[3 3 0]" || fmt.Sprintf("%.1g", slices.Max(cell.Runs)) != "6e-09" {
		t.Errorf("%+v", cell)
	}
	cell = tabulate("BenchmarkX 1 5 ns/op\n" + BlockLine(1) + "\nBenchmarkX 1 4 ns/op\n# loupe block x\n# loupe block -1\n").Tables[0].Rows[0].Cells[0]
	if cell.Blocks != nil {
		t.Errorf("of some results no block is told, and the blocks are %v", cell.Blocks)
	}
}
