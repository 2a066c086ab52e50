// Package inject is the agent's code as it runs inside a recorded program,
// see package agent. Every name at the top level begins with "loupe", because
// the file becomes part of somebody else's package; the imports are renamed
// for the same reason. The code keeps to Go 1.17 and its language.
package inject

import (
	loupe_fmt "fmt"
	loupe_io "io"
	loupe_os "os"
	loupe_runtime "runtime"
	loupe_metrics "runtime/metrics"
	loupe_pprof "runtime/pprof"
	loupe_trace "runtime/trace"
	loupe_strconv "strconv"
	loupe_strings "strings"
	loupe_sync "sync"
	loupe_atomic "sync/atomic"
	loupe_time "time"
	_ "unsafe" // for linkname
)

// loupeAtExit registers a function to run at the end of the program. It is
// replaced where the runtime's exit hooks can be reached; this one says that
// they cannot.
var loupeAtExit = func(f func()) bool { return false }

// loupeSetting takes a variable that is meant for the agent out of the
// environment, so that children do not see it.
var loupeSetting = func(name string) string {
	value := loupe_os.Getenv(name)
	loupe_os.Unsetenv(name)
	return value
}

// loupeSettings are the variables that were taken.
var loupeSettings = map[string]string{}

// loupeGODEBUG gives the program back the GODEBUG that it would have without
// loupe; the runtime has read the other when it began.
func loupeGODEBUG() {
	switch value := loupeSettings["LOUPE_AGENT_GODEBUG"]; {
	case value == "":
	case value[0] == '=':
		loupe_os.Setenv("GODEBUG", value[1:])
	default:
		loupe_os.Unsetenv("GODEBUG")
	}
}

// init begins the capture over the whole life of the program, if one is asked
// for, and listens for requests.
func init() {
	for _, name := range []string{"LOUPE_AGENT", "LOUPE_AGENT_WHOLE", "LOUPE_AGENT_OWN", "LOUPE_AGENT_GODEBUG"} {
		loupeSettings[name] = loupeSetting(name)
	}
	loupeGODEBUG()
	path := loupeSettings["LOUPE_AGENT"]
	if path == "" {
		return
	}
	if whole := loupeSettings["LOUPE_AGENT_WHOLE"]; whole != "" {
		kind, file, _ := loupeCut(whole, ":")
		loupeWhole(kind, file)
	}
	loupeKeepEnd()
	accept, err := loupeListen(path)
	if err != nil {
		return
	}
	loupeGo(func() {
		for {
			c, err := accept()
			if err != nil {
				return
			}
			loupeGo(func() { loupeServe(c) })
		}
	})
	loupeGo(loupeWatchForDeadlock)
}

// loupeJobs holds what the goroutines of loupeRun are to do.
var loupeJobs = make(chan func(), 64)

// loupeRun counts as a goroutine of the runtime by its name: it is in no dump,
// no profile and no number of goroutines of the program, and no test for leaks
// finds it. It has no parameter because a go statement with arguments starts a
// function of another name.
//
//go:linkname loupeRun runtime.loupeRun
func loupeRun() {
	loupeLeaveSignals()
	(<-loupeJobs)()
}

func loupeGo(f func()) {
	loupeJobs <- f
	go loupeRun()
}

// loupeConn is the connection of one asker. Nothing that the agent does while
// it waits may be seen by the program's scheduler as a timer or a wait for the
// network: the runtime would not notice any more that the program has come to a
// deadlock.
type loupeConn interface {
	loupe_io.ReadWriteCloser
	// wait returns true when the asker has hung up, and false after d, at once where d
	// is negative: a moment that was still to come when d was computed may be over.
	wait(d loupe_time.Duration) (hungUp bool)
}

// loupeForever is what wait takes for no end.
const loupeForever loupe_time.Duration = 1<<63 - 1

// loupeCPU and loupeTrace begin and end the agent's own captures. Where the
// standard library could be told of the agent, the program's own captures go
// before them.
var (
	loupeCPU   = loupeCapturer{loupe_pprof.StartCPUProfile, loupe_pprof.StopCPUProfile}
	loupeTrace = loupeCapturer{loupe_trace.Start, loupe_trace.Stop}
)

type loupeCapturer struct {
	start func(loupe_io.Writer) error
	stop  func()
}

// loupeTraces counts the traces of the agent that are on: 0 or 1.
var loupeTraces int32

