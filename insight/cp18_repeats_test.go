package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// lineOfMark is the line of a source that ends with a comment; 0 for none.
func lineOfMark(text, mark string) int {
	i := strings.Index(text, "// "+mark+"\n")
	if i < 0 {
		return 0
	}
	return 1 + strings.Count(text[:i], "\n")
}

// stackAt writes a stack for a profile: the marks of a source are in the place of its lines.
func stackAt(text, frames string) string {
	for _, mark := range []string{"A", "B", "C", "D"} {
		frames = strings.ReplaceAll(frames, "@"+mark, fmt.Sprintf(":/src/main.go:%d", lineOfMark(text, mark)))
	}
	return frames
}

// askedAgain makes a recording of a source and one stack that takes most of the CPU time, and asks CP18.
func askedAgain(t *testing.T, source, frames string) Finding {
	text := "package main\n\nimport (\n\t\"net/http\"\n\t\"time\"\n)\n\n" + source
	r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
	r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(text))
	withProfile(r, recording.CPU, "cpu", column{stackAt(text, frames), []int64{80}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
	return answers(t, r, "CP18")[0]
}

// TestCP18RepeatedCalls: a share of the CPU time does not show that a call is repeated, nor a constant
// that its arguments are the same: the source has to show a loop, a server or many goroutines around
// the call, arguments that no loop changes, and a result that nobody has to have for himself.
func TestCP18RepeatedCalls(t *testing.T) {
	const (
		build  = "func buildIndex(n int) *Index {\n\tx := &Index{}\n\tfor i := range n {\n\t\tx.add(i) // A\n\t}\n\treturn x\n}\n\ntype Index struct{ all []int }\n\nfunc (x *Index) add(i int) { x.all = append(x.all, i) }\n\nfunc (x *Index) has(i int) bool { return len(x.all) > i }\n\n"
		main   = "runtime.main main.main@B main.buildIndex@A runtime.growslice"
		served = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.handle@B main.buildIndex@A runtime.growslice"
		own    = "main.work@B main.buildIndex@A runtime.growslice"
	)
	for _, c := range []struct{ name, frames, source, says string }{ // says is "" for nothing
		{"in a loop", main, build + "func main() {\n\tfor {\n\t\tx := buildIndex(500) // B\n\t\tuse(x.has(3))\n\t}\n}\n", "with the same arguments"},
		{"for each request", served, build + "func handle(w http.ResponseWriter, r *http.Request) {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n", "with the same arguments"},
		{"on goroutines that a loop starts", own, build + "func work() {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n\nfunc serve() {\n\tfor {\n\t\taccept()\n\t\tgo work()\n\t}\n}\n", "with the same arguments"},
		{"on goroutines of a group that a loop starts", "sync.(*WaitGroup).Go.func1 " + own, build + "func work() {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n\nfunc serve() {\n\tfor range 100 {\n\t\twg.Go(work)\n\t}\n}\n", "with the same arguments"},
		{"from time to time", main, build + "func main() {\n\tfor {\n\t\tif time.Since(last) > time.Minute {\n\t\t\tx := buildIndex(500) // B\n\t\t\tuse(x.has(3))\n\t\t}\n\t}\n}\n", "that look the same each time"},

		{"first of all in main", main, build + "func main() {\n\tx := buildIndex(500) // B\n\tfor {\n\t\tuse(x.has(3))\n\t}\n}\n", ""},
		{"what a loop goes through", main, build + "func main() {\n\tfor i := range buildIndex(500).all { // B\n\t\tuse(i)\n\t}\n}\n", ""},
		{"what a loop begins with", main, build + "func main() {\n\tfor x := buildIndex(500); x.has(3); next() { // B\n\t\tuse(x)\n\t}\n}\n", ""},
		{"a goroutine that is started once", own, build + "func work() {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n\nfunc main() {\n\tgo work()\n}\n", ""},
		{"a goroutine of a group, once", "sync.(*WaitGroup).Go.func1 " + own, build + "func work() {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n\nfunc main() {\n\twg.Go(work)\n}\n", ""},
		{"a test", "testing.tRunner " + own, build + "func work() {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n", ""},
		{"under a sync.Once of a handler", "net/http.(*conn).serve main.handle@C sync.(*Once).Do sync.(*Once).doSlow main.setup@B main.buildIndex@A runtime.growslice", build + "func setup() {\n\tx = buildIndex(500) // B\n}\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tonce.Do(setup) // C\n}\n", ""},
		{"when it is not there yet", served, build + "func handle(w http.ResponseWriter, r *http.Request) {\n\tif index == nil {\n\t\tindex = buildIndex(500) // B\n\t}\n\tuse(index.has(3))\n}\n", ""},
		{"when a map has none", served, build + "func handle(w http.ResponseWriter, r *http.Request) {\n\tx, ok := known[500]\n\tif ok {\n\t\treturn\n\t}\n\tx = buildIndex(500) // B\n\tknown[500] = x\n}\n", ""},
		{"when an atomic has none", served, build + "func handle(w http.ResponseWriter, r *http.Request) {\n\tif x := index.Load(); x != nil {\n\t\treturn\n\t}\n\ty := buildIndex(500) // B\n\tindex.Store(y)\n}\n", ""},

		{"until it succeeds", main, strings.Replace(build, ") *Index {", ") (*Index, error) {", 1) + "func main() {\n\tvar x *Index\n\tfor {\n\t\tvar err error\n\t\tx, err = buildIndex(500) // B\n\t\tif err == nil {\n\t\t\tbreak\n\t\t}\n\t\ttime.Sleep(time.Second)\n\t}\n\tuse(x.has(3))\n}\n", ""},
		{"one of some steps", "runtime.main main.main@C main.load@B main.buildIndex@A runtime.growslice", build + "func load() {\n\tindex = buildIndex(500) // B\n}\n\nfunc main() {\n\tfor _, step := range []func(){open, load, serve} {\n\t\tstep() // C\n\t}\n}\n", ""},
		{"one of some services", "runtime.main main.main@C main.(*search).start@B main.buildIndex@A runtime.growslice", build + "type service interface{ start() }\n\ntype search struct{ index *Index }\n\nfunc (s *search) start() {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n\nfunc main() {\n\tall := []service{&search{}, &other{}}\n\tfor _, s := range all {\n\t\ts.start() // C\n\t}\n}\n", ""},
		{"a service that is started again", "runtime.main main.main@C main.(*search).start@B main.buildIndex@A runtime.growslice", build + "type search struct{ name string }\n\nfunc (s *search) start() {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n\nvar only search\n\nfunc main() {\n\tfor range 500 {\n\t\tonly.start() // C\n\t}\n}\n", "with the same arguments"},
		{"a goroutine that is started once with a context", own, build + "func work() {\n\tx := buildIndex(500) // B\n\tuse(x.has(3))\n}\n\nfunc run(ctx context.Context) {\n\tgo work()\n}\n\nfunc main() {\n\trun(ctx)\n}\n", ""},
		{"of what another one changes", served, "func buildIndex(n int) *Index {\n\tx := &Index{}\n\tfor i := range n {\n\t\tx.all = append(x.all, items[i]) // A\n\t}\n\treturn x\n}\n\nvar items []int\n\ntype Index struct{ all []int }\n\nfunc put(w http.ResponseWriter, r *http.Request) { items = append(items, 3) }\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tx := buildIndex(500) // B\n\tuse(len(x.all))\n}\n", "that look the same each time"},
		{"somebody fills what is given", main, strings.Replace(build, ") *Index {", ") []int {", 1) + "func fill(x []int, v int) {\n\tx[0] = v\n}\n\nfunc main() {\n\tfor {\n\t\tx := buildIndex(500) // B\n\t\tfill(x, next())\n\t}\n}\n", ""},

		{"a counter", main, build + "func main() {\n\tfor i := 0; i < 1000; i++ {\n\t\tx := buildIndex(i) // B\n\t\tuse(x.has(3))\n\t}\n}\n", ""},
		{"a counter, by a function in between", "runtime.main main.main@C main.each@B main.buildIndex@A runtime.growslice", build + "func each(n int) {\n\tx := buildIndex(n) // B\n\tuse(x.has(3))\n}\n\nfunc main() {\n\tfor i := 0; ; i++ {\n\t\teach(i) // C\n\t}\n}\n", ""},
		{"a counter that a function without a name has", "main.main.func1@B main.buildIndex@A runtime.growslice", build + "func main() {\n\tfor i := 0; i < 1000; i++ {\n\t\tgo func() {\n\t\t\tx := buildIndex(i) // B\n\t\t\tuse(x.has(3))\n\t\t}()\n\t}\n}\n", ""},
		{"an item that a function without a name has", "main.main.func1@B main.buildIndex@A runtime.growslice", build + "func main() {\n\tfor _, t := range tasks {\n\t\tgo func() {\n\t\t\tx := buildIndex(t.size) // B\n\t\t\tuse(x.has(3))\n\t\t}()\n\t}\n}\n", ""},
		{"a size that is read", main, build + "func main() {\n\tfor {\n\t\tn := 0\n\t\tfmt.Sscan(line(), &n)\n\t\tx := buildIndex(n) // B\n\t\tuse(x.has(3))\n\t}\n}\n", ""},
		{"a field of each item", "runtime.main main.main@D main.(*task).run@C main.each@B main.buildIndex@A runtime.growslice", build + "func each(n int) {\n\tx := buildIndex(n) // B\n\tuse(x.has(3))\n}\n\ntype task struct{ size int }\n\nfunc (t *task) run() {\n\teach(t.size) // C\n}\n\nfunc main() {\n\tfor _, t := range tasks {\n\t\tt.run() // D\n\t}\n}\n", ""},

		{"one for each holder", main, build + "func main() {\n\tfor {\n\t\tall = append(all, buildIndex(500)) // B\n\t}\n}\n", ""},
		{"one for each holder, in a literal", main, build + "func main() {\n\tfor {\n\t\tx := buildIndex(500) // B\n\t\tall = append(all, shard{index: x})\n\t}\n}\n", ""},
		{"one for each key", main, build + "func main() {\n\tfor {\n\t\tx := buildIndex(500) // B\n\t\tall[next()] = x\n\t}\n}\n", ""},
		{"one for each receiver", main, build + "func main() {\n\tfor {\n\t\tout <- buildIndex(500) // B\n\t}\n}\n", ""},
		{"one for each holder, which a function returns", "runtime.main main.main@C main.fresh@B main.buildIndex@A runtime.growslice", build + "func fresh() *Index {\n\treturn buildIndex(500) // B\n}\n\nfunc main() {\n\tfor {\n\t\tall = append(all, fresh()) // C\n\t}\n}\n", ""},
		{"somebody changes a field later", main, build + "func (x *Index) drop() { x.all = nil }\n\nfunc main() {\n\tfor {\n\t\tx := buildIndex(500) // B\n\t\tx.drop()\n\t}\n}\n", ""},
		{"somebody else changes an element later", main, build + "func mark(all *Index) {\n\tall.all[0] = 7\n}\n\nfunc main() {\n\tfor {\n\t\tx := buildIndex(500) // B\n\t\tmark(x)\n\t}\n}\n", ""},
		{"a field of something new", main, build + "func main() {\n\tfor {\n\t\tx := &shard{index: buildIndex(500)} // B\n\t\tuse(x)\n\t}\n}\n", "that look the same each time"},
	} {
		f := askedAgain(t, c.source, c.frames)
		if told := f.State == Found; told != (c.says != "") || told && !strings.Contains(f.Summary, "repeated calls of main.buildIndex in main.") || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		} else if told && (f.Severity == Warning) != (c.says == "with the same arguments") {
			t.Errorf("%s: %s", c.name, f.Severity)
		}
	}
}

