package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP18Files: a file that is read and parsed for each request is told where the source shows
// its name to be the same in each, and not where it may be another one.
func TestCP18Files(t *testing.T) {
	// Line 3 opens and line 4 parses, below a call at line 8.
	rest := column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}}
	const handled = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.handle:/src/main.go:8 "
	direct := []column{{handled + "main.load:/src/main.go:3 os.ReadFile", []int64{20}}, {handled + "main.load:/src/main.go:4 encoding/json.Unmarshal", []int64{60}}, rest}
	// The file is read by what decodes, in a function that is given the file.
	stream := []column{{handled + "main.load:/src/main.go:4 main.decode:/src/main.go:12 encoding/json.(*Decoder).Decode os.(*File).Read", []int64{80}}, rest}
	once := []column{{"runtime.main main.main:/src/main.go:8 main.load:/src/main.go:3 os.ReadFile", []int64{20}}, {"runtime.main main.main:/src/main.go:8 main.load:/src/main.go:4 encoding/json.Unmarshal", []int64{60}}, rest}
	const decode = "\nfunc decode(r io.Reader) { // 11\n\tjson.NewDecoder(r).Decode(&v)\n}\n"
	for _, c := range []struct {
		name    string
		profile []column
		source  string
		call    string // empty where nothing is told
	}{
		{"a constant", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(\"app.json\")\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle(w http.ResponseWriter, r *http.Request) { // 7\n\tload(r.URL.Path)\n}\n", `os.ReadFile("app.json")`},
		{"a parameter that is a field of the receiver", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(x)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc (s *server) handle(w http.ResponseWriter, r *http.Request) { // 7\n\tload(filepath.Join(s.dir, \"a\"))\n}\n", "os.ReadFile(x)"},
		{"a variable of the package", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(*name)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle() { // 7\n\tload(\"\")\n}\n", "os.ReadFile(*name)"},
		{"what the function around has", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(x)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc main() { name := os.Args[1]; http.HandleFunc(\"/\", func(w http.ResponseWriter, r *http.Request) {\n\tload(name)\n})}\n", "os.ReadFile(x)"},
		{"a file of the kernel", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(\"/proc/self/stat\")\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle() { // 7\n\tload(\"\")\n}\n", ""},
		{"a constant name of one", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(name)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle() { // 7\n\tload(\"\")\n}\n\nconst name = \"/sys/class/net\"\n", ""},
		{"a variable with the name of one", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(name)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle() { // 7\n\tload(\"\")\n}\n\nvar name = \"/proc/stat\"\n", ""},
		{"a part of the path of one", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(filepath.Join(\"/proc\", id, \"stat\"))\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle() { // 7\n\tload(\"\")\n}\n\nvar id = \"1\"\n", ""},
		{"a file of the request", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(x)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc (s *server) handle(w http.ResponseWriter, r *http.Request) { // 7\n\tload(filepath.Join(s.dir, r.URL.Path))\n}\n", ""},
		{"a file of the request, by a variable", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(x)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc (s *server) handle(w http.ResponseWriter, r *http.Request) { name := s.dir + r.URL.Path\n\tload(name)\n}\n", ""},
		{"one of many files", direct, "func load(x string) {\n\ttext, _ := os.ReadFile(x)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle() { for _, name := range names {\n\tload(name)\n}}\n", ""},
		{"a name that is changed", direct, "func load(x string) { x = x + suffix()\n\ttext, _ := os.ReadFile(x)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle() { // 7\n\tload(\"a\")\n}\n", ""},
		{"a name from elsewhere", direct, "func load(x string) { name := next()\n\ttext, _ := os.ReadFile(name)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc handle() { // 7\n\tload(\"a\")\n}\n", ""},
		{"by a decoder that reads", stream, "func load(x string) {\n\tf, _ := os.Open(\"app.json\")\n\tdecode(f)\n}\n\nfunc handle() { // 7\n\tload(\"a\")\n}\n" + decode, `os.Open("app.json")`},
		{"by a decoder that reads the request's file", stream, "func load(x string) {\n\tf, _ := os.Open(x)\n\tdecode(f)\n}\n\nfunc handle() { // 7\n\tload(r.PathValue(\"name\"))\n}\n" + decode, ""},
		{"once", once, "func load(x string) {\n\ttext, _ := os.ReadFile(\"app.json\")\n\tjson.Unmarshal(text, &v)\n}\n\nfunc main() { // 7\n\tload(\"a\")\n}\n", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n-- source/main.go source from=/src/main.go --\npackage main\n" + c.source)
		withProfile(r, recording.CPU, "cpu", c.profile...)
		f := answers(t, r, "CP18")[0]
		if told := f.State == Found; told != (c.call != "") || told && !strings.Contains(f.Summary, "a file whose name is the same each time: "+c.call+" in main.load at main.go:3") {
			t.Errorf("%s: %s: %s", c.name, f.State, f.Summary)
		}
	}
}

// TestCP18Written: a file that the program writes itself while it runs differs each time: a remark
// with the line that writes; one that is written at the start does not.
func TestCP18Written(t *testing.T) {
	const handled = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.handle:/src/main.go:8 "
	const source = "func load(x string) {\n\ttext, _ := os.ReadFile(x)\n\tjson.Unmarshal(text, &v)\n}\n\nfunc (s *server) handle(w http.ResponseWriter, r *http.Request) { // 7\n\tload(s.file)\n}\n"
	for _, c := range []struct {
		name, writes string
		severity     Severity
		says         string
	}{
		{"nobody", "", Warning, ""},
		{"another file", "func (s *server) save() {\n\tos.WriteFile(s.log, b, 0o644)\n}\n", Warning, ""},
		{"at the start", "func newServer() *server {\n\tos.WriteFile(s.file, b, 0o644)\n}\n", Warning, ""},
		{"by a save", "func (s *server) save() {\n\tos.WriteFile(s.file, b, 0o644)\n}\n", Info, "the program writes the file itself (main.go:11)"},
		{"by a rename", "func (s *server) save() {\n\tos.Rename(tmp, s.file)\n}\n", Info, "the program writes the file itself (main.go:11)"},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n-- source/main.go source from=/src/main.go --\npackage main\n" + source + c.writes)
		withProfile(r, recording.CPU, "cpu", column{handled + "main.load:/src/main.go:3 os.ReadFile", []int64{20}}, column{handled + "main.load:/src/main.go:4 encoding/json.Unmarshal", []int64{60}}, column{"net/http.(*conn).serve main.other:/src/other.go:3", []int64{20}})
		f := expect(t, c.name, r, "CP18", Found, c.says)
		severity(t, c.name, f, c.severity)
	}
}
