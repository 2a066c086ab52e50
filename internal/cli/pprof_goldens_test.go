package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// goldenCases are golden files of google/pprof's driver with the flags that
// they were made with; the word before the first dot is the profile.
//
// Note: not here are those that were made with an invented binary (disasm and
// weblist), by writing a profile and reading it again (topproto), and
// all_frames, which the go command's copy does not have.
const goldenCases = `
cpu.flat.functions.text                    -text -functions -flat
cpu.flat.functions.noinlines.text          -text -functions -flat -noinlines
cpu.flat.filefunctions.noinlines.text      -text -filefunctions -noinlines -flat
cpu.flat.addresses.noinlines.text          -text -addresses -noinlines -flat
cpu.cum.lines.text.hide                    -text -lines -cum -hide=line[X3]0
cpu.cum.lines.text.show                    -text -lines -cum -show=[12]00
cpu.cum.lines.text.focus.hide              -text -lines -cum -hide=line[X3]0 -focus=[12]00
unknown.flat.functions.call_tree.text      -text -functions -flat -nodecount=5 -call_tree
long_name_funcs.text                       -text
heap_alloc.flat.alloc_objects.text         -text -alloc_objects -flat
heap.flat.files.text                       -text -files -flat
heap.flat.files.text.focus                 -text -files -flat -focus=[12]00 -taghide=[X3]00
heap.flat.inuse_objects.text               -text -inuse_objects -flat
cpusmall.flat.addresses.tree               -tree -addresses -flat -nodecount=4
cpu.cum.lines.tree.show_from               -tree -lines -cum -show_from=line2
heap.cum.lines.tree.focus                  -tree -lines -cum -focus=[24]00
heap.cum.relative_percentages.tree.focus   -tree -relative_percentages -cum -focus=[24]00
cpu.peek                                   -peek=line.*01
cpu.comments                               -comments -add_comment=some-comment
heap.comments                              -comments
cpu.traces                                 -traces
cpu.addresses.traces                       -traces -addresses
heap_tags.traces                           -traces
cpu.tags                                   -tags
cpu.tags.focus.ignore                      -tags -tagignore=tag[13] -tagfocus=key[12]
heap.tags                                  -tags
heap.tags.unit                             -tags -unit=bytes
heap_request.tags.focus                    -tags -tagfocus=400kb:
heap_request.tags.focus                    -tags -tagfocus=+400kb:
heap_request.relative_percentages.tags.focus -tags -relative_percentages -tagfocus=400kb:
cpu.callgrind                              -callgrind
cpu.call_tree.callgrind                    -callgrind -call_tree
heap.callgrind                             -callgrind
cpu.flat.functions.dot                     -dot -functions -flat
cpu.flat.functions.call_tree.dot           -dot -functions -flat -call_tree
heap_sizetags.dot                          -dot
long_name_funcs.dot                        -dot
contention.cum.files.dot                   -dot -files -cum
contention.flat.addresses.dot.focus.ignore -dot -addresses -flat -ignore=[X3]002 -focus=[X1]000
heap.flat.lines.dot.focus                  -dot -lines -flat -focus=[12]00
heap_alloc.flat.alloc_space.dot            -dot -alloc_space -flat -tagshow=[2]00
heap_alloc.flat.alloc_space.dot.focus      -dot -alloc_space -flat -focus=[234]00
heap_alloc.flat.alloc_space.dot.hide       -dot -alloc_space -flat -hide=line.*1?23?
heap.flat.inuse_space.dot.focus            -dot -inuse_space -flat -tagfocus=1mb:2gb
heap.flat.inuse_space.dot.focus.ignore     -dot -inuse_space -flat -tagfocus=30kb: -tagignore=1mb:2mb
`

// TestPprofGoldens holds our output against the golden files of google/pprof,
// which are read from the module cache.
func TestPprofGoldens(t *testing.T) {
	module, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/pprof").Output()
	if err != nil || len(bytes.TrimSpace(module)) == 0 {
		t.Fatalf("google/pprof is not in the module cache: %v", err)
	}
	goldens := filepath.Join(string(bytes.TrimSpace(module)), "internal", "driver", "testdata")
	o := &oracleRun{dir: t.TempDir()}
	for line := range strings.Lines(strings.TrimSpace(goldenCases)) {
		name, flags, _ := strings.Cut(strings.TrimSpace(line), " ")
		source, _, _ := strings.Cut(name, ".")
		want, err := os.ReadFile(filepath.Join(goldens, "pprof."+name))
		if err != nil {
			t.Error(err)
			continue
		}
		words := profileWords{"P": filepath.Join("testdata", "goldens", source+".pb.gz")}
		got := o.run(t, "-compact_labels -symbolize=none -nodecount=20 -nodefraction=0.05 -edgefraction=0.01 -unit=minimum "+flags, words, true)
		if w := (outcome{out: want}); !got.equal(w) {
			t.Errorf("%s %s\n%s", name, flags, firstDifference(w, got))
		}
	}
}
