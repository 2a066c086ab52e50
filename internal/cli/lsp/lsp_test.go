package lsp_test

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/internal/cli"
)

// TestMain makes this test binary loupe where it is started as such.
func TestMain(m *testing.M) {
	if os.Getenv("LOUPE_TEST_IS_LOUPE") != "" {
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// patience bounds how long a test waits for what has to come.
const patience = time.Minute

// editor is a scripted client.
type editor struct {
	t     *testing.T
	in    io.Writer
	id    int
	exits chan error

	mu      sync.Mutex
	changed chan struct{} // closed and made anew when something has come
	replies map[string]json.RawMessage
	faults  map[string]string
	shown   map[string][]diagnostic // by URI, as they came last
	asked   []string                // requests of the server
}

type position struct{ Line, Character int }

type diagnostic struct {
	Range struct {
		Start, End position
	}
	Severity      int
	Code, Message string
	Tags          []int
}

// startEditor starts loupe lsp in a process of its own.
func startEditor(t *testing.T, args ...string) *editor {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], append([]string{"lsp"}, args...)...)
	c.Env = append(os.Environ(), "LOUPE_TEST_IS_LOUPE=1")
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	e := &editor{t: t, in: in, exits: make(chan error, 1), changed: make(chan struct{}), replies: map[string]json.RawMessage{}, faults: map[string]string{}, shown: map[string][]diagnostic{}}
	go func() {
		e.read(bufio.NewReader(out))
		e.exits <- c.Wait()
	}()
	return e
}

// read takes what the server sends.
func (e *editor) read(r *bufio.Reader) {
	for {
		length := 0
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if line = strings.TrimSpace(line); line == "" {
				break
			}
			if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
				length, _ = strconv.Atoi(v)
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(r, body); err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  *struct{ Message string }
			Params struct {
				URI         string
				Diagnostics []diagnostic
			}
		}
		if err := json.Unmarshal(body, &m); err != nil {
			e.t.Errorf("%v: %s", err, body)
			return
		}
		e.mu.Lock()
		switch {
		case m.Method == "textDocument/publishDiagnostics":
			if m.Params.Diagnostics == nil {
				e.t.Errorf("diagnostics are null: %s", body)
			}
			e.shown[m.Params.URI] = m.Params.Diagnostics
		case m.Method != "":
			e.asked = append(e.asked, m.Method)
			e.write(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": nil})
		case m.Error != nil:
			e.faults[string(m.ID)] = m.Error.Message
		default:
			e.replies[string(m.ID)] = append(json.RawMessage{}, m.Result...)
		}
		close(e.changed)
		e.changed = make(chan struct{})
		e.mu.Unlock()
	}
}

// wait waits until something has come.
func (e *editor) wait(what string, come func() bool) {
	e.t.Helper()
	late := time.After(patience)
	for {
		e.mu.Lock()
		done, changed := come(), e.changed
		e.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-late:
			e.mu.Lock()
			defer e.mu.Unlock()
			e.t.Fatalf("%s has not come: %v", what, e.shown)
		}
	}
}

func (e *editor) write(m any) {
	body, err := json.Marshal(m)
	if err != nil {
		e.t.Error(err)
	}
	fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body)
}

// tell sends a notification.
func (e *editor) tell(method string, params any) {
	e.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// ask sends a request and waits for its answer; an error is a fault.
func (e *editor) ask(method string, params any) (result json.RawMessage, fault string) {
	e.t.Helper()
	e.id++
	id := strconv.Itoa(e.id)
	e.write(map[string]any{"jsonrpc": "2.0", "id": e.id, "method": method, "params": params})
	e.wait("an answer to "+method, func() bool {
		result, fault = e.replies[id], e.faults[id]
		return result != nil || fault != ""
	})
	return result, fault
}

func (e *editor) open(uri, text string) {
	e.tell("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "go", "version": 1, "text": text}})
}

func (e *editor) change(uri, text string) {
	e.tell("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": 2}, "contentChanges": []any{map[string]any{"text": text}}})
}

// at are the parameters of a question about a place.
func at(uri string, line int) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": position{line, 2}}
}

