package dump

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// sample is a real dump.
type sample struct {
	name string
	text []byte
}

// samples are real dumps of all versions of Go from 1.4 on: those of testdata, and
// those in more.zip, which are packed because they are many and much alike.
func samples(t testing.TB) (all []sample) {
	t.Helper()
	packed, err := zip.OpenReader("testdata/more.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	for _, fsys := range []fs.FS{os.DirFS("testdata"), packed} {
		files, err := fs.Glob(fsys, "*.txt")
		if err != nil || len(files) < 20 {
			t.Fatalf("%d samples: %v", len(files), err)
		}
		for _, name := range files {
			text, err := fs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, sample{name, text})
		}
	}
	return all
}

var (
	goroutineLine = regexp.MustCompile(`(?m)^goroutine (\d+) (?:gp=.*)?\[(.*)\]:\r?$`)
	positionLine  = regexp.MustCompile(`(?m)^(?:\t| {6,8})(?:[^\n:]*:\d+)(?: \+0x[0-9a-f]+)?(?: fp=.*)?\r?$`)
	createdLine   = regexp.MustCompile(`(?m)^created by (.*?)(?: in goroutine (\d+))?\r?$`)
	commentLine   = regexp.MustCompile(`(?m)^#\t0x`)
	minutes       = regexp.MustCompile(`, (\d+) minutes`)
	stateWord     = regexp.MustCompile(`^(.*?)(?: \((?:leaked|scan|durable)\))*(?:, .*| labels:.*)?$`)
	raceLine      = regexp.MustCompile(`(?m)^WARNING: DATA RACE`)
	elidedLine    = regexp.MustCompile(`(?m)^\.\.\..* frames elided\.\.\.`)
	ancestorLine  = regexp.MustCompile(`(?m)^\[originating from goroutine`)
)

// TestCorpus counts what is in the samples with regular expressions, and holds
// the parser against that.
func TestCorpus(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(s.name, func(t *testing.T) {
			text := s.text
			checkCounts(t, Parse(text), text)
			f, err := Read(iotest.HalfReader(bytes.NewReader(text)))
			if err != nil {
				t.Fatal(err)
			}
			checkCounts(t, f, text)
			if crlf := bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n")); !bytes.Contains(text, []byte("\r")) {
				checkCounts(t, Parse(crlf), text)
			}
		})
	}
}

func checkCounts(t *testing.T, f *File, text []byte) {
	t.Helper()
	headers := goroutineLine.FindAllSubmatch(text, -1)
	var got []int // positions of goroutines with a header
	for g := range f.IDs {
		if f.State(g).Name != "runtime stack" && (len(f.Dumps) == 0 || f.Dumps[f.DumpOf(g)].Kind != Profile) {
			got = append(got, g)
		}
	}
	if len(got) != len(headers) {
		t.Fatalf("%d goroutines, want %d", len(got), len(headers))
	}
	for i, m := range headers {
		g := got[i]
		if id, _ := strconv.ParseUint(string(m[1]), 10, 64); f.IDs[g] != id {
			t.Fatalf("goroutine %d has number %d, want %d", g, f.IDs[g], id)
		}
		wait := int64(0)
		if m := minutes.FindSubmatch(m[2]); m != nil {
			wait, _ = strconv.ParseInt(string(m[1]), 10, 64)
		}
		if int64(f.Waits[g]) != wait {
			t.Errorf("goroutine %d waits %d minutes, want %d", f.IDs[g], f.Waits[g], wait)
		}
		if want := string(stateWord.FindSubmatch(m[2])[1]); f.State(g).Name != want {
			t.Errorf("goroutine %d is in state %q, want %q", f.IDs[g], f.State(g).Name, want)
		}
	}
	created := createdLine.FindAllSubmatch(text, -1)
	positions := int64(len(positionLine.FindAll(text, -1)) + len(commentLine.FindAll(text, -1)))
	if f.Frames+f.CreatedBys != positions || f.CreatedBys != int64(len(created)) {
		t.Errorf("%d frames and %d creators, want %d and %d", f.Frames, f.CreatedBys, positions-int64(len(created)), len(created))
	}
	var creators []string
	for _, m := range created {
		creators = append(creators, string(m[1])+" "+string(m[2]))
	}
	if f.AncestorStacks == 0 {
		n := 0
		for g := range f.IDs {
			frames := f.Stacks.Frames(f.StackIDs[g])
			if len(frames) == 0 {
				continue
			}
			name, ok := strings.CutPrefix(f.Stacks.Frame(frames[len(frames)-1]).Func, CreatedBy)
			if !ok {
				continue
			}
			id := ""
			if f.Creators[g] > 0 {
				id = strconv.FormatUint(f.Creators[g], 10)
			}
			if got := name + " " + id; n >= len(creators) || got != creators[n] {
				t.Fatalf("creator %d is %q", n, got)
			}
			n++
		}
		if n != len(creators) {
			t.Errorf("%d goroutines have a creator, want %d", n, len(creators))
		}
	}
	if want := len(raceLine.FindAll(text, -1)); len(f.Races) != want {
		t.Errorf("%d races, want %d", len(f.Races), want)
	}
	if want := int64(len(ancestorLine.FindAll(text, -1))); f.AncestorStacks != want {
		t.Errorf("%d stacks of ancestors, want %d", f.AncestorStacks, want)
	}
	elided := 0
	for _, flags := range f.Flags {
		if flags&Elided != 0 {
			elided++
		}
	}
	if want := len(elidedLine.FindAll(text, -1)); elided != want {
		t.Errorf("%d stacks with elided frames, want %d", elided, want)
	}
	if f.Unrecognised != 0 {
		t.Errorf("%d lines not understood: %+v", f.Unrecognised, f.Odd)
	}
	if want := int64(bytes.Count(text, []byte("\n"))); f.Lines != want && f.Lines != want+1 {
		t.Errorf("%d lines read, want %d", f.Lines, want)
	}
}

