package program

import "encoding/binary"

// Machine is a thread with what the runtime knows of it: an m.
type Machine struct {
	Addr   uint64 // of the m
	ID     int64  // as the runtime numbers it
	Thread int64  // as the kernel does
	// Goroutine is the number of the one that it runs, 0 for none.
	Goroutine uint64
	// Dying tells that it was ending the program: it has panicked or thrown.
	Dying bool

	g0, signal, cur, clockSP, clockPC uint64
}

// machines are the threads that the runtime knows.
type machines struct {
	s      *snapshot
	all    []Machine      // the latest first
	byAddr map[uint64]int // of all
}

// maxMachines bounds what is believed of a list that was read.
const maxMachines = 1 << 20

// read follows the list of all m. One that cannot be read ends it.
func (ms *machines) read() error {
	s := ms.s
	if s.l.allm == 0 {
		return nil
	}
	x := &s.l.machine
	buf := make([]byte, x.size)
	at, err := s.u64(s.l.allm)
	if err != nil {
		return err
	}
	for at != 0 && len(ms.all) < maxMachines {
		if _, again := ms.byAddr[at]; again || s.mem.Read(at, buf) != nil {
			break
		}
		ms.byAddr[at] = len(ms.all)
		ms.all = append(ms.all, ms.parse(at, buf))
		at = binary.LittleEndian.Uint64(buf[x.next:])
	}
	return nil
}

// parse takes an m apart.
func (ms *machines) parse(at uint64, buf []byte) Machine {
	x := &ms.s.l.machine
	word := func(off int) uint64 { return binary.LittleEndian.Uint64(buf[off:]) }
	m := Machine{
		Addr: at, ID: int64(word(x.id)), Thread: int64(word(x.thread)), Dying: binary.LittleEndian.Uint32(buf[x.dying:]) != 0,
		g0: word(x.g0), signal: word(x.signal), cur: word(x.cur), clockSP: word(x.clockSP), clockPC: word(x.clockPC),
	}
	if o, ok := ms.s.g(m.cur); ok {
		m.Goroutine = ms.s.word(&o, ms.s.l.goid)
	}
	return m
}

// at reads the m at an address.
func (ms *machines) at(addr uint64) (Machine, bool) {
	if i, ok := ms.byAddr[addr]; ok {
		return ms.all[i], true
	}
	buf := make([]byte, ms.s.l.machine.size)
	if addr == 0 || ms.s.mem.Read(addr, buf) != nil {
		return Machine{}, false
	}
	return ms.parse(addr, buf), true
}
