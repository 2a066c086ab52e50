package profile

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
)

var (
	javaAttribute = regexp.MustCompile(`([\w ]+)=([\w ]+)`)
	javaSample    = regexp.MustCompile(` *(\d+) +(\d+) +@ +([ x0-9a-f]*)`)
	javaSymbol    = regexp.MustCompile(`^\s*0x([[:xdigit:]]+)\s+(.*)\s*$`)
	javaFileLine  = regexp.MustCompile(`^(.*)\s+\((.+):(-?[[:digit:]]+)\)$`)
	javaLibrary   = regexp.MustCompile(`^(.*)\s+\((.*)\)$`)
)

// javaPeriod is how many bytes lie between two samples of a Java heap.
const javaPeriod = 512 << 10

// decodeJava reads the heap and contention profiles of Java: attributes, then
// samples, then the symbols of all addresses.
func decodeJava(data []byte, opt Options) (*Profile, error) {
	l := lines{rest: data}
	if !l.next() || !l.terminated() {
		return nil, errOther
	}
	r := javaReader{b: newBuilder(), l: &l}
	r.b.period = 0
	switch string(bytes.TrimSpace(l.line)) {
	case "--- heapz 1 ---":
		r.heap = true
	case "--- contentionz 1 ---":
	default:
		return nil, errOther
	}
	if err := r.header(); err != nil {
		return nil, err
	}
	if err := r.samples(); err != nil {
		return nil, err
	}
	return r.profile()
}

// javaReader builds a profile of Java out of lines.
type javaReader struct {
	b    *builder
	l    *lines
	heap bool // else of contention
}

// header reads the attributes.
func (r *javaReader) header() error {
	b, l, heap := r.b, r.l, r.heap
	for l.next() {
		line := bytes.TrimSpace(l.line)
		m := javaAttribute.FindSubmatch(line)
		if !l.terminated() || m == nil && len(line) > 0 {
			l.back()
			return nil
		}
		if m == nil {
			continue
		}
		key, value := string(bytes.TrimSpace(m[1])), bytes.TrimSpace(m[2])
		var err error
		var n int64
		switch {
		case key == "format":
			if string(value) != "java" {
				return l.bad("the format %q is unknown: want java", value)
			}
		case key == "resolution" && heap:
			b.types = []ValueType{{"inuse_objects", "count"}, {"inuse_space", string(value)}}
		case key == "resolution":
			b.types = []ValueType{{"contentions", "count"}, {"delay", string(value)}}
		case key == "sampling period" && !heap:
			b.periodType = ValueType{"contentions", "count"}
			b.period, err = parseInt(value)
		case key == "ms since reset" && !heap:
			n, err = parseInt(value)
			b.setMilliseconds(n)
		default:
			return l.bad("the attribute %q is unknown", key)
		}
		if err != nil {
			return l.bad("%w", err)
		}
	}
	return nil
}

// samples reads the samples.
func (r *javaReader) samples() error {
	b, l, heap := r.b, r.l, r.heap
	var addrs []uint64
	var stack []uint32
	var wire []byte
	for l.next() {
		line := bytes.TrimSpace(l.line)
		m := javaSample.FindSubmatch(line)
		if !l.terminated() || m == nil && len(line) > 0 {
			l.back()
			return nil
		}
		if m == nil {
			continue
		}
		// Bytes or time come first here, the number of them second.
		size, err := parseInt(m[1])
		count, err2 := parseInt(m[2])
		var err3 error
		addrs, err3 = hexNumbers(addrs[:0], m[3])
		if err := errors.Join(err, err2, err3); err != nil {
			return l.bad("%w", err)
		}
		wire = wire[:0]
		switch {
		case heap && count == 0:
			return l.bad("there are bytes in no objects")
		case heap:
			wire = b.number(wire, "bytes", size/count, "")
			count, size = scaleHeap(count, size, javaPeriod)
		case b.period != 0:
			count, size = count*b.period, size*b.period
		}
		stack = stack[:0]
		for _, a := range addrs {
			stack = append(stack, b.at(a))
		}
		if len(b.types) == 0 {
			return l.bad("there is no line with the resolution above the samples")
		}
		b.sample(stack, wire, count, size)
	}
	return nil
}

// profile reads the symbols and builds the profile. What has a symbol has no
// address in it: addresses of Java move.
func (r *javaReader) profile() (*Profile, error) {
	b, l := r.b, r.l
	functions := map[string]uint32{} // by name alone: the first file counts
	for l.next() {
		m := javaSymbol.FindSubmatch(bytes.TrimSpace(l.line))
		if m == nil {
			continue
		}
		address, err := strconv.ParseUint(string(m[1]), 16, 64)
		if err != nil {
			return nil, l.bad("%w", err)
		}
		id, ok := b.byAddress[address]
		if !ok {
			continue // no sample is there
		}
		name, file, line := javaFrame(m[2])
		f, ok := functions[string(name)]
		if !ok {
			n := b.text(name)
			f = uint32(len(b.functions))
			b.functions = append(b.functions, builtFunction{n, n, b.text(file)})
			functions[string(name)] = f
		}
		at := &b.locations[id]
		at.lines, at.address = []builtLine{{function: f, line: line}}, 0
	}
	b.numberLocations()
	if err := b.placeLocations(); err != nil {
		return nil, err
	}
	for i := range b.locations {
		b.locations[i].address = 0
	}
	b.interesting(false)
	return b.profile()
}

// javaFrame reads "com.example.Main.run (Main.java:12)", "memcpy
// (/lib/libc.so)", or the name of a state, such as GC.
func javaFrame(s []byte) (name, file []byte, line int64) {
	if m := javaFileLine.FindSubmatch(s); m != nil {
		if n, err := strconv.ParseInt(string(m[3]), 10, 64); err == nil && n > 0 {
			line = n
		}
		return m[1], m[2], line
	}
	if m := javaLibrary.FindSubmatch(s); m != nil {
		return m[1], baseName(m[2]), 0
	}
	if bytes.Contains(s, []byte("generated stub/JIT")) {
		return []byte("STUB"), nil, 0
	}
	return s, nil, 0
}