// TestCalls: what is read again is what was read.
func TestCalls(t *testing.T) {
	for _, s := range samples(t) {
		file := s.name
		f := Parse(s.text)
		words := 0
		for g := range f.IDs {
			if len(f.Dumps) > 0 && f.Dumps[f.DumpOf(g)].Kind == Profile {
				continue
			}
			calls, err := f.Calls(g)
			if err != nil {
				t.Fatalf("%s: goroutine %d: %v", file, f.IDs[g], err)
			}
			i := 0
			for _, id := range f.Stacks.Frames(f.StackIDs[g]) {
				want := f.Stacks.Frame(id)
				if want.Func == NoStack {
					continue
				}
				c := calls[i]
				name := c.Func
				if c.Created {
					name = CreatedBy + name
				}
				if name != want.Func || c.File != want.File || c.Line != want.Line || c.Inlined != want.Inlined {
					t.Fatalf("%s: goroutine %d: frame %d is %+v, want %+v", file, f.IDs[g], i, c, want)
				}
				if _, err := ParseArgs(c.Args); err != nil {
					t.Errorf("%s: %v", file, err)
				}
				words += strings.Count(c.Args, "0x")
				i++
			}
		}
		if words == 0 && bytes.Contains(s.text, []byte("(0x")) && !bytes.Contains(s.text, []byte("DATA RACE")) {
			t.Errorf("%s: no words of arguments", file)
		}
	}
}

// seedListing is how people copy a dump into a text: what the terminal has
// echoed stands in front of it, and tabs have become blanks.
const seedListing = `Review the dump.

2020/03/21 00:09:06 listener : Started : Listening on: http://localhost:4000
^\SIGQUIT: quit
PC=0x45cec1 m=0 sigcode=128

goroutine 0 [idle]:
runtime.futex(0x95baa8, 0x80, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0, 0x7ffd0258b338, 0x40bf8f, ...)
        /usr/local/go/src/runtime/sys_linux_amd64.s:535 +0x21

goroutine 1 [IO wait]:
internal/poll.runtime_pollWait(0x7fb892724f08, 0x72, 0x0)
        /usr/local/go/src/runtime/netpoll.go:184 +0x55
main.main()
        /home/user/example3.go:20 +0x141

rax    0xca
rbx    0x95b960
`

func TestListing(t *testing.T) {
	f := Parse([]byte(seedListing))
	if f.Goroutines() != 1 || f.Len() != 2 || len(f.Dumps) != 1 || f.Frames != 3 || f.Unrecognised != 0 {
		t.Fatalf("%d goroutines, %d frames, %+v", f.Goroutines(), f.Frames, f.Odd)
	}
	d := f.Dumps[0]
	if d.Kind != Signal || d.SignalLine != "SIGQUIT: quit" || len(d.Threads) != 1 || d.Threads[0].PC != 0x45cec1 || d.Threads[0].Code != 128 || len(d.Threads[0].Registers) != 2 {
		t.Errorf("%+v", d)
	}
	calls, err := f.Calls(0)
	if err != nil || len(calls) != 1 {
		t.Fatal(calls, err)
	}
	if args, err := ParseArgs(calls[0].Args); err != nil || len(args) != 11 || args[10].Kind != More || args[1].Value != 0x80 {
		t.Errorf("%+v, %v", args, err)
	}
}

// TestArticle: listings in prose, with blanks in the place of tabs.
func TestArticle(t *testing.T) {
	text, err := os.ReadFile("testdata/article.md")
	if err != nil {
		t.Fatal(err)
	}
	f := Parse(text)
	if f.Len() != 4 {
		t.Errorf("%d goroutines, want 4", f.Len())
	}
	if len(f.Dumps) != 3 || f.Dumps[0].Kind != Panic || f.Dumps[1].Panics[0].Value != "Want stack trace" || f.Dumps[2].Kind != Signal {
		t.Errorf("%+v", f.Dumps)
	}
	for g, args := range []string{"0xc00003a710, 0x2, 0x4, 0x47365d, 0x5, 0xa", "0xc019010001"} {
		calls, err := f.Calls(g)
		if err != nil || len(calls) != 2 || calls[0].Func != "main.example" || calls[0].Args != args {
			t.Errorf("goroutine %d: %+v, %v", g, calls, err)
		}
	}
	if f.Unrecognised != 0 {
		t.Errorf("not understood: %+v", f.Odd)
	}
}
