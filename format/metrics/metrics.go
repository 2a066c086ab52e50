// Package metrics reads the sampled numbers of a recording: samples of the
// machine and the process, of runtime/metrics, and of /debug/vars.
//
// All three are NDJSON, one object a line with its time, so that a file that
// was cut off is good up to its last whole line. The package decodes; where
// the samples come from is collect's business.
package metrics

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"loupe/value/timeline"
	"loupe/value/unit"
)

// OSSample is what the operating system told at one instant. Times are
// cumulative; a value that the system does not offer is zero.
type OSSample struct {
	At timeline.Time `json:"t_ns"`

	// The recorded process.
	PID    int           `json:"pid,omitempty"`
	User   time.Duration `json:"user_ns,omitempty"`
	System time.Duration `json:"system_ns,omitempty"`
	RSS    int64         `json:"rss,omitempty"`     // bytes
	MaxRSS int64         `json:"max_rss,omitempty"` // bytes
	// Anon is the part of RSS that is no page of a file, in bytes.
	Anon int64 `json:"rss_anon,omitempty"`
	// Waited is for how long the threads that live now could have run and had no CPU.
	Waited time.Duration `json:"waited_ns,omitempty"`
	// Children is the CPU time of those children that the process has waited for, and of theirs.
	Children time.Duration `json:"children_ns,omitempty"`
	// Family is the CPU time until now of the other processes of the run, as far as they were seen: of what has
	// come from the program, living or ended, which includes Children, and of the process that was started where
	// another is recorded. It begins anew with each run. FamilyRSS is the resident memory of those that live, added up, in bytes.
	Family    time.Duration `json:"family_ns,omitempty"`
	FamilyRSS int64         `json:"family_rss,omitempty"`
	// Threads and FDs are counts.
	Threads int `json:"threads,omitempty"`
	FDs     int `json:"fds,omitempty"`

	// ReadCalls and WriteCalls are how many system calls the process has made until now to read and to write, files, pipes and
	// connections alike, and ReadBytes and WriteBytes how many bytes they have moved (/proc/PID/io: syscr, rchar, syscw, wchar).
	ReadCalls  int64 `json:"read_calls,omitempty"`
	ReadBytes  int64 `json:"read_bytes,omitempty"`
	WriteCalls int64 `json:"write_calls,omitempty"`
	WriteBytes int64 `json:"write_bytes,omitempty"`

	// Looks is how often it was looked, since the sample before, which regular files were open, and Files those that were opened or
	// read from an earlier place meanwhile, without the standard streams; of many those that were opened most often. OtherFiles counts
	// the openings of the rest.
	Looks      int        `json:"looks,omitempty"`
	Files      []FileSeen `json:"files,omitempty"`
	OtherFiles int        `json:"other_files,omitempty"`

	// Self is the CPU time of loupe itself, load generator included.
	Self time.Duration `json:"self_ns"`

	// The whole machine: CPU time by /proc/stat, summed over all CPUs.
	Busy  time.Duration `json:"busy_ns"`
	Idle  time.Duration `json:"idle_ns"`
	Steal time.Duration `json:"steal_ns"`
	// Load is the one-minute load average.
	Load float64 `json:"load"`
	// Throttled is for how long the cgroup was kept from running.
	Throttled time.Duration `json:"throttled_ns,omitempty"`
	// Periods counts those of the cgroup's CPU quota in which it had something to run,
	// ThrottledPeriods those in which it used the quota up and was stopped.
	Periods          int64 `json:"periods,omitempty"`
	ThrottledPeriods int64 `json:"throttled_periods,omitempty"`

	// Memory of the machine, and what of it is in use, in bytes.
	Memory     int64 `json:"memory,omitempty"`
	MemoryUsed int64 `json:"memory_used,omitempty"`
	// Cgroup is what the process's cgroup is charged with, CgroupLimit the
	// tightest limit that holds for it, 0 for none, and OOMKills how often the
	// kernel has killed a process in it for want of memory.
	Cgroup      int64 `json:"cgroup,omitempty"`
	CgroupLimit int64 `json:"cgroup_limit,omitempty"`
	OOMKills    int64 `json:"oom_kills,omitempty"`
}

// maxOSSamples bounds how many samples are kept: of three days, one a second.
const maxOSSamples = 250_000

// ParseOS reads OS samples. Lines that do not parse are counted, not fatal:
// the rest of the file is still good. So are lines beyond a bound that no recording
// reaches: a short line takes hundreds of bytes of memory.
func ParseOS(data []byte) (samples []OSSample, bad int) {
	eachLine(data, func(line []byte) {
		var s OSSample
		if len(samples) == maxOSSamples || json.Unmarshal(line, &s) != nil {
			bad++
			return
		}
		samples = append(samples, s)
	})
	return samples, bad
}

// FileSeen is a file that a process had open, as looks at some interval have seen it.
type FileSeen struct {
	Path string `json:"path"`
	// Seen counts the descriptors that were open to it, look by look; Opened those that were not at the look before: at least
	// as many times was it opened. Rewound counts those that were read from an earlier place than at the look before.
	Seen    int `json:"seen"`
	Opened  int `json:"opened,omitempty"`
	Rewound int `json:"rewound,omitempty"`
	// Writes tells that it was open for writing, Changed that its time of modification had changed between two times that
	// it was opened.
	Writes  bool `json:"writes,omitempty"`
	Changed bool `json:"changed,omitempty"`
}