func loupeTracing() bool { return loupe_atomic.LoadInt32(&loupeTraces) > 0 }

// loupeStartTrace begins a trace and returns how to end it.
func loupeStartTrace(w loupe_io.Writer) (stop func(), err error) {
	if err := loupeTrace.start(w); err != nil {
		return nil, err
	}
	loupe_atomic.StoreInt32(&loupeTraces, 1)
	return func() {
		loupe_atomic.StoreInt32(&loupeTraces, 0)
		loupeTrace.stop()
	}, nil
}

// loupeDropEarly ends the sampling of the CPU that began before the agent, where nothing
// takes it over.
var loupeDropEarly = func() {}

// loupeLastWords ends the capture over the whole life of the program.
var loupeLastWords = func() {}

// loupeWhole starts the capture of one kind until the end of the program, unless
// that cannot be seen.
func loupeWhole(kind, path string) {
	var f *loupe_os.File
	stop := func() {}
	loupeLastWords = func() {
		stop()
		if f != nil {
			f.Close()
		}
	}
	defer loupeDropEarly()
	if !loupeAtExit(loupeLastWords) {
		return
	}
	f, err := loupe_os.OpenFile(path, loupe_os.O_CREATE|loupe_os.O_WRONLY|loupe_os.O_TRUNC, 0600)
	if err != nil {
		f = nil
		return
	}
	switch kind {
	case "cpu":
		if loupeCPU.start(f) == nil {
			stop = loupeCPU.stop
		}
	case "trace":
		if end, err := loupeStartTrace(f); err == nil {
			stop = end
		}
	default:
		restore := loupeSetRate(kind)
		stop = func() {
			if kind == "heap" || kind == "allocs" {
				loupe_runtime.GC() // or the last cycle's allocations are missing
			}
			if kind == "stacks" {
				loupe_pprof.Lookup("goroutine").WriteTo(f, 2)
			} else if p := loupe_pprof.Lookup(kind); p != nil {
				p.WriteTo(f, 0)
			}
			restore()
		}
	}
}

// loupeBlockRate is where the runtime has the rate of the block profile; nil
// where it cannot be reached.
var loupeBlockRate *uint64

// loupeSetRate switches the block or mutex profiler on and returns how to
// switch it off. One event in about 10 µs of blocking, or one contention in
// ten, keeps the cost to the program small. A rate that the program has set
// itself stays, and so does one that it sets later.
func loupeSetRate(kind string) (restore func()) {
	switch kind {
	case "block":
		if loupeBlockRate != nil && loupe_atomic.LoadUint64(loupeBlockRate) != 0 {
			break
		}
		loupe_runtime.SetBlockProfileRate(10000)
		if loupeBlockRate == nil {
			return func() { loupe_runtime.SetBlockProfileRate(0) }
		}
		ours := loupe_atomic.LoadUint64(loupeBlockRate)
		return func() { loupe_atomic.CompareAndSwapUint64(loupeBlockRate, ours, 0) }
	case "mutex":
		const ours = 10
		if loupe_runtime.SetMutexProfileFraction(-1) != 0 {
			break
		}
		loupe_runtime.SetMutexProfileFraction(ours)
		return func() {
			if loupe_runtime.SetMutexProfileFraction(-1) == ours {
				loupe_runtime.SetMutexProfileFraction(0)
			}
		}
	}
	return func() {}
}

// loupeNewFlight switches the flight recorder on, which keeps the last part of
// an execution trace in memory. It is nil before Go 1.25.
var loupeNewFlight func(age loupe_time.Duration, size uint64) (write func(loupe_io.Writer) error, stop func(), err error)

// loupeFlight is the flight recorder that is on; there is one for the program.
var loupeFlight struct {
	loupe_sync.Mutex
	write func(loupe_io.Writer) error
	stop  func()
}

// loupeFlightBytes bounds what the flight recorder holds.
const loupeFlightBytes = 16 << 20

