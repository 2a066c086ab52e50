package profile

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"loupe/value/protobuf"
	"loupe/value/stack"
)

// Encode writes the profile as profile.proto, packed with gzip, such that
// [Decode] and go tool pprof read it. A profile can also be put together by
// hand from columns and a table of stacks.
//
// A profile that was read keeps the ids and addresses of its locations. In one
// that was put together from stacks, frames that were inlined into each other
// are one location, without an address.
func (p *Profile) Encode(w io.Writer) error {
	e := encoder{p: p.located(), strings: map[string]uint64{"": 0}, list: []string{""}}
	if err := e.encode(); err != nil {
		return fmt.Errorf("cannot encode profile: %w", err)
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(e.out); err != nil {
		return fmt.Errorf("cannot write profile: %w", err)
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("cannot write profile: %w", err)
	}
	return nil
}

// encoder numbers what the format keeps in tables, in the order in which the
// samples ask for it.
type encoder struct {
	p   *Profile
	out []byte

	strings   map[string]uint64
	list      []string
	functions map[function]uint64

	locations, samples, funcs []byte // as they go into the file
	scratch, inner            []byte
}

// function is what makes an entry in the table of functions.
type function struct {
	name, system, file string
	start              int
}

func (e *encoder) encode() error {
	p := e.p
	for i, column := range p.Values {
		if len(column) != p.Len() {
			return fmt.Errorf("column %d has %d values, but there are %d samples", i, len(column), p.Len())
		}
	}
	if len(p.Values) != len(p.SampleTypes) || p.LabelSets != nil && len(p.LabelSets) != p.Len() {
		return fmt.Errorf("%d columns for %d sample types, %d label sets for %d samples", len(p.Values), len(p.SampleTypes), len(p.LabelSets), p.Len())
	}
	e.functions = map[function]uint64{}
	for _, t := range p.SampleTypes {
		e.out = protobuf.AppendField(e.out, fieldSampleType, e.valueType(t))
	}
	for i := range p.StackIDs {
		e.samples = protobuf.AppendField(e.samples, fieldSample, e.sample(i))
	}
	e.out = append(e.out, e.samples...)
	for i, m := range p.Mappings {
		e.out = protobuf.AppendField(e.out, fieldMapping, e.mapping(mappingID(m, i), m))
	}
	for i := range p.Locations {
		e.locations = protobuf.AppendField(e.locations, fieldLocation, e.location(&p.Locations[i]))
	}
	e.out = append(append(e.out, e.locations...), e.funcs...)
	e.header()
	for _, s := range e.list {
		e.out = protobuf.AppendField(e.out, fieldString, []byte(s))
	}
	return nil
}

// header writes what is there once. It is written last but for the strings,
// since it needs some.
func (e *encoder) header() {
	p := e.p
	e.out = protobuf.AppendNumber(e.out, fieldDropFrames, e.str(p.DropFrames))
	e.out = protobuf.AppendNumber(e.out, fieldKeepFrames, e.str(p.KeepFrames))
	if !p.Time.IsZero() {
		e.out = protobuf.AppendNumber(e.out, fieldTime, uint64(p.Time.UnixNano()))
	}
	e.out = protobuf.AppendNumber(e.out, fieldDuration, uint64(p.Duration))
	e.out = protobuf.AppendField(e.out, fieldPeriodType, e.valueType(p.PeriodType))
	e.out = protobuf.AppendNumber(e.out, fieldPeriod, uint64(p.Period))
	for _, c := range p.Comments {
		e.out = binary.AppendUvarint(append(e.out, fieldComment<<3|protobuf.Varint), e.str(c)) // an empty one too
	}
	e.out = protobuf.AppendNumber(e.out, fieldDefaultType, e.str(p.DefaultSampleType))
	e.out = protobuf.AppendNumber(e.out, fieldDocURL, e.str(p.DocURL))
}

// valueType and the methods below return one message. It is valid until the
// next call.
func (e *encoder) valueType(t ValueType) []byte {
	e.scratch = protobuf.AppendNumber(e.scratch[:0], 1, e.str(t.Type))
	e.scratch = protobuf.AppendNumber(e.scratch, 2, e.str(t.Unit))
	return e.scratch
}

func (e *encoder) mapping(id uint64, m Mapping) []byte {
	b := protobuf.AppendNumber(e.scratch[:0], 1, id)
	b = protobuf.AppendNumber(b, 2, m.Start)
	b = protobuf.AppendNumber(b, 3, m.Limit)
	b = protobuf.AppendNumber(b, 4, m.Offset)
	b = protobuf.AppendNumber(b, 5, e.str(m.File))
	b = protobuf.AppendNumber(b, 6, e.str(m.BuildID))
	for i, has := range [...]bool{m.HasFunctions, m.HasFilenames, m.HasLineNumbers, m.HasInlineFrames} {
		if has {
			b = protobuf.AppendNumber(b, 7+i, 1)
		}
	}
	e.scratch = b
	return b
}

// mappingID is the number of mapping i, which one made by hand does not have.
func mappingID(m Mapping, i int) uint64 {
	if m.ID == 0 {
		return uint64(i) + 1
	}
	return m.ID
}

func (e *encoder) sample(i int) []byte {
	p := e.p
	e.inner = e.inner[:0]
	if id := p.StackIDs[i]; id != 0 {
		frames := p.Stacks.Frames(id)
		for len(frames) > 0 {
			l := &p.Locations[p.LocationOf(frames[0])]
			e.inner = binary.AppendUvarint(e.inner, l.ID)
			frames = frames[l.NumFrames():]
		}
	}
	b := e.scratch[:0]
	if len(e.inner) > 0 {
		b = protobuf.AppendField(b, 1, e.inner)
	}
	e.inner = e.inner[:0]
	for _, column := range p.Values {
		e.inner = binary.AppendUvarint(e.inner, uint64(column[i]))
	}
	b = protobuf.AppendField(b, 2, e.inner)
	if p.LabelSets != nil {
		for _, l := range p.Labels(p.LabelSets[i]) {
			e.inner = protobuf.AppendNumber(e.inner[:0], 1, e.str(l.Key))
			if l.Numeric {
				e.inner = protobuf.AppendNumber(e.inner, 3, uint64(l.Num))
				e.inner = protobuf.AppendNumber(e.inner, 4, e.str(l.Unit))
			} else {
				e.inner = protobuf.AppendNumber(e.inner, 2, e.str(l.Str))
			}
			b = protobuf.AppendField(b, 3, e.inner)
		}
	}
	e.scratch = b
	return b
}

func (e *encoder) location(l *Location) []byte {
	b := protobuf.AppendNumber(e.scratch[:0], 1, l.ID)
	if l.Mapping >= 0 {
		b = protobuf.AppendNumber(b, 2, mappingID(e.p.Mappings[l.Mapping], l.Mapping))
	}
	b = protobuf.AppendNumber(b, 3, l.Address)
	for i := range l.Lines {
		b = protobuf.AppendField(b, 4, e.line(e.p.Stacks.Frame(l.First+stack.FrameID(i))))
	}
	if l.Folded {
		b = protobuf.AppendNumber(b, 5, 1)
	}
	e.scratch = b
	return b
}

func (e *encoder) line(f stack.Frame) []byte {
	e.inner = protobuf.AppendNumber(e.inner[:0], 1, e.function(function{f.Func, f.System, f.File, f.StartLine}))
	e.inner = protobuf.AppendNumber(e.inner, 2, uint64(f.Line))
	e.inner = protobuf.AppendNumber(e.inner, 3, uint64(f.Column))
	return e.inner
}

func (e *encoder) function(f function) uint64 {
	if id := e.functions[f]; id != 0 {
		return id
	}
	id := uint64(len(e.functions)) + 1
	e.functions[f] = id
	b := protobuf.AppendNumber(nil, 1, id)
	b = protobuf.AppendNumber(b, 2, e.str(f.name))
	b = protobuf.AppendNumber(b, 3, e.str(f.system))
	b = protobuf.AppendNumber(b, 4, e.str(f.file))
	e.funcs = protobuf.AppendField(e.funcs, fieldFunction, protobuf.AppendNumber(b, 5, uint64(f.start)))
	return id
}

// str returns the number of a string.
func (e *encoder) str(s string) uint64 {
	id, ok := e.strings[s]
	if !ok {
		id = uint64(len(e.list))
		e.strings[s] = id
		e.list = append(e.list, s)
	}
	return id
}
