package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The program of TestParts: what makes lists, and what uses parts of them.
const (
	partsHead   = "package main\n\nimport (\n\"database/sql\"\n\"encoding/json\"\n\"errors\"\n\"io/fs\"\n\"net/http\"\n\"os\"\n\"path/filepath\"\n\"slices\"\n\"sort\"\n\"strings\"\n)\n\ntype row struct {\nid, at int\nname string\n}\n\ntype store struct {\nlast []row\nnames []string\nn int\nto chan int\ntx *sql.Tx\n}\n\n"
	partsLoad   = "func (s *store) load(q string) (out []row, err error) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nout = append(out, decode(q, i)) // here\n}\nreturn out, nil\n}\n\nfunc decode(q string, i int) row { return row{i, i, q} }\n\nfunc show(rows []row) {\nfor _, r := range rows {\nprintln(r.name)\n}\n}\n\n"
	partsMakers = "func (s *store) strict(q string) (out []row, err error) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here\nif r.at < 0 { /*0*/\nreturn nil, errors.New(q)\n}\nout = append(out, r)\n}\nreturn out, nil\n}\n\n" +
		"func (s *store) latest(q string) (out []row) { /*100*/\nat := map[string]int{}\nfor i := 0; i < 6000; i++ { /*600000*/\nr := decode(q, i) // here\nif n, ok := at[r.name]; ok { /*100000*/\nout[n] = r\ncontinue\n}\nat[r.name] = len(out)\nout = append(out, r)\n}\nreturn out\n}\n\n" +
		"func (s *store) byName(q string) map[string]row { /*100*/\nout := map[string]row{}\nfor i := 0; i < 6000; i++ { /*600000*/\nr := decode(q, i) // here\nout[r.name] = r\n}\nreturn out\n}\n\n" +
		"func (s *store) sized(q string) []row { /*100*/\nout := make([]row, 5000)\nfor i := range out { /*500000*/\nout[i] = decode(q, i) // here\n}\nreturn out\n}\n\n" +
		"func (s *store) posted(q string) (out []row) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nout = append(out, decode(q, i)) // here\n}\nhttp.Post(q, \"\", nil)\nreturn out\n}\n\n" +
		"func (s *store) removed(q string) (out []row) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nout = append(out, decode(q, i)) // here\n}\nos.Remove(q)\nreturn out\n}\n\n" +
		"func (s *store) sent(q string) (out []row) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nout = append(out, decode(q, i)) // here\ns.to <- i\n}\nreturn out\n}\n\n" +
		"func (s *store) executed(q string) (out []row) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nout = append(out, decode(q, i)) // here\ns.tx.Exec(q)\n}\nreturn out\n}\n\n"
	partsPage = "func page(list []row, from, to int) []row {\nif from > len(list) { /*0*/\nreturn nil\n}\nreturn list[/*5000*/from:to/*20*/]\n}\n\nfunc byTime(list []row) { sort.Slice(list, func(i, j int) bool { return list[i].at < list[j].at }) }\n\nfunc all(list []row) []row { return list }\n\nfunc ignored(path string) bool { return strings.Contains(path, \"vendor\") }\n\nfunc (s *store) visit(path string, d fs.DirEntry, err error) error { /*48000*/\nif ignored(path) { /*47600*/\nreturn nil\n}\ns.names = append(s.names, path)\nreturn nil\n}\n\nfunc (s *store) distinct(q string) map[string]bool { /*100*/\nseen := map[string]bool{}\nfor i := 0; i < 5000; i++ { /*500000*/\nseen[decode(q, i).name] = true // here\n}\nreturn seen\n}\n\nfunc (s *store) found(q string) (out []row) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nif r := decode(q, i); r.id < 20 { /*2000*/ // here\nout = append(out, r)\n}\n}\nreturn out\n}\n\nfunc (s *store) running(q string) (out []row) { /*100*/\nsum := 0\nfor i := 0; i < 5000; i++ { /*500000*/\nsum = sum/2 + decode(q, i).at // here\nout = append(out, row{at: sum})\n}\nreturn out\n}\n\nfunc (s *store) table(q string) []row { /*100*/\nout := make([]row, 5000)\nfor i := 1; i < 5000; i++ { /*500000*/\nout[i] = row{at: out[i-1].at + decode(q, i).at} // here\n}\nreturn out\n}\n\nfunc (s *store) noted(q string) (out []row) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nout = append(out, s.note(q, i)) // here\n}\nreturn out\n}\n\nfunc (s *store) note(q string, i int) row { s.n++; return row{i, i, q} }\n\nfunc wanted(r row) bool { return r.id+r.at > 3 && r.name != \"\" }\n\nfunc eachText(do func([]byte) error) { do(nil) }\n\nfunc odd(path string) bool { return len(path)%2 == 1 }\n\nfunc isPage(path string) bool { return filepath.Ext(path) == \".html\" }\n\n" + partsMakers
)

