package compare

import (
	"testing"
	"time"

	"loupe/format/loadlog"
)

// TestServiceCPU: what a request costs the service decides where it is known of all runs,
// and is no row where it is not.
func TestServiceCPU(t *testing.T) {
	side := func(perRequest time.Duration) (s LoadSide) {
		for i := range 5 {
			n := 1000 + i
			s.Runs = append(s.Runs, &loadlog.Summary{Requests: n, Responses: n, RPS: 500, Seconds: 2, ServiceCPU: time.Duration(n) * perRequest * time.Duration(1000+i) / 1000})
		}
		return s
	}
	table := Loads([]LoadSide{side(100 * time.Microsecond), side(103 * time.Microsecond)}, true)
	if row := rowOf(t, table, "service_cpu_per_request"); row.Changes[0].Verdict != Regressed || !table.Regressed() {
		t.Errorf("3 %% more CPU time for each request: %+v", row)
	}
	if _, ok := Loads([]LoadSide{side(0), side(0)}, true).Row("service_cpu_per_request"); ok {
		t.Error("there is a row of a CPU time that is not known")
	}
}
