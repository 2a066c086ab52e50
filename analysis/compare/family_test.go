package compare_test

import (
	"fmt"
	"testing"

	"loupe/analysis/compare"
	"loupe/format/loadlog/loadlogtest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestOtherProcesses: what has come from a service stands beside its own figures where it is more than a little, and
// old recordings have no such rows.
func TestOtherProcesses(t *testing.T) {
	of := func(family, rss int) *compare.Table {
		lines := "title x\nphase bare 0s..10s user=4s rss=10000000\nclock load-bare.requests 0s\n-- os.ndjson os --\nt_ns pid user_ns family_ns family_rss\n"
		for i := range 11 {
			lines += fmt.Sprintf("%ds 7 %dms %dms %d\n", i, 400*i, i*family, rss)
		}
		r := recordingtest.New(lines)
		r.Put(recording.Entry{Path: "load-bare.requests", Kind: recording.Load, Phase: "bare"}, loadlogtest.Encode(loadlogtest.Steady(1000, 10*1e9, 1e6)))
		return compare.Compare(gather(t, r))
	}
	shown := func(what string, table *compare.Table, id string, want float64) {
		t.Helper()
		row, ok := table.Row(id)
		if ok != (want > 0) || ok && float64(row.Cells[0].Median) != want {
			t.Errorf("%s: row %s: %v, %+v, want %v", what, id, ok, row.Cells, want)
		}
	}
	much := of(2000, 170e6)
	shown("much", much, "cpu_per_request", 4e6)
	shown("much", much, "other_processes_cpu_per_request", 20e6)
	shown("much", much, "other_processes_rss", 170e6)
	little := of(10, 1e6)
	shown("little", little, "other_processes_cpu_per_request", 0)
	shown("little", little, "other_processes_rss", 0)
	none := of(0, 0)
	shown("none", none, "other_processes_cpu_per_request", 0)
	shown("none", none, "other_processes_rss", 0)
}