// partsNone finds no element at any of its calls.
const partsNone = "func (s *store) none(q string) (out []row) { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nif due(q, i) { /*0*/ // here\nout = append(out, row{at: i})\n}\n}\nreturn out\n}\n\nfunc due(q string, i int) bool { return i > len(q) }\n\nfunc (s *store) drop(r row) error { s.n -= r.at; return nil }\n\n"

// partsFinders find the elements by a walk and by what a loop asks.
const partsFinders = "func (s *store) walked(q string) (out []string) { /*100*/\nfilepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*500000*/ // here\nout = append(out, path)\nreturn nil\n})\nreturn out\n}\n\n" +
	"func (s *store) lines(q string) (out []string) { /*100*/\nfor t := open(q); t.Scan(); { /*500000*/ // here\nout = append(out, t.Text())\n}\nreturn out\n}\n\n"

// partFrames are the frames that make what a body uses a part of, in a source.
func partFrames(body, source string) string {
	line := func(mark string) int { return 1 + strings.Count(source[:strings.Index(source, mark)], "\n") }
	lineAfter := func(from, mark string) int {
		at := strings.Index(source, from)
		return 1 + strings.Count(source[:at+strings.Index(source[at:], mark)], "\n")
	}
	frames := ""
	for name := range strings.SplitSeq("load reload distinct found running table noted strict latest byName sized posted removed sent executed walked lines none", " ") {
		if at := strings.Index(body, "s."+name+"("); at >= 0 {
			frames = fmt.Sprintf("main.(*store).work:/src/main.go:%d main.(*store).%s:/src/main.go:%d", line("s."+name+"("), name, lineAfter("func (s *store) "+name+"(", "// here"))
			frames += map[string]string{"walked": " syscall.Syscall:/go/src/syscall/syscall.go:9", "lines": " syscall.Syscall:/go/src/syscall/syscall.go:9"}[name]
		}
	}
	if strings.Contains(body, "// here2") {
		frames = fmt.Sprintf("main.(*store).work:/src/main.go:%d %s", line("// here2"), map[bool]string{true: "encoding/json.Unmarshal:/go/src/encoding/json/decode.go:90", false: fmt.Sprintf("main.decode:/src/main.go:%d", line("func decode"))}[strings.Contains(body, "json.")])
	}
	if strings.Contains(body, "// here3") {
		frames = fmt.Sprintf("main.(*store).work:/src/main.go:%d path/filepath.WalkDir:/go/src/path/filepath/path.go:5 os.ReadDir:/go/src/os/dir.go:9", line("// here3"))
	}
	return frames
}

