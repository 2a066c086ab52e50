package godebug

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	"loupe/value/streams"
)

// headSize is how much of a log is looked at for how its lines tell whose they are.
const headSize = 8 << 20

// learn finds out how lines tell whose they are; nil where they do not, where they
// do not have to, and where nothing of the runtime stands behind a prefix.
func learn(head []byte) *streams.Splitter {
	coloured := bytes.IndexByte(head, 0x1b) >= 0
	if gctrace, schedtrace := Looks(head); !gctrace && !schedtrace {
		return nil
	}
	head = streams.Plain(head)
	s := streams.Learn(head, lineIn)
	if s != nil {
		before, _ := steady(head, nil)
		after, named := steady(head, s)
		if !named || after < before {
			s = nil // what varies is no process: what belongs together would be torn apart
		}
	}
	if s == nil && coloured {
		s = new(streams.Splitter)
	}
	return s
}

// lineIn returns where in a line that begins which the runtime has printed, from a
// byte on; -1 for nowhere.
func lineIn(line []byte, from int) int {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > MaxLine {
		return -1
	}
	for i := from; i < len(line); i++ {
		if !telling[line[i]] {
			continue
		}
		start, _ := lineStart(line, i)
		if start < from {
			continue
		}
		var r records
		if v := r.parseLine(line[start:]); v.kind != KindNone {
			return start
		}
	}
	return -1
}

// steady counts the lines of a log that go on where the line before of the same
// stream has ended: with the next collection, or at a later time. Named tells that
// some are of a stream with a name.
func steady(text []byte, s *streams.Splitter) (n int, named bool) {
	type last struct {
		gc        int64
		at, sched int64
	}
	by := map[string]*last{}
	var r records
	for line := range bytes.Lines(text) {
		name, own := "", line
		if s != nil {
			name, own = s.Of(line)
		}
		i := lineIn(own, 0)
		if i < 0 {
			continue
		}
		named = named || name != ""
		l := by[name]
		if l == nil {
			l = &last{gc: -1, sched: -1}
			by[name] = l
		}
		switch v := r.parseLine(bytes.TrimRight(own[i:], "\r\n")); v.kind {
		case KindCycle:
			if l.gc >= 0 && r.cycle.N == l.gc+1 && int64(r.cycle.At) >= l.at {
				n++
			}
			l.gc, l.at = r.cycle.N, int64(r.cycle.At)
		case KindSched:
			if l.sched >= 0 && int64(r.sched.At) > l.sched {
				n++
			}
			l.sched = int64(r.sched.At)
		}
	}
	return n, named
}

// sorter gives each line of a log to the reader of its stream.
type sorter struct {
	split *streams.Splitter
	by    map[string]*Reader
	all   []*Reader
	log   *Log
	names []string // of the runs
	bytes int64
	lines int
}

func newSorter(split *streams.Splitter) *sorter {
	return &sorter{split: split, by: map[string]*Reader{}, log: new(Log)}
}

// collect reads all lines. After an error it returns what came before it too.
func (s *sorter) collect(src io.Reader) (*Log, error) {
	in := bufio.NewReaderSize(src, 2*MaxLine)
	var err error
	long := false // inside of a line longer than any of the runtime
	for err == nil || err == bufio.ErrBufferFull {
		var line []byte
		line, err = in.ReadSlice('\n')
		if !long && err != bufio.ErrBufferFull {
			s.line(line)
			continue
		}
		s.bytes += int64(len(line))
		if !long {
			s.lines++
		}
		long = err == bufio.ErrBufferFull
	}
	s.finish()
	if err == io.EOF {
		err = nil
	}
	return s.log, err
}

// line gives one line to whoever reads the stream that it is of.
func (s *sorter) line(line []byte) {
	if len(line) == 0 {
		return
	}
	whole := line[len(line)-1] == '\n'
	at, n := s.bytes, s.lines
	s.bytes += int64(len(line))
	s.lines++
	if len(line) > MaxLine {
		return
	}
	plain := streams.Plain(line)
	name, own := s.split.Of(plain)
	r := s.by[name]
	if r == nil {
		r = NewBytesReader(nil)
		r.runs.names, r.runs.name = &s.names, strings.Trim(name, " \t|:")
		s.by[name] = r
		s.all = append(s.all, r)
	}
	if i := bytes.Index(line, own); i > 0 {
		at += int64(i)
	}
	own = bytes.TrimRight(own, "\n")
	size := len(own)
	if whole {
		size++
	}
	r.in.pos, r.in.base, r.line = 0, at, n
	r.head, r.queued = 0, 0
	r.readLine(own, size)
	s.keep(r)
	s.log.Open = !whole
}

// keep adds what a reader has queued to the log.
func (s *sorter) keep(r *Reader) {
	for _, rec := range r.queue[:r.queued] {
		s.log.add(rec)
	}
	r.head, r.queued = 0, 0
}

// finish ends what is open, and adds up what was counted.
func (s *sorter) finish() {
	l := s.log
	printed := int64(0)
	for _, r := range s.all {
		r.completeSample()
		s.keep(r)
		x := r.Stats()
		printed += x.Bytes - x.TextBytes
		l.Stats.TextLines += x.TextLines
		l.Stats.Malformed += x.Malformed
		l.Stats.Doubtful += x.Doubtful
	}
	// A sample with details is complete when the next one of its stream begins.
	slices.SortStableFunc(l.Samples, func(a, b SchedSample) int { return cmp.Compare(a.Line, b.Line) })
	l.Names = s.names
	l.Stats.Bytes, l.Stats.TextBytes, l.Stats.Lines = s.bytes, s.bytes-printed, s.lines
	l.Stats.Runs = max(len(s.names), 1)
}