// initialize begins a session for a folder.
func (e *editor) initialize(folder string) {
	e.t.Helper()
	result, fault := e.ask("initialize", map[string]any{
		"processId": nil, "rootUri": uriOf(folder), "workspaceFolders": []any{map[string]any{"uri": uriOf(folder), "name": "x"}},
		"capabilities": map[string]any{"workspace": map[string]any{"codeLens": map[string]any{"refreshSupport": true}}},
	})
	if fault != "" || !strings.Contains(string(result), `"hoverProvider":true`) || !strings.Contains(string(result), `"codeLensProvider"`) {
		e.t.Fatalf("%s %s", result, fault)
	}
	e.tell("initialized", map[string]any{})
}

// leave ends the session as the protocol wants it.
func (e *editor) leave() {
	e.t.Helper()
	if result, fault := e.ask("shutdown", nil); fault != "" || string(result) != "null" {
		e.t.Errorf("shutdown: %s %s", result, fault)
	}
	e.tell("exit", nil)
	select {
	case err := <-e.exits:
		if err != nil {
			e.t.Errorf("the server ended with %v", err)
		}
	case <-time.After(patience):
		e.t.Error("the server has not ended")
	}
}

func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return "file://" + strings.ReplaceAll(path, " ", "%20")
}

// module lays out the module that testdata/stream.zip was recorded of, without the recording,
// and returns the path of replace.go and its text.
func module(t *testing.T) (dir, file, text string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a module")
	z, err := zip.OpenReader("testdata/stream.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		name, ok := strings.CutPrefix(f.Name, "source/")
		if !ok {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(name, ".txt"))), string(data))
		if strings.Contains(name, "replace.go") {
			text = string(data)
		}
	}
	put(t, filepath.Join(dir, "go.mod"), "module loupe\n")
	return dir, filepath.Join(dir, "labs", "stream", "replace.go"), text
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// record puts the recording into a folder.
func record(t *testing.T, dir string) {
	t.Helper()
	data, err := os.ReadFile("testdata/stream.zip")
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "part"), string(data))
	if err := os.Rename(filepath.Join(dir, "part"), filepath.Join(dir, "loupe-stream.zip")); err != nil {
		t.Fatal(err)
	}
}

// of returns the diagnostic of a rule, as it was shown last; nil for none.
func (e *editor) of(uri, rule string) *diagnostic {
	for _, d := range e.shown[uri] {
		if d.Code == rule {
			return &d
		}
	}
	return nil
}

// lineOf is where a text stands, from 0.
func lineOf(t *testing.T, text, part string) int {
	t.Helper()
	before, _, ok := strings.Cut(text, part)
	if !ok {
		t.Fatalf("%q is not there", part)
	}
	return strings.Count(before, "\n")
}

