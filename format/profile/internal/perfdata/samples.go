package perfdata

import (
	"cmp"
	"fmt"
	"slices"
)

// Mapping is a part of a file in the memory of a process.
type Mapping struct {
	Start, Limit, Offset uint64
	File                 string
	BuildID              []byte
}

// Frame is an instruction of a call chain.
type Frame struct {
	Addr   uint64
	Kernel bool
	// Exact tells that the address is where the thread was, and not where a call
	// returns to: of the leaf, and of the first frame below the kernel, which has
	// interrupted it there.
	Exact bool
	// Map is what the address is in; nil in the kernel, and where nobody knows.
	Map *Mapping
}

// Sample is one sample. It is valid until the next one.
type Sample struct {
	Event         int // position in Events
	PID, TID, CPU int // CPU is -1 when it was not recorded
	Comm          string
	Time          uint64 // nanoseconds of some clock
	Period        uint64
	// Stack is the call chain, leaf first.
	Stack []Frame
}

// The bits of a sample type (enum perf_event_sample_format).
const (
	hasIP, hasTID, hasTime, hasAddr, hasRead    = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4
	hasChain, hasID, hasCPU, hasPeriod, hasStre = 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 9
	hasIdentifier                               = 1 << 16
)

// moment is a record with when it was.
type moment struct {
	time  uint64
	kind  uint32
	misc  uint16
	event int
	body  []byte
}

