package clickhouse

import (
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/value/stack"
)

// Limits of one space, beyond which a service begins another.
const (
	maxSpaceStacks = 200_000
	maxSpaceBytes  = 32 << 20
	maxSpaces      = 512 // that one process writes to at the same time
)

// space numbers the code of one service, for one process and one day: nobody else gives
// numbers in it, so that writers need not ask each other. Numbers are small, which is
// what makes profiles small; how many spaces there are matters little.
type space struct {
	id        uint64
	born      string // day, as a Date
	functions map[store.Function]uint32
	lines     map[string]uint32 // locations, by functions and lines
	paths     map[string]uint32 // stacks, by locations
	sets      map[store.Labels]uint32
	bytes     int
	used      time.Time
	key       []byte

	// What is not known to be in the tables yet, as rows.
	newLocations, newStacks, newSets []byte
}

func newSpace(now time.Time) *space {
	return &space{id: rand.Uint64() | 1, born: now.UTC().Format(time.DateOnly), functions: map[store.Function]uint32{},
		lines: map[string]uint32{}, paths: map[string]uint32{}, sets: map[store.Labels]uint32{{}: 0}}
}

// full tells whether the service is to begin another space.
func (s *space) full(now time.Time) bool {
	return s.born != now.UTC().Format(time.DateOnly) || len(s.paths) > maxSpaceStacks || len(s.sets) > maxSpaceStacks || s.bytes > maxSpaceBytes
}

// head begins a row of the space.
func (s *space) head(b []byte, id uint32) []byte {
	b = append(append(b, s.born...), '\t')
	b = append(strconv.AppendUint(b, s.id, 10), '\t')
	return append(strconv.AppendUint(b, uint64(id), 10), '\t')
}

// location returns the number of calls that were inlined into one, the innermost first.
func (s *space) location(frames []stack.Frame) uint32 {
	s.key = s.key[:0]
	for _, f := range frames {
		fn := store.Function{Name: f.Func, File: f.File, StartLine: f.StartLine}
		at, ok := s.functions[fn]
		if !ok {
			at = uint32(len(s.functions))
			// What is kept must not hold the text that it was cut from.
			fn.Name, fn.File = string([]byte(fn.Name)), string([]byte(fn.File))
			s.functions[fn] = at
			s.bytes += len(fn.Name) + len(fn.File) + 64
		}
		s.key = binary.LittleEndian.AppendUint32(s.key, at)
		s.key = binary.LittleEndian.AppendUint64(s.key, uint64(f.Line))
	}
	if at, ok := s.lines[string(s.key)]; ok {
		return at
	}
	id := uint32(len(s.lines))
	s.lines[string(s.key)] = id
	s.bytes += len(s.key) + 48
	var functions, files []string
	var starts, lines []int64
	for _, f := range frames {
		functions, files = append(functions, f.Func), append(files, f.File)
		starts, lines = append(starts, int64(f.StartLine)), append(lines, int64(f.Line))
	}
	b := s.head(s.newLocations, id)
	b = append(appendTexts(b, functions), '\t')
	b = append(appendTexts(b, files), '\t')
	b = append(appendNumbers(b, starts), '\t')
	s.newLocations = append(appendNumbers(b, lines), '\n')
	return id
}

// stack returns the number of a path of locations, the root first.
func (s *space) stack(path []uint32) uint32 {
	s.key = s.key[:0]
	for _, l := range path {
		s.key = binary.LittleEndian.AppendUint32(s.key, l)
	}
	if at, ok := s.paths[string(s.key)]; ok {
		return at
	}
	id := uint32(len(s.paths))
	s.paths[string(s.key)] = id
	s.bytes += len(s.key) + 48
	s.newStacks = append(appendNumbers(s.head(s.newStacks, id), path), '\n')
	return id
}

// set returns the number of labels of a sample; none are 0.
func (s *space) set(l store.Labels) uint32 {
	if at, ok := s.sets[l]; ok {
		return at
	}
	id := uint32(len(s.sets))
	s.sets[l] = id
	text := labelsText(l)
	s.bytes += 2*len(text) + 64
	s.newSets = append(appendText(s.head(s.newSets, id), text), '\n')
	return id
}

// sample is one value of one profile.
type sample struct {
	stack, set uint32
	values     []int64 // of the columns that are kept
}

// samples numbers the samples of a profile. Those of the same stack and labels become
// one; they come out sorted.
func (s *space) samples(p *profile.Profile, columns []int) []sample {
	r := reading{s: s, p: p}
	if p.Locations != nil {
		r.known = make([]uint32, p.Stacks.NumFrames())
	}
	r.sets = make([]uint32, p.NumLabelSets())
	out := make([]sample, 0, p.Len())
	values := make([]int64, p.Len()*len(columns))
	for row := range p.Len() {
		one := sample{stack: r.stack(row), set: r.set(row), values: values[:len(columns):len(columns)]}
		values = values[len(columns):]
		for i, k := range columns {
			one.values[i] = p.Values[k][row]
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b sample) int { return cmp.Or(cmp.Compare(a.stack, b.stack), cmp.Compare(a.set, b.set)) })
	merged := out[:0]
	for _, one := range out {
		if n := len(merged); n > 0 && merged[n-1].stack == one.stack && merged[n-1].set == one.set {
			for i, v := range one.values {
				merged[n-1].values[i] += v
			}
			continue
		}
		merged = append(merged, one)
	}
	return merged
}

// reading goes over the samples of one profile.
type reading struct {
	s      *space
	p      *profile.Profile
	known  []uint32 // location of a frame that begins one, plus one
	sets   []uint32 // of the profile's label sets, plus one
	path   []uint32
	frames []stack.Frame
}

func (r *reading) stack(row int) uint32 {
	frames := r.p.Stacks.Frames(r.p.StackIDs[row])
	r.path = r.path[:0]
	for end := len(frames); end > 0; {
		begin := end - 1
		if r.known != nil {
			begin = max(0, end-r.p.Locations[r.p.LocationOf(frames[begin])].NumFrames())
		} else {
			for begin > 0 && r.p.Stacks.Frame(frames[begin-1]).Inlined {
				begin--
			}
		}
		r.path = append(r.path, r.location(frames[begin:end]))
		end = begin
	}
	return r.s.stack(r.path)
}

func (r *reading) location(ids []stack.FrameID) uint32 {
	if r.known != nil && r.known[ids[0]] != 0 {
		return r.known[ids[0]] - 1
	}
	r.frames = r.frames[:0]
	for _, id := range ids {
		r.frames = append(r.frames, r.p.Stacks.Frame(id))
	}
	at := r.s.location(r.frames)
	if r.known != nil {
		r.known[ids[0]] = at + 1
	}
	return at
}

// set returns the labels of a sample: its strings alone.
func (r *reading) set(row int) uint32 {
	at := r.p.SetOf(row)
	if r.sets[at] == 0 {
		var list []store.Label
		for _, l := range r.p.Labels(at) {
			if !l.Numeric {
				list = append(list, store.Label{Name: l.Key, Value: l.Str})
			}
		}
		r.sets[at] = r.s.set(store.MakeLabels(list)) + 1
	}
	return r.sets[at] - 1
}
