package profile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// chromeBegin is how far from its begin a file of the Trace Event Format is known: the
// metadata of the developer tools may stand first.
const chromeBegin = 32 << 10

// chromeEvent is one event, as far as it is read.
type chromeEvent struct {
	Phase string          `json:"ph"`
	Name  string          `json:"name"`
	Time  float64         `json:"ts"` // µs, as Dur
	Dur   float64         `json:"dur"`
	PID   chromeID        `json:"pid"`
	TID   chromeID        `json:"tid"`
	ID    chromeID        `json:"id"`
	Args  json.RawMessage `json:"args"`
}

// chromeID is a number or a text that stands for something.
type chromeID string

// UnmarshalJSON takes either as it is.
func (id *chromeID) UnmarshalJSON(b []byte) error {
	*id = chromeID(strings.Trim(string(b), `"`))
	return nil
}

// chromeSample and chromeFrame are the samples of a sampling profiler beside the
// events, and the frames that they name.
type chromeSample struct {
	Name   string   `json:"name"`
	TID    chromeID `json:"tid"`
	Frame  chromeID `json:"sf"`
	Weight *float64 `json:"weight"`
}

type chromeFrame struct {
	Name     string   `json:"name"`
	Category string   `json:"category"`
	Parent   chromeID `json:"parent"`
}

// chromeThread is a thread of a process.
type chromeThread struct{ pid, tid chromeID }

// chromeSpan is a begin (B), an end (E), or both (X) of what a thread does.
type chromeSpan struct {
	phase   byte
	name    uint32
	at, end float64
}

// chromeReader reads files of the Trace Event Format, which Chrome, many build systems
// and clang -ftime-trace write. There are three kinds of profiles in them; the first
// that is there counts, since the others say the same with less:
//
//   - chunks of the CPU profiles of V8 (ProfileChunk);
//   - samples with stackFrames;
//   - durations (X, or B and E), whose stack is what was open in the thread.
type chromeReader struct {
	size     int
	events   int
	v8       map[chromeThread]*v8Profile // by the process and the number of the profile
	samples  []chromeSample
	frames   map[chromeID]chromeFrame
	spans    map[chromeThread][]chromeSpan
	names    []string
	nameIDs  map[string]uint32
	threads  map[chromeThread]string // as the metadata calls them
	programs map[chromeID]string
}

// looksChrome tells whether text begins as a file of this format does: an object with
// traceEvents, or an array of events.
func looksChrome(head []byte) bool {
	start := bytes.TrimLeft(head[:min(len(head), chromeBegin)], " \t\r\n")
	switch {
	case len(start) == 0:
	case start[0] == '{':
		return bytes.Contains(start, []byte(`"traceEvents"`))
	case start[0] == '[':
		first := bytes.TrimLeft(start[1:], " \t\r\n")
		return len(first) > 0 && first[0] == '{' && bytes.Contains(first, []byte(`"ph"`))
	}
	return false
}

// decodeChrome reads a file of the Trace Event Format.
func decodeChrome(data []byte, opt Options) (*Profile, error) {
	if !looksChrome(data) {
		return nil, errOther
	}
	r := &chromeReader{
		size: len(data), v8: map[chromeThread]*v8Profile{}, frames: map[chromeID]chromeFrame{}, spans: map[chromeThread][]chromeSpan{},
		nameIDs: map[string]uint32{}, threads: map[chromeThread]string{}, programs: map[chromeID]string{},
	}
	if err := r.read(json.NewDecoder(bytes.NewReader(data))); err != nil {
		return nil, err
	}
	switch {
	case len(r.v8) > 0:
		return r.ofChunks()
	case len(r.samples) > 0:
		return r.ofSamples()
	case len(r.spans) > 0:
		return r.ofSpans()
	}
	return nil, fmt.Errorf("none of its %d events is a sample or has a duration (ProfileChunk, samples with stackFrames, or ph X, B and E)", r.events)
}

// read goes through the file: an object, or an array of events, which may lack its end.
func (r *chromeReader) read(d *json.Decoder) error {
	first, err := d.Token()
	if err != nil {
		return err
	}
	if first == json.Delim('[') {
		err := r.array(d)
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return nil // the format wants it so: who writes may end anywhere
		}
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return r.bad(d, err)
		}
		switch key {
		case "traceEvents":
			err = r.list(d, r.array)
		case "stackFrames":
			err = d.Decode(&r.frames)
		case "samples":
			err = r.list(d, func(d *json.Decoder) error {
				for d.More() {
					var s chromeSample
					if err := d.Decode(&s); err != nil {
						return err
					}
					r.samples = append(r.samples, s)
				}
				_, err := d.Token()
				return err
			})
		default:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		if err != nil {
			return r.bad(d, err)
		}
	}
	if _, err := d.Token(); err != nil {
		return r.bad(d, err)
	}
	return nil
}

// bad says where something is wrong.
func (r *chromeReader) bad(d *json.Decoder, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("byte %d, behind %d events: %w (was the file cut?)", d.InputOffset(), r.events, err)
}