// loupeRecordFlight keeps the flight recorder on until the asker hangs up.
func loupeRecordFlight(w loupe_io.Writer, age loupe_time.Duration, c loupeConn) error {
	if loupeNewFlight == nil {
		return loupe_fmt.Errorf("the program's Go has no flight recorder, which came with Go 1.25")
	}
	loupeFlight.Lock()
	if loupeFlight.write != nil {
		loupeFlight.Unlock()
		return loupe_fmt.Errorf("the flight recorder is on already")
	}
	write, stop, err := loupeNewFlight(age, loupeFlightBytes)
	loupeFlight.write, loupeFlight.stop = write, stop
	loupeFlight.Unlock()
	if err != nil {
		return err
	}
	_, err = w.Write([]byte("on\n"))
	if err == nil {
		c.wait(loupeForever)
	}
	loupeEndFlight()
	return err
}

// loupeEndFlight switches the agent's flight recorder off; it reports false when
// it was not on.
func loupeEndFlight() bool {
	loupeFlight.Lock()
	defer loupeFlight.Unlock()
	if loupeFlight.write == nil {
		return false
	}
	loupeFlight.stop()
	loupeFlight.write, loupeFlight.stop = nil, nil
	return true
}

// loupeServe answers one request, a line of words:
//
//	cpu MILLISECONDS            a CPU profile
//	trace MILLISECONDS          an execution trace
//	block|mutex MILLISECONDS    switched on for so long, then written
//	profile NAME                any other profile as it stands
//	stacks                      the stacks of all goroutines, as text
//	flight MILLISECONDS         keeps so much of a trace in memory until the end of the stream
//	flown                       the trace that is kept
//	metrics MILLISECONDS        runtime/metrics at that interval, NDJSON
//	vars MILLISECONDS           the program's variables of expvar at that interval, NDJSON
//	boundary                    runtime/metrics once, marked as the begin or the end of a phase's work
//	peaks                       a heap profile at each new peak of the live heap, until the asker hangs up
//	info                        what the runtime says of itself
//
// The answer is the line "ok" and the data up to the end of the stream, or a
// line that begins with "error". The asker ends a capture early by closing its
// half of the connection.
func loupeServe(c loupeConn) {
	defer c.Close()
	var line []byte
	for b := make([]byte, 256); ; {
		n, err := c.Read(b)
		line = append(line, b[:n]...)
		if n > 0 && b[n-1] == '\n' {
			break // nothing follows: the asker waits for the answer
		}
		if err != nil || len(line) > 4096 {
			return
		}
	}
	words := loupe_strings.Fields(string(line))
	if len(words) == 0 {
		return
	}
	arg := ""
	if len(words) > 1 {
		arg = words[1]
	}
	if err := loupeCapture(c, words[0], arg); err != nil {
		loupe_fmt.Fprintf(c, "error %v\n", err)
	}
}

func loupeCapture(c loupeConn, what, arg string) error {
	ms, _ := loupe_strconv.Atoi(arg)
	length := loupe_time.Duration(ms) * loupe_time.Millisecond
	// The "ok" goes out with the first byte of data, because an error must
	// still be possible until then.
	w := &loupeAnswer{w: c}
	switch what {
	case "cpu":
		if err := loupeCPU.start(w); err != nil {
			return err
		}
		loupeUntil(c, length, loupeCPU.stop)
	case "trace":
		stop, err := loupeStartTrace(w)
		if err != nil {
			return err
		}
		loupeUntil(c, length, stop)
	case "block", "mutex":
		restore := loupeSetRate(what)
		var err error
		loupeUntil(c, length, func() {
			restore()
			err = loupe_pprof.Lookup(what).WriteTo(w, 0)
		})
		return err
	case "profile":
		p := loupe_pprof.Lookup(arg)
		if p == nil {
			return loupe_fmt.Errorf("the program's Go has no profile %q", arg)
		}
		if arg == "heap" {
			loupe_runtime.GC() // so that what is in use is what is reachable
		}
		return p.WriteTo(w, 0)
	case "stacks":
		return loupe_pprof.Lookup("goroutine").WriteTo(w, 2)
	case "flight":
		return loupeRecordFlight(w, length, c)
	case "flown":
		loupeFlight.Lock()
		defer loupeFlight.Unlock()
		if loupeFlight.write == nil {
			return loupe_fmt.Errorf("the flight recorder is not on")
		}
		return loupeFlight.write(w)
	case "metrics":
		return loupeSampleMetrics(w, length, c)
	case "vars":
		return loupeSampleVars(w, length, c)
	case "boundary":
		return loupeReading.write(w, ",\"/loupe/boundary:samples\":1}\n")
	case "peaks":
		return loupePeaks(w, c)
	case "info":
		_, err := loupe_fmt.Fprintf(w, "%s %d %d\n", loupe_runtime.Version(), loupe_os.Getpid(), loupe_runtime.GOMAXPROCS(0))
		return err
	default:
		return loupe_fmt.Errorf("unknown request %q", what)
	}
	return nil
}

