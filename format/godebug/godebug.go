// Package godebug reads the text that the Go runtime prints to standard error
// under GODEBUG: gctrace, schedtrace with scheddetail, inittrace, scavtrace,
// gcpacertrace and their companions, in the dialect of every Go version from
// 1.4 to 1.26.
//
// [Reader] pulls records out of a log that also holds the program's own
// output. [Parse] collects a whole log. [Assembler] undoes the interleaving
// that happens on a live standard error, where the runtime writes one line in
// some forty pieces. The grammars are in docs/formats/godebug.md.
//
// Goals: no wrong figure, ever; a line that almost parses is handed out as
// [Malformed] and counted, so that a new dialect is noticed and not silently
// skipped. Memory is bounded whatever the input. Non-goals: derived figures
// (package gc and package sched compute those), goroutine dumps, any I/O.
package godebug

import "time"

// Kind tells the records of a log apart.
type Kind uint8

// The kinds of record. Sources are the files of Go's runtime package.
const (
	KindNone      Kind = iota
	KindCycle          // [Cycle]: gctrace=1, mgc.go
	KindSched          // [SchedSample]: schedtrace and scheddetail, proc.go
	KindInit           // [InitTask]: inittrace=1, proc.go
	KindScavenge       // [Scavenge]: scavtrace=1, mgcscavenge.go; scvg lines up to Go 1.13
	KindPacer          // [Pacer]: gcpacertrace=1, mgcpacer.go
	KindScan           // [Scan]: gctrace=2 since Go 1.25
	KindNotice         // [Notice]: "GC forced", finalizer queues
	KindText           // [Text]: the program's own output, only with Reader.KeepText
	KindMalformed      // [Malformed]: almost one of the above
)

var kindNames = [...]string{"none", "gctrace", "schedtrace", "inittrace", "scavtrace", "gcpacertrace", "scan", "notice", "text", "malformed"}

// String returns the name of the GODEBUG setting that prints k, or a plain
// word where there is none.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Position says where in a log a record was found.
type Position struct {
	// Offset is where the record's text begins, in bytes from the start of
	// the log. It lies inside a line when the program's unterminated text or
	// a log shipper's prefix comes before it.
	Offset int64 `json:"offset"`
	// Line is the number of the line, from 1.
	Line int `json:"line"`
	// Run counts the executions of programs that a log holds, from 0: the
	// collection number or the time went back, or two programs share the
	// log. See [Reader] for how runs are told apart.
	Run int `json:"run"`
}

// Pos returns p; it makes every record that embeds a Position a [Record].
func (p Position) Pos() Position { return p }

// Record is one of *Cycle, *SchedSample, *InitTask, *Scavenge, *Pacer, *Scan,
// *Notice, *Text and *Malformed.
type Record interface {
	Kind() Kind
	Pos() Position
}

// InitTask is one line of inittrace=1 (Go 1.16 and later): the
// initialisation of one package.
type InitTask struct {
	Position
	Package string
	At      time.Duration // since program start
	Clock   time.Duration
	Bytes   int64 // allocated on the heap
	Allocs  int64
}

// Kind returns [KindInit].
func (*InitTask) Kind() Kind { return KindInit }

func (t *InitTask) parse(c *cursor, names *interner) bool {
	c.lit("init ")
	name := c.until(' ')
	c.lit(" @")
	t.At = c.millis()
	c.lit(" ms, ")
	near := !c.bad
	t.Clock = c.millis()
	c.lit(" ms clock, ")
	t.Bytes = c.int()
	c.lit(" bytes, ")
	t.Allocs = c.int()
	c.lit(" allocs")
	if !c.bad {
		t.Package = names.get(name)
	}
	return near
}

// NoticeKind tells the notices apart.
type NoticeKind uint8

// The notices.
const (
	// GCForced is the line "GC forced", printed before the collection that
	// the runtime starts after two minutes without one. That cycle has no
	// "(forced)" suffix; [Cycle.Forced] means runtime.GC.
	GCForced NoticeKind = iota + 1
	// QueueLength is the line that checkfinalizers=1 prints per cycle.
	QueueLength
)

// Notice is a runtime line with little or no data.
type Notice struct {
	Position
	What NoticeKind
	// Finalizers and Cleanups are the lengths of the queues, for QueueLength.
	Finalizers, Cleanups int64
}

// Kind returns [KindNotice].
func (*Notice) Kind() Kind { return KindNotice }

func (n *Notice) parse(c *cursor) bool {
	n.What, n.Finalizers, n.Cleanups = GCForced, 0, 0
	if c.has("GC forced") {
		return false
	}
	n.What = QueueLength
	c.lit("checkfinalizers: queue: ")
	near := !c.bad
	n.Finalizers = c.int()
	c.lit(" finalizers + ")
	n.Cleanups = c.int()
	c.lit(" cleanups")
	return near
}

// Scan is one "scan:" line of gctrace=2: what the collector scanned, in total
// or in one size class. Go 1.25 prints one number of objects; Go 1.26 (Green
// Tea) prints how they were scanned and the spans.
type Scan struct {
	Position
	Total     bool  // the line "scan: total"; otherwise one size class
	ClassSize int64 // bytes; 0 is the class of large objects, printed as "L"
	Objects   int64
	// Sparse are objects scanned one by one outside spans that are scanned
	// as a whole, SpanSparse and SpanDense those inside. Go 1.26.
	Sparse, SpanSparse, SpanDense int64
	Spans, SparseSpans            int64 // Go 1.26
	DenseSpans                    int64 // Go 1.26
}

// Kind returns [KindScan].
func (*Scan) Kind() Kind { return KindScan }

func (s *Scan) parse(c *cursor) bool {
	*s = Scan{Position: s.Position}
	c.lit("scan: ")
	switch {
	case c.has("total "):
		s.Total = true
	case c.has("class L "):
	default:
		c.lit("class ")
		s.ClassSize = c.int()
		c.lit("B ")
	}
	near := !c.bad
	s.Objects = c.int()
	if c.has(" objs") {
		return near // Go 1.25
	}
	s.Sparse = s.Objects
	c.lit("+")
	s.SpanSparse = c.int()
	c.lit("+")
	s.SpanDense = c.int()
	c.lit("=")
	s.Objects = c.int()
	c.lit(" objs, ")
	s.SparseSpans = c.int()
	c.lit("+")
	s.DenseSpans = c.int()
	c.lit("=")
	s.Spans = c.int()
	c.lit(" spans")
	return near
}

// Text is a piece of the program's own output. The bytes of all Text records
// of a log, one after another, are the log without what the runtime printed.
type Text struct {
	Position
	Bytes []byte // valid until the next call of Next
}

// Kind returns [KindText].
func (*Text) Kind() Kind { return KindText }

// Malformed is a line that looks like one the runtime prints but does not
// parse: torn by another thread's output, cut at the end of the log, or of a
// dialect unknown to this package. No figure is taken from it.
type Malformed struct {
	Position
	// Like is the kind that the line resembles.
	Like Kind
	// Text is the line, at most [MaxMalformed] bytes of it. From a Reader it
	// is valid until the next call of Next.
	Text []byte
	// Cut is true for a last line without newline that ends too early.
	Cut bool
}

// MaxMalformed bounds the bytes kept of a malformed line.
const MaxMalformed = 512

// Kind returns [KindMalformed].
func (*Malformed) Kind() Kind { return KindMalformed }

// Clone returns a copy of m that stays valid.
func (m *Malformed) Clone() Malformed {
	n := *m
	n.Text = append([]byte(nil), m.Text...)
	return n
}
