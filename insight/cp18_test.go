package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP18Login: what a driver does for each connection, as hashing a password, is no login of the
// program's users.
func TestCP18Login(t *testing.T) {
	for opener, severity := range map[string]Severity{"database/sql.(*DB).conn\n": Info, "net/http.(*Transport).dialConn\n": Info, "": Warning} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu")
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"},
			profiletest.Profile("net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.get:/src/main.go:3\n"+opener+"main.login:/src/main.go:9\ncrypto/pbkdf2.Key\n= 100\n"))
		f := expect(t, opener, r, "CP18", Found, "hashing passwords")
		if f.Severity != severity {
			t.Errorf("%q: %s", opener, f.Severity)
		}
		if strings.Contains(f.Advice, "for each new connection") != (opener != "") || strings.Contains(f.Advice, "hand out a session") != (opener == "") {
			t.Errorf("%q: %s", opener, f.Advice)
		}
	}
}

// TestCP18OwnLogin: a function of the program that returns a connection logs in for that one.
func TestCP18OwnLogin(t *testing.T) {
	const frames = "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.get@B main.login@A crypto/pbkdf2.Key"
	for results, severity := range map[string]Severity{"(driver.Conn, error)": Info, "*conn": Info, "(*session, error)": Warning, "error": Warning} {
		f := askedAgain(t, "func login(name, word string) "+results+" {\n\tk, _ := pbkdf2.Key(sha256.New, word, salt, 6000, 32) // A\n\treturn open(name, k)\n}\n\nfunc get(w http.ResponseWriter, r *http.Request) {\n\tuse(login(r.Host, secret)) // B\n}\n", frames)
		if f.State != Found || f.Severity != severity || strings.Contains(f.Advice, "hand out a session") != (severity == Warning) {
			t.Errorf("%s: %s %s: %s", results, f.State, f.Severity, f.Advice)
		}
	}
}

// TestCP18Extended: of a template to which the program adds another text later each use needs a clone.
func TestCP18Extended(t *testing.T) {
	for more, clone := range map[string]bool{"t.New(\"b\").Parse(r.Host)": true, "t.Funcs(r.Form)": true, "t.Execute(w, r)": false, "t.New(\"b\").Parse(`x`)": false} {
		f := askedAgain(t, "import \"html/template\"\n\nfunc page(w http.ResponseWriter, r *http.Request) {\n\tt := template.Must(template.New(`a`).Parse(`x`)) // A\n\t"+more+"\n}\n", "net/http.(*conn).serve net/http.HandlerFunc.ServeHTTP main.page@A html/template.(*Template).Parse text/template/parse.Parse")
		if f.State != Found || strings.Contains(f.Advice, "take a Clone of it") != clone || strings.Contains(f.Advice, "and execute it for each request") == clone {
			t.Errorf("%s: %s: %s", more, f.State, f.Advice)
		}
	}
}

