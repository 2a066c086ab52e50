package profile

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"loupe/value/protobuf"
	"loupe/value/stack"
)

// Merge adds profiles up: samples with the same stack and labels become one.
// The profiles must have the same sample types and the same period type, see
// [CommonTypes]; the error says where they differ. The result has the earliest
// time, the sum of the durations and the longest period. Locations, mappings
// and samples that add up to nothing are left out, so that Merge of a single
// profile makes it smaller.
func Merge(profiles ...*Profile) (*Profile, error) {
	var m Merger
	for _, p := range profiles {
		if err := m.Add(p); err != nil {
			return nil, err
		}
	}
	return m.Profile()
}

// Merger adds profiles up one after the other and keeps nothing of them but the
// sum. The zero Merger is ready for use.
type Merger struct {
	sum      *Profile
	nanos    int64 // time of the sum; 0 means unknown
	mappings map[mappingKey]int
	places   map[placeKey]int32 // the first location at a place
	frames   map[string]int     // all others there, by a key that says everything
	names    map[nameKey]uint32
	nameOf   []uint32 // by frame of the sum
	labels   map[string]LabelSet
	table    *labelTable
	strings  map[string]uint64

	rows   map[sampleKey]int32
	single []int32 // row by stack of the samples without labels, +1
	key    []byte
	ids    []stack.FrameID
}

// What makes two things the same, as google/pprof's Merge sees it.
type (
	mappingKey struct {
		size, offset  uint64
		buildIDOrFile string
	}
	placeKey struct {
		relative uint64 // to the mapping
		mapping  int32
	}
	nameKey struct {
		name, file string
		system     string
		same       bool // the system name is the name, and left out
		start      int
	}
	sampleKey struct {
		stack stack.ID
		set   LabelSet
	}
)

// moved is where the parts of one profile went.
type moved struct {
	p         *Profile
	mappings  []int // position in the sum, +1
	shift     []uint64
	frames    []stack.FrameID // number in the sum, +1
	functions []uint32        // number of the name, +1
	stacks    []stack.ID
	done      []bool
	sets      []int64 // label set in the sum, +1
}

// Add adds a profile to the sum, which does not change when there is an error.
func (m *Merger) Add(p *Profile) error {
	if m.sum == nil {
		m.start(p)
	} else if err := m.sum.compatible(p); err != nil {
		return err
	}
	m.header(p)
	p = p.located()
	src := &moved{
		p: p, mappings: make([]int, len(p.Mappings)), shift: make([]uint64, len(p.Mappings)),
		sets: make([]int64, p.NumLabelSets()),
	}
	for _, f := range p.functionOf {
		if int(f) >= len(src.functions) {
			src.functions = slices.Grow(src.functions, int(f)+1-len(src.functions))[:f+1]
		}
	}
	if p.Stacks != nil {
		src.frames = make([]stack.FrameID, p.Stacks.NumFrames())
		src.stacks, src.done = make([]stack.ID, p.Stacks.Len()), make([]bool, p.Stacks.Len())
	}
	if len(m.mappings) == 0 && len(p.Mappings) > 0 {
		m.mapping(src, 0) // the first one is the main binary
	}
	for row := range p.StackIDs {
		if !p.isZero(row) {
			m.sample(src, row)
		}
	}
	return nil
}

func (m *Merger) start(p *Profile) {
	m.sum = &Profile{
		SampleTypes: slices.Clone(p.SampleTypes), PeriodType: p.PeriodType,
		DropFrames: p.DropFrames, KeepFrames: p.KeepFrames,
		Stacks: new(stack.Table), Values: make([][]int64, len(p.SampleTypes)), Locations: []Location{},
	}
	m.mappings, m.places, m.frames, m.names = map[mappingKey]int{}, map[placeKey]int32{}, map[string]int{}, map[nameKey]uint32{}
	m.rows, m.labels, m.strings = map[sampleKey]int32{}, map[string]LabelSet{"": 0}, map[string]uint64{"": 0}
	m.table = &labelTable{spans: []span{{}}, numeric: true}
}

// header combines what is there once. A profile without a time counts as the
// earliest unless it is the first: so does pprof.
func (m *Merger) header(p *Profile) {
	s, nanos := m.sum, int64(0)
	if !p.Time.IsZero() {
		nanos = p.Time.UnixNano()
	}
	if m.nanos == 0 || nanos < m.nanos {
		if m.nanos, s.Time = nanos, (time.Time{}); nanos != 0 {
			s.Time = time.Unix(0, nanos)
		}
	}
	s.Duration += p.Duration
	if s.Period == 0 || s.Period < p.Period {
		s.Period = p.Period
	}
	for _, c := range p.Comments {
		if !slices.Contains(s.Comments, c) {
			s.Comments = append(s.Comments, c)
		}
	}
	if s.DefaultSampleType == "" {
		s.DefaultSampleType = p.DefaultSampleType
	}
	if s.DocURL == "" {
		s.DocURL = p.DocURL
	}
}

