// Package perfdata reads the files of perf record: perf.data, and what perf
// record -o - writes into a pipe. It knows what a profile needs: the events, who
// ran which program at which addresses, and the samples with their call chains.
// It does not unwind: of --call-graph dwarf the copied stacks are left out.
//
// The format is described in the kernel's sources, in
// tools/perf/Documentation/perf.data-file-format.txt and
// include/uapi/linux/perf_event.h; docs/formats/perf.md here has what is used.
package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// Event is what was counted: an attr of perf_event_open(2).
type Event struct {
	Name         string // as perf lists it, with modifiers: "cycles:u"; may be empty
	Type         uint32
	Config       uint64
	SampleType   uint64
	ReadFormat   uint64
	Period       uint64 // or frequency
	Freq         bool
	SampleIDAll  bool
	CopiesStacks bool // --call-graph dwarf
	IDs          []uint64
}

// File is a file that was opened. Its records are read by [File.Records].
type File struct {
	Events []Event
	// BuildIDs are those of programs and libraries, by path.
	BuildIDs map[string][]byte
	// Command is how perf was called, Lost how many samples the kernel had no
	// room for.
	Command []string
	Lost    uint64
	// Cut says that the last record is not whole.
	Cut bool

	data  []byte
	limit int64
	byID  map[uint64]int
}

const (
	magic     = "PERFILE2"
	bigMagic  = "2ELIFREP" // what a machine of the other byte order writes
	oldMagic  = "PERFFILE"
	pipeSize  = 16
	attrBytes = 64 // of an attr, the least there ever was
)

// ErrOther says that the data is no file of perf.
var ErrOther = errors.New("no perf.data file")

var le = binary.LittleEndian

// Open reads the head of a file. limit bounds what compressed records may become.
func Open(data []byte, limit int64) (*File, error) {
	switch {
	case bytes.HasPrefix(data, []byte(bigMagic)):
		return nil, errors.New("it was written on a big-endian machine (write it as text there: perf script)")
	case bytes.HasPrefix(data, []byte(oldMagic)):
		return nil, errors.New("it was written by perf of a kernel before 2.6.39 (write it as text: perf script)")
	case !bytes.HasPrefix(data, []byte(magic)):
		return nil, ErrOther
	case len(data) < pipeSize:
		return nil, errors.New("the header is cut")
	}
	f := &File{BuildIDs: map[string][]byte{}, byID: map[uint64]int{}, limit: limit}
	if le.Uint64(data[8:]) == pipeSize {
		f.data = data[pipeSize:]
		return f, nil
	}
	const header = 104
	if len(data) < header {
		return nil, fmt.Errorf("the header is cut after %d of %d bytes", len(data), header)
	}
	attrSize := le.Uint64(data[16:])
	attrs, err := section(data, 24)
	if err != nil {
		return nil, fmt.Errorf("cannot read the events: %w", err)
	}
	if attrSize < attrBytes+16 || attrSize > 1<<12 {
		return nil, fmt.Errorf("an event has %d bytes", attrSize)
	}
	for ; uint64(len(attrs)) >= attrSize; attrs = attrs[attrSize:] {
		ids, err := section(attrs[:attrSize], int(attrSize)-16, data)
		if err != nil {
			return nil, fmt.Errorf("cannot read the ids of an event: %w", err)
		}
		f.addEvent(attrs[:attrSize-16], ids)
	}
	from, size := le.Uint64(data[40:]), le.Uint64(data[48:])
	if from > uint64(len(data)) {
		return nil, fmt.Errorf("the records begin at byte %d of %d", from, len(data))
	}
	if size == 0 || size > uint64(len(data))-from { // perf was killed before it wrote the size
		f.data, f.Cut = data[from:], true
		return f, nil
	}
	f.data = data[from : from+size]
	f.features(data, from+size, data[72:header])
	return f, nil
}

// section returns the bytes that an offset and a size at a place name, of the
// whole file when that is another one.
func section(data []byte, at int, whole ...[]byte) ([]byte, error) {
	in := data
	if len(whole) > 0 {
		in = whole[0]
	}
	from, size := le.Uint64(data[at:]), le.Uint64(data[at+8:])
	if from > uint64(len(in)) || size > uint64(len(in))-from {
		return nil, fmt.Errorf("bytes %d to %d are beyond the %d of the file", from, from+size, len(in))
	}
	return in[from : from+size], nil
}

// maxEvents and maxIDs bound what is believed.
const (
	maxEvents = 1 << 12
	maxIDs    = 1 << 20
)

func (f *File) addEvent(attr, ids []byte) {
	if len(f.Events) == maxEvents || len(attr) < attrBytes {
		return
	}
	const freq, sampleIDAll, stackUser = 1 << 10, 1 << 18, 1 << 13
	flags := le.Uint64(attr[40:])
	e := Event{
		Type: le.Uint32(attr), Config: le.Uint64(attr[8:]), Period: le.Uint64(attr[16:]),
		SampleType: le.Uint64(attr[24:]), ReadFormat: le.Uint64(attr[32:]),
		Freq: flags&freq != 0, SampleIDAll: flags&sampleIDAll != 0,
	}
	e.CopiesStacks = e.SampleType&stackUser != 0
	for ; len(ids) >= 8 && len(f.byID) < maxIDs; ids = ids[8:] {
		id := le.Uint64(ids)
		e.IDs = append(e.IDs, id)
		f.byID[id] = len(f.Events)
	}
	f.Events = append(f.Events, e)
}

