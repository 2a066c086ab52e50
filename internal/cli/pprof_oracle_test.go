package cli

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	oracle "github.com/google/pprof/profile"

	"loupe/format/profile/profiletest"
	"loupe/internal/cli/clitest"
	"loupe/internal/cli/command"
)

// oracleCases are command lines for go tool pprof and for ours. The words in
// braces stand for what a profile has: {P} is its file, {Q} and {R} are others
// of its kind, {F} and {G} are functions in it, {K} and {V} a label with its
// value, {N} the key of a numeric label, {S} the sources of the Go tree. A line without {P} ends in it. OUT is
// a file whose profile is compared in place of the output, and what follows a
// < is typed into the shell.
const oracleCases = `
-top
-top -cum
-top -lines
-top -files
-top -filefunctions
-top -addresses
-top -noinlines
-top -noinlines -files
-top -lines -showcolumns
-text -cum -nodecount=5
-tree
-tree -lines -nodecount=30
-tree -cum -noinlines
-tree -addresses -nodecount=10
-peek=.
-peek={F} -lines
-peek={F}|{G} -noinlines
-tags
-tags -unit=kb
-tags -tagshow={K}
-tags -taghide={K}
-tags -tagfocus={V}
-tags -tagignore={K}
-traces
-traces -lines
-traces -addresses
-traces -noinlines -focus={F}
-raw
-raw -noinlines
-raw -focus={F}
-comments
-comments -add_comment=one
-top -add_comment=seen_above
-callgrind
-callgrind -call_tree -nodecount=10
-callgrind -lines
-dot
-dot -lines -nodecount=20
-dot -cum -nodecount=7
-dot -call_tree -nodecount=10
-dot -nodefraction=0.05 -edgefraction=0.02
-dot -tagroot={K} -nodecount=15
-dot -trim=false -focus={F}
-list={F}
-list={F}|{G} -trim_path=/nowhere
-list={F} -source_path={S}
-list={F}|{G} -source_path={S} -lines -focus={G}
-list=. -source_path={S}
-disasm={F}
-disasm={F} -intel_syntax=false -focus={G}
-top -diff_base={Q} {P}
-tree -diff_base={Q} -normalize {P}
-top -base={Q} -normalize {P}
-top -base={Q} -drop_negative {P}
-peek={F} -diff_base={Q} {P}
-dot -base={Q} -nodecount=20 {P}
-traces -diff_base={Q} {P}
-top -diff_base={Q} -base={R} {P}
-top -base={Q} -base={R} {P}
-raw -diff_base={Q} {P}
-tags -diff_base={Q} {P}
-list={F} -diff_base={Q} {P}
-top -diff_base={Q} -mean {P}
-top {P} {Q}
-raw {P} {Q} {R}
-tree -cum {P} {P}
-traces {Q} {P}
-top -focus={F} -ignore={G}
-tree -focus={F}
-top -cum -ignore={F}
-tree -hide={F}
-top -cum -hide=runtime
-traces -hide={F} -lines
-top -show=runtime -cum
-tree -show={F}|{G} -lines
-tree -show_from={F}
-traces -show_from={F}
-top -prune_from={G}
-tree -prune_from={G} -cum
-traces -tagroot={K} -tagleaf={N}
-top -tagleaf={N} -tagroot={K}
-tree -tagroot={N}
-raw -tagroot={K},nothing
-top -tagfocus={K}={V}
-top -tagfocus={N}=16b:
-tags -tagfocus=:64b
-top -tagignore={N}=32:1mb
-tags -tagignore={K}=zz,{V}
-top -relative_percentages -focus={F}
-tree -relative_percentages -ignore={F}
-dot -relative_percentages -focus={F}
-top -divide_by=3 -unit=ms
-top -divide_by=0.001
-top -divide_by=0
-top -divide_by=-1
-tree -unit=auto
-top -unit=minimum -cum
-top -unit=nonsense
-traces -unit=us
-dot -unit=kb
-list={F} -unit=s
-top -mean
-tree -mean
-tags -mean
-top -sample_index=0
-traces -sample_index=0
-top -sample_index=1 -mean
-top -sample_index=99
-tree -sample_index=nonsense
-top -alloc_objects
-top -inuse_space -cum
-top -contentions
-top -mean_delay
-top -compact_labels
-tree -compact_labels
-top -compact_labels -taghide=.
-top -drop_negative
-top -trim=false
-tree -trim=false
-top -nodecount=3
-tree -nodefraction=0.1
-tree -edgefraction=0.1
-top -nodefraction=0 -edgefraction=0
-peek={F} -nodecount=2
-top -symbolize=none
-raw -symbolize=none
-top -symbolize=force
-top -symbolize=demangle=full
-top -focus=[
-list=[
-peek=(
-top -focus=nobody_at_all
-list=nobody_at_all
-peek=nobody_at_all
-weblist=nobody_at_all -output=OUTTEXT
-top -tree
-top -cum -flat
-top -lines -files
-top nosuchfile
-top {P} nosuchfile
-top -base=nosuchfile {P}
-top -normalize
-nonsense
-top -nodecount=many
-top -output=OUTTEXT
-tree -output=OUTTEXT
-proto -output=OUT
-proto -focus={F} -output=OUT
-topproto -output=OUT
-topproto -lines -output=OUT
-proto -base={Q} -output=OUT {P}
-proto -tagroot={K} -divide_by=2 -output=OUT
{P} < top5; top -cum 3; tree 4; peek {F}; q
{P} < focus={F}; top; traces; :; top3
{P} < tags; raw; comments; o; options
{P} < sample_index=0; top 5; sample_index=nonsense; mean=1; top; mean=; o
{P} < lines=true; top 5; files=; granularity=functions; top4; noinlines; tree 3; peek=
-source_path={S} {P} < list {F}; list; list nobody_at_all; top >; top -{F}; top {F} -{G} 4
{P} < nodecount=3; top; text; tree; nodecount=x; nodecount; o
{P} < sort=cum; top 5; cum=t; flat=1; top 5 -cum; cum=0; unit=ms; top2; unit=auto; top2
{P} < nonsense; 12; top x y z; top10x; focus; hide={F}; show=; show_from={G}; traces; o
{P} < tagfocus={V}; tags; tags {V}; tags -{V}; tagfocus=; taghide={K}; tags
{P} < divide_by=4; top 3; divide_by=0; top 3; trim=false; o; nodefraction=.2; top; help zzz
{P} < disasm {F}; peek; peek .
{P} < output=OUTTEXT; o; output=; top 1 > OUTTEXT; top
{P} {Q} < top 3; raw; exit
`

