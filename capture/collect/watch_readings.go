package collect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"loupe/capture/alert"
	"loupe/format/metrics"
	"loupe/recording"
	"loupe/value/timeline"
)

// readings are what was seen of a program last: what the system told of it at each
// reading, and the lines of its own metrics as they came.
type readings struct {
	interval time.Duration // between two
	history  time.Duration // for how long they are kept
	limit    int64         // see [WatchOptions]
	cpus     float64       // that the program may use
	began    time.Time

	samples []osAt
	sums    map[string]*growth

	mu    sync.Mutex // what follows comes from another goroutine
	lines []stamped
	last  map[string]float64
}

// stamped is a line with when it came.
type stamped struct {
	at   time.Time
	line []byte
}

type osAt struct {
	at time.Time
	metrics.OSSample
}

// take keeps a line of the program's metrics.
func (r *readings) take(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.lines = append(r.lines, stamped{now, line})
	first := 0
	for first < len(r.lines) && now.Sub(r.lines[first].at) > r.history {
		first++
	}
	r.lines = append(r.lines[:0], r.lines[first:]...)
	if known := figures(line); len(known) > 0 { // a line of the program's own variables has none
		r.last = known
	}
}

// runtimeNames are the metrics that rules know, by the names that the runtime
// and expvar have for them; those that end in a star are sums that count by how
// fast they rise.
var runtimeNames = map[string]string{
	"/memory/classes/heap/objects:bytes": "heap", "/gc/heap/live:bytes": "live", "/gc/heap/goal:bytes": "goal",
	"/sched/goroutines:goroutines": "goroutines", "/gc/cycles/total:gc-cycles": "gcs*", "/cpu/classes/gc/total:cpu-seconds": "gccpu*",
	"HeapAlloc": "heap", "NextGC": "goal", "NumGC": "gcs*",
	// What Prometheus's clients tell of the process.
	"process_resident_memory_bytes": "rss", "process_open_fds": "files", "go_threads": "threads", "go_goroutines": "goroutines",
	"process_cpu_seconds_total": "cpu*", "go_cpu_classes_gc_total_cpu_seconds_total": "gccpu*",
}

// figures picks out of a line of metrics what rules know.
func figures(line []byte) map[string]float64 {
	var all map[string]json.RawMessage
	if json.Unmarshal(line, &all) != nil {
		return nil
	}
	if vars, ok := all["vars"]; ok {
		var inner struct {
			Memstats   map[string]json.RawMessage `json:"memstats"`
			Prometheus map[string]json.RawMessage `json:"prometheus"`
		}
		if json.Unmarshal(vars, &inner) != nil {
			return nil
		}
		all = map[string]json.RawMessage{}
		maps.Copy(all, inner.Prometheus)
		maps.Copy(all, inner.Memstats)
	}
	out := map[string]float64{}
	for name, known := range runtimeNames {
		if v, err := strconv.ParseFloat(string(all[name]), 64); err == nil {
			out[known] = v
		}
	}
	return out
}

// staleAfter is for how long figures of the program count when no others come.
// They come more seldom than once an interval where they are costly to make.
const staleAfter = time.Minute

