package profile

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// perfTitle is the first line of a sample of perf script. All fields but the
// name, a thread and the event may be switched off:
//
//	search 4242/4243 [001] 12345.678901:     250000 cpu-clock:pppH: 7f12 main+0x5 (/bin/search)
var perfTitle = regexp.MustCompile(`^\s*(\S.*?)\s+` + // 1 comm
	`(-?\d+)(?:/\s*(-?\d+))?\s+` + // 2 and 3: pid/tid, or tid
	`(?:\[(\d+)\]\s+)?` + // 4 cpu
	`(?:[-dXNnBbhHs.\d]{4,5}\s+)?` + // what the kernel was doing
	`(?:(\d+)\.(\d+):\s+)?` + // 5 and 6: seconds and their fraction
	`(?:(\d+)\s+)?` + // 7 period
	`([^\s:]\S*):(?:\s+(.*))?$`) // 8 event, 9 a frame or the words of a tracepoint

// perfFields finds the fields of a title. What is beyond 4 KiB can only be the
// words of a tracepoint.
func perfFields(line []byte) [][]byte { return perfTitle.FindSubmatch(line[:min(len(line), 1<<12)]) }

// decodePerf reads what perf script prints, with stacks below each sample or
// with one address in its line. Every event is one sample type more when perf
// says the period: the cycles, or the nanoseconds, that the sample stands for.
func decodePerf(data []byte, opt Options) (*Profile, error) {
	l := lines{rest: data}
	for l.next() && isRemark(l.line) {
	}
	if !isText(string(data[:min(len(data), 512)])) {
		return nil, errOther
	}
	// The title alone is no proof: much text ends in a colon.
	m := perfFields(l.line)
	if m == nil && !isPerfFrame(l.line) {
		return nil, errOther
	}
	if m != nil && len(m[4]) == 0 && len(m[5]) == 0 {
		if l.next(); !isPerfFrame(l.line) {
			return nil, errOther
		}
	}
	r := perfReader{b: newBuilder(ValueType{"samples", "count"}, ValueType{"period", "count"}), lines: lines{rest: data}}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.finish()
}

// isPerfFrame knows a line below the title: "	  7f1234 main+0x5 (/bin/search)".
func isPerfFrame(line []byte) bool {
	if len(line) == 0 || line[0] != '\t' && line[0] != ' ' {
		return false
	}
	_, _, ok := cutHex(bytes.TrimLeft(line, " \t"))
	return ok && line[len(line)-1] == ')'
}

// cutHex splits "7f1234 main+0x5 (/bin/search)" behind the address.
func cutHex(s []byte) (address uint64, rest []byte, ok bool) {
	number, rest, _ := bytes.Cut(s, []byte(" "))
	address, err := strconv.ParseUint(string(number), 16, 64)
	return address, bytes.TrimLeft(rest, " "), err == nil
}

type perfReader struct {
	b *builder
	lines
	open   bool // a sample has begun
	wire   []byte
	period int64
	stack  []uint32
	run    []perfFrame // the last one is not inlined, or not complete
	key    []byte

	event       int // of the sample
	each        perfEvents
	periods     bool // perf has said some
	first, last int64
}

// perfFrame is one frame as it stands in the text.
type perfFrame struct {
	address          uint64
	name, module     []byte
	file             []byte
	line             int64
	inlined, unknown bool
}

func (r *perfReader) read() error {
	for r.next() {
		line := bytes.TrimRight(r.line, " \t")
		switch {
		case len(line) == 0:
			r.flush()
		case line[0] == '#':
		case line[0] == '\t':
			r.below(line)
		default:
			m := perfFields(line)
			if m == nil {
				if line[0] == ' ' {
					r.below(line)
					continue
				}
				return r.bad("want a sample: name, thread, time, event")
			}
			r.flush()
			r.title(m)
		}
	}
	r.flush()
	return nil
}

// title begins a sample.
func (r *perfReader) title(m [][]byte) {
	r.open, r.period = true, 1
	r.wire = r.b.label(r.wire[:0], "comm", m[1])
	if len(m[3]) > 0 {
		r.wire = r.b.label(r.wire, "pid", m[2])
		r.wire = r.b.label(r.wire, "tid", m[3])
	} else {
		r.wire = r.b.label(r.wire, "tid", m[2])
	}
	if len(m[4]) > 0 {
		last := len(m[4]) - 1 // [007] is 7, and [000] is 0
		r.wire = r.b.label(r.wire, "cpu", append(bytes.TrimLeft(m[4][:last:last], "0"), m[4][last]))
	}
	event := perfEvent(string(m[8]))
	r.event = r.each.of(event)
	r.wire = r.b.label(r.wire, "event", []byte(event))
	if p, err := strconv.ParseInt(string(m[7]), 10, 64); err == nil {
		r.period, r.periods = p, true
	}
	if t, ok := perfTime(m[5], m[6]); ok {
		if r.first == 0 {
			r.first, r.last = t, t
		}
		r.first, r.last = min(r.first, t), max(r.last, t)
	}
	if line := bytes.TrimSpace(m[9]); len(line) > 0 && line[len(line)-1] == ')' {
		r.frame(line)
	}
}