// profileWords are what {…} of a case stands for.
type profileWords map[string]string

func wordsOf(t *testing.T, file string, others []string) profileWords {
	t.Helper()
	w := profileWords{"S": filepath.Join(goroot(), "src"), "P": file, "K": "key", "V": "value", "N": "bytes", "F": "main", "G": "runtime"}
	i := slices.Index(others, file)
	w["Q"], w["R"] = others[(i+1)%len(others)], others[(i+2)%len(others)]
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p, err := oracle.ParseData(data)
	if err != nil {
		return w // what is broken is a case, too
	}
	seen := map[string]int{}
	for _, s := range p.Sample {
		here := map[string]bool{}
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function != nil && !here[line.Function.Name] {
					here[line.Function.Name] = true
					seen[line.Function.Name]++
				}
			}
		}
		for key, values := range s.Label {
			w["K"], w["V"] = regexp.QuoteMeta(key), regexp.QuoteMeta(values[0])
		}
		for key := range s.NumLabel {
			w["N"] = regexp.QuoteMeta(key)
		}
	}
	names := slices.Sorted(maps.Keys(seen))
	slices.SortStableFunc(names, func(a, b string) int { return seen[b] - seen[a] })
	if n := len(names); n > 0 {
		w["F"], w["G"] = regexp.QuoteMeta(names[n/8]), regexp.QuoteMeta(names[n/3])
	}
	return w
}

// goroot is where the sources of the standard library and the go command are.
var goroot = sync.OnceValue(func() string {
	text, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "nowhere"
	}
	return strings.TrimSpace(string(text))
})

// outcome is what a command has printed, and whether it failed.
type outcome struct {
	out    []byte
	stderr string
	failed bool
}

func (o outcome) equal(p outcome) bool { return o.failed == p.failed && bytes.Equal(o.out, p.out) }

// oracleRun runs one command line with go tool pprof or with ours.
type oracleRun struct {
	dir   string // for what is written
	pprof string // go tool pprof itself
}

