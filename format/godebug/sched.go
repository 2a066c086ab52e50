package godebug

import (
	"slices"
	"time"
)

// SchedSample is one scheduler sample: a SCHED line of schedtrace, with the
// P, M and G lines that follow it under scheddetail=1. It is a snapshot taken
// without stopping the program, so its numbers need not add up exactly.
type SchedSample struct {
	Position
	At              time.Duration // since program start, whole milliseconds
	Procs           int           // GOMAXPROCS
	IdleProcs       int
	Threads         int
	SpinningThreads int
	NeedSpinning    int // Go 1.20 and later
	IdleThreads     int
	RunQueue        int     // goroutines in the global run queue
	Local           []int   // goroutines in each P's run queue
	Ticks           []int64 // each P's schedtick: Go 1.25, and with Detail

	// Detail is true for scheddetail=1; what follows is filled only then.
	Detail     bool
	GCWaiting  bool
	SysmonWait bool
	IdleLocked int
	StopWait   int
	Ps         []ProcDetail
	Ms         []ThreadDetail
	Gs         []GoroutineDetail
}

// Kind returns [KindSched].
func (*SchedSample) Kind() Kind { return KindSched }

// Clone returns a copy of s that shares no memory with it.
func (s *SchedSample) Clone() SchedSample {
	t := *s
	t.Local = slices.Clone(s.Local)
	t.Ticks = slices.Clone(s.Ticks)
	t.Ps = slices.Clone(s.Ps)
	t.Ms = slices.Clone(s.Ms)
	t.Gs = slices.Clone(s.Gs)
	return t
}

// ProcDetail is a "  P" line of scheddetail=1. An id of -1 means none.
type ProcDetail struct {
	ID          int64
	Status      int // 0 idle, 1 running, 2 syscall (until Go 1.25), 3 gcstop, 4 dead
	SchedTick   int64
	SyscallTick int64
	M           int64
	RunQueue    int
	FreeGs      int
	Timers      int // Go 1.14 and later
}

// ThreadDetail is an "  M" line of scheddetail=1. An id of -1 means none.
type ThreadDetail struct {
	ID         int64
	P          int64
	CurG       int64
	LockedG    int64
	Mallocing  int
	Throwing   int
	Locks      int
	Dying      int
	Spinning   bool
	Blocked    bool
	PreemptOff string // why preemption is off, empty when it is on
}

// GoroutineDetail is a "  G" line of scheddetail=1. An id of -1 means none.
type GoroutineDetail struct {
	ID      int64
	Status  int // 0 idle, 1 runnable, 2 running, 3 syscall, 4 waiting, 6 dead, 8 copystack, 9 preempted; 0x1000 is the scan bit
	M       int64
	LockedM int64
	// Reason is the last wait reason. It is stale unless Waiting.
	Reason string
}

// Waiting tells whether the goroutine is blocked, so that Reason says why.
func (g *GoroutineDetail) Waiting() bool { return g.Status&^0x1000 == 4 }

// maxDetail bounds the lines kept per sample. A program with more goroutines
// than this exists, but its sample is no longer something to look at.
const maxDetail = 1 << 20

// maxProcs bounds the run-queue list of one line.
const maxProcs = 1 << 14

func (s *SchedSample) parse(c *cursor) (near bool) {
	c.lit("SCHED ")
	ms := c.int()
	c.lit("ms: ")
	if c.bad || ms < 0 || ms > 1e12 {
		c.bad = true
		return false
	}
	*s = SchedSample{
		Position: s.Position, At: time.Duration(ms) * time.Millisecond,
		Local: s.Local[:0], Ticks: s.Ticks[:0], Ps: s.Ps[:0], Ms: s.Ms[:0], Gs: s.Gs[:0],
	}
	c.lit("gomaxprocs=")
	s.Procs = c.int32()
	c.lit(" idleprocs=")
	s.IdleProcs = c.int32()
	c.lit(" threads=")
	s.Threads = c.int32()
	c.lit(" spinningthreads=")
	s.SpinningThreads = c.int32()
	if c.has(" needspinning=") {
		s.NeedSpinning = c.int32()
	}
	c.lit(" idlethreads=")
	s.IdleThreads = c.int32()
	c.lit(" runqueue=")
	s.RunQueue = c.int32()
	if c.has(" gcwaiting=") {
		s.Detail = true
		s.GCWaiting = c.flag()
		c.lit(" nmidlelocked=")
		s.IdleLocked = c.int32()
		c.lit(" stopwait=")
		s.StopWait = c.int32()
		c.lit(" sysmonwait=")
		s.SysmonWait = c.flag()
		return true
	}
	s.parseLists(c)
	return true
}

