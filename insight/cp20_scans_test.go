package insight

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	repeatsfile "loupe/format/repeats"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// countedFile are the counts that comments of a source say: { /*9*/ of a block that was entered 9 times, /*9 9 450 1 8*/ before a loop that began 9
// times, was looked at 9 times, had 450 elements to go through, of one content, and was 8 times like before.
func countedFile(t *testing.T, name, source string, functions ...repeatsfile.Func) []byte {
	t.Helper()
	f := repeatsfile.File{Name: name}
	line := func(at int) int { return 1 + strings.Count(source[:at], "\n") }
	for _, m := range regexp.MustCompile(`[{:] /\*(\d+)\*/`).FindAllStringSubmatchIndex(source, -1) {
		n, _ := strconv.ParseInt(source[m[2]:m[3]], 10, 64)
		f.Blocks = append(f.Blocks, repeatsfile.Block{Line: line(m[0]), Offset: m[0], Count: n})
	}
	for _, m := range regexp.MustCompile(`/\*(\d+ \d+ \d+ \d+ \d+)\*/for`).FindAllStringSubmatchIndex(source, -1) {
		l := repeatsfile.Loop{Line: line(m[1]), Offset: m[1] - len("for")}
		if _, err := fmt.Sscan(source[m[2]:m[3]], &l.Entered, &l.Looked, &l.Size, &l.Contents, &l.Alike); err != nil {
			t.Fatal(err)
		}
		l.Paired = max(0, l.Looked-1)
		f.Loops = append(f.Loops, l)
	}
	for _, m := range regexp.MustCompile(`\[/\*(\d+)\*/|/\*(\d+)\*/\]`).FindAllStringSubmatchIndex(source, -1) {
		at, n := m[0], ""
		if m[2] >= 0 {
			n = source[m[2]:m[3]]
		} else {
			at, n = m[1]-1, source[m[4]:m[5]]
		}
		size, _ := strconv.ParseInt(n, 10, 64)
		f.Loops = append(f.Loops, repeatsfile.Loop{Line: line(at), Offset: at, Entered: 9, Looked: 9, Size: 9 * size, Contents: 9})
	}
	slices.SortFunc(f.Loops, func(a, b repeatsfile.Loop) int { return a.Offset - b.Offset })
	out, err := json.Marshal(repeatsfile.Set{Schema: repeatsfile.Schema, For: 4e9, Functions: functions, Files: []repeatsfile.File{f}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// countedRecording is one of a program in /src/main.go that was counted as its comments say, of whose CPU time a stack takes 80 %.
func countedRecording(t *testing.T, source, frames string, functions ...repeatsfile.Func) *recordingtest.Recording {
	t.Helper()
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
	r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, countedFile(t, "/src/main.go", source, functions...))
	withProfile(r, recording.CPU, "cpu", column{frames, []int64{80}}, column{"main.main:/src/main.go:400 main.other:/src/other.go:3", []int64{20}})
	return r
}

// TestScans: a loop whose turns nearly all look is told by the counts of its blocks, if it goes through the same again.
func TestScans(t *testing.T) {
	const same, other = "/*1000 80 400000 1 79*/", "/*1000 80 400000 80 0*/"
	const head = "package main\n\nimport \"time\"\n\ntype sub struct {\nid, weight int\nname string\nuntil time.Time\ndirty bool\nx, y float64\n}\n\ntype hub struct {\nsubs []*sub\nof map[string]*sub\nopen map[string]bool\nn int\n}\n\n"
	for _, c := range []struct {
		name, source string
		says, advice string
		severity     Severity
	}{
		{"those that are due", "func (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "of about 5,000,000 turns 1,000 did more than look", "in the order of what the condition compares", Warning},
		{"one that goes on with the next", "func (h *hub) work(least int) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.weight < least { /*4999000*/ // here\ncontinue\n}\nh.n++\n}\n}\n", "1,000 did more than look", "in the order of what the condition compares", Warning},
		{"those with a mark", "func (h *hub) work() {\n" + same + "for i := 0; i < len(h.subs); i++ { /*5000000*/\ns := h.subs[i]\nif s.dirty { /*50*/ // here\ns.dirty = false\n}\n}\n}\n", "50 did more than look", "a list or a map of their own", Warning},
		{"those without an entry in a table", "func (h *hub) work() (out []*sub) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif _, ok := h.open[s.name]; !ok { /*50*/ // here\nout = append(out, s)\n}\n}\nreturn out\n}\n", "50 did more than look", "a list or a map of their own", Warning},
		{"those of a name, all of them", "func (h *hub) work(name string) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.name != name { /*4999900*/ // here\ncontinue\n}\nh.n++\n}\n}\n", "100 did more than look", "a map keyed by what is compared", Warning},
		{"none", "func (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*0*/ // here\nh.n++\n}\n}\n}\n", "turns none did more than look", "in the order", Warning},
		{"a map that shrinks", "func (h *hub) work() {\n/*1000 80 400000 80 79*/for k, s := range h.of { /*5000000*/\nif s.weight == 0 { /*1000*/ // here\ndelete(h.of, k)\n}\n}\n}\n", "goes through h.of again and again", "a list or a map of their own", Warning},
		{"by a switch", "func (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.weight > 3 { /*4999000*/\ncontinue\n}\nswitch s.id { // here\ncase 1: /*10*/\nh.n++\n}\n}\n}\n", "10 did more than look", "a list or a map of their own", Warning},
		{"the nearest", "func (h *hub) work(x, y float64) (best *sub) {\nleast := 1e9\n" + same + "for _, s := range h.subs { /*5000000*/\nd := (s.x-x)*(s.x-x) + (s.y-y)*(s.y-y) // here\nif d < least { /*9000*/\nleast, best = d, s\n}\n}\nreturn best\n}\n", "9,000 did more than look", "Look at fewer", Info},

		{"by a distance from a key of each", "func (h *hub) work(x float64) {\n" + same + "for _, s := range h.subs { /*5000000*/\nd := s.x - x\nif d*d < s.y { /*1000*/ // here\nh.n++\n}\n}\n}\n", "1,000 did more than look", "Look at fewer", Info},
		{"what is made of it alone", "func (h *hub) work(least int) {\n" + same + "for _, s := range h.subs { /*5000000*/\nw := s.weight * 2\nif w < least { /*1000*/ // here\nh.n++\n}\n}\n}\n", "1,000 did more than look", "in the order", Warning},
		{"it changes all the time", "func (s *sub) touch(now time.Time) { /*4000000*/\ns.until = now\n}\nfunc (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "1,000 did more than look", "changes so often", Info},
		{"it changes at times", "func (s *sub) touch(now time.Time) { /*40000*/\ns.until = now\n}\nfunc (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "1,000 did more than look", "in the order", Warning},
		{"the mark changes all the time", "func (h *hub) mark() {\nfor _, s := range h.subs { /*4000000*/\ns.dirty = !s.dirty\n}\n}\nfunc (h *hub) work() {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.dirty { /*1000*/ // here\nh.n++\n}\n}\n}\n", "1,000 did more than look", "changes so often", Info},

		{"the row of an address, by differences", "func (h *hub) work(pc int) int {\nat, row := 0, 0\n" + same + "for _, s := range h.subs { /*5000000*/\nnext := at + s.weight\nif next > pc { /*990*/ // here\nreturn row\n}\nat = next\nrow += s.id\n}\nreturn row\n}\n", "adds up h.subs from its start", "binary search", Warning},
		{"the line of an offset", "func (h *hub) work(pos int, text string) int {\nline := 1\n" + same + "for i, c := range text { /*5000000*/\nif i == pos { /*1000*/ // here\nbreak\n}\nif c == '\\n' { /*90000*/\nline++\n}\n}\nreturn line\n}\n", "adds up text from its start", "binary search", Warning},
		{"by weights", "func (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "binary search", Warning},

		{"pieces that are inserted", "func (h *hub) put(i int, s *sub) { /*40000*/\nh.subs = slices.Insert(h.subs, i, s)\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"pieces that are appended", "func (h *hub) put(s *sub) { /*40000*/\nh.subs = append(h.subs, s)\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "binary search", Warning},
		{"pieces of which one is replaced", "func (h *hub) put(i int, s *sub) { /*40000*/\nh.subs[i] = s\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"pieces that change places", "func (h *hub) swap(i, j int) { /*40000*/\nh.subs[i], h.subs[j] = h.subs[j], h.subs[i]\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"pieces that are sorted", "func (h *hub) order() {\nif h.n > 0 { /*40000*/\nsort.Slice(h.subs, func(i, j int) bool { return h.subs[i].id < h.subs[j].id })\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"pieces that are copied into the list", "func (h *hub) fill(from []*sub) {\nif h.n > 0 { /*40000*/\ncopy(h.subs[1:], from)\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"pieces that are taken out", "func (h *hub) drop(i int) {\nif h.n > 0 { /*40000*/\nh.subs = append(h.subs[:i], h.subs[i+1:]...)\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"a piece that is replaced by another name", "func (h *hub) put(i int, s *sub) { /*40000*/\nall := h.subs\nall[i] = s\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"a piece that is replaced in a function", "func replace(list []*sub, i int, s *sub) {\nlist[i] = s\n}\nfunc (h *hub) put(i int, s *sub) {\nif h.n > 0 { /*40000*/\nreplace(h.subs, i, s)\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"another list by its address", "func renew(list *[]*sub) {\n*list = nil\n}\nfunc (h *hub) put() {\nif h.n > 0 { /*40000*/\nrenew(&h.subs)\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"a piece of another list is replaced", "func (h *hub) put(list []*sub, i int, s *sub) { /*40000*/\nlist[i] = s\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "binary search", Warning},
		{"a copy that is sorted", "func (h *hub) order() {\nif h.n > 0 { /*40000*/\nall := slices.Clone(h.subs)\nsort.Slice(all, func(i, j int) bool { return all[i].id < all[j].id })\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "binary search", Warning},
		{"a name that is set to another list", "func (h *hub) put(s *sub) {\nif h.n > 0 { /*40000*/\nall := h.subs\nall = nil\nh.n = len(all)\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "binary search", Warning},
		{"a function that reads it", "func count(list []*sub) (n int) {\nfor range list {\nn++\n}\nreturn n\n}\nfunc (h *hub) put() {\nif h.n > 0 { /*40000*/\nh.n = count(h.subs)\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "binary search", Warning},
		{"a function that appends to it", "func add(list *[]*sub, s *sub) {\n*list = append(*list, s)\n}\nfunc (h *hub) put(s *sub) {\nif h.n > 0 { /*40000*/\nadd(&h.subs, s)\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "binary search", Warning},
		{"pieces that were sorted once", "func (h *hub) order() {\nif h.n > 0 { /*1*/\nsort.Slice(h.subs, func(i, j int) bool { return h.subs[i].id < h.subs[j].id })\n}\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "binary search", Warning},
		{"weights that change", "func (s *sub) set(w int) { /*40000*/\ns.weight = w\n}\nfunc (h *hub) work(x int) *sub {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", "adds up h.subs", "a Fenwick tree", Info},
		{"a sum of all", "func (h *hub) work(x int) int {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight // here\nif sum < 0 { /*0*/\nbreak\n}\n}\nreturn sum\n}\n", "", "", ""},
		{"a sum of what depends on what is asked", "func (h *hub) work(x, max int) int {\nsum := 0\n" + same + "for _, s := range h.subs { /*5000000*/\nsum += s.weight * x\nif sum > max { /*1000*/ // here\nbreak\n}\n}\nreturn sum\n}\n", "", "", ""},
		{"a sum that others see", "func (h *hub) work(x int) int {\n" + same + "for _, s := range h.subs { /*5000000*/\nh.n += s.weight\nif h.n > x { /*1000*/ // here\nbreak\n}\n}\nreturn h.n\n}\n", "", "", ""},
		{"a sum over another list each time", "func (h *hub) work(x int) int {\nsum := 0\n" + other + "for _, s := range h.subs { /*5000000*/\nsum += s.weight\nif sum > x { /*1000*/ // here\nbreak\n}\n}\nreturn sum\n}\n", "", "", ""},
		{"another list each time", "func (h *hub) work(now time.Time) {\n" + other + "for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"it began once", "func (h *hub) work(now time.Time) {\n/*1 1 5000000 1 0*/for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"each turn counts", "func (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nh.n++\nif s.until.Before(now) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"each turn calls what changes something", "func (h *hub) note(s *sub) bool { h.n++; return s.dirty }\nfunc (h *hub) work() {\n" + same + "for _, s := range h.subs { /*5000000*/\nif h.note(s) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"each turn calls what it is given", "func (h *hub) work(want func(*sub) bool) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif want(s) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"those without an error", "func check(s *sub) error {\nif s.id > 0 {\nreturn nil\n}\nreturn errOdd\n}\nfunc (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif err := check(s); err == nil { /*1000*/ // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"those with an error go on with the next", "func check(s *sub) error {\nif s.id > 0 {\nreturn nil\n}\nreturn errOdd\n}\nfunc (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nerr := check(s)\nif err != nil { /*4999000*/ // here\ncontinue\n}\nh.n++\n}\n}\n", "", "", ""},
		{"those with one of some errors", "func check(s *sub) error {\nif s.id > 0 {\nreturn nil\n}\nreturn errOdd\n}\nfunc (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nerr := check(s)\nif errors.Is(err, errOdd) || os.IsNotExist(err) { /*4999000*/ // here\ncontinue\n}\nh.n++\n}\n}\n", "", "", ""},
		{"those that a function finds", "func seen(s *sub) (int, bool) { return s.id, s.id > 0 }\nfunc (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\n_, ok := seen(s)\nif !ok { /*4999000*/ // here\ncontinue\n}\nh.n++\n}\n}\n", "", "", ""},
		{"those with an error, and a mark", "func check(s *sub) error {\nif s.id > 0 {\nreturn nil\n}\nreturn errOdd\n}\nfunc (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nerr := check(s)\nif err != nil || !s.dirty { /*4999000*/ // here\ncontinue\n}\nh.n++\n}\n}\n", "1,000 did more than look", "", Warning},
		{"those with an error, which are few, and a mark", "func check(s *sub) error {\nif s.id > 0 {\nreturn nil\n}\nreturn errOdd\n}\nfunc (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nerr := check(s)\nif err != nil { /*10*/\ncontinue\n}\nif s.dirty { /*50*/ // here\nh.n++\n}\n}\n}\n", "50 did more than look", "a list or a map of their own", Warning},
		{"many do something", "func (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*900000*/ // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"a short list", "func (h *hub) work(now time.Time) {\n/*1000000 16000 80000 1 15999*/for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*1000*/ // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"it was not counted", "func (h *hub) work(now time.Time) {\nfor _, s := range h.subs {\nif s.until.Before(now) { // here\nh.n++\n}\n}\n}\n", "", "", ""},
		{"the time is that of the few", "func (h *hub) work(now time.Time) {\n" + same + "for _, s := range h.subs { /*5000000*/\nif s.until.Before(now) { /*1000*/\nh.n++ // here\n}\n}\n}\n", "", "", ""},
	} {
		source := head + c.source
		at := 1 + strings.Count(source[:strings.Index(source, "// here")], "\n")
		r := countedRecording(t, source, fmt.Sprintf("main.main:/src/main.go:400 main.(*hub).work:/src/main.go:%d", at))
		var f Finding
		for _, x := range answers(t, r, "CP20") {
			if strings.HasPrefix(x.Title, "The same elements") {
				f = x
			}
		}
		switch {
		case (f.State == Found) != (c.says != ""), !strings.Contains(f.Summary, c.says), !strings.Contains(f.Advice, c.advice):
			t.Errorf("%s: %s: %s → %s", c.name, f.State, f.Summary, f.Advice)
		case f.Severity != c.severity:
			t.Errorf("%s is %q", c.name, f.Severity)
		}
	}
}

// TestShortSearch: a search that ends after a few turns, by the counts, is a remark: a map is hardly faster.
func TestShortSearch(t *testing.T) {
	for _, c := range []struct {
		name, source string
		severity     Severity
	}{
		{"numbers, 18 turns", "func (h *hub) find(id int) *sub {\n/*1000000 600 600000 1 599*/for _, s := range h.subs { /*18000000*/\nif s.id == id { /*900000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", Info},
		{"texts, 18 turns", "func (h *hub) find(name string) *sub {\n/*1000000 600 600000 1 599*/for _, s := range h.subs { /*18000000*/\nif s.name == name { /*900000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", Warning},
		{"numbers, 400 turns", "func (h *hub) find(id int) *sub {\n/*1000000 600 600000 1 599*/for _, s := range h.subs { /*400000000*/\nif s.id == id { /*900000*/ // here\nreturn s\n}\n}\nreturn nil\n}\n", Warning},
		{"not counted", "func (h *hub) find(id int) *sub {\nfor _, s := range h.subs {\nif s.id == id { // here\nreturn s\n}\n}\nreturn nil\n}\n", Warning},
	} {
		source := "package main\n\ntype sub struct {\nid int\nname string\n}\n\ntype hub struct{ subs []*sub }\n\n" + c.source + "func work(h *hub, ids []int, names []string) {\nfor i := range ids {\nprintln(h.find(ids[i]), names[i]) // call\n}\n}\n"
		line := func(mark string) int { return 1 + strings.Count(source[:strings.Index(source, mark)], "\n") }
		r := countedRecording(t, source, fmt.Sprintf("main.main:/src/main.go:400 main.work:/src/main.go:%d main.(*hub).find:/src/main.go:%d", line("// call"), line("// here")))
		f := answers(t, r, "CP20")[0]
		if f.State != Found || f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s → %s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}