// run returns what a command line printed; ours says by whom.
func (o *oracleRun) run(t *testing.T, line string, words profileWords, ours bool) outcome {
	t.Helper()
	dir, err := os.MkdirTemp(o.dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	expand := func(s string) string {
		for name, value := range words {
			s = strings.ReplaceAll(s, "{"+name+"}", value)
		}
		return strings.ReplaceAll(strings.ReplaceAll(s, "OUTTEXT", "OUT"), "OUT", out)
	}
	asked, typed, _ := strings.Cut(line, " < ")
	var args []string
	for word := range strings.FieldsSeq(asked) {
		args = append(args, expand(word)) // names of functions may have blanks
	}
	if !strings.Contains(asked, "{P}") {
		args = append(args, words["P"])
	}
	typed = strings.ReplaceAll(expand(typed), "; ", "\n")
	var files [3]*os.File
	for i, name := range []string{"stdin", "stdout", "stderr"} {
		if files[i], err = os.Create(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		defer files[i].Close()
	}
	if _, err := files[0].WriteString(typed); err != nil {
		t.Fatal(err)
	}
	if _, err := files[0].Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	var r outcome
	if ours {
		r.failed = Main(append([]string{"pprof"}, args...), files[0], files[1], files[2]) != command.ExitOK
	} else {
		cmd := exec.Command(o.pprof, args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[1], files[2]
		r.failed = cmd.Run() != nil
	}
	for _, name := range []string{"stdout", "out"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if name == "out" && !strings.Contains(line, "OUTTEXT") {
			p, err := oracle.ParseData(data)
			if err != nil {
				t.Fatalf("%s: it is not a profile: %v", line, err)
			}
			data = []byte(plainProfile(p))
		}
		r.out = append(r.out, bytes.ReplaceAll(data, []byte(dir), []byte("DIR"))...)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "stderr"))
	r.stderr = string(text)
	return r
}

// plainProfile is the text of a profile. go tool pprof leaves system names out
// of what topproto writes, and gives a name of no letters to what has none.
func plainProfile(p *oracle.Profile) string {
	for _, f := range p.Function {
		if f.SystemName == "" {
			f.SystemName = f.Name
		}
	}
	for _, l := range p.Location {
		l.Line = slices.DeleteFunc(l.Line, func(l oracle.Line) bool {
			return l.Function != nil && l.Function.Name == "" && l.Function.Filename == ""
		})
	}
	return p.String()
}

// tally counts comparisons by how they ended.
type tally struct {
	mu                         sync.Mutex
	compared, identical, texts int
	varies, unordered          map[string]int // by case
	better                     map[string]int // by reason
}

// compare holds one command line against go tool pprof. Where pprof prints
// what Go's maps happen to yield, it is run again: one of its own outputs must
// be ours, or have the same lines, or else differ from the others.
func (o *oracleRun) compare(t *testing.T, line string, words profileWords, sum *tally) {
	want, got := o.run(t, line, words, false), o.run(t, line, words, true)
	sum.mu.Lock()
	sum.compared++
	sum.mu.Unlock()
	if got.equal(want) {
		sum.mu.Lock()
		defer sum.mu.Unlock()
		sum.identical++
		return
	}
	more := o.knowsMore(t, line, words, want, got)
	differs := false
	for n := 0; n < 12 && more == ""; n++ {
		again := o.run(t, line, words, false)
		differs = differs || !again.equal(want)
		if again.equal(got) {
			break
		}
	}
	sum.mu.Lock()
	defer sum.mu.Unlock()
	switch {
	case more != "":
		sum.better[more]++
	case !differs && !strings.Contains(line, "-call_tree"):
		t.Errorf("%s (%s)\n%s", line, filepath.Base(words["P"]), firstDifference(want, got))
	case sortedLines(want.out) == sortedLines(got.out):
		sum.unordered[line]++
	default:
		sum.varies[line]++
	}
}

var instruction = regexp.MustCompile(`^ +[^ ]+ +[^ ]+ +([0-9a-f]+): `)

// withoutLast returns the lines of a disassembly without the last instruction
// of every function, as found in a whole one: pprof leaves its last byte out
// and prints what the others look like alone.
func withoutLast(text, whole []byte) (out []string) {
	address := func(line string) (at uint64) {
		if m := instruction.FindStringSubmatch(line); m != nil {
			at, _ = strconv.ParseUint(m[1], 16, 64)
		}
		return at
	}
	last := map[uint64]bool{}
	before := uint64(0)
	for line := range strings.Lines(string(whole)) {
		if strings.HasPrefix(strings.TrimSpace(line), ";") { // where the next one is from
			continue
		}
		at := address(line)
		if at == 0 && before > 0 {
			last[before] = true
		}
		before = at
	}
	last[before] = true
	where := "" // the line above an instruction that says where it is from
	for line := range strings.Lines(string(text)) {
		at, cut := address(line), false
		for i := range uint64(16) { // bytes that an instruction may have
			cut = cut || at > i && last[at-i]
		}
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), ";"):
			where = line
			continue
		case !cut:
			out = append(out, where, line)
		}
		where = ""
	}
	return out
}

