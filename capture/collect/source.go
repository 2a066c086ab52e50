package collect

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"loupe/format/metrics"
	"loupe/recording"
	sources "loupe/source/bounded"
	"loupe/value/secret"
	"loupe/value/timeline"
)

// source is where captures of a running program come from: the agent inside
// it, or its own /debug/pprof.
type source interface {
	// capture writes one capture of the named phase to w. It lasts for d
	// where it lasts at all; when ctx ends before, what was captured so
	// far is still written if the source can do that.
	capture(ctx context.Context, phase string, d time.Duration, w io.Writer) error
	// follow writes samples of the program's metrics, NDJSON, every
	// interval until ctx ends. errNoMetrics says that there are none.
	follow(ctx context.Context, interval time.Duration, now clock, w io.Writer) error
	// metricsKind says in which form follow writes.
	metricsKind() recording.Kind
	// String names the source for the manifest.
	String() string
}

// clock tells the present instant on the recording's axis.
type clock func() timeline.Time

var errNoMetrics = errors.New("no metrics are offered")

// agentSource asks the agent that was built into the program.
type agentSource struct {
	socket string
	// grace is how long an answer may take to come to its end after it was asked to;
	// hangUpGrace when zero.
	grace time.Duration
}

func (a agentSource) String() string { return "agent" }

func (a agentSource) capture(ctx context.Context, phase string, d time.Duration, w io.Writer) error {
	request := phase + " " + strconv.FormatInt(d.Milliseconds(), 10)
	if phaseKinds[phase].snapshot && phase != "stacks" {
		request = "profile " + phase
	}
	return a.ask(ctx, request, w)
}

func (a agentSource) metricsKind() recording.Kind { return recording.Metrics }

// varsGrace is how long the program's variables may be in coming at the end: they are its own
// code, and may wait for a lock that nobody releases any more.
const varsGrace = time.Second

// follow asks for the runtime's metrics, and for the program's variables beside them, where it
// publishes some.
func (a agentSource) follow(ctx context.Context, interval time.Duration, _ clock, w io.Writer) error {
	every := " " + strconv.FormatInt(interval.Milliseconds(), 10)
	var mu sync.Mutex
	lines := func() io.Writer {
		return &lineWriter{take: func(line []byte) {
			mu.Lock()
			defer mu.Unlock()
			w.Write(append(line, '\n')) // w knows of an error
		}}
	}
	vars := inBackground(func(context.Context) error {
		quick := a
		quick.grace = varsGrace
		return quick.ask(ctx, "vars"+every, lines()) // without any it says so
	})
	err := a.ask(ctx, "metrics"+every, lines())
	vars.stop()
	return err
}

// errNoAgent says that the agent's socket is not answered: most often the
// program has ended.
var errNoAgent = errors.New("cannot reach the agent")

// hangUpGrace is how long a capture may take to come to its end after it was
// asked to.
const hangUpGrace = 10 * time.Second

// ask sends one request and copies the answer, see package agent/inject. When
// ctx ends it closes its half of the connection, on which the agent writes
// what it has.
func (a agentSource) ask(ctx context.Context, request string, w io.Writer) error {
	c, err := net.Dial("unix", a.socket)
	if err != nil {
		return fmt.Errorf("%w: %w", errNoAgent, err)
	}
	defer c.Close()
	// Asked first: also a capture that is cancelled at once has its end.
	if _, err := io.WriteString(c, request+"\n"); err != nil {
		return fmt.Errorf("%w: %w", errNoAgent, err)
	}
	stop := context.AfterFunc(ctx, func() {
		c.(*net.UnixConn).CloseWrite()
		c.SetReadDeadline(time.Now().Add(cmp.Or(a.grace, hangUpGrace)))
	})
	defer stop()
	r := bufio.NewReaderSize(c, 64<<10)
	status, err := r.ReadString('\n')
	if err != nil {
		return fmt.Errorf("%w: the program ended before it answered", errNoAgent)
	}
	if text, failed := strings.CutPrefix(status, "error "); failed {
		return errors.New(strings.TrimSpace(text))
	}
	if _, err = io.Copy(w, bounded(r, a.String(), request)); errors.Is(err, syscall.ECONNRESET) {
		return fmt.Errorf("%w: the program ended in the middle of its answer", errNoAgent)
	}
	return err
}

// httpSource asks the program's own /debug/pprof.
type httpSource struct {
	base   *url.URL // ends in /debug/pprof/
	access Access
	client *http.Client
}

func newHTTPSource(base *url.URL, access Access) *httpSource {
	return &httpSource{base: base, access: access, client: access.Client()}
}

// String is the address without what is secret in it.
func (h *httpSource) String() string { return secret.URL(h.base.String()) }

