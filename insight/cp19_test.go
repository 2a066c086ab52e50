package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// sourceLine is the number of the first line of a text that ends in a comment.
func sourceLine(text, comment string) int {
	for i, line := range strings.Split(text, "\n") {
		if strings.HasSuffix(line, "// "+comment) {
			return i + 1
		}
	}
	return 0
}

// TestSortKeyAt: what a comparison calls is a key where it is given one element, computes and keeps nothing.
func TestSortKeyAt(t *testing.T) {
	const head = "package main\n\ntype event struct {\nat, kind, low string\nn int\nseen time.Time\n}\n" +
		"func (e event) key() string {\nreturn e.at + strings.ToLower(e.kind) // key\n}\n" +
		"func (e event) name() string {\nreturn e.kind // name\n}\n" +
		"func (e *event) kept() string {\nif e.low == \"\" {\ne.low = strings.ToLower(e.kind) // kept\n}\nreturn e.low\n}\n" +
		"func near(a, b event) int {\nreturn cmp.Compare(strings.ToLower(a.kind), strings.ToLower(b.kind)) // near\n}\n" +
		"func dist(a, b event) int {\nfor i := range a.at {\nif a.at[i] != b.at[i] {\nreturn i // dist\n}\n}\nreturn 0\n}\n" +
		"func fill(id string, set map[string]bool) {\nfor _, c := range strings.Split(id, \".\") {\nset[c] = true // fill\n}\n}\n"
	for _, test := range []struct {
		what, text, leaf string // leaf: functions from the leaf on, below the comparison
		want             string
		seldom           bool
	}{
		{"parsed", "sort.Slice(es, func(i, j int) bool {\na, err := time.Parse(layout, es[i].at) // here\nif err != nil {\nreturn false\n}\nb, err := time.Parse(layout, es[j].at)\nif err != nil {\nreturn true\n}\nreturn a.Before(b)\n})", "time.Parse", "time.Parse", false},
		{"the second one", "sort.Slice(es, func(i, j int) bool {\na, err := time.Parse(layout, es[i].at)\nif err != nil {\nreturn false\n}\nb, err := time.Parse(layout, es[j].at) // here\nif err != nil {\nreturn true\n}\nreturn a.Before(b)\n})", "time.Parse", "time.Parse", false},
		{"both on one line", "slices.SortFunc(es, func(a, b event) int { return cmp.Compare(strings.ToLower(a.kind), strings.ToLower(b.kind)) }) // here", "strings.ToLower", "strings.ToLower", false},
		{"through variables", "slices.SortFunc(es, func(a, b event) int {\nx, y := a.kind, b.kind\nx = strings.ToLower(x) // here\ny = strings.ToLower(y)\nreturn cmp.Compare(x, y)\n})", "strings.ToLower", "strings.ToLower", false},
		{"a method of the program", "sort.Slice(es, func(i, j int) bool { return es[i].key() < es[j].key() }) // here", "main.event.key", "main.event.key", false},
		{"in a function that compares", "slices.SortFunc(es, func(a, b event) int { return near(a, b) }) // here", "strings.ToLower main.near", "strings.ToLower", false},
		{"where the first part is equal", "slices.SortFunc(es, func(a, b event) int {\nif a.n != b.n {\nreturn a.n - b.n\n}\nreturn cmp.Compare(strings.ToLower(a.kind), strings.ToLower(b.kind)) // here\n})", "strings.ToLower", "strings.ToLower", true},
		{"it fills a map of the comparison", "slices.SortFunc(es, func(a, b event) int {\nx, y := map[string]bool{}, map[string]bool{}\nfill(a.at, x) // here\nfill(b.at, y)\nreturn len(x) - len(y)\n})", "main.fill", "main.fill", false},
		{"it fills a map of the function", "x := map[string]bool{}\nslices.SortFunc(es, func(a, b event) int {\nfill(a.at, x) // here\nreturn len(x)\n})", "main.fill", "", false},
		{"a method that returns a field", "sort.Slice(es, func(i, j int) bool { return es[i].name() < es[j].name() }) // here", "main.event.name", "", false},
		{"a key that is kept", "sort.Slice(es, func(i, j int) bool { return es[i].kept() < es[j].kept() }) // here", "main.(*event).kept", "", false},
		{"of both", "slices.SortFunc(es, func(a, b event) int { return strings.Compare(a.kind, b.kind) }) // here", "strings.Compare", "", false},
		{"a function of both", "slices.SortFunc(es, func(a, b event) int { return dist(a, b) }) // here", "main.dist", "", false},
		{"a text of both", "slices.SortFunc(es, func(a, b event) int {\nx := a.kind + b.kind\nreturn len(strings.ToLower(x)) // here\n})", "strings.ToLower", "", false},
		{"of a time that it has", "slices.SortFunc(es, func(a, b event) int { return int(a.seen.UnixNano() - b.seen.UnixNano()) }) // here", "time.Time.UnixNano", "", false},
		{"a shuffle", "slices.SortFunc(es, func(a, b event) int { return rand.Intn(a.n) }) // here", "math/rand.Intn", "", false},
		{"a counter", "slices.SortFunc(es, func(a, b event) int { return int(a.c.Load() - b.c.Load()) }) // here", "sync/atomic.(*Int64).Load", "", false},
		{"another call of the line", "slices.SortFunc(es, func(a, b event) int { return cmp.Compare(a.kind, b.kind) }) // here", "runtime.memequal", "", false},
	} {
		text := head + "func f(es []event) {\n" + test.text + "\n}\n"
		line := func(name string) int { return sourceLine(text, name) }
		var way []stack.Frame
		var own []bool
		for name := range strings.FieldsSeq(test.leaf) {
			own = append(own, strings.HasPrefix(name, "main."))
			x := stack.Frame{Func: name, File: "lib.go"}
			if own[len(own)-1] {
				x.File, x.Line = "a.go", line(ownName(name))
			}
			way = append(way, x)
		}
		way, own = append(way, stack.Frame{Func: "main.f.func1", File: "a.go", Line: line("here")}), append(own, true)
		key, ok := sortKeyAt(sourceOf(text), way, own)
		if ok != (test.want != "") || ok && (key.callee != test.want || key.seldom != test.seldom) {
			t.Errorf("%s: %v, %+v, want %s", test.what, ok, key, test.want)
		}
	}
}