// TestCP18Once: what main does at its start is no finding, however long it takes; in a
// loop, in a worker or below a server it is.
func TestCP18Once(t *testing.T) {
	const source = `package main

func main() {
	load() // line 4
	for range 10 {
		load() // line 6
	}
	run(load) // line 8
}

func load() {
	template.Must(template.New("x").Parse(text)) // line 12
}
`
	for _, c := range []struct {
		name, stack string
		state       State
	}{
		{"at the start", "runtime.main\nmain.main:/src/main.go:4\nmain.load:/src/main.go:12", Fine},
		{"in a loop of main's", "runtime.main\nmain.main:/src/main.go:6\nmain.load:/src/main.go:12", Found},
		{"a command line's library calls back once", "runtime.main\nmain.main:/src/main.go:8\ngithub.com/spf13/cobra.(*Command).Execute\nmain.load:/src/main.go:12", Fine},
		{"a server calls back", "net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.load:/src/main.go:12", Found},
		{"a value of a library sets itself up for each request", "net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.load:/src/main.go:12\nstrings.(*Replacer).Replace\nsync.(*Once).Do\nsync.(*Once).doSlow\nstrings.(*Replacer).buildOnce", Found},
		{"one of a library that nobody has named", "net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.load:/src/main.go:12\nexample.org/rules.(*Set).Match\nsync.(*Once).doSlow\nexample.org/rules.(*Set).compile", Found},
		{"a library sets itself up", "net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.load:/src/main.go:12\ncrypto/x509.systemRootsPool\nsync.(*Once).doSlow\ncrypto/x509.initSystemRoots", Fine},
		{"the program does it once", "net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.serve:/src/main.go:3\nsync.(*Once).doSlow\nmain.load:/src/main.go:12", Fine},
		{"what is closed", "net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.load:/src/main.go:12\nio.(*pipe).closeRead\nsync.(*Once).doSlow\nio.(*pipe).closeRead.func1", Fine},
		{"a key is encoded for each request", "net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.load:/src/main.go:12\ncrypto/x509.MarshalPKIXPublicKey", Found},
		{"a goroutine of the program's own, once", "main.load:/src/main.go:12", Fine},
	} {
		work := "\ntext/template.(*Template).Parse\ntext/template/parse.Parse\n"
		if strings.Contains(c.stack, "doSlow") && !strings.HasSuffix(c.stack, "main.load:/src/main.go:12") {
			work = "\n"
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n-- source/main.go source from=/src/main.go --\n" + source)
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"},
			profiletest.Profile(c.stack+work+"= 100\n"))
		expect(t, c.name, r, "CP18", c.state)
	}
}

// TestCP18Settings: settings that are looked up by constant keys again and again are told as that, each line of a part of the whole; the parsing of a
// configuration is not, nor what is looked up once.
func TestCP18Settings(t *testing.T) {
	const source = "package main\n\nfunc main() {\n\tif viper.GetBool(\"c\") { // line 4\n\t\treturn\n\t}\n\tfor _, p := range pages {\n\t\tp.write() // line 8\n\t}\n}\n\nfunc (p *page) write() {\n\tif viper.GetBool(\"a\") { // line 13\n\t\treturn\n\t}\n\tp.print(viper.GetString(KEY)) // line 16\n\tviper.Unmarshal(&p.options) // line 17\n}\n\nconst name = \"b\"\n"
	for _, c := range []struct {
		name, key string
		lines     [3]int64 // samples in lines 13, 16 and 17
		title     string
		severity  Severity // empty for nothing
	}{
		{"one line", "name", [3]int64{40, 0, 0}, settingsTitle, Warning},
		{"two lines that have little each", "name", [3]int64{11, 11, 0}, settingsTitle, Warning},
		{"little of all", "name", [3]int64{11, 0, 0}, settingsTitle, Info},
		{"a key of the item", "p.title", [3]int64{0, 40, 0}, settingsTitle, Info},
		{"the configuration is taken apart", "name", [3]int64{0, 0, 40}, cp18.Title, Info},
		{"none", "name", [3]int64{0, 0, 0}, "", ""},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(strings.Replace(source, "KEY", c.key, 1)))
		columns := []column{{"runtime.main main.main:/src/main.go:4 github.com/spf13/viper.GetBool", []int64{10}}, {"runtime.main main.main:/src/main.go:7", []int64{90 - c.lines[0] - c.lines[1] - c.lines[2]}}}
		for i, line := range []string{"13 github.com/spf13/viper.GetBool github.com/spf13/viper.(*Viper).Get", "16 github.com/spf13/viper.GetString", "17 github.com/spf13/viper.Unmarshal"} {
			if c.lines[i] > 0 {
				columns = append(columns, column{"runtime.main main.main:/src/main.go:8 main.(*page).write:/src/main.go:" + line, []int64{c.lines[i]}})
			}
		}
		withProfile(r, recording.CPU, "cpu", columns...)
		f := answers(t, r, "CP18")[0]
		if (f.State == Found) != (c.severity != "") || f.State == Found && (f.Title != c.title || f.Severity != c.severity || strings.Contains(f.Advice, "the fields of a struct") != (c.title == settingsTitle) || strings.Contains(f.Summary, "parsing") == (c.title == settingsTitle)) {
			t.Errorf("%s: %s %s %s: %s\n%s", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}
