package godebug

import "regexp"

// records holds one record of each kind, reused from line to line.
type records struct {
	cycle    Cycle
	sched    SchedSample
	detailed *SchedSample // takes the P, M and G lines; nil when none are due
	initTask InitTask
	scavenge Scavenge
	pacer    Pacer
	scan     Scan
	notice   Notice
	names    interner
}

// verdict is what parseLine makes of a piece of text.
type verdict struct {
	kind   Kind // KindNone when the text does not parse
	near   Kind // what it resembles when it does not
	end    int  // length of the runtime's text
	detail bool // a P, M or G line of scheddetail
}

// parseLine reads the runtime line that b begins with. What follows it in b
// must end the line or close a quotation; see cursor.done.
func (r *records) parseLine(b []byte) (v verdict) {
	if len(b) < 8 {
		return v
	}
	c := cursor{b: b}
	near := false
	switch b[0] {
	case 'g':
		if v.kind = KindCycle; b[2] == ' ' {
			near = r.cycle.parse(&c)
		} else {
			near = r.cycle.parseGo14(&c)
		}
	case 'S':
		v.kind = KindSched
		near = r.sched.parse(&c)
	case 's', 'f':
		near, v.kind = r.parseS(&c)
	case 'p':
		v.kind = KindPacer
		near = r.pacer.parse(&c)
	case 'i':
		v.kind = KindInit
		near = r.initTask.parse(&c, &r.names)
	case 'G', 'c':
		v.kind = KindNotice
		near = r.notice.parse(&c)
	case ' ':
		// Indented lines with no SCHED line before them are not the
		// runtime's, or the start of the log is missing.
		if r.detailed == nil {
			return v
		}
		v.kind, v.detail = KindSched, true
		near = r.detailed.parseDetail(&c, &r.names)
	default:
		return v
	}
	if !c.done() {
		if near {
			v.near = v.kind
		}
		v.kind = KindNone
		return v
	}
	v.end = c.i
	return v
}

// openEnded tells whether v's line may end in a number, so that a cut within
// it would not be noticed.
func (v verdict) openEnded() bool { return v.detail || v.kind == KindPacer }

// parseS reads the lines that begin with "sc" and "forced scvg".
func (r *records) parseS(c *cursor) (near bool, kind Kind) {
	switch b := c.b; {
	case string(b[:4]) == "scav":
		return r.scavenge.parse(c), KindScavenge
	case string(b[:4]) == "scan":
		return r.scan.parse(c), KindScan
	case string(b[:4]) == "scvg" || string(b[:8]) == "forced s":
		return r.scavenge.parseScvg(c), KindScavenge
	}
	c.bad = true
	return false, KindNone
}

// of returns the record of a kind that parseLine filled last.
func (r *records) of(k Kind) (Record, *Position) {
	switch k {
	case KindCycle:
		return &r.cycle, &r.cycle.Position
	case KindSched:
		return &r.sched, &r.sched.Position
	case KindInit:
		return &r.initTask, &r.initTask.Position
	case KindScavenge:
		return &r.scavenge, &r.scavenge.Position
	case KindPacer:
		return &r.pacer, &r.pacer.Position
	case KindScan:
		return &r.scan, &r.scan.Position
	case KindNotice:
		return &r.notice, &r.notice.Position
	}
	panic("BUG: no record of kind " + k.String())
}

// telling marks the bytes by which a runtime line is found inside another
// line. Each is rare in prose, and one look at its neighbours decides.
var telling = [256]bool{'@': true, 'S': true, 'v': true, ':': true, 'G': true, ',': true, '=': true}

// search looks for a runtime line that begins somewhere in line but not at
// its start. v is the verdict on the start; without a find it is returned, or
// that on the first near miss, or that on the debris of a torn line.
//
// Note: looking for each line's beginning with bytes.Index takes sixteen
// passes and ran at 166 MB/s over a web server's log; one pass over telling
// bytes runs at seven times that.
func (r *records) search(line []byte, v verdict) (start int, _ verdict) {
	debris := KindNone
	for i := 0; i < len(line); i++ {
		if !telling[line[i]] {
			continue
		}
		s, torn := lineStart(line, i)
		if torn != KindNone && debris == KindNone {
			debris = torn
		}
		if s <= 0 {
			continue
		}
		w := r.parseLine(line[s:])
		if w.kind != KindNone {
			return s, w
		}
		if w.near != KindNone && v.near == KindNone {
			start, v = s, w
		}
	}
	if v.near == KindNone {
		v.near = debris
	}
	return start, v
}

