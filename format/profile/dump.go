package profile

import (
	"bytes"
	"encoding/binary"
	"strconv"
)

// CreatedBy begins the name of the root frame of a goroutine that was read from
// a dump: "created by main.serve" is the go statement in main.serve, which is
// no call and may have returned long ago. System of such a frame is the name
// of the function alone.
const CreatedBy = "created by "

// Names of frames that stand for what a dump does not show.
const (
	framesElided = "[frames elided]"
	noStack      = "[stack unavailable]"
	notGo        = "non-Go function"
)

// decodeDump reads a dump of goroutine stacks: /debug/pprof/goroutine?debug=2,
// and what a Go program prints when it panics or gets SIGQUIT. Goroutines with
// the same stack and the same header are one sample. What stands between them,
// such as log lines and registers, is skipped.
//
// Arguments, offsets, ids and the goroutine that created another are not kept.
func decodeDump(data []byte, opt Options) (*Profile, error) {
	l := lines{rest: data}
	if !l.toGoroutine() {
		return nil, errOther
	}
	b := newBuilder(ValueType{"goroutine", "count"})
	b.periodType = b.types[0]
	d := dumpReader{b: b, seen: map[uint64]bool{}}
	for ok := true; ok; ok = l.toGoroutine() {
		// A crash with GOTRACEBACK=crash prints some goroutines once more, and
		// goroutine 0 of each thread is the scheduler's.
		id := d.header(l.line)
		d.goroutine(&l)
		if id != 0 && !d.seen[id] {
			d.seen[id] = true
			b.add(d.stack, d.labels, 1)
		}
	}
	return b.profile()
}

// toGoroutine moves to the next line that begins a goroutine. A line that
// looks like that but has no brackets is skipped.
func (l *lines) toGoroutine() bool {
	title := []byte("goroutine ")
	for {
		if !bytes.HasPrefix(l.rest, title) {
			i := bytes.Index(l.rest, []byte("\ngoroutine "))
			if i < 0 {
				return false
			}
			l.n += bytes.Count(l.rest[:i+1], []byte("\n"))
			l.rest = l.rest[i+1:]
		}
		l.next()
		if isGoroutine(l.line) {
			return true
		}
	}
}

func isGoroutine(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("goroutine "))
	return ok && len(rest) > 0 && '0' <= rest[0] && rest[0] <= '9' &&
		bytes.HasSuffix(rest, []byte("]:")) && bytes.IndexByte(rest, '[') > 0
}

// dumpReader holds one goroutine and what was seen before.
type dumpReader struct {
	b      *builder
	seen   map[uint64]bool // by id of the goroutine
	labels []byte
	stack  []uint32
	key    []byte
	calls  []dumpCall // those that were inlined into the frame to come
}

// dumpCall is one call as it stands in the text.
type dumpCall struct {
	name, file []byte
	line       int64
	created    bool
}

// header reads "goroutine 7 gp=0xc0 m=nil [chan receive, 5 minutes, locked to
// thread]:" with everything that versions of Go have put there. It returns the
// id, or 0 when that is no number.
func (d *dumpReader) header(line []byte) (id uint64) {
	d.labels = d.labels[:0]
	line = line[len("goroutine ") : len(line)-len("]:")]
	number, rest, _ := bytes.Cut(line, []byte(" "))
	id, err := strconv.ParseUint(string(number), 10, 64)
	_, state, _ := bytes.Cut(rest, []byte("["))
	if err != nil {
		return 0
	}
	var user []byte
	if i := bytes.Index(state, []byte(" labels:{")); i >= 0 { // GODEBUG=tracebacklabels=1
		user, state = state[i+len(" labels:{"):], state[:i]
	}
	state, rest, _ = bytes.Cut(state, []byte(", "))
	var flags []string
	for again := true; again; {
		again = false
		for _, flag := range []string{"leaked", "scan", "durable"} {
			if s, ok := bytes.CutSuffix(state, []byte(" ("+flag+")")); ok {
				state, again = s, true
				flags = append(flags, flag)
			}
		}
	}
	d.labels = d.b.label(d.labels, "state", state)
	for _, flag := range flags {
		d.labels = d.b.label(d.labels, flag, []byte("true"))
	}
	for len(rest) > 0 {
		var part []byte
		part, rest, _ = bytes.Cut(rest, []byte(", "))
		if n, ok := bytes.CutSuffix(part, []byte(" minutes")); ok {
			if minutes, err := strconv.ParseInt(string(n), 10, 64); err == nil {
				d.labels = d.b.number(d.labels, "wait", minutes, "minutes")
				continue
			}
		}
		if bubble, ok := bytes.CutPrefix(part, []byte("synctest bubble ")); ok {
			d.labels = d.b.label(d.labels, "synctest bubble", bubble)
			continue
		}
		d.labels = d.b.label(d.labels, string(part), []byte("true")) // "locked to thread"
	}
	if user != nil {
		set, err := quotedLabels(d.b, d.labels, user)
		if err != nil { // the dump was cut, or somebody has touched it
			set = d.b.label(d.labels, "labels", user)
		}
		d.labels = set
	}
	return id
}