// Samples visits all samples in the order of time.
func (f *File) Samples(visit func(*Sample) error) error {
	var all []moment
	err := f.records(func(kind uint32, misc uint16, body []byte) error {
		switch kind {
		case recordAttr:
			if len(body) >= attrBytes {
				if n := int(le.Uint32(body[4:])); n >= attrBytes && n <= len(body) {
					f.addEvent(body[:n], body[n:])
				}
			}
		case recordFeature:
			if len(body) >= 8 {
				f.feature(le.Uint64(body), body[8:])
			}
		case recordBuildID:
			f.buildID(misc, body)
		case recordMmap, recordMmap2, recordComm, recordFork, recordLost, recordSample:
			m := moment{kind: kind, misc: misc, body: body}
			if len(f.Events) == 0 {
				return fmt.Errorf("there is a record of kind %d before any event", kind)
			}
			if kind == recordSample {
				m.event, m.time = f.eventOf(body)
			} else {
				m.body, m.time = f.untimed(kind, body)
			}
			all = append(all, m)
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(all, func(x, y moment) int { return cmp.Compare(x.time, y.time) })
	w := world{maps: map[int][]*Mapping{}, comms: map[int]string{}, kept: map[string]*Mapping{}, f: f}
	var s Sample
	for _, m := range all {
		if m.kind != recordSample {
			w.take(m)
			continue
		}
		if w.sample(&s, m) {
			if err := visit(&s); err != nil {
				return err
			}
		}
	}
	return nil
}

// eventOf finds the event of a sample by its id, and its time.
func (f *File) eventOf(body []byte) (event int, time uint64) {
	at := 0
	place := func(kind uint64, bits ...uint64) (off int, ok bool) {
		off = at
		for _, b := range bits {
			if b == kind {
				return off, f.Events[event].SampleType&kind != 0
			}
			if f.Events[event].SampleType&b != 0 {
				off += 8
			}
		}
		return 0, false
	}
	order := []uint64{hasIdentifier, hasIP, hasTID, hasTime, hasAddr, hasID}
	word := func(kind uint64) (uint64, bool) {
		off, ok := place(kind, order...)
		if !ok || off+8 > len(body) {
			return 0, false
		}
		return le.Uint64(body[off:]), true
	}
	if len(f.Events) > 1 {
		id, ok := word(hasIdentifier)
		if !ok {
			id, ok = word(hasID)
		}
		if e, known := f.byID[id]; ok && known {
			event = e
		}
	}
	time, _ = word(hasTime)
	return event, time
}

// untimed takes the identification off the end of a record that is no sample,
// and returns the time that stands there.
func (f *File) untimed(kind uint32, body []byte) ([]byte, uint64) {
	e := &f.Events[0]
	if !e.SampleIDAll {
		return body, 0
	}
	size, at := 0, -1
	for _, bit := range []uint64{hasTID, hasTime, hasID, hasStre, hasCPU, hasIdentifier} {
		if e.SampleType&bit == 0 {
			continue
		}
		if bit == hasTime {
			at = size
		}
		size += 8
	}
	if size > len(body) {
		return body, 0
	}
	rest, id := body[:len(body)-size], body[len(body)-size:]
	if at < 0 {
		return rest, 0
	}
	return rest, le.Uint64(id[at:])
}

// world is who runs what at some moment.
type world struct {
	f     *File
	maps  map[int][]*Mapping // by process, by address
	comms map[int]string     // by thread
	kept  map[string]*Mapping
	// cloned counts the mappings that children have from their parents.
	cloned int
}

// maxMaps is how many mappings a process may have (vm.max_map_count), maxCloned
// how many all children may inherit.
const (
	maxMaps   = 1 << 16
	maxCloned = 1 << 24
)

// take changes the world by a record.
func (w *world) take(m moment) {
	b := m.body
	switch {
	case m.kind == recordComm && len(b) >= 8:
		const exec = 1 << 13
		pid, tid := int(int32(le.Uint32(b))), int(int32(le.Uint32(b[4:])))
		w.comms[tid] = cstring(b[8:])
		if m.misc&exec != 0 {
			delete(w.maps, pid)
		}
	case m.kind == recordFork && len(b) >= 16:
		pid, parent := int(int32(le.Uint32(b))), int(int32(le.Uint32(b[4:])))
		tid, creator := int(int32(le.Uint32(b[8:]))), int(int32(le.Uint32(b[12:])))
		if comm, ok := w.comms[creator]; ok {
			w.comms[tid] = comm
		}
		if n := len(w.maps[parent]); pid != parent && w.cloned+n <= maxCloned {
			w.cloned += n
			w.maps[pid] = slices.Clone(w.maps[parent])
		}
	case m.kind == recordLost && len(b) >= 16:
		w.f.Lost += le.Uint64(b[8:])
	case m.kind == recordMmap && len(b) >= 32:
		w.mapped(b, cstring(b[32:]), nil)
	case m.kind == recordMmap2 && len(b) >= 64:
		const hasBuildID = 1 << 14
		var id []byte
		if n := int(b[32]); m.misc&hasBuildID != 0 && n <= 20 {
			id = b[36 : 36+n]
		}
		w.mapped(b, cstring(b[64:]), id)
	}
}

// mapped adds a mapping to those of its process. What it covers is gone, but for
// what reaches out of it.
func (w *world) mapped(b []byte, file string, id []byte) {
	pid := int(int32(le.Uint32(b)))
	start, size, offset := le.Uint64(b[8:]), le.Uint64(b[16:]), le.Uint64(b[24:])
	if pid < 0 || size == 0 || start+size < start || len(w.maps[pid]) >= maxMaps {
		return // the kernel's own, or nonsense
	}
	if id == nil {
		id = w.f.BuildIDs[file]
	}
	key := fmt.Sprintf("%x %x %x %x %s", start, size, offset, id, file)
	m, ok := w.kept[key]
	if !ok {
		m = &Mapping{start, start + size, offset, file, id}
		w.kept[key] = m
	}
	list := w.maps[pid]
	from, _ := slices.BinarySearchFunc(list, start, func(x *Mapping, a uint64) int { return cmp.Compare(x.Limit, a+1) })
	to := from
	var parts []*Mapping
	for ; to < len(list) && list[to].Start < m.Limit; to++ {
		if old := list[to]; old.Start < m.Start {
			parts = append(parts, &Mapping{old.Start, m.Start, old.Offset, old.File, old.BuildID})
		}
	}
	parts = append(parts, m)
	if to > from {
		if old := list[to-1]; old.Limit > m.Limit {
			parts = append(parts, &Mapping{m.Limit, old.Limit, old.Offset + m.Limit - old.Start, old.File, old.BuildID})
		}
	}
	w.maps[pid] = slices.Replace(list, from, to, parts...)
}

// find returns the mapping that an address of a process is in.
func (w *world) find(pid int, addr uint64) *Mapping {
	list := w.maps[pid]
	i, _ := slices.BinarySearchFunc(list, addr, func(x *Mapping, a uint64) int { return cmp.Compare(x.Limit, a+1) })
	if i < len(list) && list[i].Start <= addr {
		return list[i]
	}
	return nil
}

// contexts are no addresses in a call chain but tell where what follows ran
// (enum perf_callchain_context).
const (
	contextMax    = ^uint64(0) - 4094
	contextKernel = ^uint64(0) - 127
	contextUser   = ^uint64(0) - 511
)

// sample reads a sample; one that is cut is left out.
func (w *world) sample(s *Sample, m moment) bool {
	e := &w.f.Events[m.event]
	b, whole := m.body, true
	word := func(bit uint64) uint64 {
		if e.SampleType&bit == 0 {
			return 0
		}
		if len(b) < 8 {
			whole = false
			return 0
		}
		v := le.Uint64(b)
		b = b[8:]
		return v
	}
	*s = Sample{Event: m.event, CPU: -1, Period: 1, Time: m.time, Stack: s.Stack[:0]}
	word(hasIdentifier)
	ip := word(hasIP)
	ids := word(hasTID)
	s.PID, s.TID = int(int32(ids)), int(int32(ids>>32))
	for _, bit := range []uint64{hasTime, hasAddr, hasID, hasStre} {
		word(bit)
	}
	if cpu := word(hasCPU); e.SampleType&hasCPU != 0 {
		s.CPU = int(int32(cpu))
	}
	if period := word(hasPeriod); e.SampleType&hasPeriod != 0 {
		s.Period = period
	} else if !e.Freq && e.Period > 0 {
		s.Period = e.Period
	}
	if e.SampleType&hasRead != 0 {
		b, whole = skipRead(b, e.ReadFormat, whole)
	}
	s.Comm = w.comms[s.TID]
	const modeMask, modeUser = 7, 2
	kernel := m.misc&modeMask != modeUser && m.misc&modeMask != 0
	if e.SampleType&hasChain == 0 {
		if e.SampleType&hasIP != 0 {
			s.Stack = append(s.Stack, w.frame(s.PID, ip, true, kernel))
		}
		return whole
	}
	n := word(hasChain)
	if !whole || n > uint64(len(b)/8) {
		return false
	}
	for i := range n {
		addr := le.Uint64(b[8*i:])
		switch {
		case addr == contextUser:
			kernel = false
		case addr >= contextMax:
			kernel = addr == contextKernel || kernel
		default:
			n := len(s.Stack)
			s.Stack = append(s.Stack, w.frame(s.PID, addr, n == 0 || s.Stack[n-1].Kernel, kernel))
		}
	}
	if n == 0 && e.SampleType&hasIP != 0 {
		s.Stack = append(s.Stack, w.frame(s.PID, ip, true, kernel))
	}
	return true
}

// frame looks up where an address, or the call before it, is.
func (w *world) frame(pid int, addr uint64, exact, kernel bool) Frame {
	if kernel {
		return Frame{Addr: addr, Kernel: true, Exact: exact}
	}
	at := addr
	if !exact {
		at--
	}
	return Frame{Addr: addr, Exact: exact, Map: w.find(pid, at)}
}

// skipRead skips the counters that a sample may hold.
func skipRead(b []byte, format uint64, whole bool) ([]byte, bool) {
	const enabled, running, id, group, lost = 1, 2, 4, 8, 16
	extra, each := 0, 1
	for _, bit := range []uint64{enabled, running} {
		if format&bit != 0 {
			extra++
		}
	}
	for _, bit := range []uint64{id, lost} {
		if format&bit != 0 {
			each++
		}
	}
	n := uint64(1)
	if format&group != 0 {
		if len(b) < 8 {
			return nil, false
		}
		n, b = le.Uint64(b), b[8:]
	}
	if n > uint64(len(b)/8) || (n*uint64(each)+uint64(extra)) > uint64(len(b)/8) {
		return nil, false
	}
	return b[8*(n*uint64(each)+uint64(extra)):], whole
}