// TestSortedAppendAt: a slice is sorted again after each element where each sort follows the adding of one to the same
// slice.
func TestSortedAppendAt(t *testing.T) {
	const pop = "func (q *queue) pop() task {\nt := q.tasks[0]\nq.tasks = q.tasks[1:] // pop\nreturn t\n}\n"
	const sorts = "sort.Slice(q.tasks, func(i, j int) bool { return q.tasks[i].n < q.tasks[j].n }) // sort\n"
	for _, test := range []struct {
		what, text    string
		takes, looped bool
		ok            bool
	}{
		{"a field, from which the first is taken", "func (q *queue) push(t task) {\nq.tasks = append(q.tasks, t)\n" + sorts + "}\n" + pop, true, false, true},
		{"a field, looked at otherwise", "func (q *queue) push(t task) {\nq.tasks = append(q.tasks, t)\n" + sorts + "}\n", false, false, true},
		{"of a named type", "func (q *queue) push(t task) {\nq.tasks = append(q.tasks, t)\nsort.Sort(sort.Reverse(byN(q.tasks))) // sort\n}\n", false, false, true},
		{"in a loop", "func all(in []string) {\nvar names []string\nfor _, s := range in {\nnames = append(names, s)\nsort.Strings(names) // sort\nprint(names[len(names)/2])\n}\n}\n", false, true, true},
		{"a parameter that is returned", "func add(all []int, n int) []int {\nall = append(all, n)\nslices.Sort(all) // sort\nreturn all\n}\n", false, false, true},
		{"after an error", "func (q *queue) push(t task) error {\nq.tasks = append(q.tasks, t)\nif err := t.check(); err != nil {\nreturn err\n}\n" + sorts + "return nil\n}\n", false, false, true},
		{"once after the loop", "func all(in []string) {\nvar names []string\nfor _, s := range in {\nnames = append(names, s)\n}\nsort.Strings(names) // sort\n}\n", false, false, false},
		{"of several", "func (q *queue) push(t []task) {\nq.tasks = append(q.tasks, t...)\n" + sorts + "}\n", false, false, false},
		{"another slice", "func (q *queue) push(t task) {\nq.others = append(q.others, t)\n" + sorts + "}\n", false, false, false},
		{"now and then", "func (q *queue) push(t task) {\nq.tasks = append(q.tasks, t)\nif len(q.tasks) > 1000 {\n" + sorts + "q.flush()\n}\n}\n", false, false, false},
		{"now and then, left before", "func (q *queue) push(t task) {\nq.tasks = append(q.tasks, t)\nif len(q.tasks) < 1000 {\nreturn\n}\n" + sorts + "}\n", false, false, false},
		{"a slice of the call", "func (q *queue) top(t task) []int {\nvar all []int\nall = append(all, t.n)\nslices.Sort(all) // sort\nreturn all\n}\n", false, false, false},
		{"a slice of the turn", "func all(in []string) {\nfor _, s := range in {\nnames := strings.Fields(s)\nnames = append(names, s)\nsort.Strings(names) // sort\n}\n}\n", false, false, false},
		{"begun anew", "func (q *queue) push(t task) {\nq.tasks = q.tasks[:0]\nq.tasks = append(q.tasks, t)\n" + sorts + "}\n", false, false, false},
		{"filled before", "func (q *queue) load(t task) {\nq.tasks = read()\nq.tasks = append(q.tasks, t)\n" + sorts + "}\n", false, false, false},
		{"sorted before", "func (q *queue) push(t task) {\n" + sorts + "q.tasks = append(q.tasks, t)\n}\n", false, false, false},
	} {
		text := "package main\n\n" + test.text
		a, looped, ok := sortedAppendAt(sourceOf(text), stack.Frame{Func: "main.f", File: "a.go", Line: sourceLine(text, "sort")})
		if ok != test.ok || ok && (looped != test.looped || (a.takes.Line > 0) != test.takes) {
			t.Errorf("%s: %v, looped %v, %+v", test.what, ok, looped, a)
		}
	}
}

