package load

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"loupe/capture/load/internal/content"
	"loupe/capture/load/internal/http1"
	"loupe/capture/load/target"
)

// call is one request in progress, from its turn to the last byte of its
// answer, redirects included. It knows what to write and what came of it; who
// writes and reads is an engine's business. Instants are [run.now].
type call struct {
	m        *message
	target   int
	begin    int64 // when it was due
	sent     int64
	deadline int64 // noEnd without a timeout
	values   *target.Values

	// What this hop writes, and what reads its answer.
	method  string
	request []byte
	parser  http1.Parser
	look    *content.Reader // reads the answer as well; nil for most calls
	first   int64           // when the first byte of the answer came, 0 before
	// far is where a redirect leads that the connections of the target do
	// not; nil while they do.
	far *origin

	// What became of all hops so far.
	dialled     dialling
	write, read int64
	bytes       int64
	served      int64 // sum of Content-Length headers
	closing     int64 // how many answers said that the connection is to be closed
	status      int
	hops        int
	conn        uint32
	tries       int // how often a hop was sent again

	rendered, body []byte // memory for requests that vary
}

// maxRedirects is how many redirects one request follows.
const maxRedirects = 10

var errRedirects = errors.New("stopped after 10 redirects")

// targetOf is which of the targets a request is for that has none by the plan.
func (r *run) targetOf(seq int64) int {
	if r.List {
		seq -= r.phase.Load().first
	}
	return r.order.At(seq)
}

// start makes c the request of a turn.
func (c *call) start(r *run, t turn, now int64) {
	c.target = t.target
	if c.target < 0 {
		c.target = r.targetOf(t.seq)
	}
	c.m = r.messages[min(c.target, len(r.messages)-1)]
	c.begin, c.sent, c.deadline = t.begin, now, noEnd
	if r.Timeout > 0 {
		c.deadline = now + int64(r.Timeout)
	}
	c.method, c.request = c.m.method, c.m.whole
	if c.m.varies() {
		c.values.Begin(t.seq)
		c.rendered, c.body = c.m.render(c.rendered[:0], c.body, c.values)
		c.request = c.rendered
	}
	c.far, c.dialled = nil, dialling{}
	c.write, c.read, c.bytes, c.served, c.closing = 0, 0, 0, 0, 0
	c.status, c.hops, c.conn, c.tries = 0, 0, 0, 0
}

// ask begins a hop: the request is about to be written.
func (c *call) ask(head *http1.Head) {
	c.parser.Begin(head, c.method)
	if c.look != nil {
		c.look.Begin()
		c.parser.Look = c.look.Take
	}
	c.first = 0
}

// feed takes bytes of the answer that came at an instant. clean tells that
// none of them are left over.
func (c *call) feed(b []byte, at int64) (done, clean bool, err error) {
	if c.first == 0 {
		c.first = at
	}
	n, done, err := c.parser.Feed(b)
	return done, n == len(b), err
}

// answered ends a hop whose answer is whole. again tells that c is now the
// request that a redirect asks for.
func (c *call) answered(r *run, at int64) (again bool, err error) {
	p := &c.parser
	c.read += max(0, at-c.first)
	c.bytes += p.Bytes()
	c.served += max(0, p.Length())
	if p.Close() {
		c.closing++
	}
	c.status = p.Status()
	if c.status < 300 || c.status >= 400 || r.NoRedirects || len(p.Location()) == 0 {
		return false, nil
	}
	return c.redirect(r, string(p.Location()))
}

// dropped names the failure of a hop on a connection that ended before a byte of
// the answer came; used tells that it had carried requests before.
func (c *call) dropped(used bool, err error) error {
	if used && c.unanswered(err) {
		return errDropped
	}
	return err
}

// retry tells whether a failed hop is to be sent again on a new connection, and
// counts that.
func (c *call) retry(r *run, err error) bool {
	if c.tries >= r.Retry || !c.unanswered(err) {
		return false
	}
	c.tries++
	if p := r.phase.Load(); p != nil && p.keep {
		r.resent.Add(1)
	}
	return true
}

// unanswered tells that the connection ended before a byte of the answer came.
func (c *call) unanswered(err error) bool {
	return c.first == 0 && !c.parser.Begun() && hungUp(err)
}

// redirect makes c the request that the answer asks for. A POST becomes a GET
// except after 307 and 308 (RFC 9110, section 15.4).
func (c *call) redirect(r *run, location string) (again bool, err error) {
	same := c.status == http.StatusTemporaryRedirect || c.status == http.StatusPermanentRedirect
	if !same && c.status != http.StatusMovedPermanently && c.status != http.StatusFound && c.status != http.StatusSeeOther {
		return false, nil
	}
	at := c.m.origin
	if c.far != nil {
		at = c.far
	}
	line, fields, body := splitRequest(c.request)
	host := fields[0].Value // render begins with it
	base, err := url.Parse(at.scheme + "://" + host)
	if err != nil {
		return false, nil
	}
	from, err := base.Parse(strings.Fields(line)[1])
	if err != nil {
		return false, nil
	}
	to, err := from.Parse(location)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return false, nil
	}
	if c.hops == maxRedirects {
		return false, errRedirects
	}
	c.hops++
	if !same && c.method != http.MethodHead && c.method != http.MethodGet {
		c.method, body = http.MethodGet, nil
	}
	next := &origin{scheme: to.Scheme, address: address(to), name: to.Hostname()}
	if to.Host == host && to.Scheme == at.scheme {
		next = at // whatever stands in for it
	}
	uri := to.RequestURI()
	if r.Proxy != nil && next.scheme == "http" {
		uri = to.Scheme + "://" + to.Host + uri
	}
	c.request = http1.AppendRequest(nil, c.method, uri, to.Host, kept(fields[1:], to.Host == host, body != nil), body)
	c.far = next
	if *next == *c.m.origin {
		c.far = nil
	}
	return true, nil
}

// kept are the header fields that go along with a redirect.
func kept(fields []http1.Field, sameHost, hasBody bool) (out []http1.Field) {
	for _, f := range fields {
		switch strings.ToLower(f.Name) {
		case "content-length":
			continue
		case "content-type":
			if !hasBody {
				continue
			}
		case "authorization", "cookie":
			if !sameHost {
				continue
			}
		}
		out = append(out, f)
	}
	return out
}

// splitRequest takes a request of our own apart.
func splitRequest(b []byte) (line string, fields []http1.Field, body []byte) {
	head, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
	for i, text := range strings.Split(string(head), "\r\n") {
		if i == 0 {
			line = text
			continue
		}
		name, value, _ := strings.Cut(text, ": ")
		fields = append(fields, http1.Field{Name: name, Value: value})
	}
	if len(body) == 0 {
		body = nil
	}
	return line, fields, body
}

// address is what to dial for a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// service is how long the request took until an instant.
func (c *call) service(at int64) time.Duration { return time.Duration(at - c.sent) }