// TestParts: a list that is made for a part of it, by the source and by counts; not one that is used as a whole, worked off in parts, kept, or returned to
// somebody who uses all of it.
func TestParts(t *testing.T) {
	for _, c := range []struct {
		name, body   string
		says, advice string
		severity     Severity
	}{
		{"a page", "rows, err := s.load(q)\nif err != nil { /*0*/\nreturn\n}\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi] at main.go", "a limit and an offset", Warning},
		{"its size", "rows, _ := s.load(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "5,000 elements on average, of which main.(*store).work uses 20: rows[lo:hi]", "a limit and an offset", Warning},
		{"not counted", "rows, _ := s.load(q)\nshow(rows[lo:hi])", "rows[lo:hi] at main.go", "a limit and an offset", Info},
		{"with its length", "rows, _ := s.load(q)\nprintln(len(rows))\nshow(rows[/*5000*/lo:hi/*20*/])", "and how many there are", "a question of its own", Warning},
		{"with its length as a bound", "rows, _ := s.load(q)\nshow(rows[/*5000*/min(lo, len(rows)):min(hi, len(rows))/*20*/])", "rows[min(lo, len(rows)):min(hi, len(rows))] at main.go:", "when the part is full).", Warning},
		{"one of them, from the end", "rows, _ := s.load(q)\nif len(rows) > 3 { /*100*/\nprintln(rows[len(rows)-3].name)\n}", "rows[len(rows) - 3]", "this one alone", Warning},
		{"sorted before", "rows, _ := s.load(q)\nsort.Slice(rows, func(i, j int) bool { return rows[i].at < rows[j].at })\nshow(rows[/*5000*/:limit/*20*/])", "rows[:limit]", "ORDER BY", Info},
		{"a page of what is sorted", "rows, _ := s.load(q)\nbyTime(rows)\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi]", "ORDER BY", Warning},
		{"sorted by a function of its own", "rows, _ := s.load(q)\nbyTime(rows)\nshow(rows[/*5000*/:limit/*20*/])", "rows[:limit]", "ORDER BY", Info},
		{"cut by a function of its own", "rows, _ := s.load(q)\nshow(page(rows, lo, hi))", "list[from:to]", "a limit and an offset", Warning},
		{"handed on as it is", "rows, _ := s.load(q)\nrest := all(rows)\nshow(rest[/*5000*/lo:hi/*20*/])", "rest[lo:hi]", "a limit and an offset", Warning},
		{"a part of itself", "rows, _ := s.load(q)\nif len(rows) > limit { /*100*/\nrows = rows[/*5000*/:limit/*20*/]\n}\nshow(rows)", "rows[:limit]", "a limit and an offset", Warning},
		{"only their number", "rows, _ := s.load(q)\ns.n = len(rows)", "only uses how many there are", "Count without making the list", Warning},
		{"the number of what a walk finds", "println(len(s.walked(q)))", "", "", ""},
		{"the number of what a loop reads", "println(len(s.lines(q)))", "", "", ""},
		{"their number, sorted", "rows, _ := s.load(q)\nbyTime(rows)\nprintln(len(rows))", "only uses how many there are", "Count without making the list", Warning},
		{"the few of a condition", "rows, _ := s.load(q)\n/*100 80 400000 80 0*/for _, r := range rows { /*500000*/\nif r.id == limit { /*120*/\nprintln(r.name)\n}\n}", "uses 1.2: those that the loop at main.go:", "Hand the condition to load", Warning},
		{"up to the one that is found", "rows, _ := s.load(q)\n/*100 80 400000 80 0*/for i := range rows { /*250000*/\nif rows[i].id == limit { /*100*/\nprintln(rows[i].name)\nbreak\n}\n}", "uses 1: those", "stop at the first", Warning},
		{"one of them", "rows, _ := s.load(q)\nprintln(rows[limit].name)", "rows[limit]", "this one alone", Warning},
		{"found by the library", "rows, _ := s.load(q)\nprintln(slices.ContainsFunc(rows, func(r row) bool { return r.id == limit }))", "slices.ContainsFunc", "this one alone", Warning},
		{"by its indexes", "rows, _ := s.load(q)\nfor i := lo; i < hi; i++ { /*2000*/\nprintln(rows[i].name)\n}", "uses 20: those", "Hand the condition", Warning},
		{"decoded", "var rows []row\nif err := json.Unmarshal([]byte(q), &rows); err != nil { // here2\nreturn\n}\nshow(rows[/*5000*/lo:hi/*20*/])", "json.Unmarshal takes", "a limit and an offset", Warning},
		{"made by a loop of its own", "var rows []row\nfor i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\nrows = append(rows, r)\n}\nshow(rows[/*5000*/lo:hi/*20*/])", "The loop at line", "a limit and an offset", Warning},

		{"records that a condition drops", "for i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\nif r.id == limit { /*300*/\ns.last = append(s.last, r)\n}\n}", "500,000 records, of which main.(*store).work lets 300 through", "by id", Warning},
		{"records that it goes on without", "for i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\nif r.id != limit { /*499700*/\ncontinue\n}\ns.last = append(s.last, r)\n}", "lets 300 through", "by id", Warning},
		{"records of a function that is called for each", "eachText(func(text []byte) error { /*500000*/\nvar r row\nif err := json.Unmarshal(text, &r); err != nil { /*0*/ // here2\nreturn err\n}\nif q == \"\" || r.name == q { /*300*/\ns.last = append(s.last, r)\n}\nreturn nil\n})", "lets 300 through", "by name", Warning},

		{"a walk that enters all folders", "filepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*48000*/ // here3\nif ignored(path) { /*47600*/\nreturn nil\n}\ns.names = append(s.names, path)\nreturn nil\n})", "go through 48,000 files and folders, of which main.(*store).work uses 400", "what ignored(path) holds for", Warning},
		{"by a function with a name", "filepath.WalkDir(q, s.visit) // here3", "go through 48,000 files and folders, of which main.(*store).work uses 400", "what ignored(path) holds for", Warning},

		{"a walk that goes on for a beginning", "filepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*48000*/ // here3\nif strings.HasPrefix(path, s.names[0]) { /*400*/\ns.names = append(s.names, path)\n}\nreturn nil\n})", "go through 48,000", "begin the walk at that folder, where it is the name of a whole one", Warning},
		{"a walk for what is within the path", "filepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*48000*/ // here3\nif strings.Contains(path, \"config\") { /*400*/\ns.names = append(s.names, path)\n}\nreturn nil\n})", "go through 48,000", "those that lead to what it lets through", Info},
		{"a walk by a function that is not known", "filepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*48000*/ // here3\nif odd(path) { /*47600*/\nreturn nil\n}\ns.names = append(s.names, path)\nreturn nil\n})", "go through 48,000", "those that lead to what it lets through", Info},

		{"a walk for an ending, by a function", "filepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*48000*/ // here3\nif !isPage(path) { /*47600*/\nreturn nil\n}\ns.names = append(s.names, path)\nreturn nil\n})", "", "", ""},
		{"a walk for an ending", "filepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*48000*/ // here3\nif filepath.Ext(path) != \".go\" { /*47600*/\nreturn nil\n}\ns.names = append(s.names, path)\nreturn nil\n})", "", "", ""},
		{"a walk for a name", "filepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*48000*/ // here3\nif strings.HasPrefix(d.Name(), \".\") { /*47600*/\nreturn nil\n}\ns.names = append(s.names, path)\nreturn nil\n})", "", "", ""},
		{"a walk that leaves folders out", "filepath.WalkDir(q, func(path string, d fs.DirEntry, err error) error { /*48000*/ // here3\nif ignored(path) { /*47600*/\nif d.IsDir() { /*20*/\nreturn fs.SkipDir\n}\nreturn nil\n}\ns.names = append(s.names, path)\nreturn nil\n})", "", "", ""},
		{"records of which many pass", "for i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\nif r.id == limit { /*90000*/\ns.last = append(s.last, r)\n}\n}", "", "", ""},
		{"records of which most fields are asked for", "for i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\nif r.id == limit && r.name == q { /*300*/\ns.last = append(s.last, r)\n}\n}", "", "", ""},
		{"records that are asked for as a whole", "for i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\nif wanted(r) { /*300*/\ns.last = append(s.last, r)\n}\n}", "", "", ""},
		{"records of which each is counted", "for i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\ns.n++\nif r.id == limit { /*300*/\ns.last = append(s.last, r)\n}\n}", "", "", ""},
		{"the best of all", "rows, _ := s.load(q)\nbest := rows[0]\n/*100 80 400000 80 0*/for _, r := range rows { /*500000*/\nif r.at < best.at { /*600*/\nbest = r\n}\n}\nprintln(best.name)", "", "", ""},
		{"one by its rank", "rows, _ := s.load(q)\nbyTime(rows)\nprintln(rows[len(rows)*99/100].name)", "", "", ""},
		{"a loop around it all", "for i := 0; i < 300; i++ { /*300*/\nrows, _ := s.load(q)\nprintln(rows[i].name)\n}", "rows[i]", "this one alone", Warning},
		{"the number of different ones", "println(len(s.distinct(q)))", "", "", ""},
		{"the number of a few among many", "println(len(s.found(q)))", "lets 2,000 through", "by id", Warning},
		{"the last of what each needs the one before for", "rows := s.running(q)\nprintln(rows[len(rows)-1].at)", "", "", ""},
		{"one of a table that is made of itself", "rows := s.table(q)\nprintln(rows[limit].at)", "", "", ""},
		{"a callee that notes something", "rows := s.noted(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi]", "a limit and an offset", Info},
		{"one damaged, none at all", "rows, _ := s.strict(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi]", "a limit and an offset", Warning},
		{"made by the index of its loop", "rows := s.sized(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi]", "a limit and an offset", Warning},
		{"the later takes the place of the earlier", "rows := s.latest(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"the later of a key counts", "rows := s.byName(q)\n/*100 80 400000 80 0*/for _, r := range rows { /*500000*/\nif r.id == limit { /*120*/\nprintln(r.name)\n}\n}", "uses 1.2", "Hand the condition", Info},
		{"a page of what is posted", "rows := s.posted(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi]", "a limit and an offset", Info},
		{"the number of what is posted", "println(len(s.posted(q)))", "", "", ""},
		{"one of what is made with a file removed", "rows := s.removed(q)\nprintln(rows[limit].name)", "", "", ""},
		{"a page of what is sent as well", "rows := s.sent(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi]", "a limit and an offset", Info},
		{"a page of what is executed", "rows := s.executed(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi]", "a limit and an offset", Info},
		{"the comparison of another list", "rows, _ := s.load(q)\nnames := s.names\nsort.Slice(names, func(i, j int) bool { return rows[i].at < rows[j].at })\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"records of a loop within a loop", "for range s.names { /*100*/\nfor i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\nif r.id == limit { /*300*/\ns.last = append(s.last, r)\n}\n}\n}", "500,000 records, of which main.(*store).work lets 300 through", "by id", Warning},
		{"the loop acts", "var rows []row\nfor i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\nrows = append(rows, r)\nos.Remove(r.name)\n}\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"the first of an unknown number", "rows := s.some(q)\nprintln(rows[0].name)", "", "", ""},
		{"empty each time, each would be used", "rows := s.none(q)\n/*100 80 0 1 79*/for _, r := range rows { /*0*/\nif err := s.drop(r); err != nil && q != \"\" { /*0*/\nprintln(err)\n}\n}", "", "", ""},
		{"empty each time, a condition", "rows := s.none(q)\n/*100 80 0 1 79*/for _, r := range rows { /*0*/\nif r.id == limit { /*0*/\nprintln(r.name)\n}\n}", "", "", ""},
		{"empty each time, by an index", "rows := s.none(q)\n/*100 80 0 1 79*/for i := 0; i < len(rows); i++ { /*0*/\nif rows[i].id == limit { /*0*/\nprintln(rows[i].name)\n}\n}", "", "", ""},
		{"empty each time, cut", "rows := s.none(q)\nshow(rows[/*0*/lo:hi/*0*/])", "", "", ""},
		{"few at times, each is used", "rows := s.none(q)\n/*100 80 8 8 71*/for _, r := range rows { /*10*/\nif err := s.drop(r); err != nil && q != \"\" { /*0*/\nprintln(err)\n}\n}", "", "", ""},
		{"many, of which none is wanted", "rows, _ := s.load(q)\n/*100 80 400000 80 0*/for _, r := range rows { /*500000*/\nif r.id == limit { /*0*/\nprintln(r.name)\n}\n}", "5,000 elements on average, of which main.(*store).work uses 0", "Hand the condition", Warning},
		{"all of it", "rows, _ := s.load(q)\nshow(rows)", "", "", ""},
		{"a large part", "rows, _ := s.load(q)\nshow(rows[/*5000*/lo:hi/*4900*/])", "", "", ""},
		{"it is gone through as well", "rows, _ := s.load(q)\n/*100 80 400000 80 0*/for _, r := range rows { /*500000*/\ns.n += r.at\n}\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"it is kept", "rows, _ := s.load(q)\ns.last = rows\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"it is set where others see it", "s.last, _ = s.load(q)\nshow(s.last[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"in batches", "rows, _ := s.load(q)\nfor lo := 0; lo < len(rows); lo += 100 { /*5000*/\nshow(rows[/*5000*/lo:lo+100/*100*/])\n}", "", "", ""},
		{"worked off", "rows, _ := s.load(q)\nfor len(rows) > 0 { /*25000*/\nn := min(20, len(rows))\nshow(rows[/*2500*/:n/*20*/])\nrows = rows[n:]\n}", "", "", ""},
		{"without its head", "rows, _ := s.load(q)\nshow(rows[1:])", "", "", ""},
		{"two halves", "rows, _ := s.load(q)\nshow(rows[/*5000*/:lo/*2500*/])\nshow(rows[/*5000*/lo:hi/*2500*/])", "", "", ""},
		{"each turn does something", "rows, _ := s.load(q)\n/*100 80 400000 80 0*/for _, r := range rows { /*500000*/\nprintln(r.name)\n}", "", "", ""},
		{"another goroutine has it", "rows, _ := s.load(q)\ngo show(rows)\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"a function without a name has it", "rows, _ := s.load(q)\nfunc() { show(rows) }()\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"an element is changed", "rows, _ := s.load(q)\nrows[0].n = 1\nrows[limit] = row{}\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"to a function that is not known", "rows, _ := s.load(q)\nprint(rows)\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"the loop does something else", "var rows []row\nfor i := 0; i < 5000; i++ { /*500000*/\nr := decode(q, i) // here2\ns.n += r.at\nrows = append(rows, r)\n}\nshow(rows[/*5000*/lo:hi/*20*/])", "", "", ""},
		{"it has an effect", "rows, _ := s.reload(q)\nshow(rows[/*5000*/lo:hi/*20*/])", "rows[lo:hi]", "a limit and an offset", Info},
	} {
		source := partsHead + partsLoad + partsPage + partsFinders + partsNone + strings.ReplaceAll(strings.Replace(partsLoad[:strings.Index(partsLoad, "func decode")], "(s *store) load", "(s *store) reload", 1), "return out", "s.last = out[:1:1]\nreturn out") +
			"func (s *store) work(q string, lo, hi, limit int) { /*100*/\n" + c.body + "\n}\n"
		frames := partFrames(c.body, source)
		r := countedRecording(t, source, "main.main:/src/main.go:400 "+frames)
		if strings.Contains(c.body, "eachText") {
			r = countedRecording(t, source, "main.main:/src/main.go:400 "+strings.Replace(frames, ".work:", ".work.func1:", 1))
		}
		f := answers(t, r, "CP29")[0]
		switch {
		case (f.State == Found) != (c.says != ""), !strings.Contains(f.Summary, c.says), !strings.Contains(f.Advice, c.advice):
			t.Errorf("%s: %s: %s → %s", c.name, f.State, f.Summary, f.Advice)
		case strings.Contains(f.Summary, "how many there are") != strings.Contains(c.says, "how many there are"):
			t.Errorf("%s: %s", c.name, f.Summary)
		case strings.Contains(c.body, "s.strict(") != strings.Contains(strings.Join(f.Doubts, " "), "an error in place of all"):
			t.Errorf("%s: %q", c.name, f.Doubts)
		case f.Severity != c.severity:
			t.Errorf("%s is %q: %s", c.name, f.Severity, strings.Join(slices.Concat([]string{f.Summary}, f.Doubts), "; "))
		}
	}
}
