package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"time"

	"loupe/load"
	"loupe/load/target"
	"loupe/source"
	"loupe/unit"
)

// loadFlags are hey's flags with hey's meanings, and those of what hey cannot
// do; where hey misbehaves they do what its help says (docs/guide/load.md lists
// the differences).
type loadFlags struct {
	n, c                  int
	retry                 int
	q                     float64
	z, timeout            string
	method                string
	headers               []string
	accept, contentType   string
	userAgent             string
	body, bodyFile        string
	auth, proxy, host     string
	h2                    bool
	cpus                  int
	noCompression, noKeep bool
	noRedirects           bool

	pace pacing
	what sending
	link linking

	// given tells which flags were set; nil when they are no flags.
	given func(name string) bool
	// stdin is what the file name - stands for; nil where there is none.
	// input is what it held, for a load that is made more than once.
	stdin io.Reader
	input []byte
	// length bounds a load that neither -n nor -z bounds; 0 wants one of
	// them.
	length time.Duration
}

// declare declares the flags; n is the default of -n, 0 for none.
func (f *loadFlags) declare(fs *flagSet, n int) {
	f.given = fs.given
	of := ""
	if n == 0 {
		of = " of -load"
	}
	fs.group("As in hey"+of, func() { f.declareHey(fs, n) })
	fs.group("When requests are due"+of, func() { f.pace.declare(fs) })
	fs.group("What is sent"+of, func() { f.what.declare(fs) })
	fs.group("How it gets there"+of, func() {
		f.link.declare(fs)
		fs.IntVar(&f.retry, "retry", 0, "send a request again up to this `number` of times when its connection was\ndropped without an answer; the service may do its work each time")
	})
}

func (f *loadFlags) declareHey(fs *flagSet, n int) {
	requests := "`number` of requests in all"
	if n == 0 {
		requests += "; without it and -z as many as fit into -for"
	}
	fs.IntVar(&f.n, "n", n, requests)
	fs.IntVar(&f.c, "c", 50, "`number` of workers, each with a connection")
	fs.Float64Var(&f.q, "q", 0, "`rate` limit of each worker, requests a second; the time a request\nwaits for its turn counts")
	fs.StringVar(&f.z, "z", "", "`length` of the load, instead of -n: 10s, 3m")
	fs.StringVar(&f.timeout, "t", "20s", "`time` that a request may take, dialling and body included; 0 is forever")
	fs.StringVar(&f.method, "m", "GET", "HTTP `method`")
	f.declareWho(fs)
	fs.StringVar(&f.accept, "A", "", "Accept `header`")
	fs.StringVar(&f.contentType, "T", "text/html", "Content-Type `header`")
	fs.StringVar(&f.body, "d", "", "`body` of the request")
	fs.StringVar(&f.bodyFile, "D", "", "`file` with the body of the request")
	fs.BoolVar(&f.h2, "h2", false, "use HTTP/2; without TLS by prior knowledge")
	fs.IntVar(&f.cpus, "cpus", 0, "`number` of CPUs to use; 0 leaves it open")
	fs.BoolVar(&f.noCompression, "disable-compression", false, "do not ask for gzip")
	fs.BoolVar(&f.noKeep, "disable-keepalive", false, "use a new connection for every request")
	fs.BoolVar(&f.noRedirects, "disable-redirects", false, "do not follow redirects")
}

// declareWho declares those of hey's flags that say who asks.
func (f *loadFlags) declareWho(fs *flagSet) {
	fs.Func("H", "`header` such as 'Accept: text/html' (repeatable)", func(s string) error {
		f.headers = append(f.headers, s)
		return nil
	})
	fs.StringVar(&f.userAgent, "U", "", "User-Agent `header`")
	fs.StringVar(&f.auth, "a", "", "basic authentication, `user:password`")
	fs.StringVar(&f.proxy, "x", "", "HTTP proxy, `host:port`")
	fs.StringVar(&f.host, "host", "", "`Host` header and TLS server name")
}

// isGiven tells whether a flag was set.
func (f *loadFlags) isGiven(name string) bool { return f.given != nil && f.given(name) }

var headerForm = regexp.MustCompile(`^([\w-]+):\s*(.*)$`)

// config makes the load of the flags. The addresses are URLs, each with its
// weight before it if it has one.
func (f *loadFlags) config(addresses ...string) (load.Config, error) {
	c := load.Config{
		Method: strings.ToUpper(f.method), Header: http.Header{}, Host: f.host,
		Concurrency: f.c, HTTP2: f.h2, Loops: f.cpus,
		NoCompression: f.noCompression, NoKeepAlive: f.noKeep, NoRedirects: f.noRedirects,
		Tool: "loupe/" + version(),
	}
	var err error
	if c.Timeout, err = unit.ParseDuration(f.timeout); err != nil {
		return c, fmt.Errorf("-t: %w", err)
	}
	if f.c < 1 || f.n < 0 || f.n == 0 && f.length == 0 {
		return c, errors.New("-n and -c want at least 1")
	}
	if f.q < 0 || f.cpus < 0 || f.retry < 0 {
		return c, errors.New("-q, -cpus and -retry cannot be negative")
	}
	c.Retry = f.retry
	c.Requests = f.n
	if f.z != "" {
		if c.Duration, err = unit.ParseDuration(f.z); err != nil {
			return c, fmt.Errorf("-z: %w", err)
		}
		c.Requests = 0
	} else if f.n == 0 {
		c.Duration = f.length
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
func (f *loadFlags) basic() (user, password string, err error) {
	user, password, ok := strings.Cut(f.auth, ":")
	if !ok {
		return "", "", errors.New("-a: there is no colon: want user:password")
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
func (f *loadFlags) read(name string) ([]byte, error) {
	if name != "-" || f.stdin == nil {
		return source.ReadNamed(name)
	}
	if f.input == nil {
		input, err := source.ReadAll(f.stdin, "standard input", source.MaxStream)
		if err != nil {
			return nil, err
		}
		f.input = input
	}
	return f.input, nil
}

// headerOf makes the header of the flags: the fields of every request but
// Host, which it puts into the load.
func (f *loadFlags) headerOf(c *load.Config, plain bool) ([]target.Field, error) {
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
		if value != "" && !has && (plain || flag != "T" || f.isGiven(flag)) {
			out = append(out, target.Field{Name: name, Value: value})
		}
	}
	add("A", "Accept", f.accept)
	add("T", "Content-Type", f.contentType)
	add("U", "User-Agent", f.userAgent)
	if f.what.bearer != "" {
		if f.auth != "" {
			return nil, errors.New("-a and -bearer exclude each other")
		}
		add("bearer", "Authorization", "Bearer "+f.what.bearer)
	}
	return out, nil
}
