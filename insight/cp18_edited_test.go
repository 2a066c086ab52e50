package insight

import (
	"strings"
	"testing"
)

// TestCP18Edited: what is made of files can be kept as long as these do not change: one that the program
// writes while it runs is a remark, and of others the advice says when to read them again.
func TestCP18Edited(t *testing.T) {
	const (
		serve   = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP "
		parse   = serve + "main.page@A html/template.ParseFiles html/template.(*Template).Parse"
		execute = serve + "main.page@B html/template.(*Template).Execute html/template.escapeTemplate"
		key     = serve + "main.sign@A crypto/x509.ParsePKCS8PrivateKey encoding/asn1.Unmarshal"
		page    = "func page(w http.ResponseWriter, r *http.Request) {\n\tt, _ := template.ParseFiles(filepath.Join(dir, \"a.tmpl\"), filepath.Join(dir, \"b.tmpl\")) // A\n\tt.Execute(w, data(r)) // B\n}\n\nfunc start() { http.HandleFunc(\"/edit\", edit) }\n\n"
		signs   = "func sign(w http.ResponseWriter, r *http.Request) {\n\tb, _ := os.ReadFile(filepath.Join(dir, \"key.pem\"))\n\tp, _ := pem.Decode(b)\n\tk, _ := x509.ParsePKCS8PrivateKey(p.Bytes) // A\n\tuse(w, k, r)\n}\n\n"
	)
	for _, c := range []struct {
		name, frames, source string
		severity             Severity
		says                 string
	}{
		{"files", parse, page, Warning, "when its modification time (os.Stat) has changed"},
		{"files, executed", execute, page, Warning, "when its modification time (os.Stat) has changed"},
		{"a key", key, signs, Warning, "when its modification time (os.Stat) has changed"},
		{"a text", parse, "func page(w http.ResponseWriter, r *http.Request) {\n\tt, _ := template.New(\"x\").Parse(layout) // A\n\tt.Execute(w, data(r))\n}\n", Warning, ""},
		{"files that the program writes at its start", parse, page + "func main() {\n\tos.WriteFile(filepath.Join(dir, \"a.tmpl\"), text, 0o644)\n}\n", Warning, "when its modification time (os.Stat) has changed"},
		{"other files that it writes", parse, page + "func edit(w http.ResponseWriter, r *http.Request) {\n\tos.WriteFile(filepath.Join(dir, \"c.tmpl\"), text(r), 0o644)\n}\n", Warning, "when its modification time (os.Stat) has changed"},
		{"files of the name elsewhere", parse, page + "func edit(w http.ResponseWriter, r *http.Request) {\n\tos.WriteFile(filepath.Join(out, \"a.tmpl\"), text(r), 0o644)\n}\n", Warning, "when its modification time (os.Stat) has changed"},
		{"files that it writes", parse, page + "func edit(w http.ResponseWriter, r *http.Request) {\n\tos.WriteFile(filepath.Join(dir, \"a.tmpl\"), text(r), 0o644)\n}\n", Info, "only when the program has written it"},
		{"files that it writes, executed", execute, page + "func edit(w http.ResponseWriter, r *http.Request) {\n\tos.WriteFile(filepath.Join(dir, \"a.tmpl\"), text(r), 0o644)\n}\n", Info, "only when the program has written it"},
		{"files that it writes by a function", parse, page + "func save(name string, text []byte) {\n\tos.WriteFile(name, text, 0o644)\n}\n\nfunc edit(w http.ResponseWriter, r *http.Request) {\n\tsave(filepath.Join(dir, \"b.tmpl\"), text(r))\n}\n", Info, "only when the program has written it"},
		{"files of a pattern that it writes", strings.Replace(parse, "ParseFiles", "ParseGlob", 1), strings.Replace(page, "ParseFiles(filepath.Join(dir, \"a.tmpl\"), filepath.Join(dir, \"b.tmpl\"))", "ParseGlob(dir + \"/*.tmpl\")", 1) + "func edit(w http.ResponseWriter, r *http.Request) {\n\tos.WriteFile(dir+\"/a.tmpl\", text(r), 0o644)\n}\n", Info, "only when the program has written it"},
		{"a key that it replaces", key, signs + "func rotate() {\n\tname := filepath.Join(dir, \"key.pem\")\n\tos.Rename(name+\".new\", name)\n}\n\nfunc main() {\n\tgo func() {\n\t\tfor range tick {\n\t\t\trotate()\n\t\t}\n\t}()\n}\n", Info, "only when the program has written it"},
	} {
		f := askedAgain(t, c.source, c.frames)
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Advice, c.says) {
			t.Errorf("%s: %s %s: %s %s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
		if strings.Contains(f.Advice, "os.Stat") != (c.says != "") || f.saves != (c.severity == Warning) || strings.Contains(f.Summary, "writes the file itself (main.go:") != (c.severity == Info) {
			t.Errorf("%s: %v %s %s", c.name, f.saves, f.Summary, f.Advice)
		}
	}
}

// TestCP18EditedCalls: a call "with the same arguments" may give something else where it reads a file that the
// program writes.
func TestCP18EditedCalls(t *testing.T) {
	const (
		frames = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.handle@B main.loadRules@A runtime.growslice"
		source = "func loadRules(name string) (all []string) {\n\tb, _ := os.ReadFile(name)\n\tfor l := range strings.Lines(string(b)) {\n\t\tall = append(all, l) // A\n\t}\n\treturn all\n}\n\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tx := loadRules(\"/etc/rules\") // B\n\tuse(len(x))\n}\n\n"
	)
	for writes, severity := range map[string]Severity{
		"": Warning,
		"func put(w http.ResponseWriter, r *http.Request) {\n\tos.WriteFile(\"/etc/other\", body(r), 0o644)\n}\n": Warning,
		"func put(w http.ResponseWriter, r *http.Request) {\n\tos.WriteFile(\"/etc/rules\", body(r), 0o644)\n}\n": Info,
	} {
		f := askedAgain(t, source+writes, frames)
		if f.State != Found || f.Severity != severity || !strings.Contains(f.Summary, "repeated calls of main.loadRules") {
			t.Errorf("%q: %s %s: %s", writes, f.State, f.Severity, f.Summary)
		}
	}
}

// TestCP18Seeds: a seed that is given asks for its sequence: only one that is to differ each time can be left
// out.
func TestCP18Seeds(t *testing.T) {
	const (
		frames = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.handle@B main.draw@A math/rand.NewSource math/rand.(*rngSource).Seed"
		handle = "\nfunc handle(w http.ResponseWriter, r *http.Request) {\n\tuse(draw()) // B\n}\n\n"
	)
	draw := func(seed, params string) string {
		return "func draw(" + params + ") int {\n\trng := rand.New(rand.NewSource(" + seed + ")) // A\n\treturn rng.Intn(52)\n}\n"
	}
	const without, once, given, either = "Use the functions of math/rand/v2", "The seed is the same each time", "The seed is given", "If the seed only has to differ"
	for _, c := range []struct{ name, source, says string }{
		{"the time", draw("time.Now().UnixNano()", "") + handle, without},
		{"the time, by a variable", strings.Replace(draw("n", ""), "{\n", "{\n\tn := time.Now().UnixNano() + 7\n", 1) + handle, without},
		{"the time, by the caller", draw("n", "n int64") + strings.Replace(handle, "draw()", "draw(time.Now().Unix())", 1), without},
		{"random", draw("rand.Int63()", "") + handle, without},
		{"a literal", draw("42", "") + handle, once},
		{"a constant", "const seed = 42\n\n" + draw("seed", "") + handle, once},
		{"a constant by the caller", draw("int64(n)", "n int") + strings.Replace(handle, "draw()", "draw(42)", 1), once},
		{"of the request", draw("n", "n int64") + strings.Replace(handle, "draw()", "draw(seedOf(r))", 1), given},
		{"a field that is counted up", draw("count", "") + "var count int64\n" + strings.Replace(handle, "use(", "count++\n\tuse(", 1), given},
		{"unknown", "func draw() int {\n\treturn dice.Roll(seed) // A\n}\n" + handle, either},
	} {
		f := askedAgain(t, c.source, frames)
		if f.State != Found || !strings.HasPrefix(f.Advice, c.says) || (f.Severity == Info) != (c.says == given) || f.saves == (c.says == given) {
			t.Errorf("%s: %s %s: %s", c.name, f.State, f.Severity, f.Advice)
		}
	}
}
