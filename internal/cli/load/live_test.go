package load

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"loupe/capture/load"
	"loupe/internal/cli/command"
	"loupe/value/stats"
)

// screen is a terminal as far as the live view needs one: it knows the codes
// that the view writes, and nothing else.
type screen struct {
	t       *testing.T
	columns int
	lines   [][]rune
	row     int
	column  int
	max     int // lines that were ever there
}

func (s *screen) Write(p []byte) (int, error) {
	text := string(p)
	for text != "" {
		r := []rune(text)[0]
		if r != '\x1b' {
			s.put(r)
			text = text[len(string(r)):]
			continue
		}
		end := strings.IndexAny(text, "AJKm")
		if end < 2 {
			s.t.Fatalf("what is %q?", text)
		}
		s.do(text[2:end], text[end])
		text = text[end+1:]
	}
	return len(p), nil
}

func (s *screen) put(r rune) {
	switch r {
	case '\r':
		s.column = 0
		return
	case '\n':
		s.row++
		return
	}
	if s.column == s.columns {
		s.row, s.column = s.row+1, 0
	}
	for len(s.lines) <= s.row {
		s.lines = append(s.lines, nil)
	}
	line := s.lines[s.row]
	for len(line) <= s.column {
		line = append(line, ' ')
	}
	line[s.column] = r
	s.lines[s.row] = line
	s.column++
	s.max = max(s.max, len(s.lines))
}

func (s *screen) do(arg string, code byte) {
	switch code {
	case 'A':
		n := 0
		for _, d := range arg {
			n = n*10 + int(d-'0')
		}
		if s.row -= n; s.row < 0 {
			s.t.Fatalf("moved above the screen")
		}
	case 'K':
		if s.row < len(s.lines) {
			s.lines[s.row] = s.lines[s.row][:min(s.column, len(s.lines[s.row]))]
		}
	case 'J':
		if s.column != 0 {
			s.t.Fatalf("clears from the middle of a line")
		}
		s.lines = s.lines[:min(s.row, len(s.lines))]
	}
}

func (s *screen) String() string {
	var b strings.Builder
	for _, line := range s.lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}

// resize breaks lines that are too long, as terminals do.
func (s *screen) resize(columns int) {
	var out [][]rune
	for _, line := range s.lines {
		for len(line) > columns {
			out = append(out, line[:columns])
			line = line[columns:]
		}
		out = append(out, line)
	}
	s.row += len(out) - len(s.lines)
	s.columns, s.lines = columns, out
}

func snapshot(i int) load.Snapshot {
	h := new(stats.Histogram)
	h.Add(int64(i) * 1e6)
	return load.Snapshot{Elapsed: time.Duration(i) * 250 * time.Millisecond, Requests: int64(i), Latency: h, Connections: 2}
}

// TestLiveView: frames lie over each other, notes stay above them, and nothing
// is left at the end, also after the terminal got narrower.
func TestLiveView(t *testing.T) {
	for _, colours := range []bool{false, true} {
		s := &screen{t: t, columns: 100}
		s.Write([]byte("$ loupe load\r\n"))
		v := newLiveView(s, func() (int, int) { return s.columns, 60 }, colours)
		v.state.Title = "GET http://localhost/" + strings.Repeat("x", 60)
		v.Note("before\n")
		for i := range 30 {
			v.tick(snapshot(i + 1))
		}
		if got := s.String(); strings.Count(got, "GET http") != 1 || !strings.HasPrefix(got, "$ loupe load\nbefore\nGET ") || !strings.Contains(got, "30 requests done") {
			t.Fatalf("the screen shows\n%s", got)
		}
		v.Note("meanwhile\n")
		s.resize(60)
		v.tick(snapshot(31))
		v.service([]byte(`{"vars":{"memstats":{"NumGC":7,"HeapAlloc":1048576,"NextGC":4194304}}}`))
		v.service([]byte(`{"vars":{"memstats":{"NumGC":9,"HeapAlloc":2097152,"NextGC":4194304}}}`))
		v.service([]byte(`nonsense`))
		v.tick(snapshot(32))
		if got := s.String(); strings.Count(got, "GET http") != 1 || !strings.Contains(got, "\nmeanwhile\nGET ") || !strings.Contains(got, "service: 2 collections, heap 2.00 MiB of 4.00 MiB\n") {
			t.Errorf("the screen shows\n%s", got)
		}
		v.stop()
		v.tick(snapshot(33))
		v.Note("after\r\n")
		if got := s.String(); got != "$ loupe load\nbefore\nmeanwhile\nafter\n" {
			t.Errorf("at the end the screen shows\n%s", got)
		}
		if s.max > 40 {
			t.Errorf("the view took %d lines", s.max)
		}
	}
}

// TestLiveOnTerminalsOnly: what is no terminal gets no picture.
func TestLiveOnTerminalsOnly(t *testing.T) {
	var out, told bytes.Buffer
	e := &command.Env{Stdout: &out, Stderr: &told}
	if showsLive(e) {
		t.Error("a buffer is a terminal")
	}
	e.Progress(false)("one")
	e.Quiet = true
	e.Progress(false)("two")
	if told.String() != "loupe: one\n" {
		t.Errorf("told %q", told.String())
	}
}
