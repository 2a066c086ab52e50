package load

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"loupe/format/loadlog"
)

// tracingKey finds the exchange for which a connection is dialled.
type tracingKey struct{}

// tracing is an exchange in progress. The hooks run in goroutines of the
// dialler and of the connection, some of them after the answer is there: what
// comes when it has ended is left out. Instants are [run.now].
type tracing struct {
	now    func() int64
	begin  int64
	frames bool // HTTP/2

	mu sync.Mutex
	loadlog.Exchange
	over    bool
	lookup  int64
	host    string
	dials   map[string]int64 // attempts to connect, by address
	pending *pending         // what is done with the new connection
	got     int64            // the connection
	wrote   int64            // the last of the request; 0 before
	first   int64            // the first byte of the answer
	current *tap
	// once tells that the request may be sent once only, and refused that it
	// would have been sent again; sent, that bytes of it were written.
	once, refused, sent bool
}

// since makes a phase's end of an instant.
func (x *tracing) since(at int64) time.Duration { return time.Duration(max(0, at-x.begin)) }

// add notes a phase. The caller holds mu.
func (x *tracing) add(name string, from, to int64, detail string, err error) {
	if x.over {
		return
	}
	p := loadlog.Phase{Name: name, Start: x.since(from), End: x.since(max(from, to)), Detail: detail}
	if err != nil {
		p.Error = plain(err)
	}
	x.Phases = append(x.Phases, p)
}

// pending is a phase that has no end yet.
type pending struct {
	name, detail string
	from         int64
}

// during notes what work does as a phase.
func (x *tracing) during(name, detail string, work func() error) error {
	p := &pending{name, detail, x.now()}
	x.mu.Lock()
	x.pending = p
	x.mu.Unlock()
	err := work()
	now := x.now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.pending == p {
		x.pending = nil
		x.add(p.name, p.from, now, p.detail, err)
	}
	return err
}

// errFaster is what became of an attempt to connect that another one overtook
// (RFC 8305).
var errFaster = errors.New("given up, another attempt was faster")

// hooks are those of net/http that x wants to hear of.
func (x *tracing) hooks() *httptrace.ClientTrace {
	// Whoever waits for a hook waits for the lock too: the instant is taken
	// before.
	locked := func(f func(now int64)) {
		now := x.now()
		x.mu.Lock()
		defer x.mu.Unlock()
		if !x.over {
			f(now)
		}
	}
	return &httptrace.ClientTrace{
		DNSStart: func(i httptrace.DNSStartInfo) {
			locked(func(now int64) { x.lookup, x.host = now, i.Host })
		},
		DNSDone: func(i httptrace.DNSDoneInfo) {
			locked(func(now int64) {
				if x.lookup == 0 || isAddress(x.host) {
					return
				}
				detail := x.host
				for n, a := range i.Addrs {
					detail += []string{" → ", ", "}[min(n, 1)] + a.String()
				}
				x.add("dns", x.lookup, now, detail, i.Err)
				x.lookup = 0
			})
		},
		ConnectStart: func(network, address string) {
			locked(func(now int64) {
				if x.dials == nil {
					x.dials = map[string]int64{}
				}
				x.dials[address] = now
			})
		},
		ConnectDone: func(network, address string, err error) {
			locked(func(now int64) {
				if from, ok := x.dials[address]; ok {
					delete(x.dials, address)
					if err != nil && strings.HasSuffix(err.Error(), "operation was canceled") {
						err = errFaster
					}
					x.add("connect", from, now, address, err)
				}
			})
		},
		GotConn:              func(i httptrace.GotConnInfo) { locked(func(now int64) { x.gotConn(i, now) }) },
		WroteRequest:         func(i httptrace.WroteRequestInfo) { locked(func(now int64) { x.wroteRequest(now) }) },
		GotFirstResponseByte: func() { locked(x.firstByte) },
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
			locked(func(int64) {
				x.Informational = append(x.Informational, code)
				x.first = 0 // that was not the answer
			})
			return nil
		},
	}
}

// gotConn begins to write. When it comes a second time, the kept connection
// was closed before the request, and it goes over another one.
func (x *tracing) gotConn(i httptrace.GotConnInfo, now int64) {
	if x.got != 0 {
		// net/http sends again what it takes to be harmless; a kept connection
		// that was closed before the first byte was written is no such thing.
		x.refused = x.once && x.sent
		detail := "the kept connection had been closed: once more on another one"
		if x.refused {
			detail = "the kept connection was dropped without an answer"
		}
		x.add("write", x.got, now, detail, nil)
		x.wrote, x.first = 0, 0
	}
	x.got = now
	x.Reused, x.Idle = i.Reused, 0
	if i.WasIdle && i.Reused {
		x.Idle = i.IdleTime
	}
	conn := i.Conn
	x.Local, x.Remote = conn.LocalAddr().String(), conn.RemoteAddr().String()
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if t, ok := conn.(*tap); ok {
		x.current, x.TLS = t, t.tls
		t.user.Store(x)
	}
}

