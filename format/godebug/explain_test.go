package godebug

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// detailLine is a line of scheddetail that follows a SCHED line.
var detailLine = regexp.MustCompile(`^  [PMG]-?\d+: `)

// TestExplainSamples: every line that the reader reads is explained to its end, by what
// prints it, and nothing of it is left out.
func TestExplainSamples(t *testing.T) {
	files, _ := filepath.Glob("testdata/go*.txt")
	seen := map[string]int{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := map[int]string{} // from where the runtime's text begins
		for r := NewBytesReader(data); r.Next(); {
			switch x := r.Record(); x.Kind() {
			case KindText, KindMalformed, KindNone:
			default:
				text, _, _ := bytes.Cut(data[x.Pos().Offset:], []byte("\n"))
				lines[x.Pos().Line] = string(text)
			}
		}
		if strings.Contains(name, "scheddetail") {
			for i, line := range strings.Split(string(data), "\n") {
				if detailLine.MatchString(line) {
					lines[i+1] = line[2:]
				}
			}
		}
		for at, line := range lines {
			x, err := Explain(line)
			if err != nil {
				t.Fatalf("%s:%d: %q: %v", name, at, line, err)
			}
			var all strings.Builder
			for _, p := range x.Parts {
				all.WriteString(p.Text)
			}
			if all.String() != line {
				t.Errorf("%s:%d: of %q the parts are %q", name, at, line, all.String())
			}
			seen[x.Setting+" "+x.When]++
		}
	}
	for _, f := range forms() {
		if seen[f.setting+" "+f.when] == 0 {
			t.Errorf("no sample has a line of %s, %s", f.setting, f.when)
		}
	}
}

func TestExplain(t *testing.T) {
	for _, c := range []struct{ line, part, means string }{
		{"web-1  | gc 14 @0.253s 3%: 0.009+0.84+0.003 ms clock, 0.018+0.22/0.61/0.34+0.007 ms cpu, 4->5->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P (forced)", "0.22/", "before they could allocate"},
		{"gc 1 @0.1s 3%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 4->4->1 MB, 5 MB goal, 2 P\n", "2 P", "GOMAXPROCS"},
		{"  G7: status=4(chan receive (nil chan)) m=nil lockedm=nil", "status=4(", "waiting: "},
		{"  G7: status=1() m=-1 lockedm=-1", "status=1(", "runnable: "},
		{"  P3: status=2 schedtick=1 syscalltick=2 m=-1 runqsize=0 gfreecnt=0", "status=2 ", "in a system call"},
		{"SCHED 1004ms: gomaxprocs=2 idleprocs=0 threads=5 spinningthreads=0 idlethreads=1 runqueue=7 [1 2]", "runqueue=7", "global queue"},
	} {
		x, err := Explain(c.line)
		if err != nil {
			t.Errorf("%q: %v", c.line, err)
			continue
		}
		found := ""
		for _, p := range x.Parts {
			if p.Text == c.part {
				found = p.Means
			}
		}
		if !strings.Contains(found, c.means) {
			t.Errorf("%q: %q means %q", c.line, c.part, found)
		}
	}
	for line, want := range map[string]string{
		"":                                     "not a line of",
		"hello":                                "not a line of",
		"gc 1 @0.1s 3%: 0+0+0 ms clock, 0+0/0": "at byte 36",
		"SCHED 4ms: gomaxprocs=2 hello":        `"hello"`,
		"gc 1 @0.1s 3%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 4->4->1 G": "gctrace=1",
	} {
		if _, err := Explain(line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}

// FuzzExplain: the parts of any line that is explained are the end of it.
func FuzzExplain(f *testing.F) {
	f.Add("x gc 14 @0.253s 3%: 0.009+0.84+0.003 ms clock, 0.018+0.22/0.61/0.34+0.007 ms cpu, 4->4->1 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P")
	f.Add("  G7: status=4(chan receive (nil chan)) m=nil lockedm=nil")
	f.Fuzz(func(t *testing.T, line string) {
		x, err := Explain(line)
		if err != nil {
			return
		}
		var all strings.Builder
		for _, p := range x.Parts {
			all.WriteString(p.Text)
		}
		if !strings.HasSuffix(strings.TrimRight(line, "\r\n"), all.String()) {
			t.Errorf("of %q the parts are %q", line, all.String())
		}
	})
}