// read takes a reading of a process, 0 for one that is not known.
func (r *readings) read(pid int) alert.Reading {
	s := osAt{time.Now(), sampleOS(pid)}
	r.samples = append(r.samples, s)
	first := 0
	for s.at.Sub(r.samples[first].at) > r.history {
		first++
	}
	r.samples = append(r.samples[:0], r.samples[first:]...)
	now := alert.Reading{At: timeline.Time(s.at.Sub(r.began)), Values: map[string]float64{}, Wholes: map[string]float64{}}
	put := func(name string, v int64) {
		if v > 0 {
			now.Values[name] = float64(v)
		}
	}
	put("rss", s.RSS)
	put("cgroup", s.Cgroup)
	put("machine", s.MemoryUsed)
	put("threads", int64(s.Threads))
	put("files", int64(s.FDs))
	sums := map[string]*growth{}
	grow := func(name string, sum float64, at time.Time) {
		g := r.sums[name]
		if g == nil {
			g = &growth{}
		}
		sums[name] = g
		if rate, ok := g.add(sum, at); ok {
			now.Values[name] = rate
		}
	}
	if pid > 0 {
		grow("cpu", (s.User + s.System).Seconds(), s.at)
	}
	r.mu.Lock()
	if n := len(r.lines); n > 0 && s.at.Sub(r.lines[n-1].at) > max(staleAfter, 10*r.interval) {
		r.last = nil
	}
	for name, v := range r.last {
		if sum, ok := strings.CutSuffix(name, "*"); ok && (pid == 0 || sum != "cpu") {
			grow(sum, v, r.lines[len(r.lines)-1].at)
		} else if _, told := now.Values[name]; !told { // what the system tells is of this instant
			now.Values[name] = v
		}
	}
	r.mu.Unlock()
	if cpu, ok := now.Values["cpu"]; ok && pid > 0 { // ticks are not exact
		now.Values["cpu"] = min(cpu, float64(runtime.NumCPU()))
	}
	r.wholes(&now, &s.OSSample)
	r.sums = sums
	return now
}

// leastGrowth is the least time over which a rate is taken. The system counts CPU
// time in ticks of 10 ms, and readings follow closely where one of them was late.
const leastGrowth = 50 * time.Millisecond

// growth is how fast a sum grows, by when it was told: figures of the program may
// come more seldom than readings are taken, and a rate over the time of the readings
// would be nothing for a while and then too much.
type growth struct {
	sum   float64
	at    time.Time
	rate  float64
	known bool
}

// add takes a sum and returns by how much it grows a second, if that is known.
func (g *growth) add(sum float64, at time.Time) (rate float64, known bool) {
	length := at.Sub(g.at)
	switch {
	case g.at.IsZero() || sum < g.sum:
		*g = growth{sum: sum, at: at}
	case length >= leastGrowth:
		*g = growth{sum: sum, at: at, rate: (sum - g.sum) / length.Seconds(), known: true}
	}
	return g.rate, g.known
}

// wholes says what percentages are of.
func (r *readings) wholes(now *alert.Reading, s *metrics.OSSample) {
	limit := r.limit
	if limit == 0 {
		limit = s.Memory
		if s.CgroupLimit > 0 && s.CgroupLimit < limit {
			limit = s.CgroupLimit
		}
	}
	for _, name := range []string{"rss", "cgroup", "heap", "live", "goal"} {
		now.Wholes[name] = float64(limit)
	}
	now.Wholes["machine"] = float64(s.Memory)
	now.Wholes["cpu"], now.Wholes["gccpu"] = r.cpus, r.cpus
}

// keep writes the readings that are in memory into a recording of the process, with the
// lines of a source, nil for none.
func (r *readings) keep(to *Recorder, pid int, src source) error {
	if err := to.startSampler(); err != nil {
		return err
	}
	to.sampler.watch(pid)
	for _, s := range r.samples {
		s.At = to.w.At(s.at)
		line, err := json.Marshal(s.OSSample)
		if err != nil {
			return err
		}
		to.sampler.write(line)
	}
	r.mu.Lock()
	lines := r.lines
	r.mu.Unlock()
	if len(lines) == 0 || src == nil {
		return nil
	}
	var all bytes.Buffer
	for _, l := range lines {
		if src.metricsKind() == recording.Vars {
			l.line = restamped(l.line, int64(to.w.At(l.at)))
		}
		all.Write(append(l.line, '\n'))
	}
	return to.w.Put(recording.Entry{Path: "metrics.ndjson", Kind: src.metricsKind(), Source: src.String()}, all.Bytes())
}

var stamp = regexp.MustCompile(`^\{"t_ns":\d+`)

// restamped puts a line of samples to another time.
func restamped(line []byte, at int64) []byte {
	return stamp.ReplaceAll(line, fmt.Appendf(nil, `{"t_ns":%d`, at))
}
