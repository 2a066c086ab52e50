package profile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	google "github.com/google/pprof/profile"

	"loupe/format/profile"
)

// googleTestdata returns the files that google/pprof tests its older formats
// with. They are in the module cache, since the oracle is that module.
var googleTestdata = sync.OnceValue(func() map[string][]byte {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/pprof").Output()
	if err != nil {
		return nil
	}
	all := map[string][]byte{}
	files, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "profile", "testdata", "*"))
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil && filepath.Ext(file) != ".string" {
			all[filepath.Base(file)] = data
		}
	}
	return all
})

// TestLegacy compares what google/pprof tests its older formats with.
func TestLegacy(t *testing.T) {
	if len(googleTestdata()) == 0 {
		t.Fatal("the files of google/pprof are not there")
	}
	for name, data := range googleTestdata() {
		t.Run(name, func(t *testing.T) { compareLegacy(t, data) })
	}
}

// compareLegacy holds that pprof and we see the same profile. Everything is
// compared: header, mappings, locations, samples.
func compareLegacy(t *testing.T, data []byte) {
	t.Helper()
	want, err := google.ParseData(data)
	if err != nil {
		t.Fatalf("google/pprof cannot read it: %v", err)
	}
	got, err := profile.Decode(data, profile.Options{Compat: true})
	if err != nil {
		t.Fatal(err)
	}
	sameAsGoogle(t, got, want)
}

func sameAsGoogle(t *testing.T, got *profile.Profile, want *google.Profile) {
	t.Helper()
	if a, b := headerOfGoogle(want), header(got); a != b {
		t.Errorf("header:\n%s\nwant:\n%s", b, a)
	}
	if got.Len() != len(want.Sample) {
		t.Fatalf("%d samples, want %d", got.Len(), len(want.Sample))
	}
	for i, s := range want.Sample {
		// In a file, a number 0 without a unit is no label.
		for key, values := range s.NumLabel {
			s.NumLabel[key] = slices.DeleteFunc(values, func(v int64) bool { return v == 0 })
		}
		if a, b := sampleOfGoogle(s), sample(got, i); a != b {
			t.Fatalf("sample %d:\n%s\nwant:\n%s", i, b, a)
		}
		if a, b := locationsOfGoogle(s), locations(got, i); a != b {
			t.Fatalf("sample %d goes through the locations %s, want %s", i, b, a)
		}
	}
	var a, b strings.Builder
	for _, l := range want.Location {
		mapping := -1
		if l.Mapping != nil {
			mapping = int(l.Mapping.ID) - 1
		}
		fmt.Fprintln(&a, l.ID, l.Address, mapping, len(l.Line))
	}
	for _, l := range got.Locations {
		fmt.Fprintln(&b, l.ID, l.Address, l.Mapping, l.Lines)
	}
	if a.String() != b.String() {
		t.Errorf("locations:\n%s\nwant:\n%s", b.String(), a.String())
	}
}

func locations(p *profile.Profile, row int) string {
	var ids []uint64
	frames := p.Stacks.Frames(p.StackIDs[row])
	for len(frames) > 0 {
		l := p.Locations[p.LocationOf(frames[0])]
		ids = append(ids, l.ID)
		frames = frames[l.NumFrames():]
	}
	return fmt.Sprint(ids)
}

func locationsOfGoogle(s *google.Sample) string {
	var ids []uint64
	for _, l := range s.Location {
		ids = append(ids, l.ID)
	}
	return fmt.Sprint(ids)
}

// TestLegacyVariants compares inputs of our own: both word sizes and orders,
// sections that follow the samples, corners of the grammar.
func TestLegacyVariants(t *testing.T) {
	for _, data := range legacyVariants() {
		t.Run(fmt.Sprintf("%.40q", data), func(t *testing.T) { compareLegacy(t, data) })
	}
}

const mapsText = `
MAPPED_LIBRARIES:
build=/usr/local/bin
I0101 12:00:00.000000 1 prog.cc:12] 7f0000000000-7f0000100000 r-xp 00000000 fc:01 4243 /lib/libc.so.6
00400000-00500000 r-xp 00000000 fc:00 36431  $build/search
00500000-00600000 r-xp 00100000 fc:00 36431  /usr/local/bin/search
00600000-00700000 rw-p 00200000 fc:00 36431  /usr/local/bin/search
0x800000-0x900000: /lib/other (@400) abc123
ffffffffff600000-ffffffffff601000 r-xp 00000000 00:00 0 [vsyscall]
`

