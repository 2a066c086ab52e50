package profile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"loupe/format/profile"
	"loupe/format/symbol"
)

// perfSamples are the samples of a profile by labels and stack, with what a frame
// is called; all of the kernel is one frame.
func perfSamples(p *profile.Profile, name func(l *profile.Location, i int) string) map[string]int64 {
	out := map[string]int64{}
	for row, id := range p.StackIDs {
		var b strings.Builder
		for _, l := range p.Labels(p.SetOf(row)) {
			fmt.Fprintf(&b, "%s=%s ", l.Key, l.Str)
		}
		last, lastAt := "", -1
		for _, f := range p.Stacks.Frames(id) {
			at := p.LocationOf(f)
			l := &p.Locations[at]
			if at == lastAt && l.Lines > 1 {
				continue // an inlined call, which the other side does not know
			}
			text := "?"
			if l.Mapping >= 0 {
				text = filepath.Base(p.Mappings[l.Mapping].File)
			}
			if strings.HasPrefix(text, "[kernel") {
				text = "[kernel]"
			} else {
				text += " " + name(l, at)
			}
			if text != last || text != "[kernel]" {
				b.WriteString("\n  " + text)
			}
			last, lastAt = text, at
		}
		for i, t := range p.SampleTypes {
			if v := p.Values[i][row]; v != 0 && t.Type != "samples" {
				out[t.String()+" "+b.String()] += v
			}
		}
	}
	return out
}

func sameSamples(t *testing.T, got, want map[string]int64) {
	t.Helper()
	wrong := 0
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if got[k] != want[k] && wrong < 3 {
			wrong++
			t.Errorf("%d, want %d of %s", got[k], want[k], k)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok && wrong < 6 {
			wrong++
			t.Errorf("perf does not know %d of %s", got[k], k)
		}
	}
}

func decodeFile(t *testing.T, name string) *profile.Profile {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return p
}

// TestPerfData holds files of perf 6.1 against what perf script says of them:
// processes, threads, CPUs, events, periods, and the modules of each stack.
func TestPerfData(t *testing.T) {
	module := func(*profile.Location, int) string { return "" }
	for _, name := range []string{"plain", "packed", "pipe", "events"} {
		got := decodeFile(t, "testdata/perf/"+name+".data")
		want := decodeFile(t, "testdata/perf/"+name+".txt")
		if len(want.StackIDs) < 5 {
			t.Fatalf("%s: perf script has %d stacks", name, len(want.StackIDs))
		}
		sameSamples(t, perfSamples(got, module), perfSamples(want, module))
		if !slices.Equal(got.SampleTypes, want.SampleTypes) || (got.Duration-want.Duration).Abs() > 2000 {
			t.Errorf("%s: %v %v, want %v %v", name, got.SampleTypes, got.Duration, want.SampleTypes, want.Duration)
		}
		if got.Mappings[0].File != "/srv/burn" || len(got.Mappings[0].BuildID) != 40 && (name == "plain" || name == "events") {
			t.Errorf("%s: the program is %+v", name, got.Mappings[0])
		}
		if len(got.Comments) != 1 || !strings.Contains(got.Comments[0], "perf record") {
			t.Errorf("%s: %q", name, got.Comments)
		}
	}
}

