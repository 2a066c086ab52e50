// Package loadflags has the flags that say what is sent, to whom, when and by whom: those of
// hey, and ours. Commands that only ask a service have a part of them.
package loadflags

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"time"

	"loupe/capture/load"
	"loupe/capture/load/target"
	"loupe/internal/cli/command"
	"loupe/source/bounded"
	"loupe/value/unit"
)

// HeyRequests is how many requests hey sends when it is not told.
const HeyRequests = 200

// Flags are hey's flags with hey's meanings, and those of what hey cannot
// do; where hey misbehaves they do what its help says (docs/guide/load.md lists
// the differences). It has more methods than most because each part of a request has
// flags of its own, and the load and who asks are made of all of them.
type Flags struct {
	N, C                  int
	retry                 int
	Q                     float64
	Z, Timeout            string
	Method                string
	headers               []string
	accept, ContentType   string
	userAgent             string
	body, bodyFile        string
	auth, proxy, host     string
	h2                    bool
	cpus                  int
	noCompression, noKeep bool
	noRedirects           bool

	Pace pacing
	what sending
	link linking

	// given tells which flags were set; nil when they are no flags.
	given func(name string) bool
	// Stdin is what the file name - stands for; nil where there is none.
	// input is what it held, for a load that is made more than once.
	Stdin io.Reader
	input []byte
	// Length bounds a load that neither -n nor -z bounds; 0 wants one of
	// them.
	Length time.Duration
}

// Declare declares the flags; n is the default of -n, 0 for none.
func (f *Flags) Declare(fs *command.FlagSet, n int) {
	f.given = fs.Given
	of := ""
	if n == 0 {
		of = " of -load"
	}
	fs.Group("As in hey"+of, func() { f.declareHey(fs, n) })
	fs.Group("Request schedule"+of, func() { f.Pace.declare(fs) })
	fs.Group("Requests"+of, func() { f.what.declare(fs) })
	fs.Group("Connections"+of, func() {
		f.link.declare(fs)
		fs.IntVar(&f.retry, "retry", 0, "retry a request up to this `number` of times if its connection was dropped\nwithout an answer; the service may do its work each time")
	})
}

func (f *Flags) declareHey(fs *command.FlagSet, n int) {
	requests := "total `number` of requests"
	if n == 0 {
		requests += "; without it and -z, as many as fit into -for"
	}
	fs.IntVar(&f.N, "n", n, requests)
	fs.IntVar(&f.C, "c", 50, "`number` of workers, each with a connection")
	fs.Float64Var(&f.Q, "q", 0, "`rate` limit of each worker, in requests a second; a request's wait to be sent\ncounts")
	fs.StringVar(&f.Z, "z", "", "`length` of the load, instead of -n: 10s, 3m")
	fs.StringVar(&f.Timeout, "t", "20s", "`time` limit for a request, including dialling and body; 0 is no limit")
	fs.StringVar(&f.Method, "m", "GET", "HTTP `method`")
	f.declareWho(fs)
	fs.StringVar(&f.accept, "A", "", "Accept `header`")
	fs.StringVar(&f.ContentType, "T", "text/html", "Content-Type `header`")
	fs.StringVar(&f.body, "d", "", "`body` of the request")
	fs.StringVar(&f.bodyFile, "D", "", "`file` with the body of the request")
	fs.BoolVar(&f.h2, "h2", false, "use HTTP/2; without TLS with prior knowledge")
	fs.IntVar(&f.cpus, "cpus", 0, "`number` of CPUs to use; 0 is automatic")
	fs.BoolVar(&f.noCompression, "disable-compression", false, "do not request gzip")
	fs.BoolVar(&f.noKeep, "disable-keepalive", false, "use a new connection for every request")
	fs.BoolVar(&f.noRedirects, "disable-redirects", false, "do not follow redirects")
}

// declareWho declares those of hey's flags that say who asks.
func (f *Flags) declareWho(fs *command.FlagSet) {
	fs.Func("H", "`header` such as 'Accept: text/html' (repeatable)", func(s string) error {
		f.headers = append(f.headers, s)
		return nil
	})
	fs.StringVar(&f.userAgent, "U", "", "User-Agent `header`")
	fs.StringVar(&f.auth, "a", "", "basic authentication, `user:password`")
	fs.StringVar(&f.proxy, "x", "", "HTTP proxy, `host:port`")
	fs.StringVar(&f.host, "host", "", "`Host` header and TLS server name")
}

// IsGiven tells whether a flag was set.
func (f *Flags) IsGiven(name string) bool { return f.given != nil && f.given(name) }

