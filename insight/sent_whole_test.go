package insight

import (
	"strconv"
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
	"loupe/value/timeline"
)

// sentHead is the source of [TestSentBuffer] up to the body of a function.
const sentHead = `package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"sync"
)

type client struct {
	http *http.Client
	last *bytes.Buffer
	buf  bytes.Buffer
}

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (c *client) post(body io.Reader, kind string) error {
	req, err := http.NewRequest("POST", "x", body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", kind)
	_, err = c.http.Do(req)
	return err
}

func (c *client) tries(body io.Reader) error {
	for i := 0; i < 3; i++ {
		req, _ := http.NewRequest("POST", "x", body)
		c.http.Do(req)
	}
	return nil
}

func (c *client) keep(body io.Reader) { kept = append(kept, body) }

var kept []io.Reader

func parts(mw *multipart.Writer, f *os.File) error {
	part, err := mw.CreateFormFile("file", "name")
	if err != nil {
		return err
	}
	_, err = io.Copy(part, f)
	return err
}

func (c *client) push(f *os.File, docs []doc, out *os.File, h func(string)) error {
`

// TestSentBuffer: a buffer that is filled from a stream and only sent is told from one that something else needs.
func TestSentBuffer(t *testing.T) {
	const form = "var body bytes.Buffer\nmw := multipart.NewWriter(&body)\npart, err := mw.CreateFormFile(\"file\", \"name\")\nif err != nil {\nreturn err\n}\nif _, err := io.Copy(part, f); err != nil { // fills\nreturn err\n}\nmw.Close()\n"
	const file = "buf := new(bytes.Buffer)\nif _, err := io.Copy(buf, f); err != nil { // fills\nreturn err\n}\n"
	for _, c := range []struct {
		name, body   string
		found, sends bool
		advice       string
	}{
		{"a form by a function", form + "return c.post(&body, mw.FormDataContentType())", true, true, "let a goroutine write into pw (multipart.NewWriter)"},
		{"a form", form + "req, err := http.NewRequestWithContext(ctx, \"POST\", \"x\", &body)\n_, err = c.http.Do(req)\nreturn err", true, true, "give pr to http.NewRequestWithContext"},
		{"a form by Post", form + "_, err = http.Post(\"x\", mw.FormDataContentType(), bytes.NewReader(body.Bytes()))\nreturn err", true, true, "give pr to http.Post"},
		{"a form by a client", form + "_, err = c.http.Post(\"x\", mw.FormDataContentType(), &body)\nreturn err", true, true, "give pr to c.http.Post"},
		{"its length is set", form + "req, err := http.NewRequest(\"POST\", \"x\", &body)\nreq.ContentLength = int64(body.Len())\n_, err = c.http.Do(req)\nreturn err", true, true, "io.Pipe"},
		{"parts by a function", "body := &bytes.Buffer{}\nmw := multipart.NewWriter(body)\nif err := parts(mw, f); err != nil { // fills\nreturn err\n}\nmw.Close()\nreturn c.post(body, \"\")", true, true, "io.Pipe"},
		{"a file", file + "return c.post(buf, \"\")", true, true, "Where it is a single file or reader, give that itself to http.NewRequest"},
		{"compressed", "var z bytes.Buffer\nw := gzip.NewWriter(&z)\nio.Copy(w, f) // fills\nw.Close()\nreturn c.post(&z, \"\")", true, true, "(gzip.NewWriter)"},
		{"an archive", "z := bytes.NewBuffer(nil)\ngz := gzip.NewWriter(z)\ntw := tar.NewWriter(gz)\ntw.WriteHeader(hdr)\nio.Copy(tw, f) // fills\ntw.Close()\ngz.Close()\nreturn c.post(z, \"\")", true, true, "io.Pipe"},
		{"an archive of a folder", "var z bytes.Buffer\nzw := zip.NewWriter(&z)\nfilepath.WalkDir(\"x\", func(path string, d fs.DirEntry, err error) error {\nw, err := zw.Create(path)\n_, err = io.Copy(w, f) // fills\nreturn err\n})\nzw.Close()\nreturn c.post(&z, \"\")", true, true, "io.Pipe"},
		{"documents", "var z bytes.Buffer\nenc := json.NewEncoder(&z)\nfor _, d := range docs {\nenc.Encode(d) // fills\n}\nreturn c.post(&z, \"\")", true, true, "(json.NewEncoder)"},
		{"a document after the other", "var z bytes.Buffer\nfor _, d := range docs {\njson.NewEncoder(&z).Encode(d) // fills\n}\nreturn c.post(&z, \"\")", true, true, "(json.NewEncoder)"},
		{"a builder", "var z strings.Builder\nio.Copy(&z, f) // fills\nreturn c.post(strings.NewReader(z.String()), \"\")", true, true, "io.Pipe"},
		{"a reader by name", form + "r := bytes.NewReader(body.Bytes())\nreturn c.post(r, \"\")", true, true, "io.Pipe"},
		{"to a file", "var z bytes.Buffer\nzw := zip.NewWriter(&z)\nw, _ := zw.Create(\"x\")\nio.Copy(w, f) // fills\nzw.Close()\n_, err := io.Copy(out, &z)\nreturn err", true, true, "Write to out itself, instead of to z: zip.NewWriter over it"},
		{"to a file by itself", "var z bytes.Buffer\nzw := zip.NewWriter(&z)\nw, _ := zw.Create(\"x\")\nio.Copy(w, f) // fills\nzw.Close()\n_, err := z.WriteTo(out)\nreturn err", true, true, "Write to out itself"},

		{"a document at once", "var z bytes.Buffer\njson.NewEncoder(&z).Encode(docs) // fills\nreturn c.post(&z, \"\")", true, false, ""}, // the encoder has all of it, too
		{"a document in a form", "var z bytes.Buffer\nmw := multipart.NewWriter(&z)\nw, _ := mw.CreateFormField(\"docs\")\njson.NewEncoder(w).Encode(docs) // fills\nmw.Close()\nreturn c.post(&z, \"\")", true, false, ""},
		{"kept", form + "c.last = &body\nreturn c.post(&body, \"\")", true, false, ""},
		{"kept by a function", form + "c.keep(&body)\nreturn nil", true, false, ""},
		{"returned", form + "return &body", true, false, ""},
		{"hashed first", form + "sum := sha256.Sum256(body.Bytes())\nh(string(sum[:]))\nreturn c.post(&body, \"\")", true, false, ""},
		{"hashed on the way", "var body bytes.Buffer\nsum := sha256.New()\nio.Copy(io.MultiWriter(&body, sum), f) // fills\nh(string(sum.Sum(nil)))\nreturn c.post(&body, \"\")", false, false, ""},
		{"hashed on the way by a tee", "var body bytes.Buffer\nsum := sha256.New()\nio.Copy(&body, io.TeeReader(f, sum)) // fills\nh(string(sum.Sum(nil)))\nreturn c.post(&body, \"\")", true, false, ""},
		{"tried again", form + "for i := 0; i < 3; i++ {\nif err := c.post(bytes.NewReader(body.Bytes()), \"\"); err == nil {\nbreak\n}\n}\nreturn nil", true, false, ""},
		{"tried again by a function", form + "return c.tries(&body)", true, false, ""},
		{"tried again by a literal", form + "return retry(func() error { return c.post(bytes.NewReader(body.Bytes()), \"\") })", true, false, ""},
		{"a request sent again", form + "req, err := http.NewRequest(\"POST\", \"x\", &body)\nfor i := 0; i < 3; i++ {\n_, err = c.http.Do(req)\n}\nreturn err", true, false, ""},
		{"with its own GetBody", form + "req, err := http.NewRequest(\"POST\", \"x\", &body)\nreq.GetBody = func() (io.ReadCloser, error) { return nil, nil }\n_, err = c.http.Do(req)\nreturn err", true, false, ""},
		{"sent twice", form + "c.post(bytes.NewReader(body.Bytes()), \"a\")\nreturn c.post(bytes.NewReader(body.Bytes()), \"b\")", true, false, ""},
		{"looked at", form + "if bytes.Contains(body.Bytes(), mark) {\nreturn nil\n}\nreturn c.post(&body, \"\")", true, false, ""},
		{"to a library that is not known", form + "return lib.Upload(&body)", true, false, ""},
		{"a pool's", "buf := pool.Get().(*bytes.Buffer)\ndefer pool.Put(buf)\nio.Copy(buf, f) // fills\nreturn c.post(buf, \"\")", false, false, ""},
		{"reused", "var buf bytes.Buffer\nfor _, d := range docs {\nbuf.Reset()\nio.Copy(&buf, d.file) // fills\nc.post(&buf, \"\")\n}\nreturn nil", true, false, ""},
		{"a field", "io.Copy(&c.buf, f) // fills\nreturn c.post(&c.buf, \"\")", false, false, ""},
		{"of strings", "var buf bytes.Buffer\nfor _, d := range docs {\nbuf.WriteString(d.name) // fills\n}\nreturn c.post(&buf, \"\")", true, false, ""},
		{"into another buffer", file + "var all bytes.Buffer\nbuf.WriteTo(&all)\nreturn c.post(&all, \"\")", true, false, ""},
		{"with something in it", "buf := bytes.NewBuffer(head)\nio.Copy(buf, f) // fills\nreturn c.post(buf, \"\")", false, false, ""},
		{"by a goroutine", form + "go c.post(&body, \"\")\nreturn nil", true, false, ""},
	} {
		text := sentHead + c.body + "\n}\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		frames := []stack.Frame{{Func: "main.(*client).push", File: "a.go", Line: lineWith(text, "// fills").Line}}
		if strings.Contains(c.body, "parts(mw, f)") {
			frames = append([]stack.Frame{{Func: "main.parts", File: "a.go", Line: lineWith(text, "io.Copy(part, f)").Line}}, frames...)
		}
		x := sentBuffer(NewInput(session.New(r.Open())).code, frames)
		if (x != nil) != c.found || x.streamable() != c.sends {
			t.Errorf("%s: %v, %+v", c.name, x.streamable(), x)
		}
		if x.streamable() && !strings.Contains(x.advice(), c.advice) {
			t.Errorf("%s: %s", c.name, x.advice())
		}
	}
}

