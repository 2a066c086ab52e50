package pprof_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

func TestPGO(t *testing.T) {
	p := decode(t, `
		main.main:5   main.main:5   main.main:6
		main.a:12     main.a:12     main.b:3
		main.c:4      main.c:4      main.c:4
		main.d        main.d
		= 1 2 3
		= 10 20 30
		@ k=1 k=2 -`, "samples/count", "cpu/nanoseconds")
	q, err := pprof.PGO(p, 2)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for i, id := range q.StackIDs {
		for _, f := range q.Stacks.Frames(id) {
			b.WriteString(q.Stacks.Frame(f).Func + " ")
		}
		b.WriteString(strings.Repeat("*", int(q.Values[0][i])) + "\n")
	}
	if got, want := b.String(), "main.d main.c ***\nmain.c main.b ***\n"; got != want {
		t.Errorf("trimmed:\n%swant:\n%s", got, want)
	}
	if q.LabelSets != nil || len(q.SampleTypes) != 1 {
		t.Errorf("labels %v, types %v", q.LabelSets, q.SampleTypes)
	}
	if _, err := pprof.PGO(sample(t), 5); err == nil {
		t.Error("a heap profile is no profile for the compiler")
	}
	newer := decode(t, `
		main.main:5   main.main:6
		main.a:13     main.b:3
		main.c:4      main.c:4
		main.d
		= 1 3`, "samples/count")
	m, err := pprof.Match(p, newer)
	if err != nil {
		t.Fatal(err)
	}
	// main→a 3, a:12→c 3 (now a:13), c→d 3, main→b 3, b→c 3
	if m.Total != 15 || m.Calls != 12 || m.Lines != 3 || m.Functions != 0 || m.Gone != 0 || len(m.Lost) != 1 || m.Lost[0].Why != "it is on another line now" {
		t.Errorf("match = %+v", m)
	}
}

// TestPGOCompiler lets the Go compiler's own tool read a trimmed profile: it
// has calls, and each of them is in the whole profile with at least its weight.
func TestPGOCompiler(t *testing.T) {
	all, err := profiletest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(all["cpu"], profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q, err := pprof.PGO(p, pprof.PGODepth)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := q.Encode(&b); err != nil {
		t.Fatal(err)
	}
	whole, trimmed := preprofile(t, all["cpu"]), preprofile(t, b.Bytes())
	if len(trimmed) == 0 || len(trimmed) > len(whole) {
		t.Fatalf("%d calls in the trimmed profile, %d in the whole", len(trimmed), len(whole))
	}
	for call, weight := range trimmed {
		if weight > whole[call] {
			t.Errorf("%s weighs %d, in the whole profile %d", call, weight, whole[call])
		}
	}
}

// preprofile returns the calls that the compiler sees, with their weights.
func preprofile(t *testing.T, data []byte) map[string]int {
	t.Helper()
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command("go", "tool", "preprofile", "-i", in, "-o", out).CombinedOutput(); err != nil {
		t.Fatalf("go tool preprofile: %v\n%s", err, text)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:] // the first is the name of the format
	for ; len(lines) >= 3; lines = lines[3:] {
		offset, weight, _ := strings.Cut(lines[2], " ")
		n, err := strconv.Atoi(weight)
		if err != nil {
			t.Fatalf("go tool preprofile: %q", lines[2])
		}
		calls[lines[0]+" → "+lines[1]+" at "+offset] = n
	}
	return calls
}
