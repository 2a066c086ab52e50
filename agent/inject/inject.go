// Package inject is the agent's code as it runs inside a recorded program,
// see package agent. Every name at the top level begins with "loupe", because
// the file becomes part of somebody else's package; the imports are renamed
// for the same reason. The code keeps to Go 1.16 and its language.
package inject

import (
	loupe_bufio "bufio"
	loupe_fmt "fmt"
	loupe_io "io"
	loupe_net "net"
	loupe_os "os"
	loupe_runtime "runtime"
	loupe_metrics "runtime/metrics"
	loupe_pprof "runtime/pprof"
	loupe_trace "runtime/trace"
	loupe_strconv "strconv"
	loupe_strings "strings"
	loupe_sync "sync"
	loupe_time "time"
)

// loupeAtExit registers a function to run at the end of the program. It is
// replaced where the runtime's exit hooks can be reached; this one says that
// they cannot.
var loupeAtExit = func(f func()) bool { return false }

var loupeStartOnce loupe_sync.Once

func init() { loupeAgentStart() }

// loupeAgentStart begins the capture over the whole life of the program, if
// one is asked for, and listens for requests. It may be called by the init
// function of each file of the agent, whichever the compiler puts first: with
// a hook that is not known yet, the last call counts.
func loupeAgentStart() {
	if whole := loupe_os.Getenv("LOUPE_AGENT_WHOLE"); whole != "" {
		kind, path, _ := loupeCut(whole, ":")
		if loupeWhole(kind, path) {
			loupe_os.Unsetenv("LOUPE_AGENT_WHOLE")
		}
	}
	path := loupe_os.Getenv("LOUPE_AGENT")
	if path == "" {
		return
	}
	loupeStartOnce.Do(func() {
		loupe_os.Unsetenv("LOUPE_AGENT")
		l, err := loupe_net.Listen("unix", path)
		if err != nil {
			return
		}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go loupeServe(c)
			}
		}()
	})
}