// TestSession is a session from its begin to its end: a recording comes, a finding is shown,
// moves with its line, becomes stale and fresh again.
func TestSession(t *testing.T) {
	dir, file, text := module(t)
	uri := uriOf(file)
	const line = "in := bytes.NewBuffer(data)"
	e := startEditor(t)
	if _, fault := e.ask("textDocument/hover", at(uri, 1)); !strings.Contains(fault, "not initialized") {
		t.Errorf("before initialize: %q", fault)
	}
	e.initialize(dir)
	e.open(uri, text)
	if result, _ := e.ask("textDocument/codeLens", at(uri, 0)); string(result) != "null" && string(result) != "[]" {
		t.Errorf("without a recording there are lenses: %s", result)
	}

	record(t, dir) // is noticed
	e.wait("the finding", func() bool { return e.of(uri, "AL04") != nil })
	e.wait("the wish to ask for lenses again", func() bool { return strings.Join(e.asked, " ") == "workspace/codeLens/refresh" })
	d := e.of(uri, "AL04")
	if d.Range.Start.Line != lineOf(t, text, line) || d.Range.Start.Character != 1 || d.Severity != 2 || len(d.Tags) > 0 || !strings.Contains(d.Message, "80.0% of the allocated bytes") {
		t.Errorf("%+v", d)
	}

	lenses, _ := e.ask("textDocument/codeLens", at(uri, 0))
	if got := string(lenses); !strings.Contains(got, "allocates") || !strings.Contains(got, "CPU") || !strings.Contains(got, " flat, ") || strings.Contains(got, "changed") {
		t.Error(got)
	}
	hover, _ := e.ask("textDocument/hover", at(uri, lineOf(t, text, line)))
	for _, want := range []string{"&bytes.Buffer{...} escapes", "allocates: 0 B flat (0%), 30.0 MiB cum (80.0%)", "plaintext", "loupe-stream.zip", "AL04"} {
		if !strings.Contains(strings.ReplaceAll(string(hover), `\u0026`, "&"), want) {
			t.Errorf("hover does not say %q: %s", want, hover)
		}
	}

	// Lines in front of it, and elsewhere in the file.
	moved := "// A line.\n\n" + text
	e.change(uri, moved)
	e.wait("the finding where it is now", func() bool {
		d := e.of(uri, "AL04")
		return d != nil && d.Range.Start.Line == lineOf(t, moved, line) && len(d.Tags) == 0
	})
	cut := strings.Replace(text, "\t"+line+"\n", "", 1) + "\nfunc later(data []byte) {\n\t\t" + line + "\n}\n"
	e.change(uri, cut)
	e.wait("the finding where the line has been moved", func() bool {
		d := e.of(uri, "AL04")
		return d != nil && d.Range.Start.Line == lineOf(t, cut, line) && d.Range.Start.Character == 2 && len(d.Tags) == 1 && d.Severity == 4
	})

	// The line is the same, but not the function around it: what was found may be repaired.
	around := strings.Replace(text, line+"\n", line+"\n\t_ = 1\n", 1)
	e.change(uri, around)
	e.wait("a finding that is stale by its function", func() bool {
		d := e.of(uri, "AL04")
		return d != nil && d.Range.Start.Line == lineOf(t, around, line) && len(d.Tags) == 1 && d.Severity == 4 && strings.HasPrefix(d.Message, "stale, the function has changed")
	})
	if result, _ := e.ask("textDocument/hover", at(uri, lineOf(t, around, line))); !strings.Contains(string(result), "the function around it has changed") {
		t.Errorf("hover in a changed function: %s", result)
	}
	// Blanks around lines change nothing.
	blanks := strings.ReplaceAll(text, "\t", "    ")
	e.change(uri, blanks)
	e.wait("a fresh finding", func() bool {
		d := e.of(uri, "AL04")
		return d != nil && d.Range.Start.Character == 4 && len(d.Tags) == 0
	})

	// Another line.
	other := strings.Replace(text, line, "in := bytes.NewReader(data)", 1)
	e.change(uri, other)
	e.wait("a stale finding", func() bool {
		d := e.of(uri, "AL04")
		return d != nil && len(d.Tags) == 1 && d.Tags[0] == 1 && d.Severity == 4 && strings.HasPrefix(d.Message, "stale") && d.Range.Start.Line == lineOf(t, text, line)
	})
	if result, _ := e.ask("textDocument/hover", at(uri, lineOf(t, text, line))); string(result) != "null" {
		t.Errorf("of a changed line is said %s", result)
	}
	if result, _ := e.ask("textDocument/codeLens", at(uri, 0)); !strings.Contains(string(result), "(changed since)") {
		t.Errorf("the changed function is not marked: %s", result)
	}
	e.change(uri, text)
	e.wait("a fresh finding", func() bool { d := e.of(uri, "AL04"); return d != nil && len(d.Tags) == 0 })

	e.tell("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
	e.wait("no diagnostics of a closed file", func() bool { return len(e.shown[uri]) == 0 })
	e.leave()
}

// TestNamed: -recording shows one that lies elsewhere, and does not look for others.
func TestNamed(t *testing.T) {
	dir, file, text := module(t)
	e := startEditor(t, "-recording", "testdata/stream.zip")
	e.initialize(dir)
	e.open(uriOf(file), text)
	e.wait("the finding", func() bool { return e.of(uriOf(file), "AL04") != nil })
	e.leave()
}

// TestUnknown: of files and methods that are not known nothing is said, and nothing breaks.
func TestUnknown(t *testing.T) {
	dir, file, text := module(t)
	record(t, dir)
	e := startEditor(t)
	e.initialize(dir)
	for _, uri := range []string{"untitled:Untitled-1", "file:///nowhere/x.go", "http://127.0.0.1/x.go", "", "%zz", "file://", uriOf(filepath.Join(dir, "new.go")), "file:///a%00b.go"} {
		e.open(uri, "package x\n\nfunc f( {\n")
		e.change(uri, "")
		for _, method := range []string{"textDocument/codeLens", "textDocument/hover"} {
			if result, fault := e.ask(method, at(uri, 1_000_000)); fault != "" || string(result) != "null" && string(result) != "[]" {
				t.Errorf("%s of %q: %s %s", method, uri, result, fault)
			}
		}
	}
	if _, fault := e.ask("textDocument/rename", at(uriOf(file), 1)); fault == "" {
		t.Error("an unknown method has an answer")
	}
	if _, fault := e.ask("textDocument/hover", []int{1}); fault == "" {
		t.Error("wrong parameters have an answer")
	}
	e.open(uriOf(file), text)
	e.wait("the finding", func() bool { return e.of(uriOf(file), "AL04") != nil })
	for _, line := range []int{-1, 0, 1 << 40} {
		if _, fault := e.ask("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": uriOf(file)}, "position": map[string]any{"line": line, "character": -5}}); fault != "" {
			t.Errorf("line %d: %s", line, fault)
		}
	}
	e.change(uriOf(file), "")
	e.wait("a stale finding in an empty file", func() bool { d := e.of(uriOf(file), "AL04"); return d != nil && len(d.Tags) == 1 })
	e.leave()
}