// TestSeldomAdded: where a condition decides whether an element is added before the sort, the counts tell before how many sorts that is so; without them
// nothing is said of it.
func TestSeldomAdded(t *testing.T) {
	const text = "package main\n\nfunc (b *board) hit(n string) {\n\ti := b.find(n)\n\tif i < 0 {\n\t\tb.all = append(b.all, score{n, 0})\n\t\ti = len(b.all) - 1\n\t}\n\tb.all[i].n++\n\tsort.Slice(b.all, func(i, j int) bool { return b.all[i].n > b.all[j].n }) // sort\n}\n\ntype score struct {\n\tname string\n\tn int\n}\n\ntype board struct{ all []score }\n"
	c := sourceOf(text)
	a, _, ok := sortedAppendAt(c, stack.Frame{Func: "main.f", File: "a.go", Line: sourceLine(text, "sort")})
	if !ok || !a.branches {
		t.Fatalf("%v, %+v", ok, a)
	}
	if _, _, known := a.added(c); known {
		t.Error("known without counts")
	}
	c.turns = countedBlocks(c, func(_, offset int) int64 {
		if offset == strings.Index(text, "{\n\t\tb.all = append") {
			return 300
		}
		return 60000
	})
	adds, sorts, known := a.added(c)
	if !known || adds != 300 || sorts != 60000 {
		t.Fatalf("%d of %d, %v", adds, sorts, known)
	}
	f := Finding{}
	a.tellSeldomAdded(c, stack.Frame{Func: "main.f", File: "a.go", Line: sourceLine(text, "sort")}, adds, sorts, &f)
	if !strings.Contains(f.Summary, "before 300 of 60,000 sorts") || !strings.Contains(f.Summary, "n, which is changed at a.go:9") || strings.Contains(f.Title, "after each element") {
		t.Errorf("%s: %s", f.Title, f.Summary)
	}
}