// list reads an array by its elements.
func (r *chromeReader) list(d *json.Decoder, elements func(*json.Decoder) error) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("want an array, not %v", t)
	}
	return elements(d)
}

// array reads events up to the end of their array.
func (r *chromeReader) array(d *json.Decoder) error {
	for d.More() {
		var e chromeEvent
		if err := d.Decode(&e); err != nil {
			return err
		}
		r.events++
		if err := r.event(&e); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// event takes one event.
func (r *chromeReader) event(e *chromeEvent) error {
	switch e.Phase {
	case "M":
		return r.metadata(e)
	case "X", "B", "E":
		if math.Abs(e.Time) > 1<<52 || math.Abs(e.Dur) > 1<<52 {
			return fmt.Errorf("event %d, %.40q: a time of %v µs is too long", r.events, e.Name, max(math.Abs(e.Time), math.Abs(e.Dur)))
		}
		at := chromeThread{e.PID, e.TID}
		r.spans[at] = append(r.spans[at], chromeSpan{e.Phase[0], r.name(e.Name), e.Time, e.Time + max(e.Dur, 0)})
		if e.Name == "CpuProfile" {
			return r.chunk(e)
		}
	case "P", "I":
		switch e.Name {
		case "Profile", "ProfileChunk", "CpuProfile":
			return r.chunk(e)
		}
	}
	return nil
}

// name numbers the name of an event.
func (r *chromeReader) name(name string) uint32 {
	id, ok := r.nameIDs[name]
	if !ok {
		id = uint32(len(r.names))
		r.names = append(r.names, name)
		r.nameIDs[name] = id
	}
	return id
}

// metadata takes the names of processes and threads.
func (r *chromeReader) metadata(e *chromeEvent) error {
	if e.Name != "thread_name" && e.Name != "process_name" {
		return nil
	}
	var args struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(e.Args, &args); err != nil {
		return fmt.Errorf("event %d, %s: %w", r.events, e.Name, err)
	}
	if e.Name == "thread_name" {
		r.threads[chromeThread{e.PID, e.TID}] = args.Name
	} else {
		r.programs[e.PID] = args.Name
	}
	return nil
}

// chunk takes a piece of a profile of V8.
func (r *chromeReader) chunk(e *chromeEvent) error {
	var args struct {
		Data struct {
			Profile    v8Profile `json:"cpuProfile"`
			TimeDeltas []float64 `json:"timeDeltas"`
			StartTime  float64   `json:"startTime"`
			EndTime    float64   `json:"endTime"`
		} `json:"data"`
	}
	if err := json.Unmarshal(e.Args, &args); err != nil {
		return fmt.Errorf("event %d, %s: %w", r.events, e.Name, err)
	}
	key, data := chromeThread{e.PID, e.ID}, &args.Data
	p := r.v8[key]
	if p == nil {
		p = &v8Profile{}
		r.v8[key] = p
	}
	p.Nodes = append(p.Nodes, data.Profile.Nodes...)
	p.Samples = append(p.Samples, data.Profile.Samples...)
	p.TimeDeltas = append(append(p.TimeDeltas, data.TimeDeltas...), data.Profile.TimeDeltas...)
	p.StartTime = cmp.Or(p.StartTime, data.StartTime, data.Profile.StartTime)
	p.EndTime = max(p.EndTime, data.EndTime, data.Profile.EndTime)
	return nil
}

// byThread orders threads as their numbers.
func byThread(a, b chromeThread) int {
	return cmp.Or(cmp.Compare(len(a.pid), len(b.pid)), cmp.Compare(a.pid, b.pid), cmp.Compare(len(a.tid), len(b.tid)), cmp.Compare(a.tid, b.tid))
}

// labels are those of a thread, as far as they tell it from the others.
func (r *chromeReader) labels(b *builder, t chromeThread, several bool) (wire []byte) {
	if !several {
		return nil
	}
	wire = b.label(nil, "process", []byte(cmp.Or(r.programs[t.pid], string(t.pid))))
	return b.label(wire, "thread", []byte(cmp.Or(r.threads[t], string(t.tid))))
}

// ofChunks makes a profile of those of V8.
func (r *chromeReader) ofChunks() (*Profile, error) {
	v := newV8Reader(r.size)
	v.begin(true)
	longest := time.Duration(0)
	for _, key := range slices.SortedFunc(maps.Keys(r.v8), byThread) {
		p := r.v8[key]
		if len(p.Samples) == 0 {
			continue // it was begun
		}
		var labels []byte
		if len(r.v8) > 1 {
			labels = v.b.label(nil, "profile", []byte(string(key.tid)))
			labels = v.b.label(labels, "process", []byte(cmp.Or(r.programs[key.pid], string(key.pid))))
		}
		v.b.duration = 0
		if err := v.profile(p, labels); err != nil {
			return nil, fmt.Errorf("profile %s of process %s: %w", key.tid, key.pid, err)
		}
		longest = max(longest, v.b.duration)
	}
	v.b.duration = longest
	return v.b.profile()
}

// ofSamples makes a profile of samples with stackFrames.
func (r *chromeReader) ofSamples() (*Profile, error) {
	b := newBuilder(ValueType{"samples", "count"}, ValueType{"weight", "count"})
	b.periodType, b.period = b.types[0], 0
	locations := map[chromeID]uint32{}
	most := 4*r.size + 1<<16
	several, kinds := map[chromeID]bool{}, map[string]bool{}
	for i := range r.samples {
		several[r.samples[i].TID], kinds[r.samples[i].Name] = true, true
	}
	var stack []uint32
	for i := range r.samples {
		s := &r.samples[i]
		stack = stack[:0]
		for id, ok := s.Frame, s.Frame != ""; ok; {
			f, known := r.frames[id]
			if !known {
				return nil, fmt.Errorf("sample %d: frame %.40q is none of the %d stackFrames", i, id, len(r.frames))
			}
			if most--; most < 0 || len(stack) > len(r.frames) {
				return nil, fmt.Errorf("sample %d: the stacks have more frames than any program's, or a frame is below itself", i)
			}
			l, seen := locations[id]
			if !seen {
				l = b.newLocation(builtLocation{lines: []builtLine{b.frame([]byte(f.Name), []byte(f.Category), 0)}})
				locations[id] = l
			}
			stack = append(stack, l)
			id, ok = f.Parent, f.Parent != ""
		}
		weight := 1.0
		if s.Weight != nil {
			weight = math.Round(*s.Weight)
		}
		if math.Abs(weight) >= 1<<52 {
			return nil, fmt.Errorf("sample %d: the weight %v is too large", i, weight)
		}
		var labels []byte
		if len(several) > 1 {
			labels = b.label(nil, "thread", []byte(s.TID))
		}
		if len(kinds) > 1 {
			labels = b.label(labels, "event", []byte(s.Name))
		}
		b.add(stack, labels, 1, int64(weight))
	}
	return b.profile()
}

// ofSpans makes a profile of durations: the time that each has taken less that of those
// within it.
func (r *chromeReader) ofSpans() (*Profile, error) {
	b := newBuilder(ValueType{"time", "nanoseconds"})
	b.periodType, b.period = b.types[0], 0
	locations := make([]uint32, len(r.names))
	for i, name := range r.names {
		locations[i] = b.newLocation(builtLocation{lines: []builtLine{b.frame([]byte(name), nil, 0)}})
	}
	most := 4*r.size + 1<<16
	first, last := math.Inf(1), math.Inf(-1)
	for _, thread := range slices.SortedFunc(maps.Keys(r.spans), byThread) {
		tree, from, to := timesOf(r.spans[thread])
		first, last = min(first, from), max(last, to)
		labels := r.labels(b, thread, len(r.spans) > 1)
		var at []uint32
		err := tree.each(most, func(stack []uint32, weight float64) error {
			most -= len(stack)
			at = at[:0]
			for _, name := range stack {
				at = append(at, locations[name])
			}
			b.add(at, labels, int64(microseconds(weight)))
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	b.duration = microseconds(last - first)
	return b.profile()
}

// timesOf adds up the durations of a thread, and says from when to when they are. What
// was begun and not ended lasts to the end. One that ends after the one that it began
// in ends with it.
func timesOf(spans []chromeSpan) (tree *callTree, first, last float64) {
	first, last = math.Inf(1), math.Inf(-1)
	for i := range spans {
		first, last = min(first, spans[i].at), max(last, spans[i].end)
	}
	// Of those that begin at the same time the longer one holds the others.
	slices.SortStableFunc(spans, func(a, b chromeSpan) int {
		if a.at != b.at || a.phase != 'X' || b.phase != 'X' {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(b.end, a.end)
	})
	tree = newCallTree()
	type open struct {
		node uint32
		end  float64
	}
	stack := []open{{0, math.Inf(1)}}
	now := first
	// until gives the time up to then to what is open, and closes what ends before.
	until := func(t float64) {
		for {
			top := stack[len(stack)-1]
			tree.nodes[top.node].self += max(0, min(t, top.end)-now)
			now = max(now, min(t, top.end))
			if top.end > t || len(stack) == 1 {
				return
			}
			stack = stack[:len(stack)-1]
		}
	}
	for i := range spans {
		s := &spans[i]
		until(s.at)
		top := stack[len(stack)-1]
		switch s.phase {
		case 'X':
			stack = append(stack, open{tree.child(top.node, s.name), min(s.end, top.end)})
		case 'B':
			stack = append(stack, open{tree.child(top.node, s.name), top.end})
		case 'E':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		}
	}
	until(last)
	return tree, first, last
}

// microseconds is a time in µs as a duration; what is out of its range is the longest.
func microseconds(us float64) time.Duration {
	return time.Duration(math.Round(min(max(us*1e3, -1<<62), 1<<62)))
}
