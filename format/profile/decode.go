package profile

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

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
	input
	top  cursor // over the fields of Profile, in input.buf
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

	sampleTypes []rawType
	periodType  rawType
	comments    []uint64
	dropFrames, keepFrames,
	defaultType, docURL uint64
	timeNanos int64

	mappings  []rawMapping
	functions []rawFunction
	locations []rawLocation
	lines     []rawLine // of all locations, leaf first
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
		input: input{window: old.window, gzip: old.gzip},
		p:     p, text: &p.labels.text,
		ids: old.ids[:0], values: old.values[:0], stacks: old.stacks, labels: old.labels,
		functions: old.functions[:0], locations: old.locations[:0], lines: old.lines[:0],
	}
	d.stacks.reset()
	d.labels.reset()
	return d
}

// free keeps the decoder for the next profile.
func (d *decoder) free() {
	d.p, d.text, d.top, d.buf = nil, nil, cursor{}, nil
	d.file.Reset(nil)
	decoders.Put(d)
}

// decodePacked decodes a profile.proto while it inflates it. Of everything else
// it returns nil.
func decodePacked(data []byte, limit int64) *Profile {
	d := newDecoder()
	defer d.free()
	if d.unpack(data, limit) != nil || d.decode() != nil {
		return nil
	}
	return d.p
}

func decode(raw []byte) (*Profile, error) {
	d := newDecoder()
	defer d.free()
	d.buf, d.total = raw, int64(len(raw))
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
	if err := d.header(); err != nil {
		return err
	}
	return d.resolve()
}

// errJoined is the one error of a file with sound parts: the encoding allows
// to join two messages, but the ids of the second begin at 1 again.
var errJoined = errors.New("it holds two profiles, one after the other (split the file, or merge them with go tool pprof -proto)")

// joined looks whether there is a second profile behind the error.
func (d *decoder) joined() bool {
	for d.top.next() {
		if d.top.field == fieldPeriodType {
			d.periods++
		}
	}
	return d.periods > 1
}

// checkTop checks the wire type of a field of Profile. A repeated number may
// be packed or not; only comment is one.
func checkTop(c *cursor) error {
	want := varint
	switch c.field {
	case fieldSampleType, fieldSample, fieldMapping, fieldLocation, fieldFunction, fieldString, fieldPeriodType:
		want = bytes
	case fieldComment:
		want = c.typ
		if c.typ == fixed64 || c.typ == fixed32 {
			want = varint
		}
	}
	if c.typ != want {
		return bad(int64(c.at), "field %s has wire type %d, want %d", fieldNames[c.field], c.typ, want)
	}
	if want == bytes && c.i-c.start >= aside {
		return bad(int64(c.at), "field %s has %d bytes, which no profile has", fieldNames[c.field], c.i-c.start)
	}
	return nil
}

// read takes every field in, in any order.
func (d *decoder) read() error {
	c := &d.top
	for c.b = d.buf; ; {
		for c.next() {
			if err := d.field(c); err != nil {
				return err
			}
		}
		if c.bad() && (d.whole() || c.typ > bytes && c.typ != fixed32) {
			d.noProfile = true
			return bad(int64(c.at), "the field is cut or malformed")
		}
		if d.whole() {
			break
		}
		at := len(c.b)
		if c.bad() {
			at = c.at
		}
		at, err := d.more(at)
		if err != nil {
			return err
		}
		*c = cursor{b: d.buf, i: at, at: at}
	}
	d.noProfile = true
	switch samples := d.p.Len(); {
	case len(d.text.strings) == 0:
		return errors.New("there is no string table, which Go writes last")
	case samples > 0 && len(d.sampleTypes) == 0:
		return fmt.Errorf("there are %d samples but no sample types", samples)
	}
	d.noProfile = false
	return nil
}

// field takes in a field of Profile.
func (d *decoder) field(c *cursor) (err error) {
	if c.field == 0 { // no message has it, and gigabytes of zeroes are told at once
		d.noProfile = true
		return bad(int64(c.at), "there is no field of the number 0")
	}
	if c.field >= 1 && c.field < len(fieldNames) {
		if err := checkTop(c); err != nil {
			d.noProfile = true
			return err
		}
	}
	switch c.field {
	case fieldSample:
		err = d.sample(c.b[:c.i], c.start)
	case fieldString:
		d.string(c.chunk())
	case fieldLocation:
		err = d.location(c)
	case fieldFunction:
		err = d.function(c)
	case fieldMapping:
		err = d.mapping(c)
	case fieldSampleType:
		var t rawType
		t, err = readType(c)
		d.sampleTypes = append(d.sampleTypes, t)
	case fieldPeriodType:
		d.periods++
		d.periodType, err = readType(c)
	default:
		err = d.scalar(c)
	}
	return err
}

