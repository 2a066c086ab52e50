package metrics

import (
	"bytes"
	"math"
	"strconv"
)

// ParsePrometheus reads the figures without labels out of the text that Prometheus's clients
// serve (its exposition format, and OpenMetrics, which differ in what is left out here). Lines of
// another form are left out, and so are values that are no numbers.
func ParsePrometheus(text []byte) map[string]float64 {
	all := map[string]float64{}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line) // a name, a value, and perhaps a time
		if len(fields) < 2 || len(fields) > 3 || fields[0][0] == '#' || bytes.ContainsAny(fields[0], "{}") {
			continue
		}
		if v, err := strconv.ParseFloat(string(fields[1]), 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			all[string(fields[0])] = v
		}
	}
	return all
}