// The features that are read, by their bits.
const (
	featureBuildID   = 2
	featureCommand   = 11
	featureEventDesc = 12
)

// features reads what stands behind the records: a section for each bit. What is
// wrong in there is left out.
func (f *File) features(data []byte, at uint64, bits []byte) {
	for bit := range len(bits) * 8 {
		if bits[bit/8]>>(bit%8)&1 == 0 {
			continue
		}
		if at+16 > uint64(len(data)) {
			return
		}
		if text, err := section(data, int(at)); err == nil {
			f.feature(uint64(bit), text)
		}
		at += 16
	}
}

func (f *File) feature(bit uint64, text []byte) {
	switch bit {
	case featureBuildID:
		for len(text) >= 8 {
			size := int(le.Uint16(text[6:]))
			if size < 8 || size > len(text) {
				return
			}
			f.buildID(le.Uint16(text[4:]), text[8:size])
			text = text[size:]
		}
	case featureCommand:
		if len(text) < 4 {
			return
		}
		n := le.Uint32(text)
		for text = text[4:]; n > 0 && len(text) >= 4; n-- {
			var word string
			word, text = counted(text)
			f.Command = append(f.Command, word)
		}
	case featureEventDesc:
		f.eventNames(text)
	}
}

// counted reads a string behind its length.
func counted(text []byte) (string, []byte) {
	n := uint64(le.Uint32(text))
	text = text[4:]
	if n > uint64(len(text)) {
		return "", nil
	}
	return cstring(text[:n]), text[n:]
}

func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// buildID reads: process, 20 bytes of build id and 4 of its length, the file.
func (f *File) buildID(misc uint16, rec []byte) {
	const hasSize = 1 << 15
	if len(rec) < 29 || len(f.BuildIDs) >= maxIDs {
		return
	}
	id := rec[4:24]
	if n := int(rec[24]); misc&hasSize != 0 && n <= len(id) {
		id = id[:n]
	}
	f.BuildIDs[cstring(rec[28:])] = slices.Clone(id)
}

// eventNames reads the names of the events, which stand in their order.
func (f *File) eventNames(text []byte) {
	if len(text) < 8 {
		return
	}
	size := int(le.Uint32(text[4:]))
	text = text[8:]
	for i := range f.Events {
		if size > len(text) || len(text)-size < 8 {
			return
		}
		ids := le.Uint32(text[size:])
		var name string
		name, text = counted(text[size+4:])
		f.Events[i].Name = name
		if uint64(ids)*8 > uint64(len(text)) {
			return
		}
		text = text[ids*8:]
	}
}

// records walks the records of a file, the compressed ones unpacked.
func (f *File) records(visit func(kind uint32, misc uint16, body []byte) error) error {
	packed, err := f.walk(f.data, visit)
	if err != nil || len(packed) == 0 {
		return err
	}
	// All compressed records are pieces of one stream, which has no end.
	readers := make([]io.Reader, len(packed))
	for i, p := range packed {
		readers[i] = bytes.NewReader(p)
	}
	d, err := zstd.NewReader(io.MultiReader(readers...), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return fmt.Errorf("cannot unpack the records: %w", err)
	}
	defer d.Close()
	text, err := io.ReadAll(io.LimitReader(d, f.limit+1))
	if int64(len(text)) > f.limit {
		return fmt.Errorf("the records unpack to more than %d bytes", f.limit)
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("cannot unpack the records: %w", err)
	}
	_, err = f.walk(text, visit)
	return err
}

// The kinds of records (enum perf_event_type, enum perf_user_event_type).
const (
	recordMmap, recordLost, recordComm, recordFork = 1, 2, 3, 7
	recordSample, recordMmap2                      = 9, 10
	recordAttr, recordTracing, recordBuildID       = 64, 66, 67
	recordAuxtrace, recordFeature                  = 71, 80
	recordCompressed, recordCompressed2            = 81, 83
)

// walk visits records that follow each other, and returns the packed ones.
func (f *File) walk(data []byte, visit func(kind uint32, misc uint16, body []byte) error) (packed [][]byte, err error) {
	for len(data) > 0 {
		if len(data) < 8 {
			f.Cut = true
			return packed, nil
		}
		kind, misc, size := le.Uint32(data), le.Uint16(data[4:]), int(le.Uint16(data[6:]))
		if size < 8 || size > len(data) {
			f.Cut = true
			return packed, nil
		}
		body, extra := data[8:size], uint64(0)
		switch kind {
		case recordAuxtrace, recordTracing: // what they tell of stands behind them
			if len(body) >= 8 {
				extra = le.Uint64(body)
			}
			if kind == recordTracing {
				extra = (extra&0xffffffff + 7) &^ 7
			}
		case recordCompressed:
			packed = append(packed, body)
		case recordCompressed2:
			if n := uint64(0); len(body) >= 8 {
				if n = le.Uint64(body); n <= uint64(len(body)-8) {
					packed = append(packed, body[8:8+n])
				}
			}
		default:
			if err := visit(kind, misc, body); err != nil {
				return packed, err
			}
		}
		data = data[size:]
		if extra > uint64(len(data)) {
			f.Cut = true
			return packed, nil
		}
		data = data[extra:]
	}
	return packed, nil
}