// TestSentByCaller: a buffer that a function returns is followed in the one that has called it.
func TestSentByCaller(t *testing.T) {
	const text = sentHead + "return nil\n}\n\nfunc form(f *os.File) (*bytes.Buffer, string, error) {\nvar body bytes.Buffer\nmw := multipart.NewWriter(&body)\npart, err := mw.CreateFormFile(\"file\", \"name\")\nif err != nil {\nreturn nil, \"\", err\n}\n_, err = io.Copy(part, f) // fills\nreturn &body, mw.FormDataContentType(), err\n}\n" +
		"func (c *client) sends(f *os.File) error {\nbody, kind, err := form(f) // sends\nif err != nil {\nreturn err\n}\nreturn c.post(body, kind)\n}\n" +
		"func (c *client) keeps(f *os.File) {\nbody, _, _ := form(f) // keeps\nc.last = body\n}\n"
	for by, want := range map[string]bool{"sends": true, "keeps": false} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		frames := []stack.Frame{{Func: "main.form", File: "a.go", Line: lineWith(text, "// fills").Line}, {Func: "main.(*client)." + by, File: "a.go", Line: lineWith(text, "// "+by).Line}}
		if x := sentBuffer(NewInput(session.New(r.Open())).code, frames); x.streamable() != want {
			t.Errorf("%s: %+v", by, x)
		}
	}
}