// lineStart judges the telling byte at i: where the runtime line that it
// belongs to would begin, or -1. Debris is the kind of line of which only a
// part can be here.
func lineStart(line []byte, i int) (start int, debris Kind) {
	switch line[i] {
	case '@': // "gc 12 @1.5s" or "init fmt @0.4 ms"
		return beforeAt(line, i), KindNone
	case 'S':
		if hasAt(line, i, "SCHED ") {
			return i, KindNone
		}
	case 'v': // "scav ", "scvg", "forced scvg"
		if hasAt(line, i-3, "scav ") {
			return i - 3, KindNone
		}
		if hasAt(line, i-2, "scvg") {
			if hasAt(line, i-9, "forced ") {
				return i - 9, KindNone
			}
			return i - 2, KindNone
		}
	case 'G':
		// Two words alone are not telling in the midst of a sentence: they
		// must end the line, and follow a blank or a quotation mark.
		if hasAt(line, i, "GC forced") && i > 0 && (line[i-1] == '"' || line[i-1] == ' ' || line[i-1] == '\t') {
			return i, KindNone
		}
	case ':':
		return beforeColon(line, i), KindNone
	case ',':
		if hasAt(line, i-9, " ms clock, ") || hasAt(line, i-7, " ms cpu, ") || hasAt(line, i-8, " MB goal, ") {
			return -1, KindCycle
		}
	case '=':
		if hasAt(line, i-16, " spinningthreads=") {
			return -1, KindSched
		}
	}
	return -1, KindNone
}

func hasAt(line []byte, i int, s string) bool {
	return i >= 0 && i+len(s) <= len(line) && string(line[i:i+len(s)]) == s
}

// beforeAt goes back over "gc 12 " or "init some/package ".
func beforeAt(line []byte, i int) int {
	if i < 5 || line[i-1] != ' ' || i+1 >= len(line) || !isDigit(line[i+1]) {
		return -1
	}
	j := i - 1
	for j > 0 && line[j-1] != ' ' {
		j--
	}
	if hasAt(line, j-3, "gc ") {
		return j - 3
	}
	if hasAt(line, j-5, "init ") {
		return j - 5
	}
	return -1
}

// beforeColon goes back over the beginnings that end in a colon.
func beforeColon(line []byte, i int) int {
	if i < 4 || i+1 >= len(line) || line[i+1] != ' ' {
		return -1
	}
	switch before := line[i-1]; {
	case before == 'r' && hasAt(line, i-5, "pacer"):
		return i - 5
	case before == 'n' && hasAt(line, i-4, "scan"):
		return i - 4
	case before == 's' && hasAt(line, i-15, "checkfinalizers"):
		return i - 15
	case before == ')': // "gc7(2): "
		j := i - 2
		for j > 0 && isDigit(line[j]) {
			j--
		}
		if line[j] == '(' {
			for j > 0 && isDigit(line[j-1]) {
				j--
			}
			if hasAt(line, j-2, "gc") {
				return j - 2
			}
		}
	case isDigit(before): // "  P0: status="
		j := i - 1
		for j > 0 && isDigit(line[j-1]) {
			j--
		}
		if hasAt(line, j-3, "  ") && (line[j-1] == 'P' || line[j-1] == 'M' || line[j-1] == 'G') {
			return j - 3
		}
	}
	return -1
}

// heads match what a log ends with that ends within the first part of a line of the
// runtime, where so little is there of it that it would be prose elsewhere.
var heads = regexp.MustCompile(`(?:^|[^A-Za-z0-9])(?:(gc \d+ ?@?\d*\.?\d*s?)|(SCHED \d*m?s?:? ?))$|^(?:(gc ?)|(SCH|SCHE|SCHED))$`)

// details is the same for the lines that follow on a sample.
var details = regexp.MustCompile(`^  [PMG]\d*:? ?[a-z]*$`)

// headAtEnd tells what kind of line the last one of a log has begun, if any.
func (r *records) headAtEnd(line []byte) (start int, near Kind) {
	if r.detailed != nil && details.Match(line) {
		return 0, KindSched
	}
	m := heads.FindSubmatchIndex(line[max(0, len(line)-64):])
	for i, kind := range []Kind{KindCycle, KindSched, KindCycle, KindSched} {
		if m != nil && m[2*i+2] >= 0 {
			return m[2*i+2] + max(0, len(line)-64), kind
		}
	}
	return 0, KindNone
}