// knowsMore says why ours prints what pprof cannot know, if that is all that
// differs: "" means that it is not.
func (o *oracleRun) knowsMore(t *testing.T, line string, words profileWords, want, got outcome) string {
	if strings.Contains(line, "disasm") && strings.Contains(want.stderr, "no matches found for regexp") && strings.Contains(got.stderr, "stripped") {
		return "instructions of a stripped binary"
	}
	if strings.Contains(line, "disasm") && slices.Equal(withoutLast(got.out, got.out), withoutLast(want.out, got.out)) {
		return "the last instruction of a function, which pprof cuts"
	}
	if strings.Contains(line, "list") && bytes.Contains(want.out, []byte("Error: could not find file")) && !bytes.Contains(got.out, []byte("Error: could not find file")) {
		return "sources in GOROOT and in the module cache, without -source_path"
	}
	if want.failed || got.failed {
		return ""
	}
	// A profile without names gets them from the binary, where pprof's reader
	// leaves out what was inlined. Without those names all must be alike.
	switch bare := strings.NewReplacer("-symbolize=force", "", "-symbolize=demangle=full", "").Replace(line); {
	case bare != line && o.run(t, bare, words, true).equal(o.run(t, bare, words, false)):
		return "names of calls that were inlined"
	case bare == line && o.run(t, "-symbolize=none "+line, words, true).equal(o.run(t, "-symbolize=none "+line, words, false)):
		return "names of calls that were inlined"
	}
	return ""
}

func sortedLines(text []byte) string {
	lines := strings.Split(string(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func firstDifference(want, got outcome) string {
	a, b := strings.Split(string(want.out), "\n"), strings.Split(string(got.out), "\n")
	a, b = append(a, "<the end>"), append(b, "<the end>")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: want %.300s\n         got  %.300s\nit says  %.300s\nwe say   %.300s", i+1, a[i], b[i], want.stderr, got.stderr)
		}
	}
	return fmt.Sprintf("it failed: %v, %.300s\nwe failed: %v, %.300s", want.failed, want.stderr, got.failed, got.stderr)
}

// TestPprofOracle runs go tool pprof and ours with the same arguments and
// wants the same bytes. LOUPE_ORACLE is how many cases each profile gets, or
// full for all; LOUPE_ORACLE_DIR is a folder of profiles that come on top.
func TestPprofOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and starts go tool pprof")
	}
	dir := t.TempDir()
	tool, err := exec.Command("go", "tool", "-n", "pprof").Output()
	if err != nil {
		t.Fatalf("there is no go tool pprof: %v", err)
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", clitest.ConfigDir(t))
	t.Setenv("PPROF_TMPDIR", filepath.Join(dir, "saved"))
	groups := map[string][]string{}
	for name, data := range runtimeProfiles(t) {
		file := filepath.Join(dir, name+".pb.gz")
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		groups[name] = []string{file}
	}
	if folder := os.Getenv("LOUPE_ORACLE_DIR"); folder != "" {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			ext := filepath.Ext(e.Name())
			groups["folder"+ext] = append(groups["folder"+ext], filepath.Join(folder, e.Name()))
		}
	}
	cases := strings.Split(strings.TrimSpace(oracleCases), "\n")
	share := 16
	if s := os.Getenv("LOUPE_ORACLE"); s == "full" {
		share = len(cases)
	} else if n, err := strconv.Atoi(s); err == nil {
		share = min(n, len(cases))
	}
	o := &oracleRun{dir: dir, pprof: strings.TrimSpace(string(tool))}
	sum := &tally{varies: map[string]int{}, unordered: map[string]int{}, better: map[string]int{}}
	var wait sync.WaitGroup
	tokens := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, kind := range slices.Sorted(maps.Keys(groups)) {
		for _, file := range groups[kind] {
			words := wordsOf(t, file, groups[kind])
			h := fnv.New32()
			io.WriteString(h, filepath.Base(file))
			first := int(h.Sum32() % uint32(len(cases)))
			for i := range share {
				// Steps that have no factor in common with the number of
				// cases, so that a profile meets all kinds of them.
				line := cases[(first+i*len(cases)/share)%len(cases)]
				tokens <- struct{}{}
				wait.Go(func() {
					o.compare(t, line, words, sum)
					<-tokens
				})
			}
		}
	}
	wait.Wait()
	t.Logf("%d comparisons, %d identical; ours knows more in %v; pprof's own output varies, ours with the same lines in %v, otherwise in %v",
		sum.compared, sum.identical, sum.better, sum.unordered, sum.varies)
}

// runtimeProfiles are profiles of every kind that the runtime writes, of this
// process.
func runtimeProfiles(t *testing.T) map[string][]byte {
	t.Helper()
	all, err := profiletest.Runtime()
	if err != nil {
		t.Fatal(err)
	}
	return all
}
