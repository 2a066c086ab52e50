package profile

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"loupe/value/protobuf"
	"loupe/value/stack"
)

// Options say how [Decode] reads, and bound what it may use.
type Options struct {
	// MaxBytes is the most that a profile may inflate to. 0 means 4 GiB,
	// which is also the upper limit: positions are 32 bits wide.
	MaxBytes int64

	// Compat makes the text profiles of Go (debug=1) what go tool pprof makes
	// of them: addresses alone, without names, labels and MemStats.
	Compat bool
}

// Decode reads a profile, packed with gzip or not, whose format it finds out:
//
//   - profile.proto, which Go and most others write;
//   - the text profiles of Go (debug=1), with their functions, lines and labels;
//   - dumps of goroutine stacks (debug=2, a panic, SIGQUIT);
//   - the older formats of C++ and Java that google/pprof reads: binary CPU
//     profiles, heap, growth, contention and threads;
//   - the heap profiles of jemalloc;
//   - perf.data and the output of perf script, folded stacks, the files of
//     speedscope, CPU profiles of V8 (.cpuprofile) and Chrome traces.
//
// The data is not modified and not kept. A packed profile.proto is taken in while
// it is unpacked, so that it is never in memory as a whole.
//
// An error says which format it is, and at which byte or in which line
// something is wrong. Input that is no profile is named when it is recognized:
// an execution trace, a binary, a web page.
func Decode(data []byte, opt Options) (*Profile, error) {
	limit := opt.MaxBytes
	if limit <= 0 || limit > math.MaxUint32 {
		limit = math.MaxUint32
	}
	if len(data) == 0 {
		return nil, errors.New("cannot decode profile: the input is empty (did the program exit before the profile was stopped and closed?)")
	}
	raw := data
	if isGzip(data) {
		if p := decodePacked(data, limit); p != nil {
			return p, nil
		}
		var err error // now with all in memory, to find out what it is or what is wrong
		if raw, err = inflate(data, limit); err != nil {
			return nil, err
		}
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("cannot decode profile: it has %d bytes, more than %d (Options.MaxBytes is the bound)", len(raw), limit)
	}
	p, err := decode(raw)
	if err == nil {
		return p, nil
	}
	p, other := decodeForeign(raw, opt)
	if other == nil {
		return p, nil
	}
	if !errors.Is(other, errOther) {
		return nil, fmt.Errorf("cannot decode profile: %w", other)
	}
	if what := looksLike(raw); what != "" {
		return nil, fmt.Errorf("cannot decode profile: the input looks like %s", what)
	}
	return nil, fmt.Errorf("cannot decode profile: %w", err)
}

// decoder is the state between the first byte and the finished profile. The
// numbers of locations, functions and strings refer to tables that may stand
// anywhere in the file (Go writes the strings last), so they are resolved when
// all has been read.
//
// What is not in the profile in the end is kept for the next one, since sums are
// made of a thousand small profiles.
type decoder struct {
	in   input
	p    *Profile
	text *text // of p

	noProfile bool // the error is that this is no profile at all
	periods   int  // how many period types there are

	ids           []stack.FrameID // of the sample at hand
	values        []int64
	farIDs        map[uint64]stack.FrameID
	far           []uint64
	stacks        pieces
	labels        pieces
	frames        int // in all stacks so far
	roomForFrames int
	roomForStacks int
	// samples is how many there will be, and their bytes in all; 0 where that is not known before.
	samples, sampleBytes int

	head      rawHeader
	mappings  []rawMapping
	functions []rawFunction
	locations []rawLocation
	lines     []rawLine // of all locations, leaf first

	// What the tables are resolved with: a sixth of what decoding a CPU profile of 58 kB
	// would allocate.
	names          []stack.Frame // of each function
	strings        []string      // see nameTable
	extents, dense []stack.Extent
}

// The tables of the file, with indices where the finished profile has strings.
type (
	rawType    struct{ typ, unit uint64 }
	rawMapping struct {
		at            int64
		file, buildID uint64
		Mapping
	}
	rawFunction struct {
		at                   int64
		id                   uint64
		name, system, source uint64
		start                int64
	}
	rawLocation struct {
		at          int64
		id, mapping uint64
		address     uint64
		folded      bool
		end         int // lines of location i are lines[locations[i-1].end:end]
	}
	rawLine struct {
		function     uint64
		line, column int64
	}
)