// TestCP18Items: what a loop makes for each of its items is not the same work again, unless the whole
// loop is repeated for the same ones.
func TestCP18Items(t *testing.T) {
	const (
		marshal = " crypto/x509.MarshalPKIXPublicKey encoding/asn1.Marshal"
		serve   = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP "
	)
	for _, c := range []struct {
		name, frames, source string
		state                State
		severity             Severity
	}{
		{"the same key in a loop", "runtime.main main.main@B main.(*signer).print@A" + marshal, "func (s *signer) print() {\n\tder, _ := x509.MarshalPKIXPublicKey(&s.key.PublicKey) // A\n\tuse(der)\n}\n\nfunc main() {\n\tfor {\n\t\ts.print() // B\n\t}\n}\n", Found, Warning},
		{"the same keys for each request", serve + "main.(*api).handle@A" + marshal, "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tfor _, d := range a.devices {\n\t\tder, _ := x509.MarshalPKIXPublicKey(d.key) // A\n\t\tw.Write(der)\n\t}\n}\n", Found, Warning},
		{"the same keys by a counter", serve + "main.(*api).handle@A" + marshal, "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tfor i := 0; i < len(a.devices); i++ {\n\t\tk := a.devices[i].key\n\t\tder, _ := x509.MarshalPKIXPublicKey(k) // A\n\t\tw.Write(der)\n\t}\n}\n", Found, Warning},
		{"those that a request asks for", serve + "main.(*api).handle@A" + marshal, "func (a *api) handle(w http.ResponseWriter, r *http.Request) {\n\tfor _, d := range a.find(r.Host) {\n\t\tder, _ := x509.MarshalPKIXPublicKey(d.key) // A\n\t\tw.Write(der)\n\t}\n}\n", Found, Info},
		{"each key once", "runtime.main main.main@B main.export@A" + marshal, "func export(ds []device) {\n\tfor _, d := range ds {\n\t\tder, _ := x509.MarshalPKIXPublicKey(d.key) // A\n\t\tuse(der)\n\t}\n}\n\nfunc main() {\n\tfor {\n\t\tds, err := enroll(200)\n\t\tcheck(err)\n\t\texport(ds) // B\n\t}\n}\n", Fine, ""},
		{"each key once, by a method of the item", "runtime.main main.main@B main.(*device).export@A" + marshal, "func (d *device) export() {\n\tder, _ := x509.MarshalPKIXPublicKey(d.key) // A\n\tuse(der)\n}\n\nfunc main() {\n\tfor _, d := range devices() {\n\t\td.export() // B\n\t}\n}\n", Fine, ""},
		{"each key once, on goroutines", "main.main.func1@A" + marshal, "func main() {\n\tfor _, d := range ds {\n\t\tgo func(k *ecdsa.PublicKey) {\n\t\t\tder, _ := x509.MarshalPKIXPublicKey(k) // A\n\t\t\tuse(der)\n\t\t}(d.key)\n\t}\n}\n", Fine, ""},
		{"each key of a queue", "main.work@A" + marshal, "func work() {\n\tfor d := range queue {\n\t\tder, _ := x509.MarshalPKIXPublicKey(d.key) // A\n\t\tuse(der)\n\t}\n}\n", Fine, ""},
		{"a key that each keeps", "runtime.main main.main@B main.enroll@A crypto/ecdsa.GenerateKey crypto/internal/x", "func enroll(n int) (ds []device) {\n\tfor i := range n {\n\t\tk, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // A\n\t\tds = append(ds, device{i, k})\n\t}\n\treturn ds\n}\n\nfunc main() {\n\tfor {\n\t\tenroll(200) // B\n\t}\n}\n", Fine, ""},
		{"a key that signs one thing", "runtime.main main.main@B main.sign@A crypto/ecdsa.GenerateKey crypto/internal/x", "func sign(b []byte) []byte {\n\tk, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // A\n\treturn by(k, b)\n}\n\nfunc main() {\n\tfor {\n\t\tsign(next()) // B\n\t}\n}\n", Found, Warning},
		{"a template of each page", "runtime.main main.main@A text/template.(*Template).Parse text/template/parse.Parse", "func main() {\n\tfor _, p := range pages {\n\t\tt, _ := template.New(\"x\").Parse(p.text) // A\n\t\tuse(t)\n\t}\n}\n", Found, Info},
		{"one template for each page", "runtime.main main.main@A text/template.(*Template).Parse text/template/parse.Parse", "func main() {\n\tfor _, p := range pages {\n\t\tt, _ := template.New(\"x\").Parse(layout) // A\n\t\tuse(t, p)\n\t}\n}\n", Found, Warning},
		{"a user's name for each file", "runtime.main main.main@A os/user.LookupId os/user.lookupUserId", "func main() {\n\tfor _, f := range files {\n\t\tu, _ := user.LookupId(f.uid) // A\n\t\tuse(u)\n\t}\n}\n", Found, Warning},
		{"when it is not there yet", serve + "main.handle@A text/template.(*Template).Parse text/template/parse.Parse", "func handle(w http.ResponseWriter, r *http.Request) {\n\tif page == nil {\n\t\tpage, _ = template.New(\"x\").Parse(layout) // A\n\t}\n\tuse(page)\n}\n", Fine, ""},
	} {
		f := askedAgain(t, c.source, c.frames)
		if f.State != c.state || f.State == Found && f.Severity != c.severity {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Summary)
		}
		if f.Severity == Info && f.State == Found {
			doubted(t, f, "if each of these is another")
			if f.Advice != itemAdvice {
				t.Errorf("%s: %s", c.name, f.Advice)
			}
		}
	}
}