// parseLists reads "[0 0]" up to Go 1.24, "[ 0 0 ] schedticks=[ 1 2 ]" since.
func (s *SchedSample) parseLists(c *cursor) {
	c.lit(" [")
	spaced := c.has(" ")
	for !c.bad && len(s.Local) < maxProcs {
		s.Local = append(s.Local, c.int32())
		if !c.has(" ") || c.i < len(c.b) && c.b[c.i] == ']' {
			break
		}
	}
	c.lit("]")
	if !spaced {
		return
	}
	c.lit(" schedticks=[ ")
	for c.digit() && len(s.Ticks) < maxProcs {
		s.Ticks = append(s.Ticks, c.int())
		c.lit(" ")
	}
	c.lit("]")
}

// parseDetail reads one of the indented lines and attaches it. It returns
// whether the text looks like one.
func (s *SchedSample) parseDetail(c *cursor, names *interner) (near bool) {
	c.lit("  ")
	switch {
	case c.has("P"):
		return s.parseProc(c)
	case c.has("M"):
		return s.parseThread(c, names)
	}
	c.lit("G")
	return s.parseGoroutine(c, names)
}

func (s *SchedSample) parseProc(c *cursor) (near bool) {
	var p ProcDetail
	p.ID = c.int()
	c.lit(": status=")
	near = !c.bad
	p.Status = c.int32()
	c.lit(" schedtick=")
	p.SchedTick = c.int()
	c.lit(" syscalltick=")
	p.SyscallTick = c.int()
	c.lit(" m=")
	p.M = c.id()
	c.lit(" runqsize=")
	p.RunQueue = c.int32()
	c.lit(" gfreecnt=")
	p.FreeGs = c.int32()
	if c.has(" timerslen=") {
		p.Timers = c.int32()
	}
	if c.done() && len(s.Ps) < maxDetail {
		s.Ps = append(s.Ps, p)
		s.Local = append(s.Local, p.RunQueue)
		s.Ticks = append(s.Ticks, p.SchedTick)
	}
	return near
}

func (s *SchedSample) parseThread(c *cursor, names *interner) (near bool) {
	var m ThreadDetail
	m.ID = c.int()
	c.lit(": p=")
	near = !c.bad
	m.P = c.id()
	c.lit(" curg=")
	m.CurG = c.id()
	c.lit(" mallocing=")
	m.Mallocing = c.int32()
	c.lit(" throwing=")
	m.Throwing = c.int32()
	if c.has(" gcing=") {
		c.int() // Go 1.4
	} else {
		c.lit(" preemptoff=")
		// The reason may hold spaces ("GC worker init").
		if n := c.ahead(" locks="); n >= 0 {
			m.PreemptOff = names.get(c.b[c.i : c.i+n])
			c.i += n
		}
	}
	c.lit(" locks=")
	m.Locks = c.int32()
	c.lit(" dying=")
	m.Dying = c.int32()
	if c.has(" helpgc=") {
		c.int() // up to Go 1.11
	}
	c.lit(" spinning=")
	m.Spinning = c.flag()
	c.lit(" blocked=")
	m.Blocked = c.flag()
	c.lit(" lockedg=")
	m.LockedG = c.id()
	if c.done() && len(s.Ms) < maxDetail {
		s.Ms = append(s.Ms, m)
	}
	return near
}

func (s *SchedSample) parseGoroutine(c *cursor, names *interner) (near bool) {
	var g GoroutineDetail
	g.ID = c.int()
	c.lit(": status=")
	near = !c.bad
	g.Status = c.int32()
	c.lit("(")
	// The reason holds parentheses itself: "force gc (idle)".
	n := c.ahead(") m=")
	if n < 0 {
		c.bad = true
		return near
	}
	reason := c.b[c.i : c.i+n]
	c.i += n
	c.lit(") m=")
	g.M = c.id()
	c.lit(" lockedm=")
	g.LockedM = c.id()
	if c.done() && len(s.Gs) < maxDetail {
		g.Reason = names.get(reason)
		s.Gs = append(s.Gs, g)
	}
	return near
}
