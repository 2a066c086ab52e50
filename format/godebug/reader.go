package godebug

import (
	"bytes"
	"io"
)

// MaxLine is the length in bytes beyond which a line is the program's text
// without being looked at. The longest line of the runtime, SCHED on a
// machine with 1024 Ps, is a tenth of it.
const MaxLine = 64 << 10

// Reader pulls the records out of a log. It holds at most a few times
// [MaxLine] bytes of it, and accepts any bytes.
//
// A record is found wherever in a line the runtime's text begins, because a
// program may leave a line unterminated, and because log shippers put a
// prefix before it and quotation marks around it; but it must reach the end
// of the line or of the quotation. A line with a CR before its LF is
// accepted.
//
// A [SchedSample] with detail is handed out when the next sample begins or
// the log ends, after records that lay between its lines.
//
// Every record has a run number. A new run begins where the collection
// number or a time goes back. Lines of programs that run at the same time are
// given to the run that they continue: the one whose last collection had the
// number before, else the latest one that they do not contradict. They do where the
// time of the collector or the ticks of a P would have become less.
type Reader struct {
	// KeepText makes Next return the program's own output too, as [*Text].
	// Set it before the first Next.
	KeepText bool

	in   input
	line int // lines before the next one of in

	skipping bool // inside a line longer than MaxLine
	open     bool // the last line had no end

	recs records
	bad  Malformed
	text [2]Text
	// waiting is a sample that may still get detail lines, complete the one
	// before it, which the caller is looking at.
	waiting, complete SchedSample
	runs              runTracker

	// queue holds what one line gave: text before, a completed sample, the
	// record, text after.
	queue  [4]Record
	queued int
	head   int

	stats Stats
}

// Stats counts what a [Reader] has read so far.
type Stats struct {
	Bytes     int64 `json:"bytes"`      // consumed
	TextBytes int64 `json:"text_bytes"` // of them the program's own output
	Lines     int   `json:"lines"`
	TextLines int   `json:"text_lines"` // lines that hold nothing of the runtime
	Malformed int   `json:"malformed"`
	Runs      int   `json:"runs"`
	// Doubtful is how many collections could as well be of another run.
	Doubtful int `json:"doubtful"`
}

// NewReader returns a Reader of the log that src delivers. Next returns a
// record as soon as its line is complete.
func NewReader(src io.Reader) *Reader {
	return &Reader{in: input{src: src, buf: make([]byte, 0, 4*MaxLine)}}
}

// NewBytesReader returns a Reader of the log in data, which it does not
// modify and does not copy.
func NewBytesReader(data []byte) *Reader {
	return &Reader{in: input{buf: data, eof: true}}
}

// Record returns the record that the last successful Next found. It is valid
// until the following call of Next.
func (r *Reader) Record() Record { return r.queue[r.head] }

// Err returns the error of the underlying reader that ended the log, if any.
func (r *Reader) Err() error { return r.in.err }

// Stats returns the counts so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Runs, s.Doubtful = max(r.runs.n, 1), r.runs.doubtful
	return s
}

// Next advances to the next record. It returns false at the end of the log.
func (r *Reader) Next() bool {
	if r.head+1 < r.queued {
		r.head++
		return true
	}
	r.head, r.queued = 0, 0
	for r.queued == 0 {
		if !r.step() {
			r.completeSample()
			return r.queued > 0
		}
	}
	return true
}

func (r *Reader) push(rec Record) {
	r.queue[r.queued] = rec
	r.queued++
}

// completeSample queues the sample that waits for detail lines, if any.
func (r *Reader) completeSample() {
	if r.recs.detailed == nil {
		return
	}
	r.waiting, r.complete = r.complete, r.waiting
	r.recs.detailed = nil
	r.push(&r.complete)
}

