package profile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"loupe/value/protobuf"
)

// builder puts together a profile out of a format other than profile.proto. It
// interns what the input repeats, writes the message into memory and decodes
// that: every profile has gone through the same checks then, and its columns,
// labels and locations are laid out by one piece of code.
//
// Note: filling the columns directly saves the message, a seventh of the time
// of reading folded stacks, and needs a second owner of every invariant.
type builder struct {
	types       []ValueType
	periodType  ValueType
	period      int64
	duration    time.Duration
	drop, keep  string
	mappings    mappings
	mappingIDs  map[string]uint32 // by file, of those that a format names without addresses
	list        []string          // the string table
	strings     map[string]uint64
	functions   []builtFunction
	functionIDs map[builtFunction]uint32
	locations   []builtLocation
	byAddress   map[uint64]uint32
	byText      map[string]uint32 // frames of formats that have no addresses
	labelSets   [][]byte          // as on the wire
	labelIDs    map[string]uint32
	rows        rows
	groups      map[string]uint32
	order       []uint32 // number of each location in the file, 0 is unused
	numbered    []uint32 // the locations in that order
	key         []byte
}

// rows are the samples of a profile that is being built.
type rows struct {
	arena                []uint32 // the locations of all samples, leaf first
	starts, ends, labels []uint32 // by sample; labels are positions in labelSets
	values               []int64  // as many numbers for each sample as there are types
}

// len returns the number of samples, stack the locations of one of them.
func (r *rows) len() int               { return len(r.starts) }
func (r *rows) stack(row int) []uint32 { return r.arena[r.starts[row]:r.ends[row]] }

// cut takes the second frame out of a sample.
func (r *rows) cut(row int) {
	s := r.stack(row)
	copy(s[1:], s[2:])
	r.ends[row]--
}

type (
	builtFunction struct{ name, system, file uint64 }
	builtLocation struct {
		address uint64
		mapping uint32 // position in mappings + 1; 0 is unknown
		lines   []builtLine
	}
	builtLine struct {
		function, column uint32
		line             int64
	}
)

func newBuilder(types ...ValueType) *builder {
	return &builder{
		types: types, period: 1, list: []string{""}, strings: map[string]uint64{"": 0},
		mappingIDs: map[string]uint32{}, functionIDs: map[builtFunction]uint32{},
		byAddress: map[uint64]uint32{}, byText: map[string]uint32{},
		labelSets: make([][]byte, 1), labelIDs: map[string]uint32{}, groups: map[string]uint32{},
	}
}

// str returns the number of a string.
func (b *builder) str(s string) uint64 {
	id, ok := b.strings[s]
	if !ok {
		id = uint64(len(b.list))
		b.strings[s] = id
		b.list = append(b.list, s)
	}
	return id
}

// text is str for a piece of the input, which is copied when it is new.
func (b *builder) text(s []byte) uint64 {
	if id, ok := b.strings[string(s)]; ok {
		return id
	}
	return b.str(string(s))
}

// function returns the number of a function. The system name is the name
// itself but for frames that are no calls.
func (b *builder) function(f builtFunction) uint32 {
	id, ok := b.functionIDs[f]
	if !ok {
		id = uint32(len(b.functions))
		b.functionIDs[f] = id
		b.functions = append(b.functions, f)
	}
	return id
}

// at returns the location of an address, without a symbol when it is new.
func (b *builder) at(address uint64) uint32 {
	id, ok := b.byAddress[address]
	if !ok {
		id = b.newLocation(builtLocation{address: address})
		b.byAddress[address] = id
	}
	return id
}

func (b *builder) newLocation(l builtLocation) uint32 {
	b.locations = append(b.locations, l)
	return uint32(len(b.locations) - 1)
}

// module returns the mapping of a file that the input names without saying
// where it was mapped.
func (b *builder) module(file []byte) uint32 {
	if len(file) == 0 {
		return 0
	}
	id, ok := b.mappingIDs[string(file)]
	if !ok {
		b.mappings = append(b.mappings, Mapping{File: string(file), HasFunctions: true})
		id = uint32(len(b.mappings))
		b.mappingIDs[string(file)] = id
	}
	return id
}

// label appends one label to a label set on the wire. A number of 0 without a
// unit is nothing in this format.
func (b *builder) label(set []byte, key string, str []byte) []byte {
	in := protobuf.AppendNumber(b.key[:0], 1, b.str(key))
	b.key = protobuf.AppendNumber(in, 2, b.text(str))
	return protobuf.AppendField(set, 3, b.key)
}

func (b *builder) number(set []byte, key string, num int64, unit string) []byte {
	in := protobuf.AppendNumber(b.key[:0], 1, b.str(key))
	in = protobuf.AppendNumber(in, 3, uint64(num))
	b.key = protobuf.AppendNumber(in, 4, b.str(unit))
	return protobuf.AppendField(set, 3, b.key)
}

func (b *builder) labelSet(wire []byte) uint32 {
	if len(wire) == 0 {
		return 0
	}
	id, ok := b.labelIDs[string(wire)]
	if !ok {
		id = uint32(len(b.labelSets))
		wire = slices.Clone(wire)
		b.labelSets = append(b.labelSets, wire)
		b.labelIDs[string(wire)] = id
	}
	return id
}

// sample adds a sample; the slices are copied.
func (b *builder) sample(locations []uint32, labels []byte, values ...int64) {
	b.rows.starts = append(b.rows.starts, uint32(len(b.rows.arena)))
	b.rows.arena = append(b.rows.arena, locations...)
	b.rows.ends = append(b.rows.ends, uint32(len(b.rows.arena)))
	b.rows.labels = append(b.rows.labels, b.labelSet(labels))
	b.rows.values = append(b.rows.values, values...)
}

