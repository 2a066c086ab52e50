package profile

import (
	"fmt"
	"time"

	"loupe/value/protobuf"
)

// rawHeader is what a profile says of itself as a whole, with the numbers of its strings,
// which may come later.
type rawHeader struct {
	sampleTypes []rawType
	periodType  rawType
	comments    []uint64
	dropFrames, keepFrames,
	defaultType, docURL uint64
	timeNanos int64
}

// scalar takes in a field that is no table.
func (h *rawHeader) scalar(c *protobuf.Cursor, p *Profile) error {
	switch c.Number {
	case fieldDropFrames:
		h.dropFrames = c.Value
	case fieldKeepFrames:
		h.keepFrames = c.Value
	case fieldTime:
		if h.timeNanos != 0 {
			return errJoined
		}
		h.timeNanos = int64(c.Value)
	case fieldDuration:
		p.Duration = time.Duration(c.Value)
	case fieldPeriod:
		p.Period = int64(c.Value)
	case fieldComment:
		if c.Type == protobuf.Varint {
			h.comments = append(h.comments, c.Value)
			return nil
		}
		m := c.Chunk()
		for i := 0; i < len(m); {
			var v uint64
			if v, i = protobuf.Uvarint(m, i); i > len(m) {
				return bad(int64(c.At), "comment: a number is cut or malformed")
			}
			h.comments = append(h.comments, v)
		}
	case fieldDefaultType:
		h.defaultType = c.Value
	case fieldDocURL:
		h.docURL = c.Value
	}
	return nil
}

// resolve turns the scalars into strings, types and times.
func (h *rawHeader) resolve(p *Profile) error {
	texts := &p.labels.text
	if s := texts.strings[0]; s.n != 0 {
		return bad(int64(s.off), "string 0 is %.20q, want it empty", texts.str(0))
	}
	var err error
	str := func(i uint64, what string) string {
		s, e := texts.lookup(i)
		if e != nil && err == nil {
			err = fmt.Errorf("%s: %w", what, e)
		}
		return s
	}
	p.SampleTypes = make([]ValueType, 0, len(h.sampleTypes))
	for _, t := range h.sampleTypes {
		p.SampleTypes = append(p.SampleTypes, ValueType{str(t.typ, "sample_type"), str(t.unit, "sample_type")})
	}
	p.PeriodType = ValueType{str(h.periodType.typ, "period_type"), str(h.periodType.unit, "period_type")}
	for _, c := range h.comments {
		p.Comments = append(p.Comments, str(c, "comment"))
	}
	p.DefaultSampleType = str(h.defaultType, "default_sample_type")
	p.DocURL = str(h.docURL, "doc_url")
	p.DropFrames, p.KeepFrames = str(h.dropFrames, "drop_frames"), str(h.keepFrames, "keep_frames")
	if h.timeNanos != 0 {
		p.Time = time.Unix(0, h.timeNanos)
	}
	switch n := len(p.SampleTypes); {
	case p.Len() == 0:
		p.Values = make([][]int64, n)
	case n != len(p.Values) && err == nil:
		err = fmt.Errorf("sample 0 has %d values, but there are %d sample types", len(p.Values), n)
	}
	return err
}

// lookup returns a string that the file refers to by its number.
func (t *text) lookup(i uint64) (string, error) {
	if i >= uint64(len(t.strings)) {
		return "", fmt.Errorf("string %d is not in the table of %d strings", i, len(t.strings))
	}
	return t.str(i), nil
}