func (p *Profile) isZero(row int) bool {
	for _, column := range p.Values {
		if column[row] != 0 {
			return false
		}
	}
	return true
}

// sample adds one sample to the sum.
func (m *Merger) sample(src *moved, row int) {
	id := src.p.StackIDs[row]
	if !src.done[id] {
		src.stacks[id], src.done[id] = m.stack(src, id), true
	}
	id = src.stacks[id]
	set := m.set(src, src.p.SetOf(row))
	for len(m.single) <= int(id) {
		m.single = append(m.single, 0)
	}
	at, ok := m.single[id]-1, set == 0 && m.single[id] > 0
	if set != 0 {
		at, ok = m.rows[sampleKey{id, set}]
	}
	if ok {
		for c, column := range src.p.Values {
			m.sum.Values[c][at] += column[row]
		}
		return
	}
	at = int32(m.sum.Len())
	if set != 0 {
		m.rows[sampleKey{id, set}] = at
	} else {
		m.single[id] = at + 1
	}
	m.sum.StackIDs = append(m.sum.StackIDs, id)
	if set != 0 && m.sum.LabelSets == nil {
		m.sum.LabelSets = make([]LabelSet, at, 2*at+1)
	}
	if m.sum.LabelSets != nil {
		m.sum.LabelSets = append(m.sum.LabelSets, set)
	}
	for c, column := range src.p.Values {
		m.sum.Values[c] = append(m.sum.Values[c], column[row])
	}
}

func (m *Merger) stack(src *moved, id stack.ID) stack.ID {
	m.ids = m.ids[:0]
	for _, f := range src.p.Stacks.Frames(id) {
		if src.frames[f] == 0 {
			at := src.p.LocationOf(f)
			from, to := &src.p.Locations[at], m.location(src, at)
			for i := range from.NumFrames() {
				src.frames[int(from.First)+i] = m.sum.Locations[to].First + stack.FrameID(i) + 1
			}
		}
		m.ids = append(m.ids, src.frames[f]-1)
	}
	return m.sum.Stacks.Intern(m.ids)
}

// location returns the position of a location in the sum. Two are the same
// when they are at the same place of the same mapping and have the same lines.
// There is hardly ever more than one at a place, so that only the others need a
// key of all this: building it for all was a fifth of the time of adding a
// thousand small heap profiles, and comparing is a seventh.
func (m *Merger) location(src *moved, at int) int {
	l := src.p.Locations[at]
	mapping, address := -1, l.Address
	relative := address
	if l.Mapping >= 0 {
		mapping = m.mapping(src, l.Mapping)
		address += src.shift[l.Mapping]
		relative = address - m.sum.Mappings[mapping].Start
	}
	place := placeKey{relative, int32(mapping)}
	if have, taken := m.places[place]; !taken {
		m.places[place] = int32(len(m.sum.Locations))
		return m.newLocation(src, &l, mapping, address)
	} else if m.same(src, &l, int(have)) {
		return int(have)
	}
	m.key = binary.AppendVarint(m.key[:0], int64(mapping))
	m.key = binary.AppendUvarint(m.key, relative)
	if l.Folded {
		m.key = append(m.key, 1)
	}
	for i := range l.Lines {
		id := l.First + stack.FrameID(i)
		line, column := src.p.Stacks.Position(id)
		m.key = binary.AppendUvarint(m.key, uint64(m.name(src, id)))
		m.key = binary.AppendVarint(m.key, int64(line))
		m.key = binary.AppendVarint(m.key, int64(column))
	}
	if have, ok := m.frames[string(m.key)]; ok {
		return have
	}
	m.frames[string(m.key)] = len(m.sum.Locations)
	return m.newLocation(src, &l, mapping, address)
}

// same says whether a location has the lines of one of the sum.
func (m *Merger) same(src *moved, l *Location, at int) bool {
	have := &m.sum.Locations[at]
	if have.Folded != l.Folded || have.Lines != l.Lines {
		return false
	}
	for i := range l.Lines {
		a, b := l.First+stack.FrameID(i), have.First+stack.FrameID(i)
		line, column := src.p.Stacks.Position(a)
		line2, column2 := m.sum.Stacks.Position(b)
		if line != line2 || column != column2 || m.name(src, a) != m.nameOf[b] {
			return false
		}
	}
	return true
}