// perfEvent takes the modifiers off an event: "cycles:u" is "cycles", but
// "sched:sched_switch" is a name.
func perfEvent(s string) string {
	i := strings.LastIndexByte(s, ':')
	if i > 0 && strings.Trim(s[i+1:], "ukhGHpPSDIWeb") == "" {
		return s[:i]
	}
	return s
}

// perfTime reads seconds and their fraction as nanoseconds.
func perfTime(seconds, fraction []byte) (int64, bool) {
	if len(seconds) == 0 || len(seconds) > 9 || len(fraction) > 9 {
		return 0, false
	}
	digits := string(seconds) + string(fraction) + strings.Repeat("0", 9-len(fraction))
	t, err := strconv.ParseInt(digits, 10, 64)
	return t, err == nil
}

// below takes in a line below the title: a frame, or where its source is.
func (r *perfReader) below(line []byte) {
	line = bytes.TrimLeft(line, " \t")
	if r.frame(line) {
		return
	}
	if n := len(r.run); n > 0 && r.run[n-1].file == nil {
		if file, at := fileLine(line); at > 0 {
			r.run[n-1].file, r.run[n-1].line = file, at
		}
	}
}

// frame reads "7f1234 main+0x5 (/bin/search)"; "(inlined)" stands for the
// module of a call that was inlined into the next one.
func (r *perfReader) frame(line []byte) bool {
	address, rest, ok := cutHex(line)
	if !ok {
		return false
	}
	r.endRun()
	r.open = true
	f := perfFrame{address: address}
	rest = bytes.TrimSuffix(rest, []byte(")"))
	rest = bytes.TrimSuffix(rest, []byte(" (deleted)"))
	if i := bytes.LastIndex(rest, []byte(" (")); i >= 0 {
		rest, f.module = rest[:i], rest[i+2:]
	} else if len(rest) > 0 && rest[0] == '(' { // no symbol was asked for
		rest, f.module = nil, rest[1:]
	}
	f.inlined = string(f.module) == "inlined"
	if i := bytes.LastIndex(rest, []byte("+0x")); i > 0 {
		rest = rest[:i]
	}
	f.name = rest
	f.unknown = len(rest) == 0 || string(rest) == "[unknown]"
	if string(f.module) == "[unknown]" || f.inlined {
		f.module = nil
	}
	r.run = append(r.run, f)
	return true
}

// endRun finishes the frames that are one location: some that were inlined and
// the one that they were inlined into.
func (r *perfReader) endRun() {
	n := len(r.run)
	if n == 0 || r.run[n-1].inlined {
		return
	}
	key := r.key[:0]
	for _, f := range r.run {
		key = append(append(key, f.name...), 0)
		key = binary.AppendUvarint(append(append(key, f.file...), 0), uint64(f.line))
	}
	last := r.run[n-1]
	key = append(key, last.module...)
	if last.unknown {
		key = binary.AppendUvarint(append(key, 0), last.address)
	}
	r.key = key
	id, ok := r.b.byText[string(key)]
	if !ok {
		at := builtLocation{mapping: r.b.module(last.module)}
		if last.unknown {
			at.address = last.address
		}
		if !last.unknown || n > 1 {
			for _, f := range r.run {
				at.lines = append(at.lines, r.b.frame(f.name, f.file, f.line))
			}
		}
		id = r.b.newLocation(at)
		r.b.byText[string(key)] = id
	}
	r.stack = append(r.stack, id)
	r.run = r.run[:0]
}

// flush adds the sample that has been read.
func (r *perfReader) flush() {
	if n := len(r.run); n > 0 {
		r.run[n-1].inlined = false // the end was cut off
		r.endRun()
	}
	if r.open {
		if len(r.each.names) == 0 { // a stack without a title
			r.event = r.each.of("samples")
		}
		r.b.add(r.stack, r.wire, 1, r.period)
		r.each.added(r.b, r.event)
	}
	r.open, r.stack, r.wire = false, r.stack[:0], r.wire[:0]
}

// finish names the second column by the event, or leaves it out when perf has
// said no periods. Where there are several events each has a column.
func (r *perfReader) finish() (*Profile, error) {
	b := r.b
	shown := ""
	if len(r.each.names) > 1 {
		shown = r.each.split(b, r.periods)
	} else if !r.periods {
		for row := range b.rows.len() {
			b.rows.values[row] = b.rows.values[2*row]
		}
		b.types, b.rows.values = b.types[:1], b.rows.values[:b.rows.len()]
	} else if len(r.each.names) == 1 {
		b.types[1] = perfType(r.each.names[0])
	}
	b.periodType, b.period = b.types[len(b.types)-1], 0
	b.duration = time.Duration(r.last - r.first)
	p, err := b.profile()
	if err == nil {
		p.DefaultSampleType = shown
	}
	return p, err
}

// perfType is what the periods of an event count.
func perfType(event string) ValueType {
	if event == "cpu-clock" || event == "task-clock" {
		return ValueType{"cpu", "nanoseconds"}
	}
	return ValueType{event, "count"}
}
