package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP24Counted: where blocks were counted, it is known how often the result is used, and a function that the result is handed to may ask.
func TestCP24Counted(t *testing.T) {
	const head = "package main\n\nimport \"fmt\"\n\ntype job struct{ id int }\n\nvar color, last = false, 0\n\nfunc summed(j *job) int { n := 0; for i := range j.id { n += i }; return n }\n"
	const show = "func show(title string, n int) { /*900*/\nfmt.Println(title)\nif !color { /*900*/\nreturn\n}\nfmt.Println(n)\n}\n"
	for _, c := range []struct{ name, source, says, advice string }{
		{"never", "func step(j *job) { /*900*/\nn := summed(j) // work\nif color { /*0*/\nlast = n\n}\n}\n", "none of 900 came there", "Ask first: do the work in the branch"},
		{"seldom", "func step(j *job) { /*900*/\nn := summed(j) // work\nif !color { /*890*/\nreturn\n}\nlast = n\n}\n", "10 of 900 came there", "Ask first: move the work"},
		{"often, and too cheap for samples", "func step(j *job) { /*900*/\nn := summed(j) // work\nif color { /*300*/\nlast = n\n}\n}\n", "", ""},
		{"by a function that it is handed to", show + "func step(j *job) { /*900*/\nn := summed(j) // work\nshow(\"a\", n)\nshow(\"b\", n)\n}\n", "only by show, behind the check at line 12 (if !color), which leaves before; in the run that counts, none of 900 came there", "Ask first what show asks"},
		{"in a branch of it", "func show(n int) { /*900*/\nif color { /*2*/\nfmt.Println(n)\n}\n}\nfunc step(j *job) { /*900*/\nn := summed(j) // work\nshow(n)\n}\n", "2 of 900 came there", "Ask first what show asks"},
		{"it uses it always", "func show(n int) { /*900*/\nfmt.Println(n)\nif color { /*2*/\nfmt.Println(n)\n}\n}\nfunc step(j *job) { /*900*/\nn := summed(j) // work\nshow(n)\n}\n", "", ""},
		{"it uses it often", "func show(n int) { /*900*/\nif color { /*200*/\nfmt.Println(n)\n}\n}\nfunc step(j *job) { /*900*/\nn := summed(j) // work\nshow(n)\n}\n", "", ""},
		{"one of two uses it", show + "func tell(n int) { fmt.Println(n) }\nfunc step(j *job) { /*900*/\nn := summed(j) // work\nshow(\"a\", n)\ntell(n)\n}\n", "", ""},
		{"the condition is about it", "func show(n int) { /*900*/\nif n > 3 { /*2*/\nfmt.Println(n)\n}\n}\nfunc step(j *job) { /*900*/\nn := summed(j) // work\nshow(n)\n}\n", "", ""},
		{"it is returned as well", show + "func step(j *job) int { /*900*/\nn := summed(j) // work\nshow(\"a\", n)\nreturn n\n}\n", "", ""},
		{"a function of another package", "func step(j *job) { /*900*/\nn := summed(j) // work\nfmt.Println(n)\n}\n", "", ""},
	} {
		source := head + c.source + "func main() { step(&job{}) }\n"
		at := 1 + strings.Count(source[:strings.Index(source, "// work")], "\n")
		r := countedRecording(t, source, fmt.Sprintf("main.main:/src/main.go:400 main.step:/src/main.go:%d main.summed:/src/main.go:9", at))
		f := answers(t, r, "CP24")[0]
		switch {
		case (f.State == Found) != (c.says != ""), !strings.Contains(f.Summary, c.says), !strings.Contains(f.Advice, c.advice):
			t.Errorf("%s: %s: %s → %s", c.name, f.State, f.Summary, f.Advice)
		case f.State == Found && f.Severity != Warning:
			t.Errorf("%s is %s", c.name, f.Severity)
		}
	}
}