// add is sample for formats that say the same stack again and again: values
// of equal stacks with equal labels are summed.
func (b *builder) add(locations []uint32, labels []byte, values ...int64) {
	set := b.labelSet(labels)
	b.key = binary.LittleEndian.AppendUint32(b.key[:0], set)
	for _, l := range locations {
		b.key = binary.LittleEndian.AppendUint32(b.key, l)
	}
	row, ok := b.groups[string(b.key)]
	if !ok {
		b.groups[string(b.key)] = uint32(len(b.rows.starts))
		b.sample(locations, labels, values...)
		return
	}
	for i, v := range values {
		b.rows.values[int(row)*len(b.types)+i] += v
	}
}

// number numbers the locations in the order in which the samples go through
// them. Those of no sample are left out.
func (b *builder) numberLocations() {
	b.order, b.numbered = make([]uint32, len(b.locations)), b.numbered[:0]
	for row := range b.rows.starts {
		for _, l := range b.rows.stack(row) {
			if b.order[l] == 0 {
				b.numbered = append(b.numbered, l)
				b.order[l] = uint32(len(b.numbered))
			}
		}
	}
}

// profile writes the message and decodes it.
func (b *builder) profile() (*Profile, error) {
	if b.order == nil {
		b.numberLocations()
	}
	if len(b.types) == 0 && b.rows.len() > 0 {
		return nil, errors.New("there are samples, but nothing says what they count")
	}
	out := make([]byte, 0, 2*len(b.rows.arena)+3*len(b.rows.values)+16*len(b.numbered)+1024)
	valueType := func(field int, t ValueType) {
		m := protobuf.AppendNumber(b.key[:0], 1, b.str(t.Type))
		b.key = protobuf.AppendNumber(m, 2, b.str(t.Unit))
		out = protobuf.AppendField(out, field, b.key)
	}
	for _, t := range b.types {
		valueType(fieldSampleType, t)
	}
	out = b.writeSamples(out)
	for i, m := range b.mappings {
		w := protobuf.AppendNumber(b.key[:0], 1, uint64(i)+1)
		w = protobuf.AppendNumber(protobuf.AppendNumber(protobuf.AppendNumber(w, 2, m.Start), 3, m.Limit), 4, m.Offset)
		w = protobuf.AppendNumber(protobuf.AppendNumber(w, 5, b.str(m.File)), 6, b.str(m.BuildID))
		for i, has := range [...]bool{m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames} {
			if has {
				w = protobuf.AppendNumber(w, 7+i, 1)
			}
		}
		b.key = w
		out = protobuf.AppendField(out, fieldMapping, w)
	}
	out = b.writeLocations(out)
	valueType(fieldPeriodType, b.periodType)
	out = protobuf.AppendNumber(out, fieldPeriod, uint64(b.period))
	out = protobuf.AppendNumber(out, fieldDuration, uint64(b.duration))
	out = protobuf.AppendNumber(out, fieldDropFrames, b.str(b.drop))
	out = protobuf.AppendNumber(out, fieldKeepFrames, b.str(b.keep))
	for _, s := range b.list {
		out = append(binary.AppendUvarint(append(out, fieldString<<3|protobuf.Bytes), uint64(len(s))), s...)
	}
	if len(out) > math.MaxUint32 {
		return nil, fmt.Errorf("the profile would have %d bytes as profile.proto, more than 4 GiB", len(out))
	}
	*b = builder{} // its tables may go before those of the profile come
	return decode(out)
}

func (b *builder) writeSamples(out []byte) []byte {
	var list, m []byte
	for row := range b.rows.starts {
		list = list[:0]
		for _, l := range b.rows.stack(row) {
			list = binary.AppendUvarint(list, uint64(b.order[l]))
		}
		m = m[:0]
		if len(list) > 0 {
			m = protobuf.AppendField(m, 1, list)
		}
		list = list[:0]
		for _, v := range b.rows.values[row*len(b.types) : (row+1)*len(b.types)] {
			list = binary.AppendUvarint(list, uint64(v))
		}
		m = append(protobuf.AppendField(m, 2, list), b.labelSets[b.rows.labels[row]]...)
		out = protobuf.AppendField(out, fieldSample, m)
	}
	return out
}

// writeLocations writes the locations, and the functions in the order in which
// these ask for them.
func (b *builder) writeLocations(out []byte) []byte {
	numbers := make([]uint32, len(b.functions))
	var functions []uint32
	var line, m []byte
	for i, l := range b.numbered {
		at := &b.locations[l]
		m = protobuf.AppendNumber(m[:0], 1, uint64(i)+1)
		m = protobuf.AppendNumber(protobuf.AppendNumber(m, 2, uint64(at.mapping)), 3, at.address)
		for _, f := range at.lines {
			if numbers[f.function] == 0 {
				functions = append(functions, f.function)
				numbers[f.function] = uint32(len(functions))
			}
			line = protobuf.AppendNumber(line[:0], 1, uint64(numbers[f.function]))
			line = protobuf.AppendNumber(protobuf.AppendNumber(line, 2, uint64(f.line)), 3, uint64(f.column))
			m = protobuf.AppendField(m, 4, line)
		}
		out = protobuf.AppendField(out, fieldLocation, m)
	}
	for i, n := range functions {
		f := b.functions[n]
		m = protobuf.AppendNumber(m[:0], 1, uint64(i)+1)
		m = protobuf.AppendNumber(protobuf.AppendNumber(protobuf.AppendNumber(m, 2, f.name), 3, f.system), 4, f.file)
		out = protobuf.AppendField(out, fieldFunction, m)
	}
	return out
}
