package profile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"loupe/value/stack"
)

const speedscopeSchema = "https://www.speedscope.app/file-format-schema.json"

// speedscopeFile is a file of speedscope, as far as it is read.
type speedscopeFile struct {
	Shared struct {
		Frames []speedscopeFrame `json:"frames"`
	} `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int64  `json:"line,omitempty"`
	Col  uint32 `json:"col,omitempty"`
}

type speedscopeProfile struct {
	Type    string            `json:"type"`
	Name    string            `json:"name"`
	Unit    string            `json:"unit"`
	Samples [][]uint32        `json:"samples"` // frames of each, the root first
	Weights []float64         `json:"weights"`
	Events  []speedscopeEvent `json:"events"`
}

type speedscopeEvent struct {
	Type  string  `json:"type"` // O opens a frame, C closes it
	Frame uint32  `json:"frame"`
	At    float64 `json:"at"`
}

// speedscopeUnits are the sample types that the units of speedscope become, and
// by what its numbers are multiplied.
var speedscopeUnits = map[string]struct {
	ValueType
	factor float64
}{
	"none":         {ValueType{"samples", "count"}, 1},
	"bytes":        {ValueType{"space", "bytes"}, 1},
	"nanoseconds":  {ValueType{"time", "nanoseconds"}, 1},
	"microseconds": {ValueType{"time", "nanoseconds"}, 1e3},
	"milliseconds": {ValueType{"time", "nanoseconds"}, 1e6},
	"seconds":      {ValueType{"time", "nanoseconds"}, 1e9},
}

// decodeSpeedscope reads the JSON files of speedscope. All profiles of a file
// become one: samples have the label profile when there are several, and a
// sample type for each kind of unit.
func decodeSpeedscope(data []byte, opt Options) (*Profile, error) {
	head := bytes.TrimLeft(data, " \t\r\n")
	if len(head) == 0 || head[0] != '{' || !bytes.Contains(head, []byte(`"profiles"`)) || !bytes.Contains(head, []byte(`"shared"`)) {
		return nil, errOther
	}
	var file speedscopeFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, syntaxError(data, err)
	}
	r := speedscopeReader{b: newBuilder(), columns: map[ValueType]int{}}
	for i, p := range file.Profiles {
		u, ok := speedscopeUnits[p.Unit]
		if !ok {
			return nil, fmt.Errorf("profile %d, %q: the unit %q is unknown", i, p.Name, p.Unit)
		}
		if _, ok := r.columns[u.ValueType]; !ok {
			r.columns[u.ValueType] = len(r.b.types)
			r.b.types = append(r.b.types, u.ValueType)
		}
	}
	if len(file.Profiles) == 0 {
		return nil, errors.New("there are no profiles in it")
	}
	r.b.periodType, r.b.period = r.b.types[len(r.b.types)-1], 0
	for _, f := range file.Shared.Frames {
		l := r.b.frame([]byte(f.Name), []byte(f.File), max(f.Line, 0))
		l.column = f.Col
		r.frames = append(r.frames, r.b.newLocation(builtLocation{lines: []builtLine{l}}))
	}
	for i := range file.Profiles {
		p := &file.Profiles[i]
		if err := r.profile(p, len(file.Profiles) > 1); err != nil {
			return nil, fmt.Errorf("profile %d, %q: %w", i, p.Name, err)
		}
		*p = speedscopeProfile{}
	}
	return r.b.profile()
}

type speedscopeReader struct {
	b       *builder
	columns map[ValueType]int
	frames  []uint32 // the location of each
	wire    []byte
	column  int
	factor  float64
	values  []int64
	stack   []uint32
}

func (r *speedscopeReader) profile(p *speedscopeProfile, several bool) error {
	u := speedscopeUnits[p.Unit]
	r.column, r.factor = r.columns[u.ValueType], u.factor
	r.wire = r.wire[:0]
	if several {
		r.wire = r.b.label(r.wire, "profile", []byte(p.Name))
	}
	switch p.Type {
	case "sampled":
		return r.sampled(p)
	case "evented":
		return r.evented(p)
	}
	return fmt.Errorf("the type %q is unknown: want sampled or evented", p.Type)
}

// add adds a sample with the locations in r.stack.
func (r *speedscopeReader) add(weight float64) error {
	v := math.Round(weight * r.factor)
	if math.Abs(v) >= 1<<62 {
		return fmt.Errorf("the weight %v is too large", weight)
	}
	r.values = append(r.values[:0], make([]int64, len(r.b.types))...)
	r.values[r.column] = int64(v)
	r.b.add(r.stack, r.wire, r.values...)
	return nil
}

func (r *speedscopeReader) sampled(p *speedscopeProfile) error {
	if len(p.Samples) != len(p.Weights) {
		return fmt.Errorf("there are %d samples and %d weights", len(p.Samples), len(p.Weights))
	}
	for i, s := range p.Samples {
		r.stack = r.stack[:0]
		for j := len(s) - 1; j >= 0; j-- {
			if int(s[j]) >= len(r.frames) {
				return fmt.Errorf("sample %d: frame %d is not in the table of %d frames", i, s[j], len(r.frames))
			}
			r.stack = append(r.stack, r.frames[s[j]])
		}
		if err := r.add(p.Weights[i]); err != nil {
			return fmt.Errorf("sample %d: %w", i, err)
		}
	}
	return nil
}

// evented sums the time between two events for the stack that was open then.
func (r *speedscopeReader) evented(p *speedscopeProfile) error {
	tree := newCallTree()
	at, last := uint32(0), 0.0
	for i, e := range p.Events {
		if int(e.Frame) >= len(r.frames) {
			return fmt.Errorf("event %d: frame %d is not in the table of %d frames", i, e.Frame, len(r.frames))
		}
		if i > 0 && e.At < last {
			return fmt.Errorf("event %d at %v is before the one at %v", i, e.At, last)
		}
		if at > 0 {
			tree.nodes[at].self += e.At - last
		}
		last = e.At
		switch {
		case e.Type == "O":
			at = tree.child(at, e.Frame)
		case e.Type != "C":
			return fmt.Errorf("event %d: the type %q is unknown: want O or C", i, e.Type)
		case at == 0 || tree.nodes[at].frame != e.Frame:
			return fmt.Errorf("event %d closes frame %d, which is not the innermost open one", i, e.Frame)
		default:
			at = tree.nodes[at].parent
		}
	}
	return tree.each(64*len(p.Events)+1<<16, func(stack []uint32, weight float64) error {
		r.stack = r.stack[:0]
		for _, f := range stack {
			r.stack = append(r.stack, r.frames[f])
		}
		return r.add(weight)
	})
}

// WriteSpeedscope writes the stacks of one sample type as a file of speedscope,
// with a profile of the kind sampled. Labels and inlining are lost, and so are
// values of 0; negative ones, of a difference, are an error, since speedscope
// draws widths. The index is one that [Profile.Index] returns.
func (p *Profile) WriteSpeedscope(w io.Writer, index int) error {
	for id, v := range p.byStack(index) {
		if v < 0 {
			return fmt.Errorf("cannot write speedscope file: a stack of %d frames weighs %d, and speedscope draws widths (write folded stacks or pprof)", len(p.Stacks.Frames(id)), v)
		}
	}
	s := speedscopeWriter{p: p, out: bufio.NewWriter(w)}
	s.write(index)
	if s.err == nil {
		s.err = s.out.Flush()
	}
	if s.err != nil {
		return fmt.Errorf("cannot write speedscope file: %w", s.err)
	}
	return nil
}

type speedscopeWriter struct {
	p   *Profile
	out *bufio.Writer
	err error
}

func (s *speedscopeWriter) write(index int) {
	p, t := s.p, s.p.SampleTypes[index]
	unit := t.Unit
	if _, ok := speedscopeUnits[unit]; !ok {
		unit = "none"
	}
	fmt.Fprintf(s.out, `{"$schema":%q,"exporter":"loupe","activeProfileIndex":0,"shared":{"frames":[`, speedscopeSchema)
	// Frames that differ in their address alone are one to speedscope.
	numbers := map[speedscopeFrame]int{}
	frames := make([]int, p.Stacks.NumFrames())
	for i := range frames {
		f := p.Stacks.Frame(stack.FrameID(i))
		shown := speedscopeFrame{nameOf(f), f.File, int64(f.Line), uint32(f.Column)}
		n, ok := numbers[shown]
		if !ok {
			n = len(numbers)
			numbers[shown] = n
			s.comma(n)
			s.json(shown)
		}
		frames[i] = n
	}
	s.out.WriteString(`]},"profiles":[{"type":"sampled","name":`)
	s.json(t.Type)
	var total int64
	for _, v := range p.byStack(index) {
		total += v
	}
	fmt.Fprintf(s.out, `,"unit":%q,"startValue":0,"endValue":%d,"samples":[`, unit, total)
	n := 0
	var buf []byte
	for id := range p.byStack(index) {
		s.comma(n)
		n++
		buf = append(buf[:0], '[')
		list := p.Stacks.Frames(id)
		for i := len(list) - 1; i >= 0; i-- {
			buf = fmt.Append(buf, frames[list[i]])
			if i > 0 {
				buf = append(buf, ',')
			}
		}
		s.out.Write(append(buf, ']'))
	}
	s.out.WriteString(`],"weights":[`)
	n = 0
	for _, v := range p.byStack(index) {
		s.comma(n)
		n++
		fmt.Fprint(s.out, v)
	}
	s.out.WriteString("]}]}\n")
}

func (s *speedscopeWriter) comma(n int) {
	if n > 0 {
		s.out.WriteByte(',')
	}
}

func (s *speedscopeWriter) json(v any) {
	b, err := json.Marshal(v)
	if s.err == nil {
		s.err = err
	}
	s.out.Write(b)
}
