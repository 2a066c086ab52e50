package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestSeries: series of metrics are kept by the library, whatever the program's code stores.
func TestSeries(t *testing.T) {
	const source = "package main\n\nfunc f(r *http.Request) {\n\tduration.WithLabelValues(r.URL.Path, r.Method).Observe(1)\n}\n"
	at := lineWith(source, "duration.")
	c := sourceHolders{codeOf(source)}
	vec := stack.Frame{Func: "github.com/prometheus/client_golang/prometheus.(*MetricVec).GetMetricWithLabelValues"}
	h, ok := c.holder(at, []stack.Frame{{Func: "github.com/prometheus/client_golang/prometheus.newHistogram"}, vec, at})
	if !ok || !strings.Contains(h.advice, "Each new set of values among r.URL.Path, r.Method makes a series") || !strings.Contains(h.says, "prometheus.(*MetricVec).GetMetricWithLabelValues keeps one") {
		t.Errorf("%v: %s; %s", ok, h.says, h.advice)
	}
	for _, more := range []string{"func g(r *http.Request) {\n\tduration.DeleteLabelValues(r.URL.Path)\n}\n", "func g() {\n\tm.duration.Reset()\n}\n"} {
		c := sourceHolders{codeOf(source + more)}
		h, ok := c.holder(at, []stack.Frame{vec, at})
		if !ok || strings.Contains(h.advice, "for good") || !strings.Contains(h.advice, "until it is deleted, as the source does at ") || h.lets.Line != 7 {
			t.Errorf("deleted: %v: %s; %+v", ok, h.advice, h.lets)
		}
	}
	if h, ok := (sourceHolders{codeOf(source + "func g() {\n\tother.Reset()\n}\n")}).holder(at, []stack.Frame{vec, at}); !ok || !strings.Contains(h.advice, "for good") {
		t.Errorf("another metric is reset: %v: %s", ok, h.advice)
	}
	if h, ok := c.bySeries(at, []stack.Frame{{Func: "github.com/prometheus/client_golang/prometheus.(*histogram).Observe"}, at, vec}); ok {
		t.Errorf("an observation makes a series: %s", h.advice)
	}
}
