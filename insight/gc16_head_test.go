package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// headQueue is a queue whose elements are made at line 5, in the sources of these tests.
const headQueue = `package shop

func feed(q *queue) { /*20000*/
	for i := range 1 { /*20000*/
		e := &event{id: i, raw: make([]byte, 9000)}
		q.push(e)
	}
}

type event struct { id int; raw []byte }
type queue struct { items []*event; clears bool }
var queues = map[string]*queue{}
func (q *queue) push(e *event) { /*20000*/
	if e != nil { /*20000*/
		q.items = append(q.items, e)
	}
}
`

// headPop takes one out of it.
const headPop = `func (q *queue) pop() (*event, bool) { /*21000*/
	if len(q.items) == 0 { /*1000*/
		return nil, false
	}
	e := q.items[0]
	q.items = q.items[1:] // cut
	return e, true
}
`

// headWork is who takes them out.
const headWork = "func work(q *queue) {\nfor {\ne, ok := q.pop()\nif !ok {\nreturn\n}\nuse(e)\n}\n}\n"

// TestGC16Head: what was taken out of a queue stays in its array where its place is not cleared, if the queue is seen to be drained and nothing else can hold it.
func TestGC16Head(t *testing.T) {
	pop := func(old, new string) string { return headQueue + strings.Replace(headPop, old, new, 1) + headWork }
	const turn = "func turn(q *queue) {\nfeed(q)\nfor {\ne, ok := q.pop()\nif !ok {\nbreak\n}\nuse(e)\n}\n}\n"
	generic := strings.NewReplacer("type queue struct { items []*event; clears bool }", "type queue[T any] struct { items []T }", "q *queue) push(e *event)", "q *queue[T]) push(e T)", "if e != nil {", "if true {", "q *queue) pop() (*event", "q *queue[T]) pop() (T",
		"return nil, false", "var zero T\n\t\treturn zero, false", "map[string]*queue{}", "map[string]*queue[*event]{}", "(q *queue)", "(q *queue[*event])")
	for _, c := range []struct {
		name, source string
		kept, all    int64 // MB
		counts       bool
		title        string
		severity     Severity
		says         string // in the summary or the advice
	}{
		{"drained by the counts", headQueue + headPop + headWork, 90, 900, true, headTitle, Warning, "all of 20,000 elements that were put in"},
		{"a generic one", generic.Replace(headQueue + headPop + headWork), 90, 900, true, headTitle, Warning, "var zero T; q.items[0] = zero"},
		{"drained by the source", headQueue + headPop + turn, 90, 900, false, headTitle, Warning, "the source takes out until it is empty"},
		{"by a condition of the loop", headQueue + headPop + strings.Replace(turn, "for {\ne, ok := q.pop()\nif !ok {\nbreak\n}\nuse(e)\n}", "for e, ok := q.pop(); ok; e, ok = q.pop() {\nuse(e)\n}", 1), 90, 900, false, headTitle, Warning, "q.items[0] = nil"},
		{"one that clears beside it, which does not run", pop("e := q.items[0]\n", "e := q.items[0]\nif q.clears { /*0*/\nq.items[0] = nil\nq.items = q.items[1:]\nreturn e, true\n}\n"), 90, 900, true, headTitle, Warning, "q.items[0] = nil"},
		{"little", headQueue + headPop + headWork, 40, 900, true, headTitle, Info, "clearing"},

		{"whoever takes out may stop before", headQueue + headPop + strings.Replace(turn, "use(e)\n", "use(e)\nif e.id > 9 {\nbreak\n}\n", 1), 90, 900, false, gc16.Title, Info, "If q.items is empty much of the time"},
		{"others put something in as well", headQueue + headPop + turn + "func submit(q *queue, e *event) {\nq.push(e)\n}\n", 90, 900, false, gc16.Title, Info, "If q.items is empty much of the time"},
		{"it may leave before", headQueue + headPop + strings.Replace(turn, "feed(q)\n", "feed(q)\nif late() {\nreturn\n}\n", 1), 90, 900, false, gc16.Title, Info, "If q.items is empty much of the time"},
		{"nothing shows that it is empty", headQueue + headPop + headWork, 90, 900, false, gc16.Title, Info, "If q.items is empty much of the time"},
		{"a backlog", strings.ReplaceAll(headQueue+headPop+headWork, "/*21000*/", "/*9000*/"), 90, 900, true, gc16.Title, Info, "If q.items is empty much of the time"},
		{"cleared", pop("q.items = q.items[1:]", "q.items[0] = nil\n\tq.items = q.items[1:]"), 90, 900, true, gc16.Title, Info, "check whether that keeps up"},
		{"cleared by clear", pop("q.items = q.items[1:]", "clear(q.items[:1])\n\tq.items = q.items[1:]"), 90, 900, true, gc16.Title, Info, "check whether that keeps up"},
		{"dropped when it is empty", pop("return e, true", "if len(q.items) == 0 {\nq.items = nil\n}\nreturn e, true"), 90, 900, true, gc16.Title, Info, ""},
		{"moved to the front", pop("q.items = q.items[1:]", "q.items = q.items[:copy(q.items, q.items[1:])]"), 90, 900, true, gc16.Title, Info, ""},
		{"cleared by what it calls", pop("return e, true", "q.trim()\nreturn e, true") + "func (q *queue) trim() {\nif len(q.items) == 0 {\nq.items = nil\n}\n}\n", 90, 900, true, gc16.Title, Info, ""},
		{"cleared now and then", headQueue + headPop + headWork + "func (q *queue) trim() { /*0*/\nif len(q.items) == 0 { /*0*/\nq.items = nil\n}\n}\n", 90, 900, true, gc16.Title, Info, "something else holds what was taken out"},
		{"held by a map as well", headQueue + headPop + headWork + "var known = map[int]*event{}\n", 90, 900, true, gc16.Title, Info, "something else holds what was taken out"},
		{"a part of it is kept", headQueue + headPop + strings.Replace(headWork, "use(e)", "last = append(last, e.raw)", 1) + "var last [][]byte\n", 90, 900, true, gc16.Title, Info, "something else holds what was taken out"},
		{"a part of it is kept by a call", headQueue + headPop + strings.Replace(headWork, "use(e)", "note(e.id, e.raw)", 1) + "var last [][]byte\nfunc note(id int, b []byte) { last[id] = b }\n", 90, 900, true, gc16.Title, Info, "something else holds what was taken out"},
		{"a part of it is only read", headQueue + headPop + strings.Replace(headWork, "use(e)", "note(e.id, e.raw)", 1) + "func note(id int, b []byte) { println(id, len(b)) }\n", 90, 900, true, headTitle, Warning, ""},
		{"they do not leave it", headQueue + headPop + headWork, 90, 100, true, gc16.Title, Info, "check whether that keeps up"},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(c.source))
		if c.counts {
			r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, countedFile(t, "/src/a.go", c.source))
		}
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{"main.main shop.feed:/src/a.go:5", []int64{100 * c.all, c.all << 20, 100 * c.kept, c.kept << 20}}, column{"main.main shop.other:/src/none.go:9", []int64{100, 1 << 20, 100, 1 << 20}}))
		f := answers(t, r, "GC16")[0]
		if f.Title != c.title || f.Severity != c.severity || !strings.Contains(f.Summary+" "+f.Advice, c.says) {
			t.Errorf("%s: %s %s %q: %s\n%s", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice)
		}
		if c.title == headTitle && (len(f.Evidence) == 0 || !strings.Contains(f.Evidence[0].Source, "q.items[1:]")) {
			t.Errorf("%s: evidence %+v", c.name, f.Evidence)
		}
	}
}