func (d *decoder) string(s []byte) {
	t := d.text
	at := len(t.words)
	if n := len(t.strings); n == cap(t.strings) {
		room := d.room(n)
		if n >= 64 {
			room = max(room, n+16+int(1.2*float64(n)*float64(d.left())/float64(at+2*n)))
		}
		t.strings = grown(t.strings, room)
	}
	if at+len(s) > cap(t.words) { // the strings are the last that is in a file
		t.words = grown(t.words, max(at+len(s)+int(d.left()), d.room(at)))
	}
	t.strings = append(t.strings, span{uint32(at), uint32(len(s))})
	t.words = append(t.words, s...)
}

// left is how many bytes there may be behind the field at hand.
func (d *decoder) left() int64 { return max(0, d.total-d.base-int64(d.top.i)) }

// room returns how much room to make for what has grown to n, judging by how
// much has been read. Room that is not used is not touched and costs no memory,
// but growing leaves garbage.
func (d *decoder) room(n int) int {
	seen, left := float64(d.base)+float64(d.top.at), float64(d.left())
	switch {
	case n < 64:
		return n + 8 + min(64, int(d.total/64))
	case left == 0 || seen == 0:
		return n + n/2
	case seen < min(1<<17, float64(d.total)/8):
		return 2 * n // too early to tell
	}
	// Half as much again: what samples refer to comes before them, so that there
	// are fewer of them to the byte in the beginning.
	return n + n/16 + 16 + int(1.5*float64(n)*left/seen)
}

// likely is how many there will be of what there are n, rather too few: a table
// of hashes that is too large costs memory, and one too small a step more.
func (d *decoder) likely(n int) int {
	seen := float64(d.base) + float64(d.top.at)
	if seen < 1<<20 {
		return n
	}
	return n + int(0.7*float64(n)*float64(d.left())/seen)
}

func (d *decoder) scalar(c *cursor) error {
	switch c.field {
	case fieldDropFrames:
		d.dropFrames = c.v
	case fieldKeepFrames:
		d.keepFrames = c.v
	case fieldTime:
		if d.timeNanos != 0 {
			return errJoined
		}
		d.timeNanos = int64(c.v)
	case fieldDuration:
		d.p.Duration = time.Duration(c.v)
	case fieldPeriod:
		d.p.Period = int64(c.v)
	case fieldComment:
		if c.typ == varint {
			d.comments = append(d.comments, c.v)
			return nil
		}
		m := c.chunk()
		for i := 0; i < len(m); {
			var v uint64
			if v, i = uvarint(m, i); i > len(m) {
				return bad(int64(c.at), "comment: a number is cut or malformed")
			}
			d.comments = append(d.comments, v)
		}
	case fieldDefaultType:
		d.defaultType = c.v
	case fieldDocURL:
		d.docURL = c.v
	}
	return nil
}

// header turns the scalars into strings, types and times.
func (d *decoder) header() error {
	if s := d.text.strings[0]; s.n != 0 {
		return bad(int64(s.off), "string 0 is %.20q, want it empty", d.text.str(0))
	}
	var err error
	str := func(i uint64, what string) string {
		s, e := d.str(i)
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", what, e)
		}
		return s
	}
	p := d.p
	p.SampleTypes = make([]ValueType, 0, len(d.sampleTypes))
	for _, t := range d.sampleTypes {
		p.SampleTypes = append(p.SampleTypes, ValueType{str(t.typ, "sample_type"), str(t.unit, "sample_type")})
	}
	p.PeriodType = ValueType{str(d.periodType.typ, "period_type"), str(d.periodType.unit, "period_type")}
	for _, c := range d.comments {
		p.Comments = append(p.Comments, str(c, "comment"))
	}
	p.DefaultSampleType = str(d.defaultType, "default_sample_type")
	p.DocURL = str(d.docURL, "doc_url")
	p.DropFrames, p.KeepFrames = str(d.dropFrames, "drop_frames"), str(d.keepFrames, "keep_frames")
	if d.timeNanos != 0 {
		p.Time = time.Unix(0, d.timeNanos)
	}
	switch n := len(p.SampleTypes); {
	case p.Len() == 0:
		p.Values = make([][]int64, n)
	case n != len(p.Values) && err == nil:
		err = fmt.Errorf("sample 0 has %d values, but there are %d sample types", len(p.Values), n)
	}
	return err
}

func (d *decoder) str(i uint64) (string, error) {
	if i >= uint64(len(d.text.strings)) {
		return "", fmt.Errorf("string %d is not in the table of %d strings", i, len(d.text.strings))
	}
	return d.text.str(i), nil
}