// endpoint returns the address of a phase's capture.
func (h *httpSource) endpoint(phase string, d time.Duration) string {
	seconds := strconv.FormatFloat(max(d.Seconds(), 0.001), 'f', -1, 64)
	u := *h.base
	switch phase {
	case "cpu":
		// net/http/pprof takes whole seconds here and makes 30 of 0.
		u.Path += "profile"
		u.RawQuery = "seconds=" + strconv.Itoa(max(1, int(d.Seconds()+0.5)))
	case "trace":
		u.Path += "trace"
		u.RawQuery = "seconds=" + seconds
	case "block", "mutex":
		// The difference over the phase; what came before is left out.
		u.Path += phase
		u.RawQuery = "seconds=" + strconv.Itoa(max(1, int(d.Seconds()+0.5)))
	case "heap":
		u.Path += "heap"
		u.RawQuery = "gc=1"
	case "stacks":
		u.Path += "goroutine"
		u.RawQuery = "debug=2"
	default:
		u.Path += phase
	}
	return u.String()
}

// maxHTTPWait is how long an answer may be late beyond its capture.
const maxHTTPWait = 60 * time.Second

func (h *httpSource) capture(ctx context.Context, phase string, d time.Duration, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, d+maxHTTPWait)
	defer cancel()
	address := h.endpoint(phase, d)
	body, err := h.get(ctx, address)
	if err != nil {
		return err
	}
	defer body.Close()
	_, err = io.Copy(w, bounded(body, address, phase))
	return err
}

// maxTrace is more than a trace of some seconds has.
const maxTrace = 1 << 30

// bounded ends an answer that does not: what came up to then is kept, with the
// reason. A trace, and samples that come all the time, may be longer than a profile.
func bounded(r io.Reader, from, request string) io.Reader {
	limit := int64(sources.MaxAnswer)
	if name, _, _ := strings.Cut(request, " "); name == "trace" || name == "flight" || name == "metrics" || name == "vars" {
		limit = maxTrace
	}
	return sources.Limit(r, from, limit)
}

func (h *httpSource) get(ctx context.Context, address string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	h.access.Show(req)
	address = secret.URL(address)
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("cannot fetch %s: %w", address, unwrapURL(err))
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		resp.Body.Close()
		return nil, fmt.Errorf("cannot fetch %s: %s: %s", address, resp.Status, strings.TrimSpace(string(text)))
	}
	return resp.Body, nil
}

// unwrapURL drops the method and address that net/http puts before an error.
func unwrapURL(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err
	}
	return err
}

func (h *httpSource) metricsKind() recording.Kind { return recording.Vars }

// metricPage is a page of a program that tells figures, and how they are read as those of
// expvar.
type metricPage struct {
	address string
	parse   func([]byte) ([]byte, error)
}

// metricPages are those that are tried: /debug/vars, which sits beside /debug/pprof when the program
// imports expvar; /metrics as Prometheus's clients serve it; and the memory statistics at the end of
// the text form of the heap profile, more seldom, because that page is costly to make.
func (h *httpSource) metricPages() (vars, prometheus, heap metricPage) {
	at := *h.base
	at.Path = strings.TrimSuffix(h.base.Path, "pprof/") + "vars"
	vars = metricPage{at.String(), varsJSON}
	at.Path = "/metrics"
	prometheus = metricPage{at.String(), prometheusVars}
	at.Path, at.RawQuery = h.base.Path+"allocs", "debug=1"
	return vars, prometheus, metricPage{at.String(), memStats}
}

// readPage gets one of them; last as [httpSource.last] does.
func (h *httpSource) readPage(ctx context.Context, p metricPage) ([]byte, error) {
	text, err := h.last(ctx, p.address)
	if err == nil {
		text, err = p.parse(text)
	}
	return text, err
}

// follow polls the first of the pages that there is. What expvar does not tell, such as the memory of
// the process, is asked of /metrics besides.
func (h *httpSource) follow(ctx context.Context, interval time.Duration, now clock, w io.Writer) error {
	vars, prometheus, heap := h.metricPages()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	page, beside := vars, false
	for first := true; ; first = false {
		asked := time.Now()
		text, err := h.readPage(ctx, page)
		if first {
			told, perr := h.readPage(ctx, prometheus)
			switch {
			case err == nil:
				beside = perr == nil
			case perr == nil:
				page, text, err = prometheus, told, nil
			default:
				page = heap
				if text, err = h.readPage(ctx, page); err != nil {
					return errNoMetrics
				}
			}
		}
		if beside && err == nil {
			if told, perr := h.readPage(ctx, prometheus); perr == nil {
				text = joined(text, told)
			}
		}
		if err == nil {
			if _, err := fmt.Fprintf(w, "{\"t_ns\":%d,\"vars\":%s}\n", now(), text); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return nil
		}
		// One that is late, or fails, is left out: the next may be there again.
		tick.Reset(max(interval, maxPollShare*time.Since(asked)))
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// maxPollShare is the least ratio of the time between two polls to the time
// that one takes, so that looking costs the service at most two per cent.
const maxPollShare = 50

// lastPage is how long a page may take that was asked for before the end came: the
// last sample is worth that much.
const lastPage = 300 * time.Millisecond

// last gets a page, also when ctx ends meanwhile, unless that takes long.
func (h *httpSource) last(ctx context.Context, address string) ([]byte, error) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() {
		timer := time.NewTimer(lastPage)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-longer.Done():
		}
	})()
	return h.page(longer, address)
}

// maxPage is the most that is kept of a page of metrics.
const maxPage = 64 << 20

