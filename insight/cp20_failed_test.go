package insight

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	repeatsfile "loupe/format/repeats"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestFailedSearches: a search from a place in a list to its end that finds nothing, again and again, is told with what to remember. One that finds
// something near, that goes through other lists, begins at the start, or looks for something else each time is another matter.
func TestFailedSearches(t *testing.T) {
	const (
		head   = "package main\n\nimport \"bytes\"\n\ntype parser struct {\nlines [][]byte\ntext []byte\nline, col, n int\n}\n\ntype kind struct{ end []byte }\n\nvar closer = []byte(\"-->\")\n\n"
		same   = "/*1000 80 400000 1 79*/"
		others = "/*1000 80 400000 80 0*/"
		lines  = "func (p *parser) until(skip int) bool { // decl\nline, col := p.line, p.col+skip\n%sfor line < len(p.lines) { /*4000000*/\nl := p.lines[line][col:]\nif i := bytes.Index(l, %s); i >= 0 { /*%s*/ // here\np.line = line\nreturn true\n}\nline++\ncol = 0\n}\nreturn false\n}\n"
		letter = "func (p *parser) end() int { // decl\n%sfor i := %s; i < len(p.text); i++ { /*4000000*/\nif p.text[i] == %s { /*%s*/ // here\nreturn i\n}\n}\nreturn -1\n}\n"
		ofKind = "func (p *parser) until(k kind) bool { // decl\nline := p.line\n" + same + "for line < len(p.lines) { /*4000000*/\nif i := bytes.Index(p.lines[line], k.end); i >= 0 { /*9*/ // here\nreturn true\n}\nline++\n}\nreturn false\n}\n"
	)
	for _, c := range []struct {
		name, source string
		distinct     int64 // of 1,000 calls; 0 where they were not counted
		told         bool
		everywhere   bool // they were counted in the whole run, the receiver aside
	}{
		{"lines", fmt.Sprintf(lines, same, "closer", "5"), 0, true, false},
		{"none at all", fmt.Sprintf(lines, same, "closer", "0"), 0, true, false},
		{"bytes", fmt.Sprintf(letter, same, "p.col", "'>'", "5"), 0, true, false},
		{"one of a few kinds", ofKind, 3, true, false},

		{"one of a few kinds in the whole run", ofKind, 3, true, true},
		{"of many kinds in the whole run", ofKind, 900, false, true},
		{"it is found", fmt.Sprintf(lines, same, "closer", "900"), 0, false, false},
		{"near, by its turns", fmt.Sprintf(lines, "/*1000000 80 400000 1 79*/", "closer", "5"), 0, false, false},
		{"another list each time", fmt.Sprintf(lines, others, "closer", "5"), 0, false, false},
		{"from the start", fmt.Sprintf(letter, same, "0", "'>'", "5"), 0, false, false},
		{"what stands where it begins", fmt.Sprintf(letter, same, "p.col+1", "p.text[p.col]", "5"), 0, false, false},
		{"of many kinds", ofKind, 900, false, false},
		{"of kinds that were not counted", ofKind, 0, false, false},
		{"each turn counts", strings.Replace(fmt.Sprintf(lines, same, "closer", "5"), "line++", "line++\np.n++", 1), 0, false, false},
		{"each turn calls what changes something", strings.Replace(fmt.Sprintf(lines, same, "closer", "5"), "col = 0", "col = p.note()", 1) + "func (p *parser) note() int { p.n++; return 0 }\n", 0, false, false},
	} {
		source := head + c.source
		line := func(mark string) int { return 1 + strings.Count(source[:strings.Index(source, mark)], "\n") }
		var set repeatsfile.Set
		name := "main.(*parser).until"
		around := repeatsfile.Func{Name: "main.main", File: "/src/main.go", Line: 400, Calls: 40, Time: 4e9}
		if err := json.Unmarshal(countedFile(t, "/src/main.go", source, around, repeatsfile.Func{Name: name, File: "/src/main.go", Line: line("// decl"), Calls: 1000, Time: 3e9}), &set); err != nil {
			t.Fatal(err)
		}
		if c.distinct > 0 && c.everywhere {
			set.Functions[1].Everywhere = &repeatsfile.Counts{Calls: 1000, Time: 3e9, Distinct: c.distinct, Again: 1000 - c.distinct, AgainTime: 1e9, Traits: repeatsfile.Traits{Partial: true, First: true}}
		} else if c.distinct > 0 {
			set.Within = []repeatsfile.Within{{In: 0, Call: 1, Around: 40, AroundTime: 4e9, Counts: repeatsfile.Counts{Calls: 1000, Time: 3e9, Distinct: c.distinct, Again: 1000 - c.distinct, AgainTime: 1e9}}}
		}
		text, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, text)
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("main.main:/src/main.go:400 %s:/src/main.go:%d bytes.Index:/go/bytes.go:9", name, line("// here")), []int64{80}}, column{"main.main:/src/main.go:400 main.other:/src/other.go:3", []int64{20}})
		var f Finding
		for _, x := range answers(t, r, "CP20") {
			if x.Title == failedTitle {
				f = x
			}
		}
		if told := f.State == Found; told != c.told || told && (f.Severity != Warning || !strings.Contains(f.Advice, "Remember where a search has failed") || !strings.Contains(f.Summary, "about 4,000 elements on average")) {
			t.Errorf("%s: %s %s: %s → %s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
