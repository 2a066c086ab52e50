package profile

import (
	"errors"
	"fmt"
	"math"
	"time"

	"loupe/stack"
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
//   - the output of perf script, folded stacks, and the files of speedscope.
//
// The data is not modified, but a profile.proto with labels keeps it.
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
		var err error
		if raw, err = inflate(data, limit); err != nil {
			return nil, err
		}
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("cannot decode profile: it has %d bytes, more than %d (raise Options.MaxBytes if that is right)", len(raw), limit)
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
type decoder struct {
	text   text
	counts [16]int // top-level fields by number, counted before anything is allocated
	p      *Profile

	sampleBytes uint64
	stacks      pieces // distinct runs of Sample.location_id fields
	labels      pieces // distinct runs of Sample.label fields

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

func decode(raw []byte) (*Profile, error) {
	d := &decoder{text: text{raw: raw}, p: &Profile{Stacks: new(stack.Table)}}
	d.stacks, d.labels = newPieces(&d.text), newPieces(&d.text)
	if err := d.count(); err != nil {
		return nil, fmt.Errorf("%w (was the file cut, or is it no pprof profile?)", err)
	}
	for _, step := range []func() error{d.read, d.header, d.resolve} {
		switch err := step(); {
		case err != nil && (d.counts[fieldPeriodType] > 1 || errors.Is(err, errJoined)):
			return nil, errJoined
		case err != nil:
			return nil, fmt.Errorf("%w (the file is damaged or its writer is broken: write it again)", err)
		}
	}
	return d.p, nil
}

// errJoined is the one error of a file with sound parts: the encoding allows
// to join two messages, but the ids of the second begin at 1 again.
var errJoined = errors.New("it holds two profiles, one after the other (split the file, or merge them with go tool pprof -proto)")

// count walks the top level once and allocates every column in its final
// size. It costs about 2% of decoding and saves all growth.
func (d *decoder) count() error {
	c := cursor{b: d.text.raw}
	for c.next() {
		if c.field < 1 || c.field >= len(d.counts) {
			continue
		}
		if err := checkTop(&c); err != nil {
			return err
		}
		d.counts[c.field]++
		if c.field == fieldSample {
			d.sampleBytes += uint64(c.i - c.start)
		}
	}
	if c.bad() {
		return bad(int64(c.at), "the field is cut or malformed")
	}
	samples, types := d.counts[fieldSample], d.counts[fieldSampleType]
	switch {
	case d.counts[fieldString] == 0:
		return errors.New("there is no string table, which Go writes last")
	case samples > 0 && types == 0:
		return fmt.Errorf("there are %d samples but no sample types", samples)
	case uint64(samples)*uint64(types) > d.sampleBytes:
		// Each value takes a byte at least, so this bounds the columns by the
		// input: two million types times a million samples fit in a few MB.
		return fmt.Errorf("%d samples in %d bytes cannot have a value for each of %d sample types", samples, d.sampleBytes, types)
	}
	d.text.strings = make([]span, 0, d.counts[fieldString])
	d.mappings = make([]rawMapping, 0, d.counts[fieldMapping])
	d.functions = make([]rawFunction, 0, d.counts[fieldFunction])
	d.locations = make([]rawLocation, 0, d.counts[fieldLocation])
	d.p.StackIDs = make([]stack.ID, 0, samples)
	d.stacks.expect(samples)
	d.p.Values = make([][]int64, types)
	for i := range d.p.Values {
		d.p.Values[i] = make([]int64, samples)
	}
	return nil
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
	c := cursor{b: d.text.raw}
	for c.next() {
		var err error
		switch c.field {
		case fieldSample:
			err = d.sample(c.start, c.i)
		case fieldString:
			d.text.strings = append(d.text.strings, span{uint32(c.start), uint32(c.i - c.start)})
		case fieldLocation:
			err = d.location(&c)
		case fieldFunction:
			err = d.function(&c)
		case fieldMapping:
			err = d.mapping(&c)
		case fieldSampleType:
			var t rawType
			t, err = readType(&c)
			d.sampleTypes = append(d.sampleTypes, t)
		case fieldPeriodType:
			d.periodType, err = readType(&c)
		default:
			err = d.scalar(&c)
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	return err
}

func (d *decoder) str(i uint64) (string, error) {
	if i >= uint64(len(d.text.strings)) {
		return "", fmt.Errorf("string %d is not in the table of %d strings", i, len(d.text.strings))
	}
	return d.text.str(i), nil
}
