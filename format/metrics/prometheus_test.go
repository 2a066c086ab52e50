package metrics

import (
	"maps"
	"testing"
)

// TestParsePrometheus: figures without labels, whatever stands between them.
func TestParsePrometheus(t *testing.T) {
	got := ParsePrometheus([]byte("# HELP go_goroutines Number of goroutines.\n# TYPE go_goroutines gauge\ngo_goroutines 42\n" +
		"go_info{version=\"go1.26\"} 1\nprocess_resident_memory_bytes 1.5e+07\r\nprocess_cpu_seconds_total 12.5 1700000000000\n" +
		"go_gc_duration_seconds{quantile=\"0.5\"} 1e-05\ngo_gc_duration_seconds_count 7\nodd NaN\nendless +Inf\nword only words\nfour 1 2 3\n\n# EOF"))
	want := map[string]float64{"go_goroutines": 42, "process_resident_memory_bytes": 1.5e7, "process_cpu_seconds_total": 12.5, "go_gc_duration_seconds_count": 7}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
