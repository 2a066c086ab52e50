package exectrace

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// Join makes one trace of several of the same process, such as those that a flight
// recorder has cut or that were rotated by time. They may come in any order and share
// generations, which are read once. Where one does not go on from the one before, all
// states are Undetermined again ([Event.Reset]).
//
// That they are of one process is seen by what they say: the format and the clock, the
// numbers of generations, which go on with the time, the addresses of functions, the
// threads, the numbers of new goroutines, and since Go 1.25 the time of day. The error says what
// speaks against it; labels are what it calls the traces.
//
// The traces must stay open as long as the result is in use.
func Join(traces []*Trace, labels []string, opts Options) (*Trace, error) {
	var parts []*joinPart
	for i, t := range traces {
		p, err := newJoinPart(t, labels[i])
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b *joinPart) int { return cmp.Compare(a.first().minTime, b.first().minTime) })
	j := &joined{}
	j.add(parts[0].t, 0, headerSize)
	var anew []int64
	last := parts[0].first()
	for i, p := range parts {
		if i > 0 {
			if err := p.follows(parts[i-1]); err != nil {
				return nil, fmt.Errorf("cannot show %s and %s as one trace: %w: look at each", parts[i-1].label, p.label, err)
			}
		}
		goesOn := false
		for n, g := range p.t.index.gens {
			if i > 0 && g.number <= last.number {
				goesOn = goesOn || g.number == last.number && g.minTime == last.minTime
				continue // the one before has it
			}
			if i > 0 && !goesOn && (n == 0 || p.t.index.gens[n-1].number <= last.number) {
				anew = append(anew, j.size)
			}
			j.add(p.t, g.start, g.bytes)
			last, goesOn = g, true
		}
	}
	t, err := OpenReaderAt(j, j.size, opts)
	if err != nil {
		return nil, err
	}
	for _, g := range t.index.gens {
		g.anew = slices.Contains(anew, g.start)
	}
	return t, nil
}

// Gaps returns how often one of the traces that [Join] has put together does not go on
// from the one before: between them is time that none of them has seen.
func (t *Trace) Gaps() (n int) {
	for _, g := range t.index.gens {
		if g.anew {
			n++
		}
	}
	return n
}

// joinPart is a trace to be joined, and what tells of which process it is.
type joinPart struct {
	t       *Trace
	label   string
	funcs   map[uint64]string // by address
	newest  GoID              // the highest number of a goroutine that is made in its first generation
	clock   *ClockSnapshot
	perUnit float64 // ns per unit of the clock
	known   []ThreadID
}

func (p *joinPart) first() *generation { return p.t.index.gens[0] }
func (p *joinPart) final() *generation { return p.t.index.gens[len(p.t.index.gens)-1] }

// newJoinPart reads the first generation of a trace.
func newJoinPart(t *Trace, label string) (*joinPart, error) {
	p := &joinPart{t: t, label: label, funcs: map[uint64]string{}, newest: NoGoroutine}
	if t.Version < 22 {
		return nil, fmt.Errorf("%s is a trace of format %v, which does not say what of its process it is (Go 1.22 and later do): look at it by itself", label, t.Version)
	}
	if len(t.index.gens) == 0 {
		return nil, fmt.Errorf("%s has no generation: the trace ends before its first one was written", label)
	}
	r := t.Reader()
	var pcs []uint64
	for syncs := 0; r.Next(); {
		e := r.Event()
		if e.Kind == KindSync {
			if syncs++; syncs == 2 {
				break
			}
			p.clock, p.perUnit = r.Clock(), r.tables.clock.perUnit
		}
		if e.Kind == KindGoTransition && e.From == NotExist && e.Goroutine() > p.newest {
			p.newest = e.Goroutine()
		}
		if e.Stack != 0 && len(p.funcs) < maxJoinFuncs {
			pcs = r.PCs(pcs[:0])
			for i, f := range r.Stacks().Frames(e.Stack) {
				if i < len(pcs) {
					p.funcs[pcs[i]] = r.Stacks().Frame(f).Func
				}
			}
		}
	}
	return p, r.Err()
}

// maxJoinFuncs is how many functions are remembered of a trace.
const maxJoinFuncs = 10_000