// loupeCaptures are those that go on for a length of time, with how to end each.
var loupeCaptures struct {
	loupe_sync.Mutex
	hooked bool
	ends   map[*loupe_sync.Once]func()
}

// loupeUntil waits for the length of a capture, or until the asker hangs up, and ends it:
// once, here or at the end of the program, which waits for it. Without that the end of a
// trace would be missing.
func loupeUntil(c loupeConn, length loupe_time.Duration, stop func()) {
	once := new(loupe_sync.Once)
	end := func() { once.Do(stop) }
	loupeCaptures.Lock()
	if loupeCaptures.ends == nil {
		loupeCaptures.ends = map[*loupe_sync.Once]func(){}
	}
	loupeCaptures.ends[once] = end
	if !loupeCaptures.hooked {
		loupeCaptures.hooked = true
		loupeAtExit(loupeEndCaptures)
	}
	loupeCaptures.Unlock()
	c.wait(length)
	end()
	loupeCaptures.Lock()
	delete(loupeCaptures.ends, once)
	loupeCaptures.Unlock()
}

// loupeEndCaptures ends what is captured while the program ends.
func loupeEndCaptures() {
	loupeCaptures.Lock()
	var ends []func()
	for _, end := range loupeCaptures.ends {
		ends = append(ends, end)
	}
	loupeCaptures.Unlock()
	for _, end := range ends {
		end()
	}
}

// loupeAnswer puts the line "ok" before the first byte.
type loupeAnswer struct {
	w  loupe_io.Writer
	ok bool
}

// Write sends p.
func (a *loupeAnswer) Write(p []byte) (int, error) {
	if !a.ok {
		a.ok = true
		if _, err := loupe_io.WriteString(a.w, "ok\n"); err != nil {
			return 0, err
		}
	}
	return a.w.Write(p)
}

// loupeSampleMetrics writes one JSON object a line: "t_ns", the wall clock in
// ns, and every metric of a plain number. Histograms are written as count,
// p50, p99 and max of the whole process so far, under the metric's name.
func loupeSampleMetrics(w loupe_io.Writer, every loupe_time.Duration, c loupeConn) error {
	if every < 10*loupe_time.Millisecond {
		every = 10 * loupe_time.Millisecond
	}
	for next := loupe_time.Now(); ; {
		if loupeReading.write(w, "}\n") != nil {
			return nil // the asker is gone
		}
		if next = next.Add(every); loupe_time.Until(next) < 0 {
			next = loupe_time.Now().Add(every) // late: samples are left out, not made up for
		}
		if c.wait(loupe_time.Until(next)) {
			return nil
		}
	}
}

// loupeVars appends the program's variables of expvar to a line, as an object without its end. It
// is nil where the program does not import expvar.
var loupeVars func(line []byte) []byte

// loupeSampleVars writes them until the asker hangs up, and once more then: the last
// values are those that count most. They have a connection of their own, because what they call
// is the program's code, which may wait for long.
func loupeSampleVars(w loupe_io.Writer, every loupe_time.Duration, c loupeConn) error {
	if loupeVars == nil {
		return loupe_fmt.Errorf("the program has no variables: it does not import expvar")
	}
	if every < 10*loupe_time.Millisecond {
		every = 10 * loupe_time.Millisecond
	}
	var line []byte
	for hungUp := false; ; {
		began := loupe_time.Now()
		line = append(loupeVars(line[:0]), "}\n"...)
		if _, err := w.Write(line); err != nil || hungUp {
			return nil
		}
		// Those that are slow are read more seldom: at most a fiftieth of the time.
		pause := every
		if slow := 50 * loupe_time.Since(began); pause < slow {
			pause = slow
		}
		hungUp = c.wait(pause)
	}
}

// loupeReading is what the metrics are read into, again and again: what a sample allocates
// would be counted as the program's.
var loupeReading loupeReader

type loupeReader struct {
	loupe_sync.Mutex
	samples []loupe_metrics.Sample
	line    []byte
}