// TestSortOnce: a sort that comes once in a run is not told to come once; one in a loop, in a function that a loop calls, or for each request is.
func TestSortOnce(t *testing.T) {
	const slice = "sort.Slice(rows, func(i, j int) bool { return rows[i] < rows[j] }) // sort\n"
	for _, test := range []struct {
		what, main, callee, outer string
		severity                  Severity
		says, not                 string
	}{
		{"in main", "rows := read()\n" + slice + "print(rows)\n", "sort.Slice", "runtime.main", Info, "slices.SortFunc in place of sort.Slice", "Sort once"},
		{"stable, in main", "rows := read()\n" + strings.Replace(slice, "sort.Slice", "sort.SliceStable", 1) + "print(rows)\n", "sort.SliceStable", "runtime.main", Info, "slices.SortStableFunc in place of sort.SliceStable", "Sort once"},
		{"with nothing to gain", "rows := read()\nslices.Sort(rows) // sort\nprint(rows)\n", "slices.Sort[...]", "runtime.main", Info, "There is no other sort to save. Whether all of it", "made cheaper"},
		{"of which the first are used", "rows := read()\nslices.Sort(rows) // sort\nprint(len(rows), rows[0])\nfor _, r := range rows[:10] {\nprint(r)\n}\n", "slices.Sort[...]", "runtime.main", Info, "only the first of them are used (main.go:", "Sort once"},
		{"of which the first are used, and all", "rows := read()\nslices.Sort(rows) // sort\nprint(rows[:10])\nprint(rows)\n", "slices.Sort[...]", "runtime.main", Info, "no other sort", "heap"},
		{"in a loop", "for more() {\nrows := read()\n" + slice + "print(rows)\n}\n", "sort.Slice", "runtime.main", Warning, "Sort once", "slices.SortFunc in place"},
		{"what it is sorted by changes", "d := &draft{}\nfor more() {\nr := append([]*cand(nil), d.left...)\nsort.Slice(r, func(i, j int) bool { return r[i].score > r[j].score }) // sort\nprint(r[0])\nd.apply()\n}\n", "sort.Slice", "runtime.main", Warning, "keep no order across it", "Sort once"},
		{"another field changes", "d := &draft{}\nfor more() {\nr := append([]*cand(nil), d.left...)\nsort.Slice(r, func(i, j int) bool { return r[i].n > r[j].n }) // sort\nprint(r[0])\nd.apply()\n}\n", "sort.Slice", "runtime.main", Warning, "Sort once, after the last change or on first use, where nothing needs the order before that", "keep no order"},
		{"for each request", "rows := read()\n" + slice + "print(rows)\n", "sort.Slice", "net/http.(*conn).serve", Warning, "Sort once", "slices.SortFunc in place"},
	} {
		text := "package main\n\nfunc main() {\n" + test.main + "}\n\ntype cand struct{ score, n int }\n\ntype draft struct{ left []*cand }\n\nfunc (d *draft) apply() {\n\tfor _, c := range d.left {\n\t\tc.score--\n\t}\n}\n"
		line := sourceLine(text, "sort")
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		withProfile(r, recording.CPU, "cpu", column{fmt.Sprintf("%s main.main:/src/main.go:%d %s sort.pdqsort_func", test.outer, line, test.callee), []int64{80}}, column{fmt.Sprintf("%s main.main:/src/main.go:3 runtime.memmove", test.outer), []int64{120}})
		f := expect(t, test.what, r, "CP19", Found)
		if f.Severity != test.severity || !strings.Contains(f.Advice, test.says) || strings.Contains(f.Advice, test.not) {
			t.Errorf("%s: %s: %s", test.what, f.Severity, f.Advice)
		}
	}
}

