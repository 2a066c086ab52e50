package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// tailHead are the types that the sources of these tests use.
const tailHead = `package shop

type event struct { id int; raw []byte }
type pod struct { pending []*event; sizes []int; open bool; limit int }
func decode(n int) []*event {
	var out []*event
	for i := range n {
		out = append(out, &event{id: i, raw: make([]byte, 99)})
	}
	return out
}
`

const tailFilter = "waiting := p.pending[:0]\nfor _, e := range p.pending {\nif !done(e) {\nwaiting = append(waiting, e)\n}\n}\n"

// TestCutLists: what gets shorter and keeps what is behind its end is told from what is cleared, replaced, held by others or
// without pointers.
func TestCutLists(t *testing.T) {
	for _, c := range []struct{ name, body, rest, want string }{ // want is "filter", "cut" or nothing
		{"filtered in place", tailFilter + "p.pending = waiting", "", "filter"},
		{"by another name", "old := p.pending\nwaiting := old[:0]\nfor _, e := range old {\nif !done(e) {\nwaiting = append(waiting, e)\n}\n}\np.pending = waiting", "", "filter"},
		{"by a number", "n := 0\nfor _, e := range p.pending {\nif !done(e) {\np.pending[n] = e\nn++\n}\n}\np.pending = p.pending[:n]", "", "filter"},
		{"a variable of the package", "w := all[:0]\nfor _, e := range all {\nif !done(e) {\nw = append(w, e)\n}\n}\nall = w", "var all []*other\ntype other struct { raw []byte }", "filter"},
		{"a new one by a setting", "if p.open {\np.pending = nil\n} else {\n" + tailFilter + "p.pending = waiting\n}", "", "filter"},
		{"emptied", "p.pending = p.pending[:0]", "", "cut"},
		{"cut at a length", "p.pending = p.pending[:p.limit]", "", "cut"},
		{"the last one", "p.pending = p.pending[:len(p.pending)-1]", "", "cut"},
		{"the last one in its place", "p.pending[i] = p.pending[len(p.pending)-1]\np.pending = p.pending[:len(p.pending)-1]", "", "cut"},
		{"replaced elsewhere", tailFilter + "p.pending = waiting", "func (p *pod) flush() {\np.pending = nil\n}", "filter, elsewhere"},
		{"made elsewhere at the start", tailFilter + "p.pending = waiting", "func newPod() *pod {\np := &pod{}\np.pending = make([]*event, 0, 10)\nreturn p\n}", "filter"},

		{"cleared", tailFilter + "clear(p.pending[len(waiting):])\np.pending = waiting", "", ""},
		{"cleared by another name", "old := p.pending\nwaiting := old[:0]\nfor _, e := range old {\nif !done(e) {\nwaiting = append(waiting, e)\n}\n}\nclear(old[len(waiting):])\np.pending = waiting", "", ""},
		{"cleared one by one", tailFilter + "for i := len(waiting); i < len(p.pending); i++ {\np.pending[i] = nil\n}\np.pending = waiting", "", ""},
		{"cleared as it is popped", "p.pending[len(p.pending)-1] = nil\np.pending = p.pending[:len(p.pending)-1]", "", ""},
		{"cleared before it is emptied", "clear(p.pending)\np.pending = p.pending[:0]", "", ""},
		{"dropped when it is empty", tailFilter + "p.pending = waiting\nif len(waiting) == 0 {\np.pending = nil\n}", "", ""},
		{"dropped when it is large", "if cap(p.pending) > 100 {\np.pending = nil\n} else {\n" + tailFilter + "p.pending = waiting\n}", "", ""},
		{"clipped", tailFilter + "p.pending = waiting\np.pending = slices.Clip(p.pending)", "", ""},
		{"by slices.DeleteFunc", "p.pending = slices.DeleteFunc(p.pending, done)", "", ""},
		{"a new one", "var waiting []*event\nfor _, e := range p.pending {\nwaiting = append(waiting, e)\n}\np.pending = waiting", "", ""},
		{"numbers", "w := p.sizes[:0]\nfor _, e := range p.sizes {\nif e > 0 {\nw = append(w, e)\n}\n}\np.sizes = w", "", ""},
		{"a variable of the function", "list := decode(9)\nw := list[:0]\nfor _, e := range list {\nif !done(e) {\nw = append(w, e)\n}\n}\nlist = w", "", ""},
		{"in another field", tailFilter + "p.pending = waiting", "type book struct { by map[int]*event }", ""},
		{"in a map of a function", tailFilter + "p.pending = waiting", "func run() {\nby := map[int]*event{}\nuse(by)\n}", ""},
		{"in a map of the library", tailFilter + "p.pending = waiting", "var m sync.Map\nfunc keep(e *event) {\nm.Store(e.id, e)\n}", ""},
		{"in another list", tailFilter + "p.pending = waiting", "var sent []*event", ""},
		{"the gap is closed", "copy(p.pending[i:], p.pending[i+1:])\np.pending = p.pending[:len(p.pending)-1]", "", ""},
		{"the first one", "p.pending = p.pending[1:]", "", ""},
		{"filled again", "w := p.pending[:0]\nw = append(w, decode(9)...)\np.pending = w", "", ""},
		{"beside a field that nothing sets", tailFilter + "p.pending = waiting", "type link struct { next *event }", "filter"},
		{"beside a field that is set", tailFilter + "p.pending = waiting", "type link struct { next *event }\nfunc (l *link) set(e *event) { l.next = e }", ""},
		{"beside a field that a literal sets", tailFilter + "p.pending = waiting", "type link struct { next *event }\nfunc linked(e *event) link { return link{e} }", ""},
		{"beside a field that others can set", tailFilter + "p.pending = waiting", "type link struct { Next *event }", ""},
		{"begun with others", "waiting := p.other[:0]\nfor _, e := range p.pending {\nwaiting = append(waiting, e)\n}\np.pending = waiting", "", ""},
	} {
		text := strings.Replace(tailHead, "package shop", "package shop\n\nimport (\n\"slices\"\n\"sync\"\n)\n", 1) + "func (p *pod) release(i int) {\n" + c.body + "\n}\n" + c.rest + "\n"
		got := ""
		for _, x := range cutLists(newDerivations(sourceOf(text))) {
			got = "cut"
			if x.filters() {
				got = "filter"
			}
			if x.elsewhere != nil {
				got += ", elsewhere"
			}
		}
		if got != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestGC16Tail: a list that keeps what was left out is a warning where the elements are most of the live heap and most of them
// have gone; it is none where they only come, and an info where the source does not show it.
func TestGC16Tail(t *testing.T) {
	const release = "func (p *pod) release() {\n"
	const pods = "\nvar pods = map[string]*pod{}\n"
	filter := release + tailFilter + "p.pending = waiting\n}\n"
	long := filter + pods
	counted := func(source, stay string) string { // of 900 elements that the filter goes through, so many stay
		return strings.NewReplacer("p.pending {\n", "p.pending { /*900*/\n", "!done(e) {\n", "!done(e) { /*"+stay+"*/\n").Replace(source)
	}
	few := counted(long, "90")
	skips := strings.Replace(long, "if !done(e) {\nwaiting = append(waiting, e)\n}\n", "if done(e) { /*%d*/\ncontinue\n}; waiting = append(waiting, e)\n", 1)
	skips = strings.Replace(skips, "p.pending {\n", "p.pending { /*900*/\n", 1)
	for _, c := range []struct {
		name, source     string
		kept, all, other int64 // in MB
		state            State
		title            string
		severity         Severity
		says             string
	}{
		{"filtered", few, 90, 900, 10, Found, tailTitle, Warning, "90.0% were allocated by shop.decode, which makes the elements of p.pending (event)"},
		{"two lines", few, 40, 900, 20, Found, tailTitle, Warning, "p.pending is filtered in place (a.go:13) and gets shorter at a.go:19"},
		{"little", few, 20, 900, 5, Found, maybeTailed, Info, "gets shorter at a.go:19"},
		{"two lines, of a call", filter, 40, 900, 20, Found, maybeTailed, Info, "gets shorter at a.go:19"},
		{"two lines, of main", counted(filter, "90") + "\nfunc main() {\np := &pod{}\np.release()\n}\n", 40, 900, 20, Found, tailTitle, Warning, ""},
		{"emptied", release + "p.pending = p.pending[:0]\n}\n", 40, 900, 20, Found, maybeTailed, Info, "p.pending gets shorter at a.go:13"},
		{"another line has most", filter, 20, 900, 80, Found, gc16.Title, Info, "80.0% were allocated at none.go:9"},
		{"they do not go", filter, 40, 50, 20, Fine, "", "", "at others less"},
		{"they stay, at one line", filter, 90, 100, 10, Found, gc16.Title, Info, "90.0% were allocated"},
		{"cleared", strings.Replace(filter, "p.pending = w", "clear(p.pending[len(waiting):])\np.pending = w", 1), 40, 900, 20, Fine, "", "", "at others less"},
		{"most stay", counted(long, "800"), 40, 900, 20, Fine, "", "", "at others less"},
		{"most stay, one line", counted(long, "800"), 90, 900, 10, Found, gc16.Title, Info, "90.0% were allocated"},
		{"not counted", long, 40, 900, 20, Found, maybeTailed, Info, ""},
		{"not counted, one line", long, 90, 900, 10, Found, maybeTailed, Info, ""},
		{"another list is gone through", strings.Replace(counted(long, "90"), "range p.pending", "range p.all()", 1), 40, 900, 20, Found, maybeTailed, Info, ""},
		{"most are passed over", fmt.Sprintf(skips, 800), 40, 900, 20, Found, tailTitle, Warning, "100 of the 900 elements that it went through stayed"},
		{"few are passed over", fmt.Sprintf(skips, 100), 40, 900, 20, Fine, "", "", "at others less"},
		{"very little", filter, 10, 900, 3, Found, gc16.Title, Info, ""},
	} {
		if c.name == "very little" {
			c.state, c.title, c.severity = Fine, "", ""
		}
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(tailHead+c.source))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, countedFile(t, "/src/a.go", tailHead+c.source))
		mb := func(kept, all int64) []int64 { return []int64{100 * all, all << 20, 100 * kept, kept << 20} }
		first, second := "main.main shop.decode:/src/a.go:8", "main.main shop.decode:/src/a.go:8"
		a, b := c.kept, int64(0)
		if c.name != "filtered" && !strings.Contains(c.name, "one line") { // half of it at the other line
			second = "main.main shop.decode:/src/a.go:7"
			a, b = c.kept/2, c.kept/2
		}
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{first, mb(a, c.all/2)}, column{second, mb(b, c.all/2)}, column{"main.main shop.other:/src/none.go:9", mb(c.other, c.other)}))
		f := answers(t, r, "GC16")[0]
		if f.State != c.state || c.title != "" && f.Title != c.title || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s %q: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
		if c.title == tailTitle && (f.Evidence[0].Line != 19 || f.Evidence[1].Line != 13 || !strings.Contains(f.Advice, "clear(p.pending[len(waiting):])")) {
			t.Errorf("%s: %+v %s", c.name, f.Evidence, f.Advice)
		}
	}
}

