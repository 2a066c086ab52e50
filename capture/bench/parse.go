package bench

import (
	"regexp"
	"strconv"
	"strings"
)

// printed is a result as a test binary has printed it.
type printed struct {
	name       string // with the number of Ps
	iterations int64
	values     []Value
}

// figures are the end of a line with a result: the number of operations, and what was
// measured. What the benchmark itself prints may stand before it.
var figures = regexp.MustCompile(`(?:^|[^0-9.])(\d+)((?:\t *[^\t ]+ [^\t ]+)+)\s*$`)

// parse reads the results out of the output of a test binary, and what it says about the
// CPU. The name of a benchmark is printed before it runs, so that there may be lines
// of its own before its figures.
func parse(output string) (results []printed, cpu string) {
	name := ""
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "cpu: ") && cpu == "" {
			cpu = line
		}
		if strings.HasPrefix(line, "Benchmark") {
			name, _, _ = strings.Cut(line, "\t")
			name = strings.TrimRight(name, " ")
			if strings.ContainsAny(name, " ") {
				name = "" // a line of somebody's own
			}
		}
		m := figures.FindStringSubmatch(line)
		if m == nil || name == "" {
			continue
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		values := valuesOf(m[2])
		if err != nil || len(values) == 0 || n == 0 {
			continue // of no operation: the benchmark is panicking just then
		}
		results = append(results, printed{name, n, values})
		name = ""
	}
	return results, cpu
}

// valuesOf reads "\t  12.3 ns/op\t 4 B/op".
func valuesOf(text string) (values []Value) {
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "\t"), "\t") {
		number, unit, _ := strings.Cut(strings.TrimSpace(part), " ")
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return nil
		}
		values = append(values, Value{unit, x})
	}
	return values
}

// perOperation replaces what the counters have added by figures of an operation:
// cpu-ns/op behind ns/op, and gc-cycles/op at the end. It returns GOMAXPROCS too, 0
// where the counters are not there.
func (p *printed) perOperation() (procs int, wall float64) {
	var kept []Value
	cpu, gcs := -1.0, -1.0
	for _, v := range p.values {
		switch v.Unit {
		case wallTotal:
			wall = v.Number
		case cpuTotal:
			cpu = v.Number
		case gcTotal:
			gcs = v.Number
		case procsUsed:
			procs = int(v.Number)
		default:
			kept = append(kept, v)
		}
	}
	n := float64(p.iterations)
	p.values = nil
	if cpu >= 0 && (len(kept) == 0 || kept[0].Unit != "ns/op") {
		p.values = append(p.values, Value{CPU, cpu / n})
	}
	for i, v := range kept {
		p.values = append(p.values, v)
		if i == 0 && v.Unit == "ns/op" && cpu >= 0 {
			p.values = append(p.values, Value{CPU, cpu / n})
		}
	}
	if gcs >= 0 {
		p.values = append(p.values, Value{Collections, gcs / n})
	}
	return procs, wall
}

// Units of CPU time: what the counters in package testing have measured between the start and
// the stop of the timer; and, where they are not, that of the whole process by the
// operations of its result, which has the start of the program and the setting up in it.
const (
	CPU        = "cpu-ns/op"
	ProcessCPU = "process-cpu-ns/op"
	// Collections is how many cycles of the garbage collector ended in an operation.
	Collections = "gc-cycles/op"
)