// TestOrderChange: a slice stays in order only if nothing changes that its elements are compared by.
func TestOrderChange(t *testing.T) {
	const types = "type task struct { n, prio int }\ntype queue struct { tasks []*task; at int; more map[int][]*task; on []func(t *task) }\ntype byPrio []*task\nfunc (b byPrio) Len() int { return len(b) }\nfunc (b byPrio) Less(i, j int) bool { return b[i].prio < b[j].prio }\nfunc (b byPrio) Swap(i, j int) { b[i], b[j] = b[j], b[i] }\n"
	const byPrio = "q.tasks = append(q.tasks, t)\nsort.Slice(q.tasks, func(i, j int) bool { return q.tasks[i].prio < q.tasks[j].prio }) // sort\n"
	for _, test := range []struct{ what, text, change string }{
		{"nothing changes", "func (q *queue) push(t *task) {\n" + byPrio + "}\n", ""},
		{"another field changes", "func (q *queue) push(t *task) {\nt.n++\n" + byPrio + "}\n", ""},
		{"a new element is made", "func (q *queue) push(n int) {\nt := &task{prio: n}\nt.prio += 3\n" + byPrio + "}\n", ""},
		{"others are raised", "func (q *queue) push(t *task) {\nq.raise(t.n)\n" + byPrio + "}\nfunc (q *queue) raise(n int) {\nfor _, d := range q.more[n] {\nd.prio++\n}\n}\n", "prio"},
		{"by a function that is a value", "func (q *queue) push(t *task) {\nfor _, f := range q.on {\nf(t)\n}\n" + byPrio + "}\nfunc watch(q *queue) {\nq.on = append(q.on, func(t *task) { t.prio++ })\n}\n", "prio"},
		{"it depends on a place that moves", "func (q *queue) push(t *task) {\nq.tasks = append(q.tasks, t)\nsort.Slice(q.tasks, func(i, j int) bool { return q.tasks[i].n-q.at < q.tasks[j].n-q.at }) // sort\nq.at++\n}\n", "at"},
		{"it depends on a place that the caller moves", "func (q *queue) push(t *task) {\nq.tasks = append(q.tasks, t)\nsort.Slice(q.tasks, func(i, j int) bool { return q.tasks[i].n-q.at < q.tasks[j].n-q.at }) // sort\n}\nfunc main() {\nq := &queue{}\nfor i := range 9 {\nq.push(&task{n: i})\nq.at += i\n}\n}\n", "at"},
		{"elements are made in turns", "func (q *queue) push(t *task) {\n" + byPrio + "}\nfunc main() {\nq := &queue{}\nfor i := range 9 {\nt := &task{}\nt.prio = i\nq.push(t)\n}\n}\n", ""},
		{"by a method Less", "func (q *queue) push(t *task) {\nq.tasks = append(q.tasks, t)\nsort.Sort(byPrio(q.tasks)) // sort\n}\nfunc (q *queue) age() {\nfor _, t := range q.tasks {\nt.prio--\n}\n}\n", "prio"},
		{"by a variable of the function around", "func main() {\nvar all []*task\nage := 0\neach(func(t *task) {\nall = append(all, t)\nage++\nsort.Slice(all, func(i, j int) bool { return all[i].n*age < all[j].n*age }) // sort\n})\n}\n", "age"},
		{"by a function that is a variable around", "func main() {\nvar all []*task\nage := 0\nprio := func(t *task) int { return t.n*age }\neach(func(t *task) {\nall = append(all, t)\nage++\nsort.Slice(all, func(i, j int) bool { return prio(all[i]) < prio(all[j]) }) // sort\n})\n}\n", "age"},
		{"by a variable that stays", "func main() {\nvar all []*task\nfactor, added := ask(), 0\neach(func(t *task) {\nall = append(all, t)\nadded++\nsort.Slice(all, func(i, j int) bool { return all[i].n*factor < all[j].n*factor }) // sort\n})\n}\n", ""},
		{"by a function of its own", "func less(a, b *task) int { return a.prio - b.prio }\nfunc (q *queue) push(t *task) {\nq.tasks = append(q.tasks, t)\nslices.SortFunc(q.tasks, less) // sort\n}\nfunc (q *queue) age() {\nfor _, t := range q.tasks {\nt.prio--\n}\n}\n", "prio"},
	} {
		text := "package main\n\nimport (\"slices\"; \"sort\")\n\n" + types + test.text
		if what, _ := orderChange(sourceOf(text), stack.Frame{Func: "main.f", File: "a.go", Line: sourceLine(text, "sort")}); what != test.change {
			t.Errorf("%s: %q, want %q", test.what, what, test.change)
		}
	}
}