// TestGC16TailAtPeak: of a program that ends by itself there are profiles of peaks alone, and one of its end: that most of the elements
// have gone, and that as much stays, is known by the end and by the collections.
func TestGC16TailAtPeak(t *testing.T) {
	source := tailHead + "func (p *pod) release() {\n" + strings.NewReplacer("p.pending {\n", "p.pending { /*900*/\n", "!done(e) {\n", "!done(e) { /*90*/\n").Replace(tailFilter) + "p.pending = waiting\n}\nvar pods = map[string]*pod{}\n"
	for _, c := range []struct {
		name      string
		peak, end [2]int64 // in use and allocated, in MB
		live      func(i int) int
		title     string
	}{
		{"it never falls", [2]int64{90, 300}, [2]int64{0, 900}, func(i int) int { return 4 * i }, tailTitle},
		{"it rises at once, and more comes later", [2]int64{90, 95}, [2]int64{0, 900}, func(i int) int { return 80 + i%10 }, tailTitle},
		{"it is there at the end", [2]int64{90, 300}, [2]int64{60, 900}, func(i int) int { return 50 - 30*(i%2) }, tailTitle},
		{"nothing comes later", [2]int64{90, 95}, [2]int64{0, 99}, func(i int) int { return 80 + i%10 }, gc16.Title},
		{"it falls between bursts", [2]int64{90, 300}, [2]int64{0, 900}, func(i int) int { return 90 - 60*(i%3/2) }, gc16.Title},
		{"few collections", [2]int64{90, 300}, [2]int64{0, 900}, func(i int) int { return 10 + i/24*80 }, gc16.Title},
		{"no collection found as much", [2]int64{90, 300}, [2]int64{0, 900}, func(i int) int { return 20 }, gc16.Title},
	} {
		lines := recordingtest.Cycles(30, 10*time.Millisecond, 100*time.Millisecond, func(i int, x *recordingtest.Cycle) { x.Live = c.live(i) })
		r := recordingtest.New("title x\ntarget package ./shop module=shop env=\"GODEBUG=gctrace=1\"\nrun 0s..9s exit=\"exit status 0\"\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n-- stderr.log stderr --\n" + lines)
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(source))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, countedFile(t, "/src/a.go", source))
		look := func(x [2]int64) []byte {
			return heapProfile(column{"main.main shop.decode:/src/a.go:8", []int64{100 * x[1], x[1] << 20, 100 * x[0], x[0] << 20}}, column{"main.main shop.other:/src/none.go:9", []int64{100, 1 << 20, 100, 1 << 20}})
		}
		r.Put(recording.Entry{Path: "peak/heap-01.pb.gz", Kind: recording.Heap, Phase: "bare", Span: timeline.Span{Start: 5e9, End: 5e9}}, look(c.peak))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, look(c.end))
		if f := answers(t, r, "GC16")[0]; f.Title != c.title {
			t.Errorf("%s: %s %q: %s", c.name, f.Severity, f.Title, f.Summary)
		}
	}
}
