package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestReadsBelowDecoding: the system calls below a decoder are no reflection. What is read in small pieces is the card, and the decoding of each piece
// stands on it; where the pieces come from memory, the decoding is the card.
func TestReadsBelowDecoding(t *testing.T) {
	const source = "package main\n\nimport (\n\t\"encoding/binary\"\n\t\"os\"\n)\n\nfunc sum(f *os.File) {\n\tfor {\n\t\tvar v uint32\n\t\tbinary.Read(f, binary.LittleEndian, &v) // A\n\t}\n}\n\nfunc main() {\n\tsum(nil) // B\n}\n"
	const way, file = "main.main@B main.sum@A encoding/binary.Read", " io.ReadFull io.ReadAtLeast os.(*File).Read internal/poll.(*FD).Read syscall.read syscall.Syscall internal/runtime/syscall/linux.Syscall6"
	for _, c := range []struct {
		name           string
		reads, decodes int64
		cp03, cp04     bool
		first          string
	}{
		{"nearly all are reads", 360, 10, false, true, "CP04"},
		{"half of it", 200, 120, true, true, "CP04"},
		{"from memory", 0, 300, true, false, "CP03"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		columns := []column{{"main.main:/src/main.go:16 main.other:/src/other.go:3", []int64{400 - c.reads - c.decodes}}, {stackAt(source, way) + " reflect.Value.Set", []int64{c.decodes}}}
		if c.reads > 0 {
			columns = append(columns, column{stackAt(source, way) + file, []int64{c.reads}})
		}
		withProfile(r, recording.CPU, "cpu", columns...)
		in := NewInput(session.New(r.Open()))
		all := Run(in)
		seen := map[string]bool{}
		for _, f := range all {
			if f.State == Found {
				seen[f.Rule] = true
			}
		}
		first := ""
		for _, card := range Cards(in, all) {
			if rule := all[card.Finding].Rule; first == "" && (rule == "CP03" || rule == "CP04") {
				first = rule
			}
		}
		if seen["CP03"] != c.cp03 || seen["CP04"] != c.cp04 || first != c.first {
			var titles []string
			for _, f := range all {
				if f.State == Found {
					titles = append(titles, f.Rule+" "+f.Summary)
				}
			}
			t.Errorf("%s: %v, first %s: %s", c.name, seen, first, strings.Join(titles, "\n"))
		}
	}
}
