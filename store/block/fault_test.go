package block

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/value/stack"
)

var counted = store.Type{Name: "process_cpu", Sample: "samples", Unit: "count"}

// one is the i-th profile: its total is 1<<(i%16), and every one has a name of its own.
func one(i int) *store.Profile {
	p := &profile.Profile{Stacks: new(stack.Table)}
	main := p.Stacks.InternFrame(stack.Frame{Func: "main.main", File: "main.go", Line: 3, StartLine: 1})
	own := p.Stacks.InternFrame(stack.Frame{Func: fmt.Sprintf("main.f%d", i), File: "main.go", Line: i + 10, StartLine: i + 9})
	p.StackIDs = []stack.ID{p.Stacks.Intern([]stack.FrameID{own, main})}
	p.Values = [][]int64{{1 << (i % 16)}}
	return &store.Profile{ID: store.IDOf([]byte(strconv.Itoa(i))), Labels: store.LabelsOf(store.ServiceLabel, fmt.Sprint("s", i%3), "pod", fmt.Sprint(i%2)),
		Time: time.Unix(1_700_000_000+int64(i)*60, 0), Types: []store.Type{counted}, Samples: p}
}

// have returns how often each profile is there.
func have(t *testing.T, e *Engine) map[string]int64 {
	t.Helper()
	s, err := e.Stacks(context.Background(), store.StacksQuery{Selection: store.Selection{Type: counted}})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, f := range s.Top(0, 1<<20).Functions {
		if f.Function != "main.main" {
			out[f.Function] = f.Total
		}
	}
	return out
}

// holds wants the first n profiles, each once, and allows no more than those that were
// tried.
func holds(t *testing.T, e *Engine, acknowledged map[int]bool) {
	t.Helper()
	got := have(t, e)
	for i := range acknowledged {
		if v := got[fmt.Sprintf("main.f%d", i)]; v != 1<<(i%16) {
			t.Errorf("profile %d was acknowledged and has %d, want %d", i, v, 1<<(i%16))
		}
	}
	for name, v := range got {
		i, err := strconv.Atoi(strings.TrimPrefix(name, "main.f"))
		if err != nil || v != 1<<(i%16) {
			t.Errorf("%s has %d: doubled, or torn", name, v)
		}
	}
}

// failing is a folder whose disk fails after so many bytes or operations.
type failing struct {
	filesystem
	r    *rand.Rand
	rate float64 // how often an operation fails
}

var errDisk = errors.New("no space left on device")

func (f *failing) fails() bool { return f.r.Float64() < f.rate }

func (f *failing) Create(name string) (file, error) {
	if f.fails() {
		return nil, errDisk
	}
	one, err := f.filesystem.Create(name)
	return &failingFile{one, f}, err
}

func (f *failing) Rename(from, to string) error {
	if f.fails() {
		return errDisk
	}
	return f.filesystem.Rename(from, to)
}

func (f *failing) SyncDir() error {
	if f.fails() {
		return errDisk
	}
	return f.filesystem.SyncDir()
}

type failingFile struct {
	file
	f *failing
}

// Write fails in the middle: some of the bytes are there.
func (f *failingFile) Write(b []byte) (int, error) {
	if f.f.fails() {
		n, _ := f.file.Write(b[:f.f.r.IntN(len(b)+1)])
		return n, errDisk
	}
	return f.file.Write(b)
}

func (f *failingFile) Sync() error {
	if f.f.fails() {
		return errDisk
	}
	return f.file.Sync()
}

func (f *failingFile) Truncate(size int64) error {
	if f.f.fails() {
		return errDisk
	}
	return f.file.Truncate(size)
}