// write writes a sample, and what it ends with.
func (r *loupeReader) write(w loupe_io.Writer, end string) error {
	r.Lock()
	defer r.Unlock()
	if r.samples == nil {
		r.samples = loupeMetrics()
	}
	r.line = append(loupeAppendMetrics(r.line[:0], r.samples), end...)
	_, err := w.Write(r.line)
	return err
}

// loupeMetrics are the metrics of runtime/metrics that are sampled.
func loupeMetrics() (samples []loupe_metrics.Sample) {
	for _, d := range loupe_metrics.All() {
		if !loupe_strings.HasPrefix(d.Name, "/godebug/") {
			samples = append(samples, loupe_metrics.Sample{Name: d.Name})
		}
	}
	return samples
}

// loupeAppendMetrics reads the metrics and appends them as an object without its end.
func loupeAppendMetrics(line []byte, samples []loupe_metrics.Sample) []byte {
	loupe_metrics.Read(samples)
	line = append(line, `{"t_ns":`...)
	line = loupe_strconv.AppendInt(line, loupe_time.Now().UnixNano(), 10)
	for _, s := range samples {
		line = loupeAppendSample(line, s)
	}
	return line
}

// loupeKeepEnd writes a last sample into the private folder at the end of the program, where that
// can be seen: what it counts is all that the program did. It has "/loupe/end:samples" too.
func loupeKeepEnd() {
	dir := loupeSettings["LOUPE_AGENT_OWN"]
	if dir == "" {
		return
	}
	loupeAtExit(func() {
		line := append(loupeAppendMetrics(nil, loupeMetrics()), `,"/loupe/end:samples":1`...)
		if kb := loupePeakRSS(); kb > 0 {
			line = loupe_strconv.AppendUint(append(line, `,"/loupe/peak-rss:bytes":`...), kb<<10, 10)
		}
		line = append(line, "}\n"...)
		loupe_os.WriteFile(dir+"/end.metrics", line, 0600)
	})
}

// loupePeakRSS is the largest resident set of the program in KiB, where Linux tells it; 0 elsewhere.
// What the kernel tells the parent begins with the parent's own.
func loupePeakRSS() uint64 {
	status, _ := loupe_os.ReadFile("/proc/self/status")
	_, rest, _ := loupe_strings.Cut(string(status), "\nVmHWM:")
	words := loupe_strings.Fields(rest)
	if len(words) < 2 || words[1] != "kB" {
		return 0
	}
	kb, _ := loupe_strconv.ParseUint(words[0], 10, 40)
	return kb
}

func loupeAppendSample(line []byte, s loupe_metrics.Sample) []byte {
	name := func(suffix string) {
		line = append(line, ',', '"')
		line = append(line, s.Name...)
		line = append(line, suffix...)
		line = append(line, '"', ':')
	}
	switch s.Value.Kind() {
	case loupe_metrics.KindUint64:
		name("")
		line = loupe_strconv.AppendUint(line, s.Value.Uint64(), 10)
	case loupe_metrics.KindFloat64:
		name("")
		line = loupe_strconv.AppendFloat(line, s.Value.Float64(), 'g', -1, 64)
	case loupe_metrics.KindFloat64Histogram:
		h := s.Value.Float64Histogram()
		var total uint64
		for _, n := range h.Counts {
			total += n
		}
		name("#count")
		line = loupe_strconv.AppendUint(line, total, 10)
		if total == 0 {
			break
		}
		for _, q := range [...]struct {
			suffix string
			share  float64
		}{{"#p50", 0.5}, {"#p99", 0.99}, {"#max", 1}} {
			name(q.suffix)
			line = loupe_strconv.AppendFloat(line, loupeQuantile(h, total, q.share), 'g', -1, 64)
		}
	}
	return line
}

// loupeQuantile returns the upper bound of the bucket that holds the given
// share of a histogram; for an open last bucket its lower bound.
func loupeQuantile(h *loupe_metrics.Float64Histogram, total uint64, share float64) float64 {
	want := uint64(share * float64(total))
	if want < 1 {
		want = 1
	}
	var sum uint64
	for i, n := range h.Counts {
		if sum += n; sum >= want {
			if up := h.Buckets[i+1]; up < 1e300 {
				return up
			}
			return h.Buckets[i]
		}
	}
	return 0
}

// loupeCut is strings.Cut, which Go 1.16 does not have.
func loupeCut(s, sep string) (before, after string, found bool) {
	if i := loupe_strings.Index(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
