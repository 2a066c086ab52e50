package profile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"loupe/format/profile/internal/perfdata"
)

// decodePerfData reads a perf.data file. It becomes what the output of perf script
// for it becomes, but that user code has addresses and mappings instead of names,
// which whoever has the binaries can look up, and that all calls within the kernel
// are one frame: the file does not say what they are called.
func decodePerfData(data []byte, opt Options) (*Profile, error) {
	limit := opt.MaxBytes
	if limit <= 0 || limit > math.MaxUint32 {
		limit = math.MaxUint32
	}
	f, err := perfdata.Open(data, limit)
	if errors.Is(err, perfdata.ErrOther) {
		return nil, errOther
	}
	if err != nil {
		return nil, err
	}
	r := perfDataReader{
		b: newBuilder(ValueType{"samples", "count"}, ValueType{"period", "count"}), f: f,
		mappings: map[*perfdata.Mapping]uint32{}, byMapping: map[mappedAddress]uint32{}, events: map[int]string{}, roots: map[uint32]int{},
	}
	if err := f.Samples(r.sample); err != nil {
		return nil, err
	}
	return r.finish()
}

// mappedAddress is an address, and in what: processes have different things at
// one address.
type mappedAddress struct {
	mapping uint32
	addr    uint64
}

type perfDataReader struct {
	b           *builder
	f           *perfdata.File
	mappings    map[*perfdata.Mapping]uint32
	byMapping   map[mappedAddress]uint32
	kernel      uint32 // the location of the kernel + 1
	events      map[int]string
	each        perfEvents
	roots       map[uint32]int // how many stacks begin in a mapping
	first, last uint64
	wire        []byte
	stack       []uint32
}

func (r *perfDataReader) sample(s *perfdata.Sample) error {
	b := r.b
	event, ok := r.events[s.Event]
	if !ok {
		event = perfEvent(eventName(&r.f.Events[s.Event]))
		r.events[s.Event] = event
	}
	wire := r.wire[:0]
	if s.Comm != "" {
		wire = b.label(wire, "comm", []byte(s.Comm))
	}
	wire = b.label(wire, "pid", strconv.AppendInt(nil, int64(s.PID), 10))
	wire = b.label(wire, "tid", strconv.AppendInt(nil, int64(s.TID), 10))
	if s.CPU >= 0 {
		wire = b.label(wire, "cpu", strconv.AppendInt(nil, int64(s.CPU), 10))
	}
	wire = b.label(wire, "event", []byte(event))
	r.wire = wire
	if s.Time != 0 {
		if r.first == 0 {
			r.first = s.Time
		}
		r.last = s.Time // they come in its order
	}
	r.stack = r.stack[:0]
	for _, fr := range s.Stack {
		id := r.location(fr)
		if n := len(r.stack); fr.Kernel && n > 0 && r.stack[n-1] == id {
			continue
		}
		r.stack = append(r.stack, id)
	}
	if n := len(s.Stack); n > 0 && s.Stack[n-1].Map != nil {
		r.roots[r.mappings[s.Stack[n-1].Map]]++
	}
	if s.Period > math.MaxInt64 {
		return fmt.Errorf("a sample stands for %d events", s.Period)
	}
	at := r.each.of(event)
	b.add(r.stack, wire, 1, int64(s.Period))
	r.each.added(b, at)
	return nil
}

// location returns that of a frame.
func (r *perfDataReader) location(fr perfdata.Frame) uint32 {
	b := r.b
	if fr.Kernel {
		if r.kernel == 0 {
			at := builtLocation{mapping: b.module([]byte(kernel)), lines: []builtLine{b.frame([]byte(kernel), nil, 0)}}
			r.kernel = b.newLocation(at) + 1
		}
		return r.kernel - 1
	}
	addr := fr.Addr
	if !fr.Exact {
		addr-- // the call, not what it returns to
	}
	key := mappedAddress{addr: addr}
	if fr.Map != nil {
		id, ok := r.mappings[fr.Map]
		if !ok {
			m := Mapping{Start: fr.Map.Start, Limit: fr.Map.Limit, Offset: fr.Map.Offset, File: fr.Map.File, BuildID: hex.EncodeToString(fr.Map.BuildID)}
			b.mappings = append(b.mappings, m)
			id = uint32(len(b.mappings))
			r.mappings[fr.Map] = id
		}
		key.mapping = id
	}
	id, ok := r.byMapping[key]
	if !ok {
		id = b.newLocation(builtLocation{address: addr, mapping: key.mapping})
		r.byMapping[key] = id
	}
	return id
}

// mainFirst exchanges mappings so that the program in which most stacks begin is
// the first one.
func (r *perfDataReader) mainFirst() {
	b, main := r.b, uint32(0)
	for id, n := range r.roots {
		if best := r.roots[main]; n > best || n == best && id < main {
			main = id
		}
	}
	if main <= 1 {
		return
	}
	b.mappings[0], b.mappings[main-1] = b.mappings[main-1], b.mappings[0]
	for i := range b.locations {
		switch l := &b.locations[i]; l.mapping {
		case 1:
			l.mapping = main
		case main:
			l.mapping = 1
		}
	}
}

// finish names the columns by the events, and says how the file was made.
func (r *perfDataReader) finish() (*Profile, error) {
	b, f := r.b, r.f
	r.mainFirst()
	copies := false
	for i := range r.events {
		copies = copies || f.Events[i].CopiesStacks
	}
	shown := ""
	switch len(r.each.names) {
	case 0:
	case 1:
		b.types[1] = perfType(r.each.names[0])
	default:
		shown = r.each.split(b, true)
	}
	b.periodType, b.period = b.types[len(b.types)-1], 0
	b.duration = time.Duration(min(r.last-r.first, math.MaxInt64))
	p, err := b.profile()
	if err != nil {
		return nil, err
	}
	p.DefaultSampleType = shown
	if len(f.Command) > 0 {
		p.Comments = append(p.Comments, strings.Join(f.Command, " "))
	}
	if f.Lost > 0 {
		p.Comments = append(p.Comments, fmt.Sprintf("the kernel had no room for %d samples", f.Lost))
	}
	if f.Cut {
		p.Comments = append(p.Comments, "the file is cut: what follows its last whole record is missing")
	}
	if copies {
		p.Comments = append(p.Comments, "recorded with --call-graph dwarf: stacks of user code were copied, and are not unwound here (perf script does that)")
	}
	return p, nil
}

// The events that have no name in the file, by type and number (perf_event.h).
var (
	hardwareEvents = []string{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"}
	softwareEvents = []string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output"}
)

func eventName(e *perfdata.Event) string {
	lists := [][]string{hardwareEvents, softwareEvents}
	switch {
	case e.Name != "":
		return e.Name
	case int(e.Type) < len(lists) && e.Config < uint64(len(lists[e.Type])):
		return lists[e.Type][e.Config]
	}
	return fmt.Sprintf("event-%d-%#x", e.Type, e.Config)
}