func legacyVariants() (all [][]byte) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, wide := range []bool{false, true} {
			for _, java := range []uint64{0, 1} {
				w := func(list ...uint64) (b []byte) {
					for _, v := range list {
						if wide {
							b = order.AppendUint64(b, v)
						} else {
							b = order.AppendUint32(b, uint32(v))
						}
					}
					return b
				}
				data := w(0, 3, java, 10000, 0)
				for i := range uint64(40) { // a handler in the second place, a double below it
					data = append(data, w(1+i%3, 5, 0x400010+i, 0x999, 0x400011+i, 0x400100+i%7, 0x400200)...)
				}
				data = append(data, w(1, 1, 0x400500, 7, 0, 0, 1, 0)...)
				if java == 1 {
					all = append(all, append(data, "  0x400010 com.example.Main.run (Main.java:12)\n 0x400200 memcpy (/lib/libc.so)\n0x400100 GC\n"...))
					continue
				}
				all = append(all, append(data, mapsText[1:]...), data, append(data[:len(data):len(data)], "--- Memory map: ---\n"...))
			}
		}
	}
	texts := []string{
		"heap profile: 1: 100 [2: 200] @ heapz_v2/524288\n1: 100 [2: 200] @ 0x400011 0x400022\n 0: 0 [1: 100] @ 0x400011\n" + mapsText,
		"heap profile: 1: 100 [1: 100] @ heap_v2/524288\n   1:    100 [   1:    100] @ 0x400011 0x400022 trailing words\n",
		"heap profile: 1: 100 [0: 0] @ heapprofile\n1: 100 [0: 0] @\n-1: -50 [0: 0] @ 0x1\n",
		"heap profile: 1: 100 [1: 100] @ growthz\n1: 100 [1: 100] @ 0x400011\n\nMAPPED_LIBRARIES:\n",
		"heap profile:   1:   100 [  1:   100] @ fragmentationz\nprefix 1: 100 [1: 100] @ 0x400011\n",
		"heap profile: 3: 300 [9: 900] @ heap/1048576\n3: 300 [9: 900] @ 0x400011 0x400022 0x400011\n#\t0x400010\tmain.f+0x10\t/src/main.go:12\n\n# runtime.MemStats\n# Alloc = 5\n",
		"heap profile: 3: 300 [9: 900] @ heap/2\n3: 300 [9: 900] @ 0x400011\n",
		"# comment\n\ngoroutine profile: total 3\n2 @ 0x400011 0x400022\n# labels: {\"a\":\"b\"}\n#\t0x400010\tmain.f+0x10\t/src/main.go:12\n\n1 @ 0x0\n--- the end ---\nrubbish\n" + mapsText,
		"my.profile profile: total 0\n",
		"--- contentionz 1 ---\ncycles/second = 3201000000\nsampling period = 100\nms since reset = 16502830\ndiscarded samples = 0\n  19490304       27 @ 0xbccc97 0xc61202\n--- Memory map: ---" + mapsText,
		"--- mutex:\ncycles/second=1000000000\nsampling period=5\n100 2 @ 0x400011\n#\t0x400010\tmain.f+0x10\t/src/main.go:12\n",
		"--- contention:\ncycles/second=2594000000\n12345 @ 0x1\n1 1 @ 0x2 0x3zz 0x4\n",
		"--- contention:\n--- done\n1 1 @ 0x2\n",
		"--- threadz 1 ---\n\n--- Thread 7f00 (name: main/1) stack: ---\n  PC: 0x400010 0x400011\n 0x400022\n--- Thread 7f01 (name: /2) stack: ---\n   creator: 0x400033\n--- Thread 7f02 (name: x/3) stack: ---\n   [same as previous thread]\n--- Memory map: ---" + mapsText,
		"--- Thread 7f00 (name: main/1) stack: ---\n 0x400010\n---- no stack trace for 4 ----\n",
		"--- heapz 1 ---\nformat = java\nresolution=bytes\n\n 1024 2 @ 0x1 0x2\n 64 1 @ 0x3\n\n 0x1 a.B.c (B.java:7)\n 0x2 d.E.f (/lib/e.so)\n 0x1 a.B.c (C.java:-1)\nsomething else\n",
		"--- contentionz 1 ---\nformat = java\nresolution=microseconds\nsampling period = 100\nms since reset = 6019\n\n 100 3 @ 0x1 0x9\n 0x1 generated stub/JIT",
	}
	for _, s := range texts {
		all = append(all, []byte(s))
	}
	random := rand.New(rand.NewSource(1))
	var heap bytes.Buffer
	fmt.Fprintf(&heap, "heap profile: 1: 100 [5: 900] @ heap/1048576\n")
	for range 300 {
		n, size := random.Intn(5), random.Intn(100000)
		if n == 0 {
			size = 0
		}
		fmt.Fprintf(&heap, "%d: %d [%d: %d] @", n, size, n+random.Intn(4)+1, size+random.Intn(1000))
		for range random.Intn(20) {
			fmt.Fprintf(&heap, " %#x", 0x400000+random.Intn(0x500000))
		}
		heap.WriteByte('\n')
	}
	return append(all, append(heap.Bytes(), mapsText...))
}
