package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// Series of metrics: a library keeps one for each set of label values that it was ever asked for.

// seriesKeepers are begins of the names of functions that make such a series.
var seriesKeepers = []string{
	"github.com/prometheus/client_golang/prometheus.(*MetricVec).",
	"github.com/prometheus/client_golang/prometheus.(*metricMap).",
	"github.com/VictoriaMetrics/metrics.(*Set).GetOrCreate",
	"github.com/VictoriaMetrics/metrics.GetOrCreate",
	"go.opentelemetry.io/otel/sdk/metric/internal/aggregate.",
	"github.com/hashicorp/go-metrics.(*InmemSink).",
	"github.com/armon/go-metrics.(*InmemSink).",
	"github.com/rcrowley/go-metrics.(*StandardRegistry).",
	"github.com/uber-go/tally",
	"expvar.(*Map).",
}

// bySeries: what a line allocates are series of metrics. The frames are those of the stack, the
// leaf first, with those of the library.
func (c sourceHolders) bySeries(at stack.Frame, frames []stack.Frame) (h holding, ok bool) {
	maker := ""
	for _, f := range frames {
		if f == at {
			break
		}
		if slices.ContainsFunc(seriesKeepers, func(name string) bool { return strings.HasPrefix(f.Func, name) }) {
			maker = f.Func
		}
	}
	if maker == "" {
		return h, false
	}
	labels := "the label values or the name"
	if values := c.labelsAt(at); len(values) > 0 {
		labels = strings.Join(values, ", ")
	}
	h.says = fmt.Sprintf("they are series of metrics, of which %s keeps one for each new set of label values", stack.Short(maker))
	if deleted, found := deletesSeries(c, at); found {
		h.lets, h.shows = deleted, []Evidence{deleted}
		h.advice = fmt.Sprintf("Each new set of values among %s makes a series, which is kept and sent at each scrape until it is deleted, as the source does at %s:%d: check whether that happens for each one that is over. Labels of which there are few values (the pattern of a route instead of the path) need fewer series.", labels, baseName(deleted.File), deleted.Line)
		return h, true
	}
	h.advice = fmt.Sprintf("Each new set of values among %s makes a series that is kept for good, and sent at each scrape: use labels of which there are few values (the pattern of a route instead of the path, the kind of an error instead of its text), or delete the series of what is over.", labels)
	return h, true
}

// deletesSeries finds where the source deletes series of the metric that a line uses.
func deletesSeries(c sourceHolders, at stack.Frame) (Evidence, bool) {
	metric := ""
	for _, call := range c.lineCalls(at) {
		if sel, ok := call.Fun.(*ast.SelectorExpr); ok && metric == "" && makesSeries(sel.Sel.Name) {
			metric = lastName(types.ExprString(sel.X))
		}
	}
	all := c.callsIn("what deletes series", func(_ *ast.File, call *ast.CallExpr) bool {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		return ok && metric != "" && lastName(types.ExprString(sel.X)) == metric && (strings.HasPrefix(sel.Sel.Name, "Delete") || sel.Sel.Name == "Reset")
	})
	if len(all) == 0 {
		return Evidence{}, false
	}
	all[0].Text = "series of it are deleted here"
	return all[0], true
}

// makesSeries tells of a method of a metric, by its name, that it asks for the series of label values.
func makesSeries(name string) bool {
	return slices.ContainsFunc([]string{"With", "GetMetricWith", "GetOrCreate", "CurryWith"}, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// labelsAt are the values that a line gives for labels.
func (c sourceHolders) labelsAt(at stack.Frame) (values []string) {
	c.parse(at.File).onLine(at.Line, func(n ast.Node, _ []ast.Node) {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(values) > 0 {
			return
		}
		if makesSeries(calledName(call)) {
			for _, a := range call.Args {
				values = append(values, types.ExprString(a))
			}
		}
	})
	return values
}