// TestDiskFails writes to a disk that fails at every kind of moment, repeats what was not
// acknowledged, and opens the store again and again: nothing acknowledged is lost, and
// nothing is there twice.
func TestDiskFails(t *testing.T) {
	for seed := range uint64(5) {
		dir, r := t.TempDir(), rand.New(rand.NewPCG(seed, 7))
		acknowledged := map[int]bool{}
		next := 0
		for range 4 {
			disk := &failing{folder(dir), r, 0}
			e, err := Open(dir, Options{HeadBytes: 20 << 10, fs: disk})
			if err != nil {
				t.Fatal(err)
			}
			holds(t, e, acknowledged)
			disk.rate = 0.08
			for range 60 {
				switch n := r.IntN(10); {
				case n == 0:
					_ = e.Maintain(t.Context(), store.Policy{Bytes: -1, Raw: -1, FiveMinutes: -1, Hours: -1}, time.Unix(1_700_000_000+int64(next)*660, 0))
				case n < 3 && next > 0: // again, as a client does that got no answer
					i := r.IntN(next)
					if e.Write(t.Context(), []*store.Profile{one(i)}) == nil {
						acknowledged[i] = true
					}
				default:
					if e.Write(t.Context(), []*store.Profile{one(next), one(next + 1)}) == nil {
						acknowledged[next], acknowledged[next+1] = true, true
					}
					next += 2
				}
			}
			disk.rate = 0
			holds(t, e, acknowledged)
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
		e, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		holds(t, e, acknowledged)
		if len(acknowledged) < 20 {
			t.Errorf("seed %d: only %d were acknowledged: the test shows nothing", seed, len(acknowledged))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestTornLog cuts the log at every byte, and spoils every byte: what was acknowledged
// before that place is there.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var ends []int64
	for i := range 5 {
		if err := e.Write(t.Context(), []*store.Profile{one(i)}); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, e.head.log.size)
	}
	name := filepath.Join(dir, logName(e.head.number))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range len(whole) {
		spoiled := bytes.Clone(whole)
		spoiled[cut] ^= 0x41
		for _, log := range [][]byte{whole[:cut], spoiled} {
			h, unread := replay(1, log, func(store.ID) bool { return false })
			ok := len(unread) == 0
			if behind := recordBehind(unread); behind != (len(log) > cut && want(ends, cut)+1 < len(ends) && cut >= len(walMagic)) && cut >= len(walMagic) {
				t.Errorf("cut at %d: a record behind is %v", cut, behind)
			}
			want := want(ends, cut)
			if len(h.kept) != want {
				t.Errorf("cut at %d: %d profiles, want %d", cut, len(h.kept), want)
			}
			if atEnd := len(log) == cut && (cut == 0 || cut == len(walMagic) || want > 0 && ends[want-1] == int64(cut)); ok != atEnd {
				t.Errorf("cut at %d: whole is %v", cut, ok)
			}
		}
	}
}

// want is how many records end at a place of the log, or before.
func want(ends []int64, at int) (n int) {
	for n < len(ends) && ends[n] <= int64(at) {
		n++
	}
	return n
}

// TestDamagedLog: what stands behind a damaged record was acknowledged. It is kept, and said.
func TestDamagedLog(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var second int64
	for i := range 5 {
		if err := e.Write(t.Context(), []*store.Profile{one(i)}); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			second = e.head.log.size
		}
	}
	number := e.head.number
	name := filepath.Join(dir, logName(number))
	log, err := os.ReadFile(name) // as a kill would leave it
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	other := t.TempDir()
	log[second+20] ^= 1
	if err := os.WriteFile(filepath.Join(other, logName(number)), log, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err = Open(other, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	said := strings.Join(e.Damage(), "\n")
	if !strings.Contains(said, fmt.Sprintf("damaged at byte %d", second)) || !strings.Contains(said, "which were acknowledged") {
		t.Errorf("it says %q", said)
	}
	kept, err := os.ReadFile(filepath.Join(other, unreadName(number)))
	if err != nil || !bytes.Equal(kept, log[second:]) {
		t.Errorf("%d bytes are kept, want %d: %v", len(kept), len(log)-int(second), err)
	}
}

// TestDamagedBlock spoils bytes of a block: the store opens, says so, and never returns
// wrong figures.
func TestDamagedBlock(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		if err := e.Write(t.Context(), []*store.Profile{one(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.flush(t.Context(), e.head); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, e.blocks[0].name)
	want := have(t, e)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 7 {
		spoiled := bytes.Clone(whole)
		spoiled[at] ^= 0x10
		if err := os.WriteFile(name, spoiled, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := e.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: counted}})
		if err == nil && len(e.Damage()) == 0 {
			t.Errorf("byte %d is wrong, and nobody says so: total %d of %v", at, s.Total(0), want)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); err != nil {
			t.Fatalf("the damaged block is gone: %v", err)
		}
	}
}

// TestClockJumps: a clock that jumps ahead by years, or back, empties nothing.
func TestClockJumps(t *testing.T) {
	e, err := Open(t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := map[int]bool{}
	for i := range 10 {
		if err := e.Write(t.Context(), []*store.Profile{one(i)}); err != nil {
			t.Fatal(err)
		}
		acknowledged[i] = true
	}
	for _, years := range []int{0, 20, 20, -20, 0, 0} {
		if err := e.Maintain(t.Context(), store.Policy{}, time.Unix(1_700_000_000, 0).AddDate(years, 0, 0)); err != nil {
			t.Fatal(err)
		}
		holds(t, e, acknowledged)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestKilled kills a process that writes, at moments of its own choosing. What is there is each
// acknowledged profile once: the count is the proof. LOUPE_KILLS says how often, 6 times otherwise.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("LOUPE_STORE_KILLED"); dir != "" {
		writeUntilKilled(dir)
		return
	}
	dir := t.TempDir()
	acknowledged, rounds := map[int]bool{}, 6
	if n, err := strconv.Atoi(os.Getenv("LOUPE_KILLS")); err == nil {
		rounds = n
	}
	r := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for round := range rounds {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestKilled$")
		cmd.Env = append(os.Environ(), "LOUPE_STORE_KILLED="+dir, fmt.Sprintf("LOUPE_STORE_FROM=%d", round*10000))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// It is killed when it has acknowledged so many, in the middle of the next.
		buf := make([]byte, 1)
		line := ""
		for n, most := 0, 20+r.IntN(100); n < most; {
			if _, err := io.ReadFull(out, buf); err != nil {
				t.Fatal(err)
			}
			if buf[0] != '\n' {
				line += string(buf)
				continue
			}
			i, err := strconv.Atoi(line)
			if err != nil {
				t.Fatalf("the process says %q", line)
			}
			acknowledged[i], line = true, ""
			n++
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(out)
		_ = cmd.Wait()
		for _, l := range strings.Split(line+string(rest), "\n") {
			if i, err := strconv.Atoi(l); err == nil && strings.HasSuffix(line+string(rest), "\n") {
				acknowledged[i] = true
			}
		}
		e, err := Open(dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		holds(t, e, acknowledged)
		if round == rounds-1 {
			t.Logf("%d profiles were acknowledged, of %d kills; %d are there: each of those, and some that nobody was told of", len(acknowledged), rounds, len(have(t, e)))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// writeUntilKilled writes and says what was acknowledged, with several writers and with
// blocks being made all the time.
func writeUntilKilled(dir string) {
	from, _ := strconv.Atoi(os.Getenv("LOUPE_STORE_FROM"))
	e, err := Open(dir, Options{HeadBytes: 40 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	for k := range 4 {
		go func() {
			for i := from + k; ; i += 4 {
				if e.Write(context.Background(), []*store.Profile{one(i)}) == nil {
					_, _ = os.Stdout.Write(fmt.Appendf(nil, "%d\n", i))
				}
			}
		}()
	}
	for now := time.Unix(1_700_000_000, 0); ; now = now.Add(11 * time.Minute) {
		_ = e.Maintain(context.Background(), store.Policy{Bytes: -1, Raw: -1, FiveMinutes: -1, Hours: -1}, now)
	}
}
