package insight

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"loupe/capture/collect"
	"loupe/format/compiler"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

var words = flag.Bool("words", false, "keep what the compiler says of testdata/shapes/compiled")

// keepWords compiles the program of CP07 and CP08 and keeps the answer.
func keepWords(t *testing.T) {
	dir, err := filepath.Abs("testdata/shapes/compiled")
	if err != nil {
		t.Fatal(err)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Where the program and Go itself stood is nobody's business.
	places := strings.NewReplacer(dir, "/src/compiled", strings.TrimSpace(string(goroot)), "/go")
	_, err = collect.Compile(t.Context(), collect.CompileOptions{Dir: dir, Target: ".", Packages: []string{"main"}, Answers: func(_ string, a *compiler.Answer) error {
		a.Dir = places.Replace(a.Dir)
		a.JSON, a.Text, a.Flows = []byte(places.Replace(string(a.JSON))), []byte(places.Replace(string(a.Text))), []byte(places.Replace(string(a.Flows)))
		var b bytes.Buffer
		if err := a.Encode(&b); err != nil {
			return err
		}
		return os.WriteFile("testdata/shapes/compiler.gz", b.Bytes(), 0o644)
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// grown is a recording of the profiles that insight/testdata/shapes has
// made: of a real program with one fault, or of its clean twin.
func grown(t *testing.T, name string) *recordingtest.Recording {
	t.Helper()
	r := recordingtest.New("title planted\ntarget package ./planted module=loupe/insight/testdata/shapes go=go1.26.8\n" +
		"phase cpu 0s..4s profiler=cpu\nphase allocs 4s..8s profiler=allocs\n")
	for kind, file := range map[recording.Kind]string{recording.CPU: "cpu.pb.gz", recording.Allocs: "allocs.pb.gz"} {
		data, err := os.ReadFile("testdata/shapes/" + name + "." + file)
		if err != nil {
			continue // the case is not about it
		}
		if len(data) > 20<<10 {
			t.Errorf("%s.%s has %d bytes: keep it below 20 KB", name, file, len(data))
		}
		r.Put(recording.Entry{Path: file, Kind: kind, Phase: strings.TrimSuffix(file, ".pb.gz")}, data)
	}
	for _, file := range []string{"plants.go", "main.go", "cgo/main.go", "compiled/main.go"} {
		text, err := os.ReadFile("testdata/shapes/" + file)
		if err != nil {
			t.Fatal(err)
		}
		r.Put(recording.Entry{Path: "source/" + file, Kind: recording.Source, Source: "loupe/insight/testdata/shapes/" + file}, text)
	}
	if data, err := os.ReadFile("testdata/shapes/compiler.gz"); err == nil && (strings.HasPrefix(name, "cp07") || strings.HasPrefix(name, "cp08")) {
		r.Put(recording.Entry{Path: "compiler/main.gz", Kind: recording.Compiler}, data)
	}
	return r
}

// shapeRules are the rules of which the planted programs have the faults.
var shapeRules = strings.Fields("AL11 AL12 AL13 AL14 AL15 AL16 AL17 AL21 AL22 CP02 CP03 CP04 CP05 CP06 CP07 CP08 CP12 CP13 CP14 CP15 CP16 CP17")

// TestGrown lets all rules look at real profiles of planted faults and of
// their twins: each finds its own, no rule of this kind finds anything in a
// twin, and beside its own only what also says: a fault rarely comes alone.
func TestGrown(t *testing.T) {
	if *words {
		keepWords(t)
	}
	f := func(name, rule, line string, also ...string) {
		t.Helper()
		expected := append(also, rule)
		for _, found := range examine(t, grown(t, name)) {
			if found.State != Found || !strings.Contains(strings.Join(shapeRules, " "), found.Rule) {
				continue
			}
			t.Logf("%s: %s %s", name, found.Rule, found.Summary)
			if !strings.Contains(strings.Join(expected, " "), found.Rule) {
				t.Errorf("%s: %s is found too: %s", name, found.Rule, found.Summary)
			}
		}
		own := answers(t, grown(t, name), rule)[0]
		if own.State != Found || !strings.Contains(own.Evidence[0].Source, line) {
			t.Errorf("%s: %s is %s (%s), want a finding at %q; evidence %+v", name, rule, own.State, own.Summary, line, own.Evidence)
		}
		for _, found := range examine(t, grown(t, name+".clean")) {
			if found.State == Found && strings.Contains(strings.Join(shapeRules, " "), found.Rule) {
				t.Errorf("the twin of %s: %s %s", name, found.Rule, found.Summary)
			}
		}
	}
	f("al11", "AL11", "fmt.Sprintf(")
	f("al12", "AL12", "z.")
	f("al13", "AL13", "bufio.NewReader(")
	f("al14", "AL14", "regexp.MustCompile(")
	f("al15", "AL15", "scratch.Get()")
	f("al15box", "AL15", "slicePool.Put(b)")
	f("al16", "AL16", "m[key] = i")
	f("al17", "AL17", "time.After(")
	f("al21", "AL21", "io.ReadAll(")
	f("al22", "AL22", "json.NewDecoder(")
	f("cp02", "CP02", "xml.Unmarshal(")
	f("cp03", "CP03", "json.Marshal(")
	f("cp03reflect", "CP03", "reflect.ValueOf(")
	f("cp04", "CP04", "f.WriteString(key)")
	f("cp05", "CP05", "", "CP16")
	f("cp06", "CP06", "append(all, page...)")
	f("cp07", "CP07", "// two checks")
	f("cp08", "CP08", "func mix(")
	f("cp12", "CP12", "time.Since(begin)")
	f("cp13", "CP13", "log.LogAttrs(")
	f("cp14", "CP14", "func deep(")
	f("cp15", "CP15", "C.add(")
	f("cp16", "CP16", "select {")
	f("cp17", "CP17", "byPath[key]")
}

// TestCompiledShapes: CP07 and CP08 need the compiler's words and enough
// samples.
func TestCompiledShapes(t *testing.T) {
	for _, id := range []string{"CP07", "CP08"} {
		expect(t, "no words", computing("main.f\n= 100"), id, NotApplicable, "words of the compiler")
		data, err := os.ReadFile("testdata/shapes/compiler.gz")
		if err != nil {
			t.Fatal(err)
		}
		with := func(picture string) *recordingtest.Recording {
			return computing(picture).Put(recording.Entry{Path: "compiler/main.gz", Kind: recording.Compiler}, data)
		}
		expect(t, "few samples", with("main.f\n= 49"), id, TooLittle, "49 samples", "50 are needed")
		expect(t, "nothing said of it", with("main.f\n= 100"), id, Fine)
	}
}
