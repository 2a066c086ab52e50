package insight

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"loupe/analysis/why"
	"loupe/capture/collect"
	"loupe/format/compiler"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

var plant = flag.Bool("planted", false, "build and run testdata/planted, and keep its profiles")

// plantedDir is where the programs stand, as their profiles have it.
const plantedDir = "example.com/planted"

// plantedRules are the rules that testdata/planted has something for, and the
// kind of profile that shows it.
var plantedRules = map[string]recording.Kind{
	"AL01": recording.CPU, "AL02": recording.Allocs, "AL03": recording.Allocs, "AL04": recording.Allocs, "AL05": recording.Allocs,
	"AL06": recording.Allocs, "AL07": recording.Allocs, "AL08": recording.Allocs, "AL10": recording.Allocs, "AL18": recording.CPU, "AL19": recording.Allocs,
}

func readPlanted(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "planted", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// planted is a recording of a planted program, with what is known about it.
func planted(t *testing.T, id, form string) *recordingtest.Recording {
	t.Helper()
	kind := plantedRules[id]
	r := recordingtest.New("title " + id + "\ntarget package . module=example.com/planted package=example.com/planted\nphase bare 0s..1s\nphase look 1s..2s profiler=allocs\n")
	r.Put(recording.Entry{Path: "profile.pb.gz", Kind: kind, Phase: "look"}, readPlanted(t, id+"."+form+".pb.gz"))
	r.Put(recording.Entry{Path: "compiler/main.gz", Kind: recording.Compiler}, readPlanted(t, "compiler.gz"))
	r.Put(recording.Entry{Path: "calls.txt", Kind: recording.Calls}, readPlanted(t, "calls.txt"))
	sources, err := filepath.Glob(filepath.Join("testdata", "planted", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources {
		base := filepath.Base(name)
		r.Put(recording.Entry{Path: "source/" + base, Kind: recording.Source, Source: plantedDir + "/" + base}, readPlanted(t, base))
	}
	return r
}

// TestPlanted lets each rule look at a real profile of what it looks for, and
// at one of the same work without it.
func TestPlanted(t *testing.T) {
	if *plant {
		makePlanted(t)
	}
	for _, id := range slices.Sorted(maps.Keys(plantedRules)) {
		all := examine(t, planted(t, id, "slow"))
		hit := false
		for _, f := range all {
			if f.State != Found || !strings.HasPrefix(f.Rule, "AL") {
				continue
			}
			if f.Rule != id && f.Rule != "AL11" { // fmt that boxes is fmt as well
				t.Errorf("%s, slow: %s finds %s", id, f.Rule, f.Summary)
			}
			hit = hit || f.Rule == id
			if e := f.Evidence[0]; f.Rule == id && id != "AL01" && !strings.HasSuffix(e.Source, "// planted") {
				t.Errorf("%s: the evidence is %s:%d %q", id, e.File, e.Line, e.Source)
			}
		}
		if !hit {
			t.Errorf("%s does not find its planted line", id)
		}
		for _, f := range answers(t, planted(t, id, "fixed"), id) {
			if f.State != Fine {
				t.Errorf("%s, fixed: %s: %s", id, f.State, f.Summary)
			}
		}
	}
}

// makePlanted builds and runs the planted programs.
func makePlanted(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "planted")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "planted"))); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	binary := filepath.Join(dir, "planted.bin")
	run("go", "build", "-trimpath", "-o", binary, ".")
	f, err := os.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	callee, err := why.Calls(f)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[uint64]string{}
	for id, kind := range plantedRules {
		for _, form := range []string{"slow", "fixed"} {
			name := id + "." + form + ".pb.gz"
			run(binary, id, form, name)
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join("testdata", "planted", name), data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := profile.Decode(data, profile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for n := 1; n < p.Stacks.Len() && kind == recording.Allocs; n++ {
				if address := p.Stacks.Frame(p.Stacks.Frames(stack.ID(n))[0]).Address; callee(address+1) != "" {
					calls[address] = callee(address + 1)
				}
			}
		}
	}
	text := ""
	for _, address := range slices.Sorted(maps.Keys(calls)) {
		text += fmt.Sprintf("%#x %s\n", address, calls[address])
	}
	// Where the programs and Go itself stood is nobody's business.
	places := strings.NewReplacer(dir, "/src/planted", run("go", "env", "GOROOT"), "/go")
	_, err = collect.Compile(t.Context(), collect.CompileOptions{Dir: dir, Target: ".", Packages: []string{"main"}, Answers: func(_ string, a *compiler.Answer) error {
		a.Dir = places.Replace(a.Dir)
		a.JSON, a.Text, a.Flows = []byte(places.Replace(string(a.JSON))), []byte(places.Replace(string(a.Text))), []byte(places.Replace(string(a.Flows)))
		var b bytes.Buffer
		if err := a.Encode(&b); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join("testdata", "planted", "compiler.gz"), b.Bytes(), 0o644)
	}})
	if err == nil {
		err = os.WriteFile(filepath.Join("testdata", "planted", "calls.txt"), []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