func (m *Merger) newLocation(src *moved, l *Location, mapping int, address uint64) int {
	to := len(m.sum.Locations)
	first := stack.FrameID(len(m.sum.locationOf))
	for i := range l.NumFrames() {
		id := l.First + stack.FrameID(i)
		f := src.p.Stacks.Frame(id)
		if f.Address = address; mapping >= 0 {
			f.Module = m.sum.Mappings[mapping].File
		}
		m.sum.Stacks.AppendFrame(f)
		m.sum.locationOf = append(m.sum.locationOf, uint32(to))
		name := uint32(0) // nobody asks a location without lines
		if l.Lines > 0 {
			name = m.name(src, id)
		}
		m.nameOf = append(m.nameOf, name)
	}
	m.sum.Locations = append(m.sum.Locations, Location{
		ID: uint64(to) + 1, Mapping: mapping, Address: address, Folded: l.Folded, First: first, Lines: l.Lines,
	})
	return to
}

// name returns the number of a function in the sum. It is looked up once for a
// function of a profile and not for each of its locations, which takes a
// quarter off the merging of a thousand small heap profiles.
func (m *Merger) name(src *moved, id stack.FrameID) uint32 {
	var known *uint32
	if src.p.functionOf != nil {
		if known = &src.functions[src.p.functionOf[id]]; *known != 0 {
			return *known - 1
		}
	}
	f := src.p.Stacks.Frame(id)
	name := nameKey{name: f.Func, file: f.File, start: f.StartLine, same: f.System == f.Func}
	if !name.same {
		name.system = f.System
	}
	n, ok := m.names[name]
	if !ok {
		n = uint32(len(m.names))
		m.names[name] = n
	}
	if known != nil {
		*known = n + 1
	}
	return n
}

// mapping returns the position of a mapping in the sum. Where a binary was
// loaded does not matter.
func (m *Merger) mapping(src *moved, at int) int {
	if src.mappings[at] > 0 {
		return src.mappings[at] - 1
	}
	from := src.p.Mappings[at]
	const page = 0x1000
	size := from.Limit - from.Start + page - 1
	key := mappingKey{size - size%page, from.Offset, from.BuildID}
	if key.buildIDOrFile == "" {
		key.buildIDOrFile = from.File
	}
	to, ok := m.mappings[key]
	if ok {
		src.shift[at] = m.sum.Mappings[to].Start - from.Start
	} else {
		to = len(m.sum.Mappings)
		m.mappings[key] = to
		from.ID = uint64(to) + 1
		m.sum.Mappings = append(m.sum.Mappings, from)
	}
	src.mappings[at] = to + 1
	return to
}

// set returns the label set of the sum that is equal to one of a profile.
func (m *Merger) set(src *moved, set LabelSet) LabelSet {
	if set == 0 {
		return 0
	}
	if to := src.sets[set]; to > 0 {
		return LabelSet(to - 1)
	}
	m.key = src.p.canonical(m.key[:0], set)
	to, ok := m.labels[string(m.key)]
	if !ok {
		to = LabelSet(len(m.table.spans))
		m.labels[string(m.key)] = to
		var wire []byte
		for _, l := range src.p.Labels(set) {
			label := protobuf.AppendNumber(nil, 1, m.str(l.Key))
			if l.Numeric {
				label = protobuf.AppendNumber(label, 3, uint64(l.Num))
				label = protobuf.AppendNumber(label, 4, m.str(l.Unit))
			} else {
				label = protobuf.AppendNumber(label, 2, m.str(l.Str))
			}
			wire = protobuf.AppendField(wire, 3, label)
		}
		m.table.spans = append(m.table.spans, m.table.aside(wire))
	}
	src.sets[set] = int64(to) + 1
	return to
}

func (m *Merger) str(s string) uint64 {
	id, ok := m.strings[s]
	if !ok {
		id = m.table.addString(s)
		m.strings[s] = id
	}
	return id
}

// Profile returns the sum. The merger must not be used afterwards. It fails
// when nothing was added.
func (m *Merger) Profile() (*Profile, error) {
	if m.sum == nil {
		return nil, errors.New("cannot merge profiles: there are none")
	}
	if m.sum.LabelSets != nil {
		m.sum.labels = *m.table
	}
	for row := range m.sum.StackIDs {
		if m.sum.isZero(row) {
			return Merge(m.sum) // without what only the lost samples have used
		}
	}
	return m.sum, nil
}
