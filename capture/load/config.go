package load

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"loupe/capture/load/plan"
	"loupe/capture/load/target"
	"loupe/format/loadlog"
)

// Config says what to send.
type Config struct {
	URL    string
	Method string // GET when empty
	Header http.Header
	Host   string // of the request and of TLS; that of the URL when empty
	Body   []byte
	// Targets are what to send instead of Method, URL and Body, in turns by
	// their weights. Header and Host count for all of them; a target's own
	// header fields replace those of Header.
	Targets []target.Target
	// Sources are the files that templates in Targets read.
	Sources *target.Sources

	// Seed is what random values are drawn from; Series, if set, what runs before have sent to
	// the same process.
	Seed   uint64
	Series *Series
	// List tells that Targets are to be sent in their order: each run begins with the first of them, and what is kept
	// does behind a warm-up, as somebody logs in before he asks. Others go on in turn.
	List bool

	// Requests is how many to send in all; 0 means until Duration is over,
	// or with neither until the context ends.
	Requests int
	Duration time.Duration
	// Warmup is for how long to send before that, with nothing kept;
	// [AutoWarmup] finds out.
	Warmup time.Duration
	// Concurrency is the number of connections; 50 when zero.
	Concurrency int
	// Think is how long a connection of a closed loop waits between an
	// answer and its next request.
	Think time.Duration

	// Plan makes it an open loop: requests have their times. Rate is the
	// same number every second, shorthand for such a plan.
	Plan plan.Plan
	Rate float64
	// MaxConns is how many connections an open loop may have when all are
	// busy; ten times Concurrency when zero. A request that is due beyond
	// that waits, and the wait counts.
	MaxConns int

	// Timeout bounds one request with its dialling and its body; 0 is
	// none.
	Timeout time.Duration

	// Retry is how often a request is sent again whose connection was dropped
	// before a byte of the answer came. The service may have done its work each
	// time: without it nothing is sent twice.
	Retry int

	// Engine is who sends: "epoll", "net" or "http2"; the fastest that can
	// when empty. Loops is how many threads of epoll do, 1 on up to two CPUs
	// and half of them beyond when zero.
	Engine string
	Loops  int

	Proxy *url.URL
	// Unix is a socket to dial instead of the URL's host, ConnectTo other
	// places to dial: host:port to host:port.
	Unix      string
	ConnectTo map[string]string
	// TLS holds certificates; VerifyTLS has the last word on verifying.
	TLS                      *tls.Config
	VerifyTLS                bool // hey never does
	HTTP2                    bool // without TLS by prior knowledge
	GRPC                     bool // Body is one message of a unary call
	NoCompression            bool // do not ask for gzip
	NoKeepAlive              bool // a new connection for every request
	NoRedirects              bool // a redirect is an answer
	BasicUser, BasicPassword string
	// Tool goes into User-Agent behind what Header has there.
	Tool string
	// Remote allows heavy load on hosts that are neither this machine nor
	// in a private network; without it such a run is a [RemoteError].
	Remote bool

	// Live is called four times a second while requests are sent, by a
	// goroutine of its own.
	Live func(Snapshot)
	// Boundary is called right before the first request that is kept, after the
	// warm-up, and again when the last has its answer: what is counted between the two
	// is of those requests.
	Boundary func()
	// Spill opens a file for requests that take more than 256 MB; nil keeps
	// all in memory.
	Spill func() (loadlog.SpillFile, error)
}

// AutoWarmup is a Warmup that ends when two seconds in a row are alike: when
// their median service times differ by less than 5 %, or after ten seconds.
const AutoWarmup time.Duration = -1

// The engines.
const (
	engineEpoll = "epoll"
	engineNet   = "net"
	engineHTTP2 = "http2"
)

// spillAbove is how many bytes of requests are kept in memory: some 25 million
// requests.
const spillAbove = 256 << 20

// defaultConcurrency is hey's.
const defaultConcurrency = 50