// maxSeries bounds how many differently named numbers one file may have.
const maxSeries = 4096

// Set is a table of series by name.
type Set struct {
	series map[string]*timeline.Series
	// Bad counts lines that did not parse and numbers beyond the bound.
	Bad int
}

// ParseRuntime reads samples of runtime/metrics: objects with "t_ns", the
// wall clock in ns, and numbers by metric name. epoch is the date of the
// recording's zero. Histograms come as NAME#count, #p50, #p99 and #max. Between them
// are samples of the variables that the program publishes, as [ParseVars] reads them.
func ParseRuntime(data []byte, epoch time.Time) *Set {
	set := &Set{series: map[string]*timeline.Series{}}
	eachLine(data, func(line []byte) {
		if _, rest, _ := bytes.Cut(line, []byte(",")); bytes.HasPrefix(rest, []byte(`"vars":{`)) {
			set.vars(line, func(t timeline.Time) timeline.Time { return t - timeline.Time(epoch.UnixNano()) })
			return
		}
		var sample map[string]float64
		if json.Unmarshal(line, &sample) != nil {
			set.Bad++
			return
		}
		// A float64 holds a date in ns only to 256 ns, which is fine for
		// samples a second apart.
		at := timeline.Time(int64(sample["t_ns"]) - epoch.UnixNano())
		delete(sample, "t_ns")
		for name, v := range sample {
			set.add(name, at, v)
		}
	})
	for _, s := range set.series {
		if !slices.IsSorted(s.Times) {
			inOrder(s)
		}
	}
	return set
}

// inOrder sorts the values of a series by their times: of two samples that were taken at nearly
// the same time the later may have been written first.
func inOrder(s *timeline.Series) {
	order := make([]int, len(s.Times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(s.Times[i], s.Times[j]) })
	was := *s
	s.Times, s.Values = make([]timeline.Time, 0, len(order)), make([]float64, 0, len(order))
	for _, i := range order {
		s.Append(was.Times[i], was.Values[i])
	}
}

// VarsSample is one answer of /debug/vars with the instant of its capture.
type VarsSample struct {
	At   timeline.Time   `json:"t_ns"`
	Vars json.RawMessage `json:"vars"`
}

// ParseVars reads samples of /debug/vars. Every number in them becomes a
// series; nested objects join their keys with a dot ("memstats.HeapAlloc").
// Arrays are left out: memstats has rings of 256 that are of no use here.
func ParseVars(data []byte) *Set {
	set := &Set{series: map[string]*timeline.Series{}}
	eachLine(data, func(line []byte) {
		set.vars(line, func(t timeline.Time) timeline.Time { return t })
	})
	return set
}

// vars adds a sample of variables; at makes an instant on the axis of its own.
func (s *Set) vars(line []byte, at func(timeline.Time) timeline.Time) {
	var sample VarsSample
	var vars map[string]any
	if json.Unmarshal(line, &sample) != nil || json.Unmarshal(sample.Vars, &vars) != nil {
		s.Bad++
		return
	}
	s.addNested("", at(sample.At), vars, 0)
}

func (s *Set) addNested(prefix string, at timeline.Time, vars map[string]any, depth int) {
	for name, v := range vars {
		switch v := v.(type) {
		case float64:
			s.add(prefix+name, at, v)
		case map[string]any:
			if depth < 4 {
				s.addNested(prefix+name+".", at, v, depth+1)
			}
		}
	}
}

func (s *Set) add(name string, at timeline.Time, v float64) {
	series, ok := s.series[name]
	if !ok {
		if len(s.series) >= maxSeries {
			s.Bad++
			return
		}
		series = &timeline.Series{Name: name}
		s.series[name] = series
	}
	series.Append(at, v)
}

// Names returns the names of all series in order.
func (s *Set) Names() []string {
	names := make([]string, 0, len(s.series))
	for name := range s.series {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Series returns the series of a name; an empty one when there is none.
func (s *Set) Series(name string) timeline.Series {
	if series, ok := s.series[name]; ok {
		return *series
	}
	return timeline.Series{Name: name}
}

// Delta returns how much a cumulative series grew within span: its last value
// there minus its first. It is NaN with fewer than two values.
func (s *Set) Delta(name string, span timeline.Span) float64 {
	v := s.Series(name).In(span).Values
	if len(v) < 2 {
		return math.NaN()
	}
	return v[len(v)-1] - v[0]
}

// eachLine visits the lines of data; a last line without a newline was cut
// off and is left out unless it is whole JSON.
func eachLine(data []byte, visit func(line []byte)) {
	for len(data) > 0 {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		data = rest
		line = bytes.TrimSpace(line)
		if len(line) == 0 || !whole && !json.Valid(line) {
			continue
		}
		visit(line)
	}
}

// MemInfo reads one line of the form "MemTotal:  24 kB", as /proc/meminfo and
// /proc/PID/status have them, and returns bytes. It is an error when the name
// is absent.
func MemInfo(text, name string) (int64, error) {
	sc := bufio.NewScanner(strings.NewReader(text))
	for sc.Scan() {
		rest, ok := strings.CutPrefix(sc.Text(), name+":")
		if !ok {
			continue
		}
		b, err := unit.ParseBytes(rest)
		if err != nil {
			return 0, fmt.Errorf("cannot read %s: %w", name, err)
		}
		return int64(b), nil
	}
	return 0, fmt.Errorf("cannot find %s", name)
}