// TestSortCalledBack: a sort in a function that a library calls back comes not once in a run: again, by the name of what calls it or by the counts, or
// nobody knows how often. Where the list that it sorts is one of each call of what is around, it is another one each time.
func TestSortCalledBack(t *testing.T) {
	const body = "keys = append(keys, k)\nslices.Sort(keys) // sort\nif k == \"\" {\nreturn false\n}\nreturn true\n"
	const outer = "runtime.main main.main:/src/main.go:OUTER "
	const ranges = outer + "sync.(*Map).Range main.main.func1:/src/main.go:SORT "
	for _, test := range []struct {
		what, source, stack string
		outer, inner        int64 // what the counts say of the two functions; none
		title, says         bool
		severity            Severity
		not                 string
	}{
		{"of a map", "func main() { // outer\nvar keys []string\nm.Range(func(k, v any) bool {\n" + body + "})\n}\n", ranges, 0, 0, true, false, Warning, "once in a run"},
		{"of a map, by the counts", "func main() { // outer\nvar keys []string\nm.Range(func(k, v any) bool {\n" + body + "})\n}\n", ranges, 1, 20_000, true, true, Warning, "once in a run"},
		{"of a map with one element", "func main() { // outer\nvar keys []string\nm.Range(func(k, v any) bool {\n" + body + "})\n}\n", ranges, 1, 1, false, false, Info, "in the run that counts"},
		{"of a transaction, which calls it once", "func main() { // outer\nvar keys []string\ndb.Update(func(k, v any) bool {\n" + body + "})\n}\n", outer + "go.etcd.io/bbolt.(*DB).Update main.main.func1:/src/main.go:SORT ", 0, 0, false, false, Warning, "once in a run"},
		{"of a list of its own", "func main() { // outer\nfor range 9 {\nvar keys []string\ndb.Update(func(k, v any) bool {\n" + body + "})\n}\n}\n", outer + "go.etcd.io/bbolt.(*DB).Update main.main.func1:/src/main.go:SORT ", 9, 9, false, false, Warning, "once in a run"},
		{"by a function of the program", "func main() { // outer\nvar keys []string\neach(func(k, v any) bool {\n" + body + "})\n}\nfunc each(f func(k, v any) bool) {\nfor k, v := range all {\nf(k, v) // each\n}\n}\n", outer + "main.each:/src/main.go:EACH main.main.func1:/src/main.go:SORT ", 0, 0, true, false, Warning, "once in a run"},
		{"done once", "func main() { // outer\nvar keys []string\no.Do(func() {\n" + strings.ReplaceAll(body, "return false\n}\nreturn true", "return\n}") + "})\n}\n", outer + "sync.(*Once).Do main.main.func1:/src/main.go:SORT ", 0, 0, false, false, Info, "Sort once"},
	} {
		text := "package main\n\nimport (\"slices\"; \"sync\")\n\nvar ( m sync.Map; o sync.Once; all map[any]any )\n\n" + test.source
		at := func(s string) string {
			for mark, comment := range map[string]string{"OUTER": "outer", "SORT": "sort", "EACH": "each"} {
				s = strings.ReplaceAll(s, mark, fmt.Sprint(sourceLine(text, comment)))
			}
			return s
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
		if test.inner > 0 {
			inner := strings.Index(text, "bool {\nkeys = append") + len("bool ")
			block := func(line int, offset int, n int64) string {
				return fmt.Sprintf(`{"line":%d,"offset":%d,"count":%d}`, line, offset, n)
			}
			made := strings.Index(text, "{ // outer")
			if test.outer > 1 {
				made = strings.Index(text, "{\nvar keys")
			}
			r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, fmt.Appendf(nil, `{"schema":"loupe.repeats/1","ns":4000000000,"functions":[{"name":"main.main","file":"/src/main.go","line":7,"calls":1}],"within":[],"files":[{"name":"/src/main.go","blocks":[%s,%s]}]}`,
				block(7, made, test.outer), block(9, inner, test.inner)))
		}
		withProfile(r, recording.CPU, "cpu", column{at(test.stack) + "slices.Sort[...] slices.pdqsortOrdered", []int64{80}}, column{"runtime.main main.main:/src/main.go:7 runtime.memmove", []int64{120}})
		f := expect(t, test.what, r, "CP19", Found)
		if (f.Title == sortedAgainTitle) != test.title || f.Severity != test.severity || strings.Contains(f.Summary, "20,000 times in the run that counts") != test.says || strings.Contains(f.Summary+f.Advice, test.not) {
			t.Errorf("%s: %s %q: %s %s", test.what, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}