// Numbers of the fields of Profile.
const (
	fieldSampleType = 1 + iota
	fieldSample
	fieldMapping
	fieldLocation
	fieldFunction
	fieldString
	fieldDropFrames
	fieldKeepFrames
	fieldTime
	fieldDuration
	fieldPeriodType
	fieldPeriod
	fieldComment
	fieldDefaultType
	fieldDocURL
)

// fieldNames are the names in profile.proto, for error messages.
var fieldNames = [16]string{"", "sample_type", "sample", "mapping", "location", "function",
	"string_table", "drop_frames", "keep_frames", "time_nanos", "duration_nanos",
	"period_type", "period", "comment", "default_sample_type", "doc_url"}

// decoders are those that can be used again.
var decoders sync.Pool

func newDecoder() *decoder {
	d, _ := decoders.Get().(*decoder)
	if d == nil {
		d = new(decoder)
	}
	p := &Profile{Stacks: new(stack.Table)}
	old := *d
	*d = decoder{
		in: input{window: old.in.window, gzip: old.in.gzip},
		p:  p, text: &p.labels.text,
		ids: old.ids[:0], values: old.values[:0], stacks: old.stacks, labels: old.labels,
		functions: old.functions[:0], locations: old.locations[:0], lines: old.lines[:0],
		names: old.names, strings: old.strings, extents: old.extents, dense: old.dense,
	}
	d.stacks.reset()
	d.labels.reset()
	return d
}

// free keeps the decoder for the next profile.
func (d *decoder) free() {
	clear(d.names) // their texts belong to the profile
	clear(d.strings)
	d.p, d.text, d.in.top, d.in.buf = nil, nil, protobuf.Cursor{}, nil
	d.in.file.Reset(nil)
	decoders.Put(d)
}

// decodePacked decodes a profile.proto while it inflates it. Of everything else
// it returns nil.
func decodePacked(data []byte, limit int64) *Profile {
	d := newDecoder()
	defer d.free()
	if d.in.unpack(data, limit) != nil || d.decode() != nil {
		return nil
	}
	return d.p
}

func decode(raw []byte) (*Profile, error) {
	d := newDecoder()
	defer d.free()
	d.in.buf, d.in.total = raw, int64(len(raw))
	switch err := d.decode(); {
	case err == nil:
		return d.p, nil
	case d.noProfile:
		return nil, fmt.Errorf("%w (was the file cut, or is it no pprof profile?)", err)
	case d.joined() || errors.Is(err, errJoined):
		return nil, errJoined
	default:
		return nil, fmt.Errorf("%w (the file is damaged or its writer is broken: write it again)", err)
	}
}

func (d *decoder) decode() error {
	if err := d.read(); err != nil {
		return err
	}
	if err := d.head.resolve(d.p); err != nil {
		return err
	}
	return d.resolve()
}

// errJoined is the one error of a file with sound parts: the encoding allows
// to join two messages, but the ids of the second begin at 1 again.
var errJoined = errors.New("it holds two profiles, one after the other (split the file, or merge them with go tool pprof -proto)")

// joined looks whether there is a second profile behind the error.
func (d *decoder) joined() bool {
	for d.in.top.Step() {
		if d.in.top.Number == fieldPeriodType {
			d.periods++
		}
	}
	return d.periods > 1
}

// checkTop checks the wire type of a field of Profile. A repeated number may
// be packed or not; only comment is one.
func checkTop(c *protobuf.Cursor) error {
	want := protobuf.Varint
	switch c.Number {
	case fieldSampleType, fieldSample, fieldMapping, fieldLocation, fieldFunction, fieldString, fieldPeriodType:
		want = protobuf.Bytes
	case fieldComment:
		want = c.Type
		if c.Type == protobuf.Fixed64 || c.Type == protobuf.Fixed32 {
			want = protobuf.Varint
		}
	}
	if c.Type != want {
		return bad(int64(c.At), "field %s has wire type %d, want %d", fieldNames[c.Number], c.Type, want)
	}
	if want == protobuf.Bytes && c.Next-c.Start >= aside {
		return bad(int64(c.At), "field %s has %d bytes, which no profile has", fieldNames[c.Number], c.Next-c.Start)
	}
	return nil
}

