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