// check fills in defaults and says what cannot work.
func (c *Config) check() error {
	switch {
	case c.Requests < 0 || c.Concurrency < 0 || c.Rate < 0 || c.MaxConns < 0 || c.Loops < 0 || c.Retry < 0:
		return errors.New("counts and rates cannot be negative")
	case c.Duration < 0 || c.Think < 0 || c.Timeout < 0 || c.Warmup < 0 && c.Warmup != AutoWarmup:
		return errors.New("times cannot be negative")
	case math.IsNaN(c.Rate) || c.Rate > 1e9:
		return fmt.Errorf("cannot send %v requests a second", c.Rate)
	}
	if c.Concurrency == 0 {
		c.Concurrency = defaultConcurrency
	}
	if c.Requests > 0 {
		c.Concurrency = min(c.Concurrency, c.Requests)
	}
	if c.Plan == nil && c.Rate > 0 {
		var err error
		if c.Plan, err = plan.Constant(c.Rate, plan.Options{}); err != nil {
			return err
		}
	}
	if c.Plan == nil {
		c.MaxConns = c.Concurrency
	} else {
		c.Rate, c.Think = c.Plan.Peak(), 0
		c.MaxConns = max(cmp.Or(c.MaxConns, 10*c.Concurrency), c.Concurrency)
	}
	if c.Requests > 0 {
		c.MaxConns = min(c.MaxConns, c.Requests)
	}
	if c.Loops == 0 {
		// A second thread on two CPUs takes from the service what it
		// gives to the load (research on load, section 5: 13.1 CPU
		// seconds a million requests in the server against 11.2).
		c.Loops = max(1, runtime.GOMAXPROCS(0)/2)
	}
	c.Loops = min(c.Loops, c.Concurrency)
	if c.Proxy != nil && c.Proxy.Scheme != "http" {
		return fmt.Errorf("cannot use a proxy with scheme %q: want http://host:port", c.Proxy.Scheme)
	}
	c.Method = cmp.Or(c.Method, http.MethodGet)
	if c.GRPC {
		c.HTTP2, c.Method = true, http.MethodPost
	}
	if len(c.Targets) > math.MaxUint16 {
		return fmt.Errorf("cannot send %d targets: there is room for %d", len(c.Targets), math.MaxUint16)
	}
	return nil
}

// choose decides on the engine, once it is known where the requests go.
func (c *Config) choose(origins []*origin) error {
	plain := true
	for _, o := range origins {
		plain = plain && o.scheme == "http"
	}
	why := ""
	switch {
	case c.HTTP2:
		why = "for HTTP/2"
	case !plain:
		why = "for TLS"
	case c.NoKeepAlive:
		why = "without keep-alive"
	case !haveEpoll:
		why = "on " + runtime.GOOS
	}
	switch c.Engine {
	case "":
		c.Engine = engineEpoll
		if c.HTTP2 {
			c.Engine = engineHTTP2
		} else if why != "" {
			c.Engine = engineNet
		}
	case engineEpoll:
		if why != "" {
			return fmt.Errorf("cannot use the engine %q %s: leave the choice open, or use %q", c.Engine, why, engineNet)
		}
	case engineNet:
		if c.HTTP2 {
			return fmt.Errorf("cannot use the engine %q for HTTP/2", c.Engine)
		}
	case engineHTTP2:
		c.HTTP2 = true
	default:
		return fmt.Errorf("unknown engine %q: there are %s", c.Engine, strings.Join([]string{engineEpoll, engineNet, engineHTTP2}, ", "))
	}
	return nil
}

// model says in words how requests are timed.
func (c *Config) model() string {
	if c.Plan != nil {
		return "open loop, " + c.Plan.String()
	}
	text := fmt.Sprintf("closed loop, %d connections", c.Concurrency)
	if c.Think > 0 {
		text += fmt.Sprintf(", %v between requests", c.Think)
	}
	return text
}
