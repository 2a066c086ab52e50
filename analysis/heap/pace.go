package heap

import "fmt"

// pace tells how far a pass over many objects is, and whether to go on: whoever
// asked may have left.
type pace struct {
	step     func(done float64) error
	from, to float64 // of the whole work
	all, n   int64   // objects, and those that are done
	err      error   // that step has given: the rest is to be left out
}

// stride is how many objects are looked at between two steps: some milliseconds'
// worth.
const stride = 1 << 14

// budget is what reading a heap may take, and who is told how far it is.
type budget struct {
	max, taken int64 // bytes of the tables
	step       func(done float64) error
}

// take notes that tables of n bytes are about to be made.
func (b *budget) take(n int64, what string) error {
	if n < 0 || n > b.max-b.taken {
		return fmt.Errorf("%w: %s would take %d MB more than the %d MB that are allowed", ErrNotReadable, what, (n+b.taken-b.max)>>20, b.max>>20)
	}
	b.taken += n
	return nil
}

// pace begins a pass over so many objects.
func (b *budget) pace(from, to float64, all int64) *pace {
	p := &pace{step: b.step, from: from, to: to, all: max(all, 1)}
	p.tell()
	return p
}

func (p *pace) tell() {
	if p.step != nil && p.err == nil {
		p.err = p.step(p.from + (p.to-p.from)*min(1, float64(p.n)/float64(p.all)))
	}
}

// next is called for each object; false ends the pass.
func (p *pace) next() bool {
	if p.n++; p.n&(stride-1) == 0 {
		p.tell()
	}
	return p.err == nil
}
