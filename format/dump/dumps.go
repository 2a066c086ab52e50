package dump

import (
	"hash/maphash"
	"strconv"
	"strings"
)

// dumps tells the dumps of a file apart.
type dumps struct {
	f     *File
	open  bool // the last one takes more goroutines
	crash bool // it prints goroutines again
	seen  idSet
	// merged takes what is said of a dump that is one too many.
	merged Dump
}

// last returns the dump that was begun last.
func (s *dumps) last() *Dump { return &s.f.Dumps[len(s.f.Dumps)-1] }

// begin starts a dump.
func (s *dumps) begin(k Kind, at int64, w *wrapping) *Dump {
	s.end()
	s.open, s.crash = true, false
	s.seen.reset()
	n := len(s.f.IDs)
	if len(s.f.Dumps) >= maxDumps {
		s.f.Folded.Dumps++
		s.merged = Dump{Kind: k}
		return &s.merged
	}
	s.f.Dumps = append(s.f.Dumps, Dump{Kind: k, First: n, End: n, Offset: at, Prefix: w.wrap + w.env.String()})
	s.f.envs = append(s.f.envs, w.env)
	return s.last()
}

// end ends the last dump.
func (s *dumps) end() {
	if !s.open {
		return
	}
	s.open = false
	d := s.last()
	d.End = len(s.f.IDs)
	if s.f.Folded.Dumps > 0 {
		return // it is several
	}
	if d.Kind != Goroutines && d.Kind != Profile && !s.crash {
		doubt(s.f, d)
	}
}

// doubt marks goroutines that may be part of the text of a panic. The runtime
// prints the goroutine that has failed first, and no other one that is running
// with its stack; where there are several, those before the last can only have
// been in the message.
func doubt(f *File, d *Dump) {
	running := -1
	for g := d.End - 1; g >= d.First; g-- {
		if f.State(g).Name != "running" || f.Flags[g]&(System|Unavailable|Again) != 0 {
			continue
		}
		if running < 0 {
			running = g
			continue
		}
		for i := d.First; i < running; i++ {
			f.Flags[i] |= Doubtful
		}
		return
	}
}

// thread adds a thread to the dump that is open, if there is one.
func (s *dumps) thread(t Thread) {
	switch {
	case !s.open:
	case len(s.last().Threads) >= maxThreads:
		s.f.Folded.Threads++
	default:
		s.last().Threads = append(s.last().Threads, t)
	}
}

// register adds a line such as "rax    0xca" to the last thread of the open dump,
// or tells that there is no such line or dump.
func (s *dumps) register(l []byte) bool {
	if !s.open || !isRegister(l) {
		return false
	}
	name, value, _ := strings.Cut(string(l), " ")
	v, err := strconv.ParseUint(strings.TrimSpace(value), 0, 64)
	if err != nil {
		return false
	}
	d := s.last()
	if len(d.Threads) == 0 {
		d.Threads = append(d.Threads, Thread{})
	}
	t := &d.Threads[len(d.Threads)-1]
	if len(t.Registers) < 128 {
		t.Registers = append(t.Registers, Register{strings.TrimSpace(name), v})
	}
	return true
}

// odd counts a line that was not understood.
func odd(f *File, l []byte, at int64) {
	f.Unrecognised++
	if len(f.Odd) < maxOdd {
		f.Odd = append(f.Odd, Line{f.Lines, at, string(l[:min(len(l), maxOddText)])})
	}
}

// idSet holds the numbers of the goroutines of a dump.
type idSet struct {
	seed  maphash.Seed
	key   uint64
	slots []uint64
	n     int
}

func (s *idSet) reset() {
	if clear(s.slots[:min(len(s.slots), 64)]); len(s.slots) > 64 {
		s.slots = nil // a file may have a million dumps of one goroutine
	}
	s.n = 0
	if s.key == 0 {
		s.key = maphash.Comparable(s.seed, 1) | 1
	}
}

// add tells whether the number is new.
func (s *idSet) add(id uint64) bool {
	if id == 0 {
		return true
	}
	if s.n*2 >= len(s.slots) {
		old := s.slots
		s.slots = make([]uint64, max(64, 2*len(old)))
		s.n = 0
		for _, v := range old {
			if v != 0 {
				s.add(v)
			}
		}
	}
	mask := uint64(len(s.slots) - 1)
	h := id * s.key
	h ^= h >> 32
	for i := h & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case 0:
			s.slots[i] = id
			s.n++
			return true
		case id:
			return false
		}
	}
}
