package loadlog

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"loupe/value/timeline"
)

// chunkSize is how many bytes of rows a [Recorder] collects before it hands
// them over: some 6,000 requests.
const chunkSize = 64 << 10

// maxTexts bounds the different errors that are told apart.
const maxTexts = 1000

// SpillFile takes the rows that do not fit into memory.
type SpillFile interface {
	io.WriterAt
	io.ReaderAt
}

// Builder collects the requests of a run. Its methods may be called by
// several goroutines.
type Builder struct {
	// Spill opens a file for the rows beyond Memory bytes, at most once; nil
	// keeps all in memory.
	Spill  func() (SpillFile, error)
	Memory int64

	mu      sync.Mutex
	errors  map[string]uint16
	texts   []string
	streams []*Recorder
	conns   []Connection
	held    int64
	file    SpillFile
	at      int64
	failed  error
}

// Recorder takes the requests of one goroutine, or of several that share a
// lock, in the order in which they end. Adding allocates nothing but a chunk
// every some thousand requests.
type Recorder struct {
	b      *Builder
	chunks []chunk
	buf    []byte
	rows   int
	state  rowState
	last   Request
	end    timeline.Time // of the last request, when there is any
	any    bool
}

// Recorder returns a new stream of requests.
func (b *Builder) Recorder() *Recorder {
	r := &Recorder{b: b}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.streams = append(b.streams, r)
	return r
}

// Add keeps a request. Its parts are brought into its service time, which
// clocks that are read one after the other could otherwise leave by some
// nanoseconds; Wait is what the other parts leave. A request that ended before
// the one added last is kept as if it had ended with it: of one goroutine none
// does.
func (r *Recorder) Add(q *Request) {
	if cap(r.buf)-len(r.buf) < maxRow {
		if r.flush(); r.buf == nil {
			r.buf = make([]byte, 0, chunkSize)
		}
	}
	r.last = *q
	p := &r.last
	p.Late, p.Service = max(0, p.Late), max(0, p.Service)
	left := p.Service
	take := func(d *time.Duration) {
		*d = min(max(*d, 0), left)
		left -= *d
	}
	take(&p.Dial)
	take(&p.Write)
	take(&p.Read)
	p.DNS, p.TLS = min(max(p.DNS, 0), p.Dial), min(max(p.TLS, 0), p.Dial)
	p.Bytes = max(p.Bytes, 0)
	if before := r.end.Sub(p.End()); r.any && before > 0 {
		p.Begin = p.Begin.Add(before)
	}
	r.end, r.any = p.End(), true
	r.buf = appendRow(r.buf, &r.state, p)
	r.rows++
}

// flush hands the rows over and begins a new chunk.
func (r *Recorder) flush() {
	if r.rows == 0 {
		return
	}
	c := chunk{rows: r.rows, data: r.buf, size: len(r.buf)}
	r.b.keep(&c)
	r.chunks = append(r.chunks, c)
	if c.data == nil {
		r.buf = r.buf[:0]
	} else {
		r.buf = nil
	}
	r.rows, r.state = 0, rowState{}
}

// keep counts a chunk, and puts it into the file when memory is full.
func (b *Builder) keep(c *chunk) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held += int64(c.size)
	if b.Spill == nil || b.held <= b.Memory || b.failed != nil {
		return
	}
	if b.file == nil {
		if b.file, b.failed = b.Spill(); b.failed != nil {
			return
		}
	}
	if _, b.failed = b.file.WriteAt(c.data, b.at); b.failed != nil {
		return // it stays in memory
	}
	c.at, c.data = b.at, nil
	b.at += int64(c.size)
	b.held -= int64(c.size)
}

// Fault returns the number of an error's text, for Request.Error. Beyond a
// thousand different texts all are "other errors".
func (b *Builder) Fault(text string) uint16 {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, ok := b.errors[text]
	if !ok && len(b.texts) >= maxTexts {
		text = "other errors"
		n, ok = b.errors[text]
	}
	if !ok {
		if b.errors == nil {
			b.errors = map[string]uint16{}
		}
		b.texts = append(b.texts, text)
		n = uint16(len(b.texts))
		b.errors[text] = n
	}
	return n
}

// Connect keeps a connection, once it is closed.
func (b *Builder) Connect(c Connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conns = append(b.conns, c)
}

// Log ends the collecting and returns the run. The recorders must not be used
// any more. The error says that a spill file failed; the log is whole anyway,
// it took more memory.
func (b *Builder) Log(h Header) (*Log, error) {
	l := &Log{Header: h, spilled: b.file}
	for _, r := range b.streams {
		r.flush()
		if len(r.chunks) > 0 {
			l.streams = append(l.streams, r.chunks)
		}
		for _, c := range r.chunks {
			l.n += c.rows
		}
	}
	l.Errors = b.texts
	slices.SortFunc(b.conns, func(x, y Connection) int { return cmp.Compare(x.ID, y.ID) })
	l.Connections = b.conns
	if b.failed != nil {
		return l, errors.Join(errors.New("cannot put requests into a temporary file; they were kept in memory"), b.failed)
	}
	return l, nil
}

// New makes a log of requests in any order.
func New(h Header, rows []Request) *Log {
	var b Builder
	to := b.Recorder()
	order := make([]*Request, len(rows))
	for i := range rows {
		order[i] = &rows[i]
	}
	slices.SortStableFunc(order, func(x, y *Request) int { return cmp.Compare(x.End(), y.End()) })
	for _, r := range order {
		to.Add(r)
	}
	l, _ := b.Log(h) // nothing is spilled
	l.Errors = h.Errors
	return l
}
