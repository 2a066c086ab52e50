package profile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"testing"

	google "github.com/google/pprof/profile"

	"loupe/format/profile"
)

// texts makes an input of every kind, out of 3,000 functions and stacks of
// about 20 frames.
func texts(n int) map[string][]byte {
	r := rand.New(rand.NewSource(1))
	const functions = 3000
	name := func(f int) string {
		return fmt.Sprintf("example.com/search/internal/index%d.(*Writer).method%d", f%50, f)
	}
	file := func(f int) string { return fmt.Sprintf("/home/user/search/internal/index%d/file%d.go", f%50, f%200) }
	stacks := make([][]int, n)
	for i := range stacks {
		s := make([]int, 10+r.Intn(20))
		for j := range s {
			s[j] = r.Intn(functions)
		}
		stacks[i] = s
	}
	var heap, count, dump, folded, perf bytes.Buffer
	cpu := binary.LittleEndian.AppendUint64(nil, 0)
	for _, w := range []uint64{3, 0, 10000, 0} {
		cpu = binary.LittleEndian.AppendUint64(cpu, w)
	}
	heap.WriteString("heap profile: 1: 100 [2: 200] @ heap/1048576\n")
	fmt.Fprintf(&count, "goroutine profile: total %d\n", n)
	for i, s := range stacks {
		addresses := ""
		for _, f := range s {
			addresses += fmt.Sprintf(" %#x", 0x400001+16*f)
		}
		fmt.Fprintf(&heap, "%d: %d [%d: %d] @%s\n", i%7+1, 100*(i%7+1), i%7+2, 300*(i%7+2), addresses)
		fmt.Fprintf(&count, "%d @%s\n", i%7+1, addresses)
		fmt.Fprintf(&dump, "goroutine %d [chan receive, %d minutes]:\n", i+1, i%3)
		fmt.Fprintf(&perf, "search 42/%d [%03d] 100.%06d:     250000 cpu-clock:pppH: \n", 42+i%8, i%8, i)
		cpu = binary.LittleEndian.AppendUint64(cpu, 1)
		cpu = binary.LittleEndian.AppendUint64(cpu, uint64(len(s)))
		for j, f := range s {
			fmt.Fprintf(&heap, "#\t%#x\t%s+0x15\t%s:%d\n", 0x400000+16*f, name(f), file(f), f)
			fmt.Fprintf(&count, "#\t%#x\t%s+0x15\t%s:%d\n", 0x400000+16*f, name(f), file(f), f)
			fmt.Fprintf(&dump, "%s(0xc%09x, {0x%x, 0x5?})\n\t%s:%d +0x15\n", name(f), r.Intn(1<<30), i, file(f), f)
			fmt.Fprintf(&perf, "\t%16x %s+0x15 (/usr/local/bin/search)\n", 0x400000+16*f, name(f))
			cpu = binary.LittleEndian.AppendUint64(cpu, uint64(0x400001+16*f))
			if j > 0 {
				folded.WriteByte(';')
			}
			folded.WriteString(name(f))
		}
		heap.WriteByte('\n')
		count.WriteByte('\n')
		dump.WriteByte('\n')
		perf.WriteByte('\n')
		fmt.Fprintf(&folded, " %d\n", i)
	}
	for _, w := range []uint64{0, 1, 0} {
		cpu = binary.LittleEndian.AppendUint64(cpu, w)
	}
	all := map[string][]byte{"cpu": cpu, "heap1": heap.Bytes(), "goroutine1": count.Bytes(), "dump": dump.Bytes(), "folded": folded.Bytes(), "perf": perf.Bytes()}
	var speedscope bytes.Buffer
	if p, err := profile.Decode(folded.Bytes(), profile.Options{}); err == nil && p.WriteSpeedscope(&speedscope, 0) == nil {
		all["speedscope"] = speedscope.Bytes()
	}
	return all
}

// BenchmarkTexts reads every other format, next to google/pprof where that
// can: without the names, and with them.
func BenchmarkTexts(b *testing.B) {
	all := texts(20000)
	for _, kind := range []string{"cpu", "heap1", "goroutine1", "dump", "folded", "perf", "speedscope"} {
		data := all[kind]
		run := func(name string, decode func() error) {
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if err := decode(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		run("loupe", func() error { _, err := profile.Decode(data, profile.Options{}); return err })
		if kind == "cpu" || kind == "heap1" || kind == "goroutine1" {
			run("compat", func() error { _, err := profile.Decode(data, profile.Options{Compat: true}); return err })
			run("google", func() error { _, err := google.ParseData(data); return err })
		}
	}
}

// TestBigTexts reads the inputs of the benchmark, which are larger than those
// of the other tests.
func TestBigTexts(t *testing.T) {
	for kind, data := range texts(2000) {
		p := mustDecode(t, data)
		if p.Len() < 1900 || p.Stacks.Len() < 1900 {
			t.Errorf("%s: %d samples, %d stacks", kind, p.Len(), p.Stacks.Len())
		}
	}
}
