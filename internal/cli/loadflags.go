package cli

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"loupe/load"
	"loupe/unit"
)

// loadFlags are hey's flags with hey's meanings; where hey misbehaves they do
// what its help says (docs/guide/load.md lists the differences).
type loadFlags struct {
	n, c                  int
	q                     float64
	z, timeout            string
	method                string
	headers               []string
	accept, contentType   string
	userAgent             string
	body, bodyFile        string
	auth, proxy, host     string
	h2, verify            bool
	cpus                  int
	noCompression, noKeep bool
	noRedirects           bool
	// length bounds a load that neither -n nor -z bounds; 0 wants one of
	// them.
	length time.Duration
}

// declare declares the flags; n is the default of -n, 0 for none.
func (f *loadFlags) declare(fs *flagSet, n int) {
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
	fs.Func("H", "`header` such as 'Accept: text/html' (repeatable)", func(s string) error {
		f.headers = append(f.headers, s)
		return nil
	})
	fs.StringVar(&f.accept, "A", "", "Accept `header`")
	fs.StringVar(&f.contentType, "T", "text/html", "Content-Type `header`")
	fs.StringVar(&f.userAgent, "U", "", "User-Agent `header`")
	fs.StringVar(&f.body, "d", "", "`body` of the request")
	fs.StringVar(&f.bodyFile, "D", "", "`file` with the body of the request")
	fs.StringVar(&f.auth, "a", "", "basic authentication, `user:password`")
	fs.StringVar(&f.proxy, "x", "", "HTTP proxy, `host:port`")
	fs.BoolVar(&f.h2, "h2", false, "use HTTP/2; without TLS by prior knowledge")
	fs.StringVar(&f.host, "host", "", "`Host` header and TLS server name")
	fs.IntVar(&f.cpus, "cpus", 0, "`number` of CPUs to use; 0 is all")
	fs.BoolVar(&f.verify, "verify", false, "verify the server's TLS certificate")
	fs.BoolVar(&f.noCompression, "disable-compression", false, "do not ask for gzip")
	fs.BoolVar(&f.noKeep, "disable-keepalive", false, "use a new connection for every request")
	fs.BoolVar(&f.noRedirects, "disable-redirects", false, "do not follow redirects")
}

var headerForm = regexp.MustCompile(`^([\w-]+):\s*(.*)$`)

// config makes the load of the flags.
func (f *loadFlags) config(address string) (load.Config, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	c := load.Config{
		URL: address, Method: strings.ToUpper(f.method), Header: http.Header{}, Host: f.host,
		Requests: f.n, Concurrency: f.c, Rate: f.q * float64(f.c), HTTP2: f.h2, VerifyTLS: f.verify,
		NoCompression: f.noCompression, NoKeepAlive: f.noKeep, NoRedirects: f.noRedirects,
		Tool: "loupe/" + version(),
	}
	var err error
	if c.Timeout, err = unit.ParseDuration(f.timeout); err != nil {
		return c, fmt.Errorf("-t: %w", err)
	}
	if f.z != "" {
		if c.Duration, err = unit.ParseDuration(f.z); err != nil {
			return c, fmt.Errorf("-z: %w", err)
		}
		c.Requests = 0
	} else if f.n == 0 {
		c.Duration = f.length
	}
	if f.c < 1 || f.n < 0 || f.n == 0 && f.length == 0 {
		return c, errors.New("-n and -c want at least 1")
	}
	if f.q < 0 || f.cpus < 0 {
		return c, errors.New("-q and -cpus cannot be negative")
	}
	if f.cpus > 0 {
		runtime.GOMAXPROCS(f.cpus)
	}
	if err := f.headerInto(&c); err != nil {
		return c, err
	}
	c.Body = []byte(f.body)
	if f.bodyFile != "" {
		if c.Body, err = os.ReadFile(f.bodyFile); err != nil {
			return c, fmt.Errorf("-D: %w", err)
		}
	}
	if f.proxy != "" {
		proxy := f.proxy
		if !strings.Contains(proxy, "://") {
			proxy = "http://" + proxy
		}
		if c.Proxy, err = url.Parse(proxy); err != nil {
			return c, fmt.Errorf("-x: %w", err)
		}
	}
	return c, nil
}

func (f *loadFlags) headerInto(c *load.Config) error {
	for _, h := range f.headers {
		m := headerForm.FindStringSubmatch(h)
		if m == nil {
			return fmt.Errorf("-H: cannot read %q: want 'Name: value'", h)
		}
		if strings.EqualFold(m[1], "Host") {
			c.Host = m[2]
			continue
		}
		c.Header.Add(m[1], m[2])
	}
	for name, value := range map[string]string{"Accept": f.accept, "Content-Type": f.contentType, "User-Agent": f.userAgent} {
		if value != "" && c.Header.Get(name) == "" {
			c.Header.Set(name, value)
		}
	}
	if f.auth != "" {
		user, password, ok := strings.Cut(f.auth, ":")
		if !ok {
			return fmt.Errorf("-a: cannot read %q: want user:password", f.auth)
		}
		c.BasicUser, c.BasicPassword = user, password
	}
	return nil
}