// step consumes a line or a part of an overlong one, or reads more of the
// source. It returns false at the end of the log.
func (r *Reader) step() bool {
	rest := r.in.rest()
	i := bytes.IndexByte(rest, '\n')
	switch {
	case i >= 0 && !r.skipping && i <= MaxLine:
		r.readLine(rest[:i], i+1)
	case i >= 0:
		r.skip(i + 1)
		r.skipping = false
	case len(rest) > MaxLine, r.skipping && len(rest) > 0:
		r.skip(len(rest))
	case !r.in.eof:
		r.in.fill()
	case len(rest) > 0:
		r.readLine(rest, len(rest))
	default:
		return false
	}
	return true
}

// skip consumes n bytes of an overlong line.
func (r *Reader) skip(n int) {
	if !r.skipping {
		r.skipping = true
		r.newLine()
		r.stats.TextLines++
	}
	r.textOut(0, n)
	r.consume(n)
}

func (r *Reader) newLine() {
	r.line++
	r.stats.Lines++
}

func (r *Reader) consume(n int) {
	r.in.pos += n
	r.stats.Bytes += int64(n)
}

// readLine finds what a line holds, queues it and consumes the line, which is
// size bytes long with its LF.
func (r *Reader) readLine(line []byte, size int) {
	r.newLine()
	r.open = len(line) == size
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	start, v := 0, r.recs.parseLine(line)
	if v.kind == KindNone {
		start, v = r.recs.search(line, v)
	}
	cut := false
	if end := start + v.end; v.kind != KindNone && end == size && v.openEnded() && isDigit(line[end-1]) {
		// The log ends with this number, or within it for all we know.
		cut, v.near, v.kind = true, v.kind, KindNone
	}
	if v.kind == KindNone && v.near == KindNone && len(line) == size && r.runs.n > 0 {
		start, v.near = r.recs.headAtEnd(line)
	}
	switch {
	case v.kind != KindNone:
		end := start + v.end
		if end == len(line) {
			end = size
		}
		r.textOut(0, start)
		if !v.detail {
			r.found(v.kind, start)
		}
		r.textOut(end, size)
	case v.near != KindNone:
		r.textOut(0, start)
		r.malformed(line[start:], v, start, cut || len(line) == size)
	default:
		r.stats.TextLines++
		r.textOut(0, size)
	}
	r.consume(size)
}

// found queues the record of the kind that was just parsed.
func (r *Reader) found(kind Kind, start int) {
	rec, pos := r.recs.of(kind)
	*pos = r.position(start)
	switch kind {
	case KindCycle:
		pos.Run = r.runs.cycle(&r.recs.cycle)
	case KindInit:
		pos.Run = r.runs.initTask(r.recs.initTask.At)
	case KindSched:
		pos.Run = r.runs.sample(&r.recs.sched)
		r.completeSample()
		if r.recs.sched.Detail {
			r.waiting, r.recs.sched = r.recs.sched, r.waiting
			r.recs.detailed = &r.waiting
			return
		}
	}
	r.push(rec)
}

// malformed queues a near miss.
func (r *Reader) malformed(text []byte, v verdict, start int, cut bool) {
	if v.near == KindSched && !v.detail {
		r.completeSample() // detail lines that follow belong to the lost one
	}
	r.stats.Malformed++
	r.bad = Malformed{Position: r.position(start), Like: v.near, Cut: cut, Text: text[:min(len(text), MaxMalformed)]}
	r.push(&r.bad)
}

// position is that of the byte start of the current line, in the current run.
func (r *Reader) position(start int) Position {
	return Position{Offset: r.in.base + int64(r.in.pos+start), Line: r.line, Run: r.runs.current()}
}

// textOut counts the bytes from up to to of the current line as the
// program's output, and queues them if wanted.
func (r *Reader) textOut(from, to int) {
	if from >= to {
		return
	}
	r.stats.TextBytes += int64(to - from)
	if !r.KeepText {
		return
	}
	t := &r.text[0]
	if from > 0 {
		t = &r.text[1]
	}
	*t = Text{Position: r.position(from), Bytes: r.in.rest()[from:to]}
	r.push(t)
}