// loupeWhole starts the capture of one kind until the end of the program.
// It reports false when the program's end cannot be seen (yet).
func loupeWhole(kind, path string) bool {
	var f *loupe_os.File
	stop := func() {}
	if !loupeAtExit(func() {
		stop()
		if f != nil {
			f.Close()
		}
	}) {
		return false
	}
	f, err := loupe_os.OpenFile(path, loupe_os.O_CREATE|loupe_os.O_WRONLY|loupe_os.O_TRUNC, 0600)
	if err != nil {
		f = nil
		return true
	}
	switch kind {
	case "cpu":
		if loupe_pprof.StartCPUProfile(f) == nil {
			stop = loupe_pprof.StopCPUProfile
		}
	case "trace":
		if loupe_trace.Start(f) == nil {
			stop = loupe_trace.Stop
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
	return true
}

// loupeSetRate switches the block or mutex profiler on and returns how to
// switch it off. One event in about 10 µs of blocking, or one contention in
// ten, keeps the cost to the program small.
func loupeSetRate(kind string) (restore func()) {
	switch kind {
	case "block":
		loupe_runtime.SetBlockProfileRate(10000)
		return func() { loupe_runtime.SetBlockProfileRate(0) }
	case "mutex":
		old := loupe_runtime.SetMutexProfileFraction(10)
		return func() { loupe_runtime.SetMutexProfileFraction(old) }
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
}

// loupeFlightBytes bounds what the flight recorder holds.
const loupeFlightBytes = 16 << 20

// loupeRecordFlight keeps the flight recorder on until the asker hangs up.
func loupeRecordFlight(w loupe_io.Writer, age loupe_time.Duration, hangup chan struct{}) error {
	if loupeNewFlight == nil {
		return loupe_fmt.Errorf("the program's Go has no flight recorder, which came with Go 1.25")
	}
	loupeFlight.Lock()
	if loupeFlight.write != nil {
		loupeFlight.Unlock()
		return loupe_fmt.Errorf("the flight recorder is on already")
	}
	write, stop, err := loupeNewFlight(age, loupeFlightBytes)
	loupeFlight.write = write
	loupeFlight.Unlock()
	if err != nil {
		return err
	}
	_, err = w.Write([]byte("on\n"))
	if err == nil {
		<-hangup
	}
	loupeFlight.Lock()
	loupeFlight.write = nil
	loupeFlight.Unlock()
	stop()
	return err
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
//	info                        what the runtime says of itself
//
// The answer is the line "ok" and the data up to the end of the stream, or a
// line that begins with "error". The asker ends a capture early by closing its
// half of the connection.
func loupeServe(c loupe_net.Conn) {
	defer c.Close()
	r := loupe_bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil {
		return
	}
	words := loupe_strings.Fields(line)
	if len(words) == 0 {
		return
	}
	hangup := make(chan struct{})
	go func() {
		r.ReadByte() // nothing more is sent: this waits for the end
		close(hangup)
	}()
	arg := ""
	if len(words) > 1 {
		arg = words[1]
	}
	if err := loupeCapture(c, words[0], arg, hangup); err != nil {
		loupe_fmt.Fprintf(c, "error %v\n", err)
	}
}

func loupeCapture(c loupe_io.Writer, what, arg string, hangup chan struct{}) error {
	ms, _ := loupe_strconv.Atoi(arg)
	wait := func() {
		t := loupe_time.NewTimer(loupe_time.Duration(ms) * loupe_time.Millisecond)
		select {
		case <-t.C:
		case <-hangup:
			t.Stop()
		}
	}
	// The "ok" goes out with the first byte of data, because an error must
	// still be possible until then.
	w := &loupeAnswer{w: c}
	switch what {
	case "cpu":
		if err := loupe_pprof.StartCPUProfile(w); err != nil {
			return err
		}
		wait()
		loupe_pprof.StopCPUProfile()
	case "trace":
		if err := loupe_trace.Start(w); err != nil {
			return err
		}
		wait()
		loupe_trace.Stop()
	case "block", "mutex":
		restore := loupeSetRate(what)
		wait()
		restore()
		return loupe_pprof.Lookup(what).WriteTo(w, 0)
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
		return loupeRecordFlight(w, loupe_time.Duration(ms)*loupe_time.Millisecond, hangup)
	case "flown":
		loupeFlight.Lock()
		defer loupeFlight.Unlock()
		if loupeFlight.write == nil {
			return loupe_fmt.Errorf("the flight recorder is not on")
		}
		return loupeFlight.write(w)
	case "metrics":
		return loupeSampleMetrics(w, ms, hangup)
	case "info":
		_, err := loupe_fmt.Fprintf(w, "%s %d %d\n", loupe_runtime.Version(), loupe_os.Getpid(), loupe_runtime.GOMAXPROCS(0))
		return err
	default:
		return loupe_fmt.Errorf("unknown request %q", what)
	}
	return nil
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
func loupeSampleMetrics(w loupe_io.Writer, ms int, hangup chan struct{}) error {
	if ms < 10 {
		ms = 10
	}
	var samples []loupe_metrics.Sample
	for _, d := range loupe_metrics.All() {
		if !loupe_strings.HasPrefix(d.Name, "/godebug/") {
			samples = append(samples, loupe_metrics.Sample{Name: d.Name})
		}
	}
	tick := loupe_time.NewTicker(loupe_time.Duration(ms) * loupe_time.Millisecond)
	defer tick.Stop()
	var line []byte
	for {
		loupe_metrics.Read(samples)
		line = append(line[:0], `{"t_ns":`...)
		line = loupe_strconv.AppendInt(line, loupe_time.Now().UnixNano(), 10)
		for _, s := range samples {
			line = loupeAppendSample(line, s)
		}
		line = append(line, "}\n"...)
		if _, err := w.Write(line); err != nil {
			return nil // the asker is gone
		}
		select {
		case <-tick.C:
		case <-hangup:
			return nil
		}
	}
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