// wroteRequest counts in HTTP/2, where the frames of other streams, and those
// that settle the connection, are written too.
func (x *tracing) wroteRequest(now int64) {
	if (x.frames || x.current == nil) && x.wrote == 0 {
		x.wrote = now
	}
}

func (x *tracing) firstByte(now int64) {
	if x.first != 0 {
		return
	}
	x.first = now
	if x.frames || x.current == nil {
		x.wrote = cmp.Or(x.wrote, now)
		return
	}
	// A write that has not returned yet, although the answer is there, waits
	// for a CPU if the request was short: the answer says that it had gone.
	// A long one may be answered before it has.
	if from := x.current.writing.Load(); from != 0 && x.current.length.Load() < longWrite {
		x.wrote = from
	} else if from != 0 || x.wrote == 0 {
		x.wrote = now
	}
}

// refuses tells whether bytes must not be written because the request was sent
// before; else they count as sent.
func (x *tracing) refuses(bytes int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.sent = x.sent || bytes > 0
	return x.refused
}

func (x *tracing) wasRefused() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.refused
}

// written is told of each write to the connection.
func (x *tracing) written(now int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.first == 0 && !x.frames {
		x.wrote = now
	}
}

// answered takes the head of the answer.
func (x *tracing) answered(resp *http.Response) {
	now := x.now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.first == 0 {
		// Behind an answer of class 1xx nobody is told of the first byte of
		// the last one; its head is.
		x.first = now
	}
	x.Status, x.Protocol, x.Location = resp.StatusCode, resp.Proto, resp.Header.Get("Location")
	for _, values := range resp.Header {
		x.Header += len(values)
	}
	x.Header += min(len(resp.TransferEncoding), 1)
	if x.Status < 300 || x.Status >= 400 {
		x.Location = ""
	}
}

// end closes the exchange: what has begun and not ended ends now, and with the
// error if there is one.
func (x *tracing) end(err error) {
	now := x.now()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.current != nil {
		x.current.user.CompareAndSwap(x, nil)
	}
	if x.lookup != 0 && !isAddress(x.host) {
		x.add("dns", x.lookup, now, x.host, err)
	}
	lost := err
	if x.got != 0 {
		lost = errFaster
	}
	if p := x.pending; p != nil {
		x.add(p.name, p.from, now, p.detail, err)
		x.pending = nil
	}
	for address, from := range x.dials {
		x.add("connect", from, now, address, lost)
	}
	if x.got != 0 {
		x.carried(now, err)
	}
	x.Total = x.since(now)
	if err != nil {
		x.Error = plain(err)
	}
	x.over = true
	x.Sort()
}

// carried adds the phases on the connection.
func (x *tracing) carried(now int64, err error) {
	failed := func(last bool) error {
		if last {
			return err
		}
		return nil
	}
	wrote := x.wrote
	if wrote == 0 {
		wrote = now
	}
	x.add("write", x.got, wrote, "", failed(x.wrote == 0))
	if x.wrote == 0 {
		return
	}
	first, detail := x.first, ""
	if first == 0 {
		first = now
	}
	if len(x.Informational) > 0 {
		detail = "until the head of the answer was there"
	}
	x.add("wait", wrote, first, detail, failed(x.first == 0))
	if x.first != 0 {
		x.add("read", x.first, now, "", err)
	}
}

// tap is a connection that tells when it is written to.
type tap struct {
	net.Conn
	user    atomic.Pointer[tracing]
	writing atomic.Int64 // when the write began that goes on; 0 without
	length  atomic.Int64 // of it
	tls     *loadlog.TLS
}

// Write passes b on and tells the exchange when that was done.
func (t *tap) Write(b []byte) (int, error) {
	x := t.user.Load()
	if x == nil {
		return t.Conn.Write(b)
	}
	if x.refuses(len(b)) {
		return 0, errDropped
	}
	t.length.Store(int64(len(b)))
	t.writing.Store(x.now())
	n, err := t.Conn.Write(b)
	now := x.now()
	t.writing.Store(0)
	x.written(now)
	return n, err
}
