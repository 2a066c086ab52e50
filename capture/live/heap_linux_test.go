//go:build linux && (amd64 || arm64)

package live

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"loupe/format/profile"
)

// allocations are the samples of a heap profile, in words.
func allocations(p *profile.Profile) map[string][4]int64 {
	out := map[string][4]int64{}
	for row, id := range p.StackIDs {
		var b strings.Builder
		for _, l := range p.Labels(p.SetOf(row)) {
			fmt.Fprintf(&b, "%s=%d\n", l.Key, l.Num)
		}
		for _, f := range p.Stacks.Frames(id) {
			fr := p.Stacks.Frame(f)
			fmt.Fprintf(&b, "%s %s:%d %d inlined=%v\n", fr.Func, filepath.Base(fr.File), fr.Line, fr.StartLine, fr.Inlined)
		}
		v := out[b.String()]
		for i := range v {
			v[i] += p.Values[i][row]
		}
		if v != ([4]int64{}) {
			out[b.String()] = v
		}
	}
	return out
}

func fetch(t *testing.T, address string) *profile.Profile {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(text, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// stripped are the flags of a build without symbols, where such a program is
// understood.
func stripped(yes bool) []string {
	if !yes || runtime.GOARCH != "amd64" {
		return nil
	}
	return []string{"-ldflags=-s -w"}
}

// TestHeapProfile holds the profile that is read out of the memory against the
// one that the program gives: before its first collection, after several, and
// with the usual rate, and with every allocation of a stripped one.
func TestHeapProfile(t *testing.T) {
	for _, v := range toolchains() {
		t.Run(v.name, func(t *testing.T) {
			for _, rate := range []string{"", "1"} {
				bin := v.build(t, "heap", stripped(rate != "")...)
				pid, address := begin(t, exec.Command(bin, rate))
				p, err := Open(pid)
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				for _, query := range []string{"", "?gc=1", ""} {
					// A collection may end in between.
					for again := 2; ; again-- {
						wrong := heapDifferences(t, p, "http://"+address+"/heap"+query)
						if len(wrong) == 0 {
							break
						}
						if again == 0 {
							t.Fatalf("rate %q, query %q: %d stacks are wrong:\n%s", rate, query, len(wrong), strings.Join(wrong[:min(len(wrong), 4)], "\n"))
						}
					}
				}
			}
		})
	}
}

// heapDifferences are the stacks of which the process and its memory say different
// things.
func heapDifferences(t *testing.T, p *Process, address string) (wrong []string) {
	t.Helper()
	want := fetch(t, address)
	got, err := p.HeapProfile()
	if err != nil {
		t.Fatal(err)
	}
	if got.Period != want.Period || !slices.Equal(got.SampleTypes, want.SampleTypes) || got.PeriodType != want.PeriodType {
		t.Errorf("%v %d, want %v %d", got.SampleTypes, got.Period, want.SampleTypes, want.Period)
	}
	g, w := allocations(got), allocations(want)
	if len(w) == 0 {
		t.Fatal("nothing allocates")
	}
	for _, key := range slices.Sorted(maps.Keys(w)) {
		if g[key] != w[key] {
			wrong = append(wrong, fmt.Sprintf("%v, want %v of\n%s", g[key], w[key], key))
		}
	}
	for key := range g {
		if _, ok := w[key]; !ok {
			wrong = append(wrong, fmt.Sprintf("nobody else knows %v of\n%s", g[key], key))
		}
	}
	return wrong
}

// TestHeapProfiling switches heap profiling on in a program whose linker has
// switched it off, and off again.
func TestHeapProfiling(t *testing.T) {
	for _, v := range toolchains() {
		t.Run(v.name, func(t *testing.T) {
			c := exec.Command(v.build(t, "unprofiled", stripped(true)...))
			in, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Wait()
			defer c.Process.Kill()
			lines := bufio.NewReader(out)
			keep := func() {
				t.Helper()
				if _, err := lines.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
			}
			keep()
			p, err := Open(c.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if _, err := p.HeapProfile(); !errors.Is(err, ErrHeapProfileOff) {
				t.Fatalf("it is on: %v", err)
			}
			h, err := p.StartHeapProfiling()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.StartHeapProfiling(); !errors.Is(err, ErrHeapProfileOn) {
				t.Errorf("it is switched on twice: %v", err)
			}
			fmt.Fprintln(in)
			keep()
			got, err := p.HeapProfile()
			if err != nil {
				t.Fatal(err)
			}
			// 64 blocks of 1 MiB: nine in ten are seen, and count for more.
			seen := int64(0)
			for id, n := range got.Samples(1) {
				if frames := got.Stacks.Frames(id); len(frames) > 0 && name(got, frames[0]) == "main.keep" {
					seen += n
				}
			}
			if seen < 32<<20 || seen > 128<<20 {
				t.Errorf("%d bytes are seen of 64 MiB", seen)
			}
			if err := h.Stop(); err != nil {
				t.Error(err)
			}
			if _, err := p.HeapProfile(); !errors.Is(err, ErrHeapProfileOff) {
				t.Errorf("it is still on: %v", err)
			}
			// The command does the same, if the shell may.
			if scope := line("/proc/sys/kernel/yama/ptrace_scope"); scope != "" && scope != "0" && os.Geteuid() != 0 {
				return
			}
			if h, err = p.StartHeapProfiling(); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("/bin/sh", "-c", h.Undo()).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			if _, err := p.HeapProfile(); !errors.Is(err, ErrHeapProfileOff) {
				t.Errorf("the command has not switched it off: %v", err)
			}
			fmt.Fprintln(in)
			keep()
		})
	}
}
