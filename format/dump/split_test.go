package dump

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// wraps are the ways in which logs tell processes apart: line i of process p.
var wraps = map[string]func(p, i int, line string) string{
	"compose": func(p, _ int, l string) string { return strings.TrimRight(fmt.Sprintf("web_%d  | %s", p, l), " ") },
	"compose in colour": func(p, _ int, l string) string {
		return fmt.Sprintf("\x1b[3%dmweb_%d  |\x1b[0m %s", p, p, l)
	},
	"kubectl --prefix": func(p, _ int, l string) string {
		return fmt.Sprintf("[pod/api-7d9c5b%c/api] %s", 'a'+p, l)
	},
	"kubectl --prefix, numbers": func(p, _ int, l string) string { return fmt.Sprintf("[pod/api-%d/api] %s", p, l) },
	"kubectl --prefix --timestamps": func(p, i int, l string) string {
		return fmt.Sprintf("[pod/api-%d/api] 2026-11-21T09:%02d:%02d.%09dZ %s", p, i/60%60, i%60, i*7919, l)
	},
	"syslog": func(p, i int, l string) string {
		return fmt.Sprintf("Nov 21 09:%02d:%02d host app[%d]: %s", i/60%60, i%60, 4700+p, l)
	},
	"counter": func(p, i int, l string) string { return fmt.Sprintf("%06d app-%d: %s", i, p, l) },
	"JSON": func(p, i int, l string) string {
		return fmt.Sprintf(`{"log":%s,"stream":"stderr","container_name":"web-%d","time":"2026-11-21T09:42:08.%dZ"}`, quoted(l+"\n"), p, i)
	},
	"JSON with a pid": func(p, i int, l string) string {
		return fmt.Sprintf(`{"level":"error","pid":%d,"n":%d,"msg":%s}`, 4700+p, i, quoted(l))
	},
	"JSON of Kubernetes": func(p, i int, l string) string {
		return fmt.Sprintf(`{"@timestamp":"2026-11-21T09:42:08.%dZ","kubernetes":{"pod_name":"api-%d"},"message":%s}`, i, p, quoted(l))
	},
	"JSON behind a prefix": func(p, _ int, l string) string {
		return fmt.Sprintf(`web | {"msg":%s,"service":"s%d"}`, quoted(l), p)
	},
}

func quoted(s string) string { b, _ := json.Marshal(s); return string(b) }

// described is everything of the dumps of a file that does not depend on where they stand.
func described(f *File) (all []string) {
	for i, d := range f.Dumps {
		var b strings.Builder
		fmt.Fprintf(&b, "%s %q\n", d.Kind, strings.TrimSpace(d.Message))
		for g := d.First; g < d.End; g++ {
			fmt.Fprintf(&b, "%d %+v %d %#x\n", f.IDs[g], *f.State(g), f.Waits[g], f.Objects[g])
			calls, err := f.Calls(g)
			if err != nil {
				fmt.Fprintln(&b, err)
			}
			for _, c := range calls {
				fmt.Fprintf(&b, "  %+v\n", c)
			}
			for _, id := range f.Stacks.Frames(f.StackIDs[g]) {
				fmt.Fprintf(&b, "  %+v\n", f.Stacks.Frame(id))
			}
		}
		for _, c := range f.Cycles(f.InDump(i)) {
			b.WriteString(steps(f, []Cycle{c}))
		}
		all = append(all, b.String())
	}
	slices.Sort(all)
	return all
}

// TestSplit: dumps of several processes, with lines of a log among them, are the same
// when they come out of one log, in whichever order their lines stand there.
func TestSplit(t *testing.T) {
	samples := []string{"abba", "hold", "rw", "asleep", "busy1"}
	random := rand.New(rand.NewPCG(1, 2))
	for name, wrap := range wraps {
		t.Run(name, func(t *testing.T) {
			for round := range 12 {
				var want []string
				var left [][]string
				for p := range 2 + round%2 {
					text := string(cycleDump(t, samples[(round+p)%len(samples)]))
					want = append(want, described(Parse([]byte(text)))...)
					left = append(left, strings.Split(strings.TrimSuffix(text, "\n"), "\n"))
				}
				left = append(left, nil) // a process that has no dump
				for i := range 40 {
					left[len(left)-1] = append(left[len(left)-1], fmt.Sprintf("GET /users/%d (200) took main.go:%d +0x1", i, i))
				}
				slices.Sort(want)
				var b strings.Builder
				for i := 0; ; i++ {
					var some []int
					for p := range left {
						if len(left[p]) > 0 {
							some = append(some, p)
						}
					}
					if len(some) == 0 {
						break
					}
					p := some[random.IntN(len(some))]
					b.WriteString(wrap(p, i, left[p][0]) + "\n")
					left[p] = left[p][1:]
				}
				check := func(how string, f *File) {
					t.Helper()
					got := described(f)
					if len(got) != len(want) {
						t.Fatalf("%s, round %d: %d dumps, want %d\n%s", how, round, len(got), len(want), b.String())
					}
					for i := range got {
						if got[i] != want[i] {
							t.Fatalf("%s, round %d: got\n%s\nwant\n%s", how, round, got[i], want[i])
						}
					}
					if f.Unrecognised != 0 {
						t.Errorf("%s: not understood: %+v", how, f.Odd)
					}
				}
				check("parsed", Parse([]byte(b.String())))
				if f, err := Read(strings.NewReader(b.String())); err != nil || len(f.Dumps) != len(want) {
					t.Errorf("read: %v, %d dumps", err, len(f.Dumps))
				}
			}
		})
	}
}

// TestForeignLines: a line of a log between the two lines of a frame is no function,
// and takes none away.
func TestForeignLines(t *testing.T) {
	text := "goroutine 1 [running]:\nmain.a(0x1)\n2026/11/21 09:42:08 GET /x (200)\n\t/m.go:5 +0x1d\nlevel=info msg=\"x\"\n\t/m.go:6 +0x1d\nmain.b[go.shape.struct { X int }](...)\n\t/m.go:7\nmain.main()\n\t/m.go:8 +0x1d\n"
	f := Parse([]byte(text))
	var names []string
	for _, id := range f.Stacks.Frames(f.StackIDs[0]) {
		names = append(names, f.Stacks.Frame(id).Func)
	}
	if want := []string{"main.a", "main.b[go.shape.struct { X int }]", "main.main"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if f.Unrecognised != 3 {
		t.Errorf("%d lines were not understood: %+v", f.Unrecognised, f.Odd)
	}
}

// TestColours: what a terminal would show is what is read.
func TestColours(t *testing.T) {
	var b strings.Builder
	for line := range strings.Lines(small) {
		fmt.Fprintf(&b, "\x1b[1;31m%s\x1b[0m\n", strings.TrimSuffix(line, "\n"))
	}
	want := described(Parse([]byte(small)))
	if got := described(Parse([]byte(b.String()))); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	f, err := Read(bytes.NewReader([]byte(b.String())))
	if err != nil || f.Goroutines() != 3 || f.Stacks.Frame(f.Stacks.Frames(f.StackIDs[0])[0]).Func != "main.(*T).run" {
		t.Errorf("%v, %d goroutines", err, f.Goroutines())
	}
}
