package godebug

// ScavengeForm tells the lines about returned memory apart.
type ScavengeForm uint8

// The forms of a scavenger line.
const (
	// ScvgReleased is "scvg0: 2 MB released", Go 1.4 to 1.13 under gctrace.
	ScvgReleased ScavengeForm = iota + 1
	// ScvgHeap is "scvg0: inuse: 26, idle: 23, sys: 50, …", of the same.
	ScvgHeap
	// ScavTotal is scavtrace=1 of Go 1.14 to 1.20.
	ScavTotal
	// ScavNow is scavtrace=1 of Go 1.21 and later.
	ScavNow
)

// Scavenge is one line about memory that the runtime returned to the
// operating system. Sizes are in bytes, with the resolution of the line: KiB,
// or MiB for scvg.
type Scavenge struct {
	Position
	Form ScavengeForm
	// N is the number after "scvg" (-1 for debug.FreeOSMemory and when Go
	// 1.13 prints none) or the extra number of Go 1.15 to 1.18.
	N int64
	// Background and Eager are bytes returned since the line before, by the
	// background scavenger and by allocation. Before ScavNow the two are not
	// told apart and Eager is 0.
	Background, Eager int64
	// Released is what is returned to the system now (ScavNow, ScvgHeap), or
	// what the line calls total (ScavTotal).
	Released int64
	// InUse, HeapIdle, Sys and Consumed are those of ScvgHeap.
	InUse, HeapIdle, Sys, Consumed int64
	// Util is the share of retained heap in use, in percent.
	Util int
	// Forced means that the program called debug.FreeOSMemory.
	Forced bool
	// Reset means that the scavenger's controller was reset.
	Reset bool
}

// Kind returns [KindScavenge].
func (*Scavenge) Kind() Kind { return KindScavenge }

// parse reads a scavtrace line.
func (s *Scavenge) parse(c *cursor) (near bool) {
	*s = Scavenge{Position: s.Position, Form: ScavTotal}
	c.lit("scav ")
	work := c.kilo()
	if c.has(" ") && c.digit() {
		s.N = work >> 10 // Go 1.15 to 1.18 print a number before the work
		work = c.kilo()
		c.has(" ")
	}
	s.Background = work
	c.lit("KiB work")
	near = !c.bad
	if c.has(" (bg), ") {
		s.Form = ScavNow
		s.Eager = c.kilo()
		c.lit(" KiB work (eager), ")
		s.Released = c.kilo()
		c.lit(" KiB now, ")
	} else {
		c.lit(", ")
		s.Released = c.kilo()
		c.lit(" KiB total, ")
	}
	s.Util = c.int32()
	c.lit("% util")
	s.Forced = c.has(" (forced)")
	s.Reset = c.has(" [controller reset]")
	return near
}

// parseScvg reads a scvg line.
func (s *Scavenge) parseScvg(c *cursor) (near bool) {
	*s = Scavenge{Position: s.Position, Form: ScvgReleased, N: -1}
	s.Forced = c.has("forced ")
	c.lit("scvg")
	if c.digit() || c.i < len(c.b) && c.b[c.i] == '-' {
		s.N = c.int()
		s.Forced = s.N == -1
	}
	c.lit(": ")
	if !c.has("inuse: ") {
		near = c.digit()
		s.Background = c.mega()
		c.lit(" MB released")
		return near
	}
	s.Form = ScvgHeap
	s.InUse = c.mega()
	c.lit(", idle: ")
	s.HeapIdle = c.mega()
	c.lit(", sys: ")
	s.Sys = c.mega()
	c.lit(", released: ")
	s.Released = c.mega()
	c.lit(", consumed: ")
	s.Consumed = c.mega()
	c.lit(" (MB)")
	return true
}
