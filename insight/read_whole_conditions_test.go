package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestLimitOfReading: a time limit that covers the reading is known by the client that has it, the context, the server or the connection.
func TestLimitOfReading(t *testing.T) {
	const get = "func f(url string) {\nresp, _ := client.Get(url)\ndata, _ := io.ReadAll(resp.Body) // here\nuse(data)\n}\n"
	for _, c := range []struct{ name, source, says string }{
		{"the client's", get + "var client = &http.Client{Timeout: 2 * time.Second}\n", "the time limit of the client (Timeout: 2 * time.Second)"},
		{"set later", get + "var client = &http.Client{}\nfunc init() { client.Timeout = limit }\n", "the time limit of the client (Timeout: limit)"},
		{"none", get + "var client = &http.Client{}\n", ""},
		{"none, another has one", get + "var client = &http.Client{}\nvar other = &http.Client{Timeout: limit}\n", ""},
		{"of a field", strings.ReplaceAll(get, "client.", "api.http.") + "var api = &remote{http: &http.Client{Timeout: limit}}\ntype remote struct { http *http.Client }\n", "the time limit of the client (Timeout: limit)"},
		{"of a client that is given", strings.Replace(get, "url string", "client *http.Client, url string", 1) + "var other = &http.Client{Timeout: limit}\n", "the time limit of a client (Timeout: limit), where it is the one that is used,"},
		{"of the package", strings.ReplaceAll(get, "client.", "http.") + "var other = &http.Client{Timeout: limit}\n", ""},
		{"of the package's client", strings.ReplaceAll(get, "client.", "http.") + "func init() { http.DefaultClient.Timeout = limit }\n", "the time limit of the client (Timeout: limit)"},
		{"the context's", "func f(ctx context.Context, url string) {\nreq, _ := http.NewRequestWithContext(ctx, \"GET\", url, nil)\nresp, _ := http.DefaultClient.Do(req)\ndata, _ := io.ReadAll(resp.Body) // here\nuse(data)\n}\nfunc run(u string) {\nctx, cancel := context.WithTimeout(context.Background(), limit)\ndefer cancel()\nf(ctx, u)\n}\n", "the time limit of the context (limit)"},
		{"the server's", "func f(w http.ResponseWriter, r *http.Request) {\ndata, _ := io.ReadAll(r.Body) // here\nuse(data)\n}\nvar srv = &http.Server{ReadTimeout: limit}\n", "the time limit of the server (ReadTimeout: limit)"},
		{"the server's, below a bound", "func f(w http.ResponseWriter, r *http.Request) {\ndata, _ := io.ReadAll(http.MaxBytesReader(w, r.Body, 9)) // here\nuse(data)\n}\nvar srv = &http.Server{ReadTimeout: limit}\n", "the time limit of the server (ReadTimeout: limit)"},
		{"the server has none", "func f(w http.ResponseWriter, r *http.Request) {\ndata, _ := io.ReadAll(r.Body) // here\nuse(data)\n}\nvar srv = &http.Server{IdleTimeout: limit}\n", ""},
		{"a connection's", "func f(c net.Conn) {\nc.SetReadDeadline(time.Now().Add(limit))\ndata, _ := io.ReadAll(c) // here\nuse(data)\n}\n", "the deadline of the connection"},
		{"a file", "func f(name string) {\ndata, _ := os.ReadFile(name) // here\nuse(data)\n}\nvar client = &http.Client{Timeout: limit}\n", ""},
	} {
		at := stack.Frame{Func: "main.f", File: "a.go"}
		c2 := conditionCode(c.source, &at)
		l, _ := limitOfReading(c2, at)
		if l.text != c.says {
			t.Errorf("%s: %q", c.name, l.text)
		}
	}
}

// conditionCode is a source whose line with "here" a frame is at.
func conditionCode(source string, at *stack.Frame) *code {
	text := "package main\n\nimport (\n\"context\"\n\"io\"\n\"net\"\n\"net/http\"\n\"os\"\n\"sync\"\n\"time\"\n)\n\nvar mu sync.Mutex\nvar limit time.Duration\nvar out *os.File\nfunc use(b []byte) {}\n" + source
	at.Line = 1 + strings.Count(text[:strings.Index(text, "// here")], "\n")
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(text))
	return NewInput(session.New(r.Open())).code
}

// TestConditionsOfStream: what is read is not read under the lock that is taken for the writing, nor out of a file that is emptied first.
func TestConditionsOfStream(t *testing.T) {
	const head = "func f(w http.ResponseWriter, r *http.Request) {\ndata, err := io.ReadAll(r.Body) // here\nif err != nil {\nreturn\n}\n"
	const held, file = "do not read it under the lock that is taken at", "os.SameFile"
	for _, c := range []struct{ name, source, to, says, not string }{
		{"no lock", head + "out.Write(data)\n}\n", "out.Write", "io.Copy(w, r)", held},
		{"a lock in between", head + "mu.Lock()\nout.Write(data)\nmu.Unlock()\n}\n", "out.Write", held, "io.Copy(w, r)"},
		{"a lock that is released at the end", head + "mu.Lock()\ndefer mu.Unlock()\nout.Write(data)\n}\n", "out.Write", held, "io.Copy(w, r)"},
		{"a lock that is released before", head + "mu.Lock()\nn++\nmu.Unlock()\nout.Write(data)\n}\nvar n int\n", "out.Write", "io.Copy(w, r)", held},
		{"a lock around all", strings.Replace(head, "{\ndata", "{\nmu.Lock()\ndefer mu.Unlock()\ndata", 1) + "out.Write(data)\n}\n", "out.Write", "io.Copy(w, r)", held},
		{"a lock behind it", head + "out.Write(data)\nmu.Lock()\nn++\nmu.Unlock()\n}\nvar n int\n", "out.Write", "io.Copy(w, r)", held},
		{"a lock of what is called", head + "save(data)\n}\nfunc save(b []byte) {\nmu.Lock()\ndefer mu.Unlock()\nout.Write(b)\n}\n", "save", held, "io.Copy(w, r)"},
		{"a file, copied", "func f(from, to string) {\ndata, _ := os.ReadFile(from) // here\nos.WriteFile(to, data, 0o644)\n}\n", "os.WriteFile", file, held},
		{"a file, hashed", "func f(from, to string) {\ndata, _ := os.ReadFile(from) // here\nsha256.Sum256(data)\n}\n", "sha256.Sum256", "io.Copy(w, r)", file},
		{"a file, under a lock", "func f(from, to string) {\ndata, _ := os.ReadFile(from) // here\nmu.Lock()\nout.Write(data)\nmu.Unlock()\n}\n", "out.Write", "is then held while the file is read", held},
		{"a body, to a file", head + "os.WriteFile(name, data, 0o644)\n}\nvar name string\n", "os.WriteFile", "io.Copy(w, r)", file},
	} {
		at := stack.Frame{Func: "main.f", File: "a.go"}
		of := conditionCode(c.source, &at)
		f := Finding{Advice: "read as it goes, with io.Copy(w, r)."}
		read := "io.ReadAll(r.Body)"
		if strings.Contains(c.source, "os.ReadFile(from)") {
			read = "os.ReadFile(from)"
		}
		conditionsOfStream(of, []stack.Frame{at}, read, c.to, &f)
		if !strings.Contains(f.Advice, c.says) || strings.Contains(f.Advice, c.not) {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}