func (h *httpSource) page(ctx context.Context, address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	body, err := h.get(ctx, address)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return sources.ReadAll(body, address, maxPage)
}

// joined is one JSON object with the keys of two, each of which has some.
func joined(a, b []byte) []byte {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if len(a) < 3 || len(b) < 3 {
		return a
	}
	// Those of the second come first: where a key is in both, the last one counts.
	return slices.Concat(b[:len(b)-1], []byte(","), a[1:])
}

// prometheusVars makes JSON of the text that Prometheus's clients serve: what it tells of
// the memory of Go under the names of [runtime.MemStats], and what else of the process.
func prometheusVars(text []byte) ([]byte, error) {
	told := metrics.ParsePrometheus(text)
	stats := map[string]int64{}
	for name, field := range map[string]string{
		"go_memstats_alloc_bytes": "Alloc", "go_memstats_alloc_bytes_total": "TotalAlloc", "go_memstats_sys_bytes": "Sys",
		"go_memstats_mallocs_total": "Mallocs", "go_memstats_frees_total": "Frees", "go_memstats_heap_alloc_bytes": "HeapAlloc",
		"go_memstats_heap_sys_bytes": "HeapSys", "go_memstats_heap_idle_bytes": "HeapIdle", "go_memstats_heap_inuse_bytes": "HeapInuse",
		"go_memstats_heap_released_bytes": "HeapReleased", "go_memstats_heap_objects": "HeapObjects",
		"go_memstats_stack_inuse_bytes": "StackInuse", "go_memstats_next_gc_bytes": "NextGC", "go_gc_duration_seconds_count": "NumGC",
	} {
		if v, ok := told[name]; ok {
			stats[field] = int64(v)
		}
	}
	process := map[string]float64{}
	for name, v := range told {
		if strings.HasPrefix(name, "process_") || strings.HasPrefix(name, "go_cpu_") || name == "go_goroutines" || name == "go_threads" {
			process[name] = v
		}
	}
	if len(process) == 0 {
		return nil, errNoMetrics
	}
	vars := map[string]any{"prometheus": process}
	if len(stats) > 0 {
		vars["memstats"] = stats
	}
	return json.Marshal(vars)
}

// varsJSON makes one line of the page of expvar, which begins with the arguments of
// the program: what is secret in them is left out.
func varsJSON(text []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return nil, err
	}
	var vars struct {
		Args json.RawMessage `json:"cmdline"`
	}
	var args []string
	if json.Unmarshal(b.Bytes(), &vars) != nil || json.Unmarshal(vars.Args, &args) != nil {
		return b.Bytes(), nil
	}
	shown := secret.Args(args)
	if slices.Equal(shown, args) {
		return b.Bytes(), nil
	}
	line, err := json.Marshal(shown)
	return bytes.Replace(b.Bytes(), vars.Args, line, 1), err
}

// memStats makes JSON of the lines "# NumGC = 42" and "# PauseNs = [1 2]" that a
// heap profile of debug=1 ends with (runtime/pprof, writeHeapInternal).
func memStats(text []byte) ([]byte, error) {
	stats := map[string]any{}
	_, block, found := bytes.Cut(text, []byte("# runtime.MemStats"))
	if !found {
		return nil, errNoMetrics
	}
	for line := range bytes.Lines(block) {
		name, value, ok := strings.Cut(strings.TrimPrefix(string(line), "# "), " = ")
		value = strings.TrimSpace(value)
		if v, err := strconv.ParseFloat(value, 64); ok && err == nil {
			stats[name] = v
		} else if list := "[" + strings.Join(strings.Fields(strings.Trim(value, "[]")), ",") + "]"; strings.HasPrefix(value, "[") && json.Valid([]byte(list)) {
			stats[name] = json.RawMessage(list)
		}
	}
	return json.Marshal(map[string]any{"memstats": stats})
}

// probe tells whether /debug/pprof/ answers under the base.
func (h *httpSource) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	body, err := h.get(ctx, h.base.String())
	if err != nil {
		return err
	}
	defer body.Close()
	page, err := io.ReadAll(io.LimitReader(body, 64<<10))
	if err != nil {
		return err
	}
	if !strings.Contains(string(page), "goroutine") {
		return fmt.Errorf("what answers at %s is not net/http/pprof", h)
	}
	return nil
}

// PprofURL makes the address of a /debug/pprof/ of what users type: ":6060",
// "6060", "host:6060", a URL of the service, or of any page under its pprof.
func PprofURL(s string) (*url.URL, error) {
	if _, err := strconv.ParseUint(s, 10, 16); err == nil {
		s = ":" + s
	}
	if strings.HasPrefix(s, ":") {
		s = "localhost" + s
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("cannot read address %q: %w", s, err)
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("cannot read address %q: want http://host:port, host:port or :port", s)
	}
	u.RawQuery, u.Fragment = "", ""
	if i := strings.Index(u.Path, "/pprof"); i >= 0 {
		u.Path = u.Path[:i] + "/pprof/"
	} else {
		// A page of the service was given, such as the load's URL.
		u.Path = "/debug/pprof/"
	}
	return u, nil
}