// read takes every field in, in any order.
func (d *decoder) read() error {
	c := &d.in.top
	if d.in.whole() {
		d.count(d.in.buf)
	}
	for c.Buf = d.in.buf; ; {
		for {
			if err := d.usualFields(c); err != nil {
				return err
			}
			if !c.Step() {
				break
			}
			if err := d.field(c); err != nil {
				return err
			}
		}
		if c.Bad() && (d.in.whole() || c.Type > protobuf.Bytes && c.Type != protobuf.Fixed32) {
			d.noProfile = true
			return bad(int64(c.At), "the field is cut or malformed")
		}
		if d.in.whole() {
			break
		}
		at := len(c.Buf)
		if c.Bad() {
			at = c.At
		}
		at, err := d.in.more(at)
		if err != nil {
			return err
		}
		*c = protobuf.Cursor{Buf: d.in.buf, Next: at, At: at}
	}
	d.noProfile = true
	switch samples := d.p.Len(); {
	case len(d.text.strings) == 0:
		return errors.New("there is no string table, which Go writes last")
	case samples > 0 && len(d.head.sampleTypes) == 0:
		return fmt.Errorf("there are %d samples but no sample types", samples)
	}
	d.noProfile = false
	return nil
}

// count counts the samples of a profile that is all there, as far as its fields are usual ones: a hundredth of the
// instructions of decoding it, and a quarter less garbage than by guessing.
func (d *decoder) count(b []byte) {
	for i := 0; i < len(b); {
		if b[i]&7 == protobuf.Varint {
			_, i = number(b, i+1)
			continue
		}
		if b[i]&7 != protobuf.Bytes || b[i] >= 0x80 {
			return
		}
		tag := b[i]
		n, start := number(b, i+1)
		if start > len(b) || n > uint64(len(b)-start) {
			return
		}
		if i = start + int(n); tag == fieldSample<<3|protobuf.Bytes {
			d.samples++
			d.sampleBytes += int(n)
		}
	}
}

// usualFields takes in the fields of tables up to the first that is another, or is not all
// there. A field costs a third of what it costs by [protobuf.Cursor.Step] and
// [decoder.field].
func (d *decoder) usualFields(c *protobuf.Cursor) (err error) {
	for b := c.Buf; c.Next < len(b) && err == nil; {
		tag := b[c.Next]
		switch tag {
		case fieldSample<<3 | protobuf.Bytes, fieldLocation<<3 | protobuf.Bytes, fieldFunction<<3 | protobuf.Bytes, fieldString<<3 | protobuf.Bytes:
		default:
			return nil
		}
		n, start := number(b, c.Next+1)
		if start > len(b) || n > uint64(len(b)-start) || n >= aside {
			return nil
		}
		c.At, c.Start, c.Next = c.Next, start, start+int(n)
		c.Number, c.Type = int(tag>>3), protobuf.Bytes
		switch c.Number {
		case fieldSample:
			err = d.sample(b[:c.Next], start)
		case fieldString:
			d.string(b[start:c.Next])
		case fieldLocation:
			err = d.location(c)
		case fieldFunction:
			err = d.function(c)
		}
	}
	return err
}

// field takes in a field of Profile.
func (d *decoder) field(c *protobuf.Cursor) (err error) {
	if c.Number == 0 { // no message has it, and gigabytes of zeroes are told at once
		d.noProfile = true
		return bad(int64(c.At), "there is no field of the number 0")
	}
	if c.Number >= 1 && c.Number < len(fieldNames) {
		if err := checkTop(c); err != nil {
			d.noProfile = true
			return err
		}
	}
	switch c.Number {
	case fieldSample:
		err = d.sample(c.Buf[:c.Next], c.Start)
	case fieldString:
		d.string(c.Chunk())
	case fieldLocation:
		err = d.location(c)
	case fieldFunction:
		err = d.function(c)
	case fieldMapping:
		err = d.mapping(c)
	case fieldSampleType:
		var t rawType
		t, err = readType(c)
		d.head.sampleTypes = append(d.head.sampleTypes, t)
	case fieldPeriodType:
		d.periods++
		d.head.periodType, err = readType(c)
	default:
		err = d.head.scalar(c, d.p)
	}
	return err
}

func (d *decoder) string(s []byte) {
	t := d.text
	at := len(t.words)
	if n := len(t.strings); n == cap(t.strings) {
		room := d.in.room(n)
		if n >= 64 {
			room = max(room, n+16+int(1.2*float64(n)*float64(d.in.left())/float64(at+2*n)))
		}
		t.strings = grown(t.strings, room)
	}
	if at+len(s) > cap(t.words) { // the strings are the last that is in a file
		t.words = grown(t.words, max(at+len(s)+int(d.in.left()), d.in.room(at)))
	}
	t.strings = append(t.strings, span{uint32(at), uint32(len(s))})
	t.words = append(t.words, s...)
}