// goroutine reads the frames up to an empty line or the next goroutine.
func (d *dumpReader) goroutine(l *lines) {
	d.stack, d.calls = d.stack[:0], d.calls[:0]
	var name []byte // of the frame whose file comes next
	ancestor := false
	for l.next() {
		line := l.line
		if len(line) == 0 || isGoroutine(line) {
			l.back()
			break
		}
		switch {
		case ancestor:
		case line[0] == '\t':
			if name != nil {
				d.frame(name, line[1:])
			} else if bytes.HasSuffix(line, []byte("stack unavailable")) {
				d.call(dumpCall{name: []byte(noStack)}, false)
			}
			name = nil
		case bytes.HasPrefix(line, []byte("...")) && bytes.HasSuffix(line, []byte(" frames elided...")):
			d.call(dumpCall{name: []byte(framesElided)}, false)
		case bytes.HasPrefix(line, []byte(notGo+" at pc=")):
			d.call(dumpCall{name: []byte(notGo)}, false)
		case line[0] == '[': // [originating from goroutine 7]: GODEBUG=tracebackancestors
			ancestor = true
		default:
			name = line
		}
	}
	if n := len(d.calls); n > 0 { // the frame that these were inlined into was cut off
		last := d.calls[n-1]
		d.calls = d.calls[:n-1]
		d.call(last, false)
	}
}

// frame takes in a call of two lines:
//
//	main.(*T).run(0xc0000a2000, {0x1, 0x2})
//		/home/user/main.go:12 +0x65 fp=0xc0 sp=0xc1 pc=0x47
func (d *dumpReader) frame(name, file []byte) {
	for _, tail := range []string{" +0x", " fp=", " pc="} {
		if i := bytes.Index(file, []byte(tail)); i >= 0 {
			file = file[:i]
		}
	}
	var c dumpCall
	c.file, c.line = fileLine(file)
	if creator, ok := bytes.CutPrefix(name, []byte(CreatedBy)); ok {
		creator, _, _ = bytes.Cut(creator, []byte(" in goroutine "))
		c.name, c.created = creator, true
		d.call(c, false)
		return
	}
	inlined := bytes.HasSuffix(name, []byte("(...)"))
	if name[len(name)-1] == ')' { // else a function of C
		name = name[:max(bytes.LastIndexByte(name, '('), 0)]
	}
	c.name = name
	d.call(c, inlined)
}

// call adds a call to the stack. One that was inlined waits for the frame that
// it was inlined into: they are one location.
func (d *dumpReader) call(c dumpCall, inlined bool) {
	d.calls = append(d.calls, c)
	if inlined {
		return
	}
	key := d.key[:0]
	for _, c := range d.calls {
		key = binary.AppendUvarint(append(append(key, c.name...), 0), uint64(c.line))
		key = append(append(key, c.file...), 0)
		if c.created {
			key = append(key, 1)
		}
	}
	d.key = key
	id, ok := d.b.byText[string(key)]
	if !ok {
		var at builtLocation
		for _, c := range d.calls {
			at.lines = append(at.lines, d.line(c))
		}
		id = d.b.newLocation(at)
		d.b.byText[string(key)] = id
	}
	d.stack = append(d.stack, id)
	d.calls = d.calls[:0]
}

func (d *dumpReader) line(c dumpCall) builtLine {
	if !c.created {
		return d.b.frame(c.name, c.file, c.line)
	}
	f := builtFunction{d.b.str(CreatedBy + string(c.name)), d.b.text(c.name), d.b.text(c.file)}
	return builtLine{function: d.b.function(f), line: c.line}
}