// TestGC16Sent: what is put together only to be sent is a warning where it is much of a large heap; another buffer of one call
// gets no advice for what is kept.
func TestGC16Sent(t *testing.T) {
	const form = "var body bytes.Buffer\nmw := multipart.NewWriter(&body)\npart, err := mw.CreateFormFile(\"file\", \"name\")\nif err != nil {\nreturn err\n}\nio.Copy(part, f) // fills\nmw.Close()\n"
	for _, c := range []struct {
		name, use     string
		size          int64 // MB
		title         string
		want          Severity
		says, without string
	}{
		{"sent", "return c.post(&body, \"\")", 400, sentTitle, Warning, "io.Pipe", "small substring"},
		{"a small one", "return c.post(&body, \"\")", 40, sentTitle, Info, "io.Pipe", "small substring"},
		{"hashed first", "sum := sha256.Sum256(body.Bytes())\nh(string(sum[:]))\nreturn c.post(&body, \"\")", 400, gc16.Title, Info, "only for as long as that call", "small substring"},
		{"kept", "c.last = &body\nreturn nil", 400, gc16.Title, Info, "", "io.Pipe"},
	} {
		text := sentHead + form + c.use + "\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main\nphase bare 0s..9s\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(text))
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap", Span: timeline.Span{Start: 9e9, End: 10e9}}, heapProfile(
			column{"main.main main.(*client).push:/src/a.go:" + strconv.Itoa(lineWith(text, "// fills").Line) + " io.Copy bytes.(*Buffer).Write bytes.growSlice", []int64{4, 4 * c.size << 20, 1, c.size << 20}}))
		f := answers(t, r, "GC16")[0]
		if f.State != Found || f.Title != c.title || f.Severity != c.want || !strings.Contains(f.Advice, c.says) || strings.Contains(f.Advice, c.without) {
			t.Errorf("%s: %s %s %q: %s\n%s", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}