// TestPerfDataNames records a program with perf, if that is here, and holds the
// names of functions that package symbol finds against those that perf finds.
func TestPerfDataNames(t *testing.T) {
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed")
	}
	dir := t.TempDir()
	const program = `package main

import (
	"sort"
	"time"
)

func main() {
	for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
		x := make([]int, 2000)
		for i := range x {
			x[i] = i * 7919 % 2000
		}
		sort.Ints(x)
	}
}
`
	run := func(words ...string) []byte {
		t.Helper()
		c := exec.Command(words[0], words[1:]...)
		c.Dir = dir
		// The return from a signal handler begins a function, and perf looks for
		// the one that a return address lies behind: which signals come depends
		// on the machine.
		c.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1")
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil && words[0] == "perf" && strings.Contains(strings.ToLower(stderr.String()), "permi") {
			t.Skipf("this machine does not permit %s: %v\n%s", words, err, &stderr)
		}
		if err != nil {
			t.Fatalf("%s: %v\n%s", words, err, &stderr)
		}
		return out
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"exe", "pie"} {
		run("go", "build", "-buildmode="+mode, "-o", "burn", "main.go")
		run("perf", "record", "-q", "-F", "499", "-g", "-e", "cpu-clock", "-o", "perf.data", "./burn")
		text := run("perf", "script", "-i", "perf.data", "-F", "comm,pid,tid,time,period,event,ip,sym,dso")
		want, err := profile.Decode(text, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := decodeFile(t, filepath.Join(dir, "perf.data"))
		f, err := os.Open(filepath.Join(dir, "burn"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		bin, err := symbol.Open(f, symbol.Options{})
		if err != nil {
			t.Fatal(err)
		}
		names := func(l *profile.Location, _ int) string {
			m := got.Mappings[max(0, l.Mapping)]
			if l.Mapping < 0 || filepath.Base(m.File) != "burn" {
				return ""
			}
			addr, err := bin.Translate(symbol.Mapping{Start: m.Start, Limit: m.Limit, Offset: m.Offset}, l.Address)
			if err != nil {
				t.Error(err)
			}
			fn, _ := bin.FuncAt(addr)
			return strings.TrimSuffix(fn.Name, ".abi0")
		}
		theirs := func(l *profile.Location, at int) string {
			if l.Mapping < 0 || filepath.Base(want.Mappings[l.Mapping].File) != "burn" {
				return ""
			}
			return strings.TrimSuffix(want.Stacks.Frame(l.First).Func, ".abi0")
		}
		sameSamples(t, perfSamples(got, names), perfSamples(want, theirs))
	}
}

// TestPerfDataEvents: each event has a sample type of its own, with the periods that
// perf script prints for it, and time is shown first.
func TestPerfDataEvents(t *testing.T) {
	text, err := os.ReadFile("testdata/perf/many.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int64{}
	for _, m := range regexp.MustCompile(`(?m):\s+(\d+) +(cpu-clock|task-clock|page-faults|context-switches):`).FindAllSubmatch(text, -1) {
		n, _ := strconv.ParseInt(string(m[1]), 10, 64)
		unit := "/count"
		if strings.HasSuffix(string(m[2]), "-clock") {
			unit = "/nanoseconds"
		}
		want[string(m[2])+unit] += n
	}
	if len(want) != 4 {
		t.Fatalf("perf script has %v", want)
	}
	for _, name := range []string{"many.data", "many.txt"} {
		p := decodeFile(t, "testdata/perf/"+name)
		got := map[string]int64{}
		for i, typ := range p.SampleTypes {
			for _, v := range p.Values[i] {
				got[typ.String()] += v
			}
		}
		if !maps.Equal(got, want) || p.DefaultSampleType != "cpu-clock" {
			t.Errorf("%s: %v, first %q; want %v", name, got, p.DefaultSampleType, want)
		}
	}
}

// TestPerfDataRefused: what is no file that can be read is told.
func TestPerfDataRefused(t *testing.T) {
	data, err := os.ReadFile("testdata/perf/packed.data")
	if err != nil {
		t.Fatal(err)
	}
	f := func(data []byte, opt profile.Options, want string) {
		t.Helper()
		if _, err := profile.Decode(data, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	f(append([]byte("2ELIFREP"), data[8:]...), profile.Options{}, "big-endian")
	f(append([]byte("PERFFILE"), data[8:]...), profile.Options{}, "before 2.6.39")
	f(data[:50], profile.Options{}, "header is cut after 50")
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := w.EncodeAll(make([]byte, 32<<20), nil)
	pipe := binary.LittleEndian.AppendUint64([]byte("PERFILE2"), 16)
	pipe = binary.LittleEndian.AppendUint32(pipe, 81) // PERF_RECORD_COMPRESSED
	pipe = binary.LittleEndian.AppendUint32(pipe, uint32(8+len(bomb))<<16)
	f(append(pipe, bomb...), profile.Options{MaxBytes: 1 << 20}, "unpack to more than 1048576 bytes")
	// A file that perf could not finish has no size, and is read as far as it goes.
	cut := bytes.Clone(data)
	binary.LittleEndian.PutUint64(cut[48:], 0)
	p, err := profile.Decode(cut[:len(cut)-5000], profile.Options{})
	if err != nil || !strings.Contains(strings.Join(p.Comments, " "), "the file is cut") {
		t.Errorf("%v, %+v", err, p)
	}
}

func FuzzPerfData(f *testing.F) {
	for _, name := range []string{"plain", "packed", "pipe", "events"} {
		if data, err := os.ReadFile("testdata/perf/" + name + ".data"); err == nil {
			f.Add(data)
		}
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30))
	f.Fuzz(func(t *testing.T, data []byte) {
		copy(data, "PERFILE2")
		p, err := profile.Decode(data, profile.Options{MaxBytes: 16 << 20})
		if err == nil && p.Len() > len(data)+16<<20 {
			t.Errorf("%d samples of %d bytes", p.Len(), len(data))
		}
	})
}