// TestCP24: work whose result only a later condition lets be used is told where no sample is behind it; the source has to
// show that it can be done there as well.
func TestCP24(t *testing.T) {
	const branch, leaves = "used only in the branch at line", "which leaves before"
	for _, c := range []struct {
		name, body string
		says       string // empty where nothing is found
		severity   Severity
	}{
		{"a message of a level that is off", "msg := describe(j)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}", branch, Warning},
		{"behind a return", "msg := describe(j)/*work*/\nif !verbose {\nreturn\n}\nfmt.Println(msg)/*use*/", leaves, Warning},
		{"in a loop, behind continue", "for range 3 {\nmsg := describe(j)/*work*/\nif !verbose {\ncontinue\n}\nfmt.Println(msg)/*use*/\n}", leaves, Warning},
		{"its error is checked between", "msg, err := parsed(j)/*work*/\nif err != nil {\nreturn\n}\nif verbose {\nfmt.Println(msg)/*use*/\n}", branch, Warning},
		{"what is made of it goes with it", "msg := describe(j)/*work*/\nup := strings.ToUpper(msg)\nif verbose {\nfmt.Println(up)/*use*/\n}", branch, Warning},
		{"a loop that fills a list", "var all []string\nfor range 3 {\nall = append(all, describe(j))/*work*/\n}\nif verbose {\nfmt.Println(all)/*use*/\n}", branch, Warning},
		{"a cache is asked afterwards", "msg := describe(j)/*work*/\nif _, ok := known[j.id]; ok {\nreturn\n}\nfmt.Println(msg)/*use*/", leaves, Warning},
		{"a method of its own writes", "msg := describe(j)/*work*/\nif verbose {\nj.say(msg)/*use*/\n}", branch, Warning},
		{"what is behind may cost nothing", "msg := describe(j)/*work*/\nif verbose {\nlast = msg/*use*/\n}", branch, Info},
		{"samples are there", "msg := describe(j)/*work*/\nif verbose {\nfmt.Println(msg)/*used*/\n}", "", ""},
		{"used elsewhere as well", "msg := describe(j)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}\nlast = msg", "", ""},
		{"used in the other branch", "msg := describe(j)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n} else {\nlast = msg\n}", "", ""},
		{"the condition is about it", "msg := describe(j)/*work*/\nif msg != \"\" {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"it counts", "n := j.count()/*work*/\nif verbose {\nfmt.Println(n)/*use*/\n}", "", ""},
		{"what it reads changes between", "msg := describe(j)/*work*/\nj.id++\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"a variable that it reads changes between", "n := 1\nmsg := strings.Repeat(describe(j), n)/*work*/\nn = 2\nif verbose {\nfmt.Println(msg, n)/*use*/\n}", "", ""},
		{"a field of something else is set between", "msg := describe(j)/*work*/\nt.n++\nt.sum += len(out)\nif verbose {\nfmt.Println(msg)/*use*/\n}", branch, Warning},
		{"a loop counts between, for something else", "msg := describe(j)/*work*/\nn := 0\nfor i := range j.id {\nn += i\nif n > 3 {\nt.n = n\n}\n}\nt.sum += n\nif verbose {\nfmt.Println(msg)/*use*/\n}", branch, Warning},
		{"a variable of the package is set between", "msg := describe(j)/*work*/\nsteps++\nif verbose {\nfmt.Println(msg)/*use*/\n}", branch, Warning},
		{"it computes a number, and a field that it does not read is set", "n := summed(&job{id: t.sum})/*work*/\nt.n++\nif verbose {\nfmt.Println(n)/*use*/\n}", branch, Info},
		{"a result of a library's type", "msg := hex.EncodeToString(src)/*work*/\nt.n++\nif verbose {\nfmt.Println(msg)/*use*/\n}", branch, Warning},
		{"the field that the work reads", "n := summed(&job{id: t.n})/*work*/\nt.n++\nif verbose {\nfmt.Println(n)/*use*/\n}", "", ""},
		{"a field of what the work is given as a whole", "msg := fmt.Sprint(t)/*work*/\nt.n++\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"a field of what an interface may hold", "msg := fmt.Sprint(some)/*work*/\nt.n++\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"a variable of the package that the work reads", "msg := fmt.Sprint(steps)/*work*/\nsteps++\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"a call changes something between", "msg := describe(j)/*work*/\nt.n = j.count()\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"an element is set between", "msg := describe(j)/*work*/\nt.all[0] = 1\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"it may leave between", "msg := describe(j)/*work*/\nfor t.n < 9 {\nt.n++\nif t.sum > 3 {\nreturn\n}\n}\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"the condition moves on", "msg := describe(j)/*work*/\nif !j.next() {\nreturn\n}\nfmt.Println(msg)/*use*/", "", ""},
		{"the next turn uses it", "msg := \"\"\nfor range 3 {\nfmt.Print(len(msg))\nmsg = describe(j)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}\n}", "", ""},
		{"a lock is taken between", "msg := describe(j)/*work*/\nmu.Lock()\nif !verbose {\nmu.Unlock()\nreturn\n}\nfmt.Println(msg)/*use*/", "", ""},
		{"it is sent between", "msg := describe(j)/*work*/\nout <- 1\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"a deferred function uses it", "msg := \"\"\ndefer func() { last = msg }()\nmsg = describe(j)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"a result with a name", "res = describe(j)/*work*/\nif !verbose {\nreturn\n}\nfmt.Println(res)/*use*/\nreturn", "", ""},
		{"it waits for somebody", "msg := <-in/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"it moves a cursor of the function's own", "c := &job{}\nmsg := c.moved()/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}\nfmt.Print(c.id)", "", ""},
		{"it fills a map that is used later", "seen := map[int]bool{}\nmsg := j.noted(seen)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}\nfmt.Print(len(seen))", "", ""},
		{"it writes to a builder that is used later", "var b strings.Builder\nb.WriteString(describe(j))/*work*/\nmsg := b.String()\nif verbose {\nfmt.Println(msg)/*use*/\n}\nfmt.Print(b.Len())", "", ""},
		{"a builder of its own", "var b strings.Builder\nb.WriteString(describe(j))/*work*/\nmsg := b.String()\nif verbose {\nfmt.Println(msg)/*use*/\n}", branch, Warning},
		{"it sorts what is used later", "list := []int{3, 1, j.id}\nmsg := middle(list)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}\nfmt.Print(list[0])", "", ""},
		{"it encodes into what it is given", "n := hexInto(buf, src)/*work*/\nif verbose {\nfmt.Println(n)/*use*/\n}\nfmt.Print(buf[0])", "", ""},
		{"it appends into memory that others have", "n := appendTo(buf[:0], j)/*work*/\nif verbose {\nfmt.Println(n)/*use*/\n}\nfmt.Print(buf[0])", "", ""},
		{"the condition asks the clock", "msg := describe(j)/*work*/\nif time.Now().After(end) {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"a function asks the clock", "msg := describe(j)/*work*/\nif late() {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"a panic of it is asked for", "defer func() { recover() }()\nmsg := describe(j)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
		{"the check jumps to a use", "msg := describe(j)/*work*/\nif !verbose {\ngoto end\n}\nfmt.Println(msg)/*use*/\nend:\nlast = msg", "", ""},
		{"it is written at times", "msg := describe(j)/*work*/\nif verbose {\nlast = msg/*use*/\nif j.id%1000 == 0 {\nfmt.Println(last)\n}\n}", branch, Info},
		{"it computes a number", "n := summed(j)/*work*/\nif verbose {\nfmt.Println(n)/*use*/\n}", branch, Info},
		{"it logs", "msg := loud(j)/*work*/\nif verbose {\nfmt.Println(msg)/*use*/\n}", "", ""},
	} {
		source := "package main\n\nimport (\n\"fmt\"\n\"encoding/hex\"\n\"sort\"\n\"strings\"\n\"sync\"\n\"time\"\n)\n\ntype job struct{ id int }\n\nvar (\nt = &tally{}\nsteps int\nsome any\nverbose bool\nlast string\nknown = map[int]bool{}\nmu sync.Mutex\nout = make(chan int)\nin = make(chan string)\nend time.Time\nbuf, src = make([]byte, 9), make([]byte, 9)\n)\n" +
			"type tally struct{ n, sum int; all []int }\n" +
			"func describe(j *job) string { return fmt.Sprintf(\"job %v\", j) }\n" +
			"func parsed(j *job) (string, error) { return strings.ToLower(describe(j)), nil }\n" +
			"func (j *job) moved() string { j.id++; return fmt.Sprint(j.id) }\n" +
			"func (j *job) noted(seen map[int]bool) string { seen[j.id] = true; return fmt.Sprint(len(seen)) }\n" +
			"func middle(list []int) string { sort.Ints(list); return fmt.Sprint(list[len(list)/2]) }\n" +
			"func hexInto(dst, src []byte) int { return hex.Encode(dst, src) }\n" +
			"func appendTo(dst []byte, j *job) int { dst = append(dst, byte(j.id)); return len(dst) }\n" +
			"func late() bool { return time.Now().After(end) }\n" +
			"func summed(j *job) int { n := 0; for i := range j.id { n += i }; return n }\n" +
			"func loud(j *job) string { fmt.Println(j); return \"\" }\n" +
			"func (j *job) say(s string) { fmt.Println(s, j.id) }\n" +
			"func (j *job) count() int { j.id++; return j.id }\n" +
			"func (j *job) next() bool { j.id++; return j.id < 9 }\n" +
			"func step(j *job) (res string) {\n" + c.body + "\nreturn \"\"\n}\n\nfunc main() { step(&job{}) }\n"
		line := func(mark string) int { return 1 + strings.Count(source[:max(0, strings.Index(source, mark))], "\n") }
		way := fmt.Sprintf("main.main:/src/main.go:400 main.step:/src/main.go:%d", line("/*work*/"))
		leaf := " fmt.Sprintf"
		if strings.Contains(c.name, "number") {
			leaf = " main.summed:/src/main.go:30"
		}
		cols := []column{{way + " main.describe:/src/main.go:20" + leaf, []int64{80}}, {"main.main:/src/main.go:400 main.other:/src/other.go:3", []int64{20}}}
		if strings.Contains(source, "/*used*/") {
			cols = append(cols, column{fmt.Sprintf("main.main:/src/main.go:400 main.step:/src/main.go:%d fmt.Println", line("/*used*/")), []int64{10}})
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", cols...)
		f := answers(t, r, "CP24")[0]
		switch {
		case (f.State == Found) != (c.says != ""), !strings.Contains(f.Summary, c.says):
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		case f.State == Found && f.Severity != c.severity:
			t.Errorf("%s is %s", c.name, f.Severity)
		}
	}
}
