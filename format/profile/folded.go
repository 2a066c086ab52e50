package profile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// kernel is the module of frames that perf's folding marks with _[k].
const kernel = "[kernel]"

// decodeFolded reads folded stacks: one stack in a line, the root first,
// separated by semicolons, then a space and a number. The marks of
// stackcollapse-perf are understood: _[k] is code of the kernel, _[i] was
// inlined into the frame before it, _[j] was compiled at run time.
func decodeFolded(data []byte, opt Options) (*Profile, error) {
	if !isText(string(data[:min(len(data), 512)])) {
		return nil, errOther
	}
	l := lines{rest: data}
	b := newBuilder(ValueType{"samples", "count"})
	b.periodType = b.types[0]
	f := folder{b: b}
	known := false
	for l.next() {
		line := bytes.TrimSpace(l.line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		frames, n, ok := foldedCount(line)
		if !ok {
			if !known {
				return nil, errOther
			}
			return nil, l.bad("want frames separated by semicolons, a space and a number")
		}
		known = true
		b.add(f.fold(frames), nil, n)
	}
	if !known {
		return nil, errOther
	}
	return b.profile()
}

// foldedCount splits a line at its last space. Some writers scale their
// numbers and leave a fraction, which is rounded.
func foldedCount(line []byte) (frames []byte, n int64, ok bool) {
	i := bytes.LastIndexAny(line, " \t")
	if i <= 0 {
		return nil, 0, false
	}
	number := string(line[i+1:])
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		if strings.Trim(number, "0123456789.-") != "" {
			return nil, 0, false // "1e5" and "Inf" are names
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || math.Abs(v) >= 1<<62 {
			return nil, 0, false
		}
		n = int64(math.Round(v))
	}
	return bytes.TrimSpace(line[:i]), n, true
}

// folder turns the frames of a line into locations, leaf first.
type folder struct {
	b     *builder
	stack []uint32
}

func (f *folder) fold(frames []byte) []uint32 {
	f.stack = f.stack[:0]
	for end := len(frames); end > 0; {
		// A frame and those that were inlined into it are one location.
		start := end
		for {
			start = bytes.LastIndexByte(frames[:start], ';') // the semicolon before it
			if start < 0 || !isInlined(frames[start+1:end], bytes.IndexByte(frames[start+1:end], ';')) {
				break
			}
		}
		if run := frames[start+1 : end]; len(run) > 0 {
			f.stack = append(f.stack, f.location(run))
		}
		end = start
	}
	return f.stack
}

// isInlined says whether the first frame of a run has the mark _[i].
func isInlined(run []byte, semicolon int) bool {
	if semicolon >= 0 {
		run = run[:semicolon]
	}
	return bytes.HasSuffix(run, []byte("_[i]"))
}

func (f *folder) location(run []byte) uint32 {
	b := f.b
	if id, ok := b.byText[string(run)]; ok {
		return id
	}
	var at builtLocation
	for end := len(run); end >= 0; {
		start := bytes.LastIndexByte(run[:end], ';')
		name := run[start+1 : end]
		for _, mark := range [...]struct{ suffix, module string }{{"_[i]", ""}, {"_[k]", kernel}, {"_[j]", "[jit]"}} {
			if s, ok := bytes.CutSuffix(name, []byte(mark.suffix)); ok {
				name = s
				if at.mapping == 0 {
					at.mapping = b.module([]byte(mark.module))
				}
				break
			}
		}
		at.lines = append(at.lines, b.frame(name, nil, 0))
		end = start
	}
	id := b.newLocation(at)
	b.byText[string(run)] = id
	return id
}

// WriteFolded writes the stacks of one sample type as folded stacks, which
// flamegraph.pl, inferno and speedscope read: a line for each stack, the root
// first. Frames of the kernel get the mark _[k]. Labels, files and lines are
// lost, and so are values of 0. The index is one that [Profile.Index] returns.
func (p *Profile) WriteFolded(w io.Writer, index int) error {
	out := bufio.NewWriter(w)
	names := p.frameNames()
	var line []byte
	for id, v := range p.byStack(index) {
		line = line[:0]
		frames := p.Stacks.Frames(id)
		for i := len(frames) - 1; i >= 0; i-- {
			line = append(line, names(frames[i])...)
			if i > 0 {
				line = append(line, ';')
			}
		}
		if len(frames) == 0 {
			line = append(line, "[no stack]"...)
		}
		line = strconv.AppendInt(append(line, ' '), v, 10)
		out.Write(append(line, '\n'))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("cannot write folded stacks: %w", err)
	}
	return nil
}

// byStack sums one sample type over equal stacks, in the order in which they
// come first, and leaves out those that come to nothing.
func (p *Profile) byStack(index int) func(yield func(stack.ID, int64) bool) {
	sums := make([]int64, p.Stacks.Len())
	seen := make([]bool, len(sums))
	var order []stack.ID
	for id, v := range p.Samples(index) {
		if !seen[id] {
			seen[id] = true
			order = append(order, id)
		}
		sums[id] += v
	}
	return func(yield func(stack.ID, int64) bool) {
		for _, id := range order {
			if sums[id] != 0 && !yield(id, sums[id]) {
				return
			}
		}
	}
}

// frameNames returns the names that folded stacks have for frames. A
// semicolon is part of some Go names, of shapes with a struct.
func (p *Profile) frameNames() func(stack.FrameID) string {
	names := make([]string, p.Stacks.NumFrames())
	clean := strings.NewReplacer(";", ":", "\n", " ", "\r", " ")
	return func(id stack.FrameID) string {
		if names[id] == "" {
			f := p.Stacks.Frame(id)
			name := strings.TrimSpace(clean.Replace(nameOf(f)))
			if name == "" {
				name = "[unknown]"
			}
			if f.Module == kernel || strings.HasPrefix(f.Module, "[kernel.kallsyms]") {
				name += "_[k]"
			}
			names[id] = name
		}
		return names[id]
	}
}

// nameOf is the name of a frame, or what is known instead.
func nameOf(f stack.Frame) string {
	switch {
	case f.Func != "":
		return f.Func
	case f.Module != "":
		return "[" + path.Base(f.Module) + "]"
	case f.Address != 0:
		return fmt.Sprintf("%#x", f.Address)
	}
	return "[unknown]"
}
