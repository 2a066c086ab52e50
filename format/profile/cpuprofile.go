package profile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// v8Profile is a CPU profile of V8, as node --cpu-prof and the developer tools of
// Chrome save it in a file .cpuprofile (Profiler.Profile of the DevTools protocol), and
// as the chunks of a Chrome trace bring it in pieces.
type v8Profile struct {
	Nodes     []v8Node `json:"nodes"`
	StartTime float64  `json:"startTime"` // µs, as all times in it
	EndTime   float64  `json:"endTime"`
	// Samples are the nodes that were at work, TimeDeltas the time from each sample to
	// the one before, of the first to StartTime.
	Samples    []int64   `json:"samples"`
	TimeDeltas []float64 `json:"timeDeltas"`
}

// v8Node is a frame below others. A profile says which are its children, a chunk which
// is its parent.
type v8Node struct {
	ID       int64   `json:"id"`
	Frame    v8Frame `json:"callFrame"`
	Hits     int64   `json:"hitCount"`
	Children []int64 `json:"children"`
	Parent   int64   `json:"parent"`
}

// v8Frame is a function. Lines and columns are those of its begin, from 0.
type v8Frame struct {
	Function string `json:"functionName"`
	URL      string `json:"url"`
	Line     int64  `json:"lineNumber"`
	Column   int64  `json:"columnNumber"`
}

// decodeV8 reads a file .cpuprofile. A sample counts as 1 of samples, and as the time
// until the next one, of the last until the profile ended. Without samples there are
// the hits of each node.
func decodeV8(data []byte, opt Options) (*Profile, error) {
	head := bytes.TrimLeft(data, " \t\r\n")
	if len(head) == 0 || head[0] != '{' || !bytes.Contains(head, []byte(`"callFrame"`)) || !bytes.Contains(head, []byte(`"nodes"`)) ||
		bytes.Contains(head[:min(len(head), chromeBegin)], []byte(`"traceEvents"`)) {
		return nil, errOther
	}
	var file v8Profile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, syntaxError(data, err)
	}
	v := newV8Reader(len(data))
	v.begin(len(file.Samples) > 0)
	if err := v.profile(&file, nil); err != nil {
		return nil, err
	}
	return v.b.profile()
}

// syntaxError says where in a file of JSON something is wrong.
func syntaxError(data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	line := 1 + bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte("\n"))
	return fmt.Errorf("line %d, byte %d: %w (was the file cut?)", line, syntax.Offset, err)
}

// v8Reader makes samples of profiles of V8.
type v8Reader struct {
	b *builder
	// frames bounds how many frames the stacks may have: some for each byte, since a
	// node of the file is a frame of all stacks that go through it.
	frames    int
	locations map[v8Frame]uint32
	timed     bool
}

func newV8Reader(size int) *v8Reader {
	return &v8Reader{b: newBuilder(), frames: 4*size + 1<<16, locations: map[v8Frame]uint32{}}
}

// begin sets what the samples count.
func (v *v8Reader) begin(timed bool) {
	v.timed = timed
	v.b.types = []ValueType{{"samples", "count"}}
	if timed {
		v.b.types = append(v.b.types, ValueType{"time", "nanoseconds"})
	}
	v.b.periodType, v.b.period = v.b.types[len(v.b.types)-1], 0
}

// v8Sum is what a node has.
type v8Sum struct {
	samples int64
	time    float64
}

// profile adds the samples of a profile, under the labels.
func (v *v8Reader) profile(p *v8Profile, labels []byte) error {
	nodes := make(map[int64]int, len(p.Nodes))
	for i := range p.Nodes {
		nodes[p.Nodes[i].ID] = i
	}
	for i := range p.Nodes {
		for _, child := range p.Nodes[i].Children {
			n, ok := nodes[child]
			if !ok {
				return fmt.Errorf("node %d: its child %d is none of the %d nodes", p.Nodes[i].ID, child, len(p.Nodes))
			}
			p.Nodes[n].Parent = p.Nodes[i].ID
		}
	}
	sums, err := p.sums(nodes)
	if err != nil {
		return err
	}
	if len(p.Samples) > 0 {
		v.b.duration += microseconds(max(0, p.EndTime-p.StartTime))
	}
	var stack []uint32
	for i := range p.Nodes {
		if sums[i] == (v8Sum{}) {
			continue
		}
		stack = stack[:0]
		for n, ok := i, true; ok; n, ok = nodes[p.Nodes[n].Parent] {
			if v.frames--; v.frames < 0 || len(stack) > len(p.Nodes) {
				return fmt.Errorf("node %d: the stacks have more frames than any program's, or a node is below itself", p.Nodes[i].ID)
			}
			if p.Nodes[n].Frame.Function != "(root)" {
				stack = append(stack, v.location(&p.Nodes[n].Frame))
			}
			if p.Nodes[n].Parent == 0 || p.Nodes[n].Parent == p.Nodes[n].ID {
				break
			}
		}
		values := []int64{sums[i].samples, int64(microseconds(sums[i].time))}
		v.b.add(stack, labels, values[:len(v.b.types)]...)
	}
	return nil
}

// sums adds up the samples by node.
func (p *v8Profile) sums(nodes map[int64]int) ([]v8Sum, error) {
	sums := make([]v8Sum, len(p.Nodes))
	if len(p.Samples) == 0 {
		for i := range p.Nodes {
			sums[i].samples = p.Nodes[i].Hits
		}
		return sums, nil
	}
	if len(p.TimeDeltas) != len(p.Samples) {
		return nil, fmt.Errorf("there are %d samples and %d timeDeltas", len(p.Samples), len(p.TimeDeltas))
	}
	type taken struct {
		node int
		at   float64
	}
	all := make([]taken, len(p.Samples))
	at := p.StartTime
	for i, id := range p.Samples {
		node, ok := nodes[id]
		if !ok {
			return nil, fmt.Errorf("sample %d: node %d is none of the %d nodes", i, id, len(p.Nodes))
		}
		at += p.TimeDeltas[i]
		all[i] = taken{node, at}
	}
	// V8 writes what its threads took in the order in which it comes by.
	slices.SortStableFunc(all, func(a, b taken) int { return cmp.Compare(a.at, b.at) })
	for i, s := range all {
		end := max(p.EndTime, s.at)
		if i+1 < len(all) {
			end = all[i+1].at
		}
		sums[s.node].samples++
		sums[s.node].time += end - s.at
	}
	for i := range sums {
		if !(math.Abs(sums[i].time) < 1<<52) {
			return nil, fmt.Errorf("node %d: a time of %v µs is too long", p.Nodes[i].ID, sums[i].time)
		}
	}
	return sums, nil
}

// location is that of a function.
func (v *v8Reader) location(f *v8Frame) uint32 {
	id, ok := v.locations[*f]
	if !ok {
		name := f.Function
		if name == "" {
			name = "(anonymous)"
		}
		l := v.b.frame([]byte(name), []byte(f.URL), max(f.Line+1, 0))
		l.column = uint32(min(max(f.Column+1, 0), math.MaxInt32))
		id = v.b.newLocation(builtLocation{lines: []builtLine{l}})
		v.locations[*f] = id
	}
	return id
}