// TestHuge: a message that is larger than any file is left out, and the session goes on; one that
// is no JSON or nested very deep, too.
func TestHuge(t *testing.T) {
	dir, file, text := module(t)
	record(t, dir)
	e := startEditor(t)
	e.initialize(dir)
	const size = 65 << 20
	fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n", size)
	io.CopyN(e.in, zeros{}, size)
	fmt.Fprint(e.in, "Content-Length: -5\r\n\r\n")
	for _, body := range []string{"garbage", strings.Repeat("[", 1<<20), `{"jsonrpc":"2.0","method":5}`, "\xff\xfe"} {
		fmt.Fprintf(e.in, "Content-Type: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}
	e.open(uriOf(file), text+strings.Repeat("// long\n", 200_000))
	e.wait("the finding", func() bool { return e.of(uriOf(file), "AL04") != nil })
	e.leave()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

// TestGarbage: what is not the protocol ends the server with a sentence, and no trace of a
// panic; so does an editor that leaves without a word.
func TestGarbage(t *testing.T) {
	for _, c := range []struct{ input, says string }{
		{"GET / HTTP/1.1\r\n\r\n", "not the language server protocol"},
		{"Host: x\r\n\r\n", "no Content-Length"},
		{"garbage\n", "not the language server protocol"},
		{strings.Repeat("x", 1<<20), "the header has no end"},
		{"Content-Length: -5\r\n\r\n", "without a shutdown"}, // is left out
		{"Content-Length: 99999999999999999999\r\n\r\n", "Content-Length is"},
		{"Content-Length: 500\r\n\r\n{}", "broke"},
		{"", "without a shutdown"},
	} {
		p := exec.CommandContext(t.Context(), os.Args[0], "lsp")
		p.Env = append(os.Environ(), "LOUPE_TEST_IS_LOUPE=1")
		p.Stdin = strings.NewReader(c.input)
		var said strings.Builder
		p.Stderr = &said
		if err := p.Run(); err == nil || !strings.Contains(said.String(), c.says) || strings.Contains(said.String(), "goroutine") {
			t.Errorf("%.30q: %v, %q does not say %q", c.input, err, said.String(), c.says)
		}
	}
}
