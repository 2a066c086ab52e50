package godebug

// PacerForm tells the lines of gcpacertrace=1 apart.
type PacerForm uint8

// The forms of a pacer line.
const (
	// PacerStart is "pacer: assist ratio=…", printed when a cycle starts.
	PacerStart PacerForm = iota + 1
	// PacerEnd is printed when a cycle ends, since Go 1.18.
	PacerEnd
	// PacerEndOld is the same with the names of the old pacer (H_m_prev=…),
	// Go 1.5 to 1.17.
	PacerEndOld
	// PacerSweep is "pacer: sweep done at heap size …".
	PacerSweep
)

// Pacer is one line of gcpacertrace=1. Which fields are filled depends on
// Form. Sizes are in bytes; those of PacerStart and PacerSweep have MiB
// resolution.
type Pacer struct {
	Position
	Form PacerForm

	// AssistRatio is scan work per allocated byte, Scannable the heap to
	// scan, HeapStart and Goal where the cycle starts and should end, and
	// the workers those dedicated and the fraction of one more. PacerStart.
	AssistRatio        float64
	Scannable          int64
	DedicatedWorkers   int64
	FractionalWorkers  float64
	HeapStart, HeapEnd int64 // PacerStart (HeapStart), PacerEnd and PacerEndOld
	Goal               int64 // PacerStart and PacerEndOld

	// Utilisation and TargetUtilisation are shares of GOMAXPROCS, 1 being
	// the whole. PacerEnd and PacerEndOld.
	Utilisation, TargetUtilisation float64
	// HeapWork, StackWork and GlobalsWork are scanned bytes and ExpectedWork
	// their forecast; PacerEndOld has only HeapWork. GoalMiss is the heap at
	// the end minus the goal, ConsMark the cost of allocation over that of
	// marking. PacerEnd.
	HeapWork, StackWork, GlobalsWork int64
	ExpectedWork, GoalMiss           int64
	ConsMark                         float64

	// Allocated and PagesSwept are those of the sweep; HeapEnd is the heap
	// then. PacerSweep.
	Allocated, PagesSwept int64
	PagesPerByte          float64
}

// Kind returns [KindPacer].
func (*Pacer) Kind() Kind { return KindPacer }

func (p *Pacer) parse(c *cursor) (near bool) {
	*p = Pacer{Position: p.Position}
	c.lit("pacer: ")
	near = !c.bad
	switch {
	case c.has("assist ratio="):
		p.parseStart(c)
	case c.has("sweep done at heap size "):
		p.parseSweep(c)
	case c.has("H_m_prev="):
		p.parseEndOld(c)
	case c.digit():
		p.parseEnd(c)
	default:
		c.bad = true
	}
	return near
}

func (p *Pacer) parseStart(c *cursor) {
	p.Form = PacerStart
	p.AssistRatio = c.float()
	c.lit(" (scan ")
	p.Scannable = c.mega()
	c.lit(" MB in ")
	p.HeapStart = c.mega()
	c.arrow()
	p.Goal = c.mega()
	c.lit(" MB) workers=")
	p.DedicatedWorkers = c.int()
	c.lit("+")
	p.FractionalWorkers = c.float()
}

func (p *Pacer) parseSweep(c *cursor) {
	p.Form = PacerSweep
	p.HeapEnd = c.mega()
	c.lit("MB; allocated ")
	p.Allocated = c.int() << 20        // may be negative by a race
	if !c.has("MB of spans; swept ") { // up to Go 1.8
		c.lit("MB during sweep; swept ")
	}
	p.PagesSwept = c.int()
	c.lit(" pages")
	if c.has(" at ") { // since Go 1.8
		p.PagesPerByte = c.float()
		c.lit(" pages/byte")
	}
}

func (p *Pacer) parseEnd(c *cursor) {
	p.Form = PacerEnd
	p.Utilisation = float64(c.int32()) / 100
	c.lit("% CPU (")
	p.TargetUtilisation = float64(c.int32()) / 100
	c.lit(" exp.) for ")
	p.HeapWork = c.int()
	c.lit("+")
	p.StackWork = c.int()
	c.lit("+")
	p.GlobalsWork = c.int()
	c.lit(" B work (")
	p.ExpectedWork = c.int()
	c.lit(" B exp.) in ")
	p.HeapStart = c.int()
	c.lit(" B ")
	c.arrow()
	c.lit(" ")
	p.HeapEnd = c.int()
	c.lit(" B (∆goal ")
	p.GoalMiss = c.int()
	c.lit(", cons/mark ")
	p.ConsMark = c.float()
	c.lit(")")
}

func (p *Pacer) parseEndOld(c *cursor) {
	p.Form = PacerEndOld
	c.int() // H_m_prev: live heap of the cycle before
	c.lit(" h_t=")
	c.float()
	c.lit(" H_T=")
	p.HeapStart = c.int()
	c.lit(" h_a=")
	c.float()
	c.lit(" H_a=")
	p.HeapEnd = c.int()
	c.lit(" h_g=")
	c.float()
	c.lit(" H_g=")
	p.Goal = c.int()
	c.lit(" u_a=")
	p.Utilisation = c.float()
	c.lit(" u_g=")
	p.TargetUtilisation = c.float()
	c.lit(" W_a=")
	p.HeapWork = c.int()
	c.lit(" goalΔ=")
	c.float()
	c.lit(" actualΔ=")
	c.float()
	c.lit(" u_a/u_g=")
	c.float()
}