var headerForm = regexp.MustCompile(`^([\w-]+):\s*(.*)$`)

// Config makes the load of the flags. The addresses are URLs, each with its
// weight before it if it has one.
func (f *Flags) Config(addresses ...string) (load.Config, error) {
	c := load.Config{
		Method: strings.ToUpper(f.Method), Header: http.Header{}, Host: f.host,
		Concurrency: f.C, HTTP2: f.h2, Loops: f.cpus,
		NoCompression: f.noCompression, NoKeepAlive: f.noKeep, NoRedirects: f.noRedirects,
		Tool: "loupe/" + command.Version(),
	}
	var err error
	if c.Timeout, err = unit.ParseDuration(f.Timeout); err != nil {
		return c, fmt.Errorf("-t: %w", err)
	}
	if f.C < 1 || f.N < 0 || f.N == 0 && f.Length == 0 {
		return c, errors.New("-n and -c want at least 1")
	}
	if f.Q < 0 || f.cpus < 0 || f.retry < 0 {
		return c, errors.New("-q, -cpus and -retry cannot be negative")
	}
	c.Retry = f.retry
	c.Requests = f.N
	if f.Z != "" {
		if c.Duration, err = unit.ParseDuration(f.Z); err != nil {
			return c, fmt.Errorf("-z: %w", err)
		}
		c.Requests = 0
	} else if f.N == 0 {
		c.Duration = f.Length
	}
	if f.cpus > 0 {
		runtime.GOMAXPROCS(f.cpus)
	}
	if c.Proxy, err = proxyOf(f.proxy); err != nil {
		return c, fmt.Errorf("-x: %w", err)
	}
	if f.auth != "" {
		if c.BasicUser, c.BasicPassword, err = f.basic(); err != nil {
			return c, err
		}
	}
	list, err := f.targets(&c, addresses)
	if err != nil {
		return c, err
	}
	if err := f.setPace(&c, list); err != nil {
		return c, err
	}
	return c, f.setLink(&c)
}

// basic is what -a says.
func (f *Flags) basic() (user, password string, err error) {
	user, password, ok := strings.Cut(f.auth, ":")
	if !ok {
		return "", "", errors.New("-a: the colon is missing: want user:password")
	}
	return user, password, nil
}

// proxyOf reads the address of a proxy.
func proxyOf(s string) (*url.URL, error) {
	if s == "" {
		return nil, nil
	}
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err == nil && (u.Scheme != "http" || u.Hostname() == "") {
		err = fmt.Errorf("cannot use proxy %q: want http://host:port", s)
	}
	return u, err
}

// read reads a file that a flag names, - being standard input.
func (f *Flags) read(name string) ([]byte, error) {
	if name != "-" || f.Stdin == nil {
		return bounded.ReadNamed(name)
	}
	if f.input == nil {
		input, err := bounded.ReadAll(f.Stdin, "standard input", bounded.MaxStream)
		if err != nil {
			return nil, err
		}
		f.input = input
	}
	return f.input, nil
}

// headerOf makes the header of the flags: the fields of every request but
// Host, which it puts into the load.
func (f *Flags) headerOf(c *load.Config, plain bool) ([]target.Field, error) {
	var out []target.Field
	for _, h := range f.headers {
		m := headerForm.FindStringSubmatch(h)
		if m == nil {
			return nil, fmt.Errorf("-H: cannot read a header of %d bytes: want 'Name: value'", len(h)) // it may be secret
		}
		if strings.EqualFold(m[1], "Host") {
			c.Host = cmp.Or(f.host, m[2])
			continue
		}
		out = append(out, target.Field{Name: m[1], Value: m[2]})
	}
	add := func(flag, name, value string) {
		has := false
		for _, o := range out {
			has = has || strings.EqualFold(o.Name, name)
		}
		// Content-Type has a default, which what comes from a file or from
		// curl does without.
		if value != "" && !has && (plain || flag != "T" || f.IsGiven(flag)) {
			out = append(out, target.Field{Name: name, Value: value})
		}
	}
	add("A", "Accept", f.accept)
	add("T", "Content-Type", f.ContentType)
	add("U", "User-Agent", f.userAgent)
	if f.what.bearer != "" {
		if f.auth != "" {
			return nil, errors.New("-a and -bearer exclude each other")
		}
		add("bearer", "Authorization", "Bearer "+f.what.bearer)
	}
	return out, nil
}

// HostPort returns what to dial for a URL.
func HostPort(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	port := u.Port()
	switch {
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("cannot use %q: want http://host:port/path", address)
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}