const (
	// dayClockSlack is how much the time of day of a machine is put right between two traces.
	dayClockSlack = 2 * time.Second
	// goroutineSlack is by how much a goroutine may have a lower number than one that
	// was made before it: each P takes 16 at a time.
	goroutineSlack = 16 * 1024
)

// follows says why a trace cannot be a later one of the process of the other.
func (p *joinPart) follows(q *joinPart) error {
	a, b := q.final(), p.first()
	switch {
	case p.t.Version != q.t.Version:
		return fmt.Errorf("one is of format %v, the other of %v", q.t.Version, p.t.Version)
	case p.perUnit != q.perUnit && (p.perUnit > 1.01*q.perUnit || q.perUnit > 1.01*p.perUnit):
		return fmt.Errorf("their clocks do not run alike")
	case b.number <= a.number && !p.shares(q):
		return fmt.Errorf("the later one begins with generation %d and the one before has %d to %d, so they are of two processes", b.number, q.first().number, a.number)
	case b.number > a.number && b.minTime < a.maxTime:
		return fmt.Errorf("they overlap in time and share no generation")
	case p.newest != NoGoroutine && q.newest != NoGoroutine && p.newest+goroutineSlack < q.newest:
		return fmt.Errorf("the later one makes goroutine %d and the one before %d, so they are of two processes", p.newest, q.newest)
	}
	if len(p.threads()) >= fewThreads && len(q.threads()) >= fewThreads && !slices.ContainsFunc(p.threads(), func(id ThreadID) bool { return slices.Contains(q.threads(), id) }) {
		return fmt.Errorf("they have no thread in common, so they are of two processes")
	}
	if c, d := q.clock, p.clock; c != nil && d != nil {
		off := d.Wall.Sub(c.Wall) - d.Trace.Sub(c.Trace)
		if off.Abs() > dayClockSlack {
			return fmt.Errorf("between them %v have gone by on the clock of the trace and %v by the time of day", d.Trace.Sub(c.Trace), d.Wall.Sub(c.Wall))
		}
	}
	common := false
	for pc, name := range p.funcs {
		other, ok := q.funcs[pc]
		if ok && other != name {
			return fmt.Errorf("at %#x is %s in one and %s in the other: they are of two programs", pc, other, name)
		}
		common = common || ok
	}
	if !common && len(p.funcs) > 0 && len(q.funcs) > 0 {
		return fmt.Errorf("they have no address of code in common: they are of two programs, or of two processes")
	}
	return nil
}

// fewThreads is how many threads must have written in each of two traces before none in
// common says something: in a short one a single thread may do all the work.
const fewThreads = 4

// threads are those that have written, by the numbers that the system gives them. A
// runtime keeps its threads, and two processes have none in common.
func (p *joinPart) threads() []ThreadID {
	if p.known == nil {
		for _, g := range p.t.index.gens {
			for i := range g.threads {
				if id := g.threads[i].id; id != NoThread {
					p.known = append(p.known, id)
				}
			}
		}
		slices.Sort(p.known)
		p.known = slices.Compact(p.known)
	}
	return p.known
}

// shares tells whether the first generation of a trace is in the other, too.
func (p *joinPart) shares(q *joinPart) bool {
	b := p.first()
	return slices.ContainsFunc(q.t.index.gens, func(g *generation) bool { return g.number == b.number && g.minTime == b.minTime })
}

// joined are pieces of traces, one after the other.
type joined struct {
	pieces []piece
	size   int64
}

type piece struct {
	t         *Trace
	from, len int64
	at        int64 // in the whole
}

func (j *joined) add(t *Trace, from, n int64) {
	j.pieces = append(j.pieces, piece{t, from, n, j.size})
	j.size += n
}

// ReadAt reads bytes of the whole.
func (j *joined) ReadAt(p []byte, off int64) (n int, err error) {
	i, _ := slices.BinarySearchFunc(j.pieces, off, func(x piece, off int64) int { return cmp.Compare(x.at+x.len-1, off) })
	for ; n < len(p) && i < len(j.pieces); i++ {
		x := &j.pieces[i]
		within := off + int64(n) - x.at
		want := min(int64(len(p)-n), x.len-within)
		m, err := x.t.ReadAt(p[n:n+int(want)], x.from+within)
		n += m
		if int64(m) < want {
			return n, cmp.Or(err, io.ErrUnexpectedEOF)
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
