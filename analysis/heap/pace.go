package heap

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

// pace begins a pass over so many objects.
func (h *Heap) pace(from, to float64, all int64) *pace {
	p := &pace{step: h.opt.Step, from: from, to: to, all: max(all, 1)}
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
