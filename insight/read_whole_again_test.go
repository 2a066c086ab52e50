package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestRepeatedFrom: what is read as a whole to be sent more than once is told where it can be read again, and all that is done with it is to make readers.
func TestRepeatedFrom(t *testing.T) {
	const failed = "if err != nil {\nreturn nil, err\n}\n"
	const body = "return func() (io.ReadCloser, int64, error) {\nreturn io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil\n}, nil"
	const attempts = "for i := 0; i < 3; i++ {\nreq, err := http.NewRequest(\"PUT\", url, bytes.NewReader(data))\nsend(req, err)\n}\nreturn nil, nil"
	for _, c := range []struct {
		name, given, source string
		advice              string // none where it is not told
	}{
		{"a body for each attempt", "src io.ReadSeeker", "data, err := io.ReadAll(src) // reads\n" + failed + body, "call src.Seek(start, io.SeekStart), and give io.LimitReader(src, end-start) where bytes.NewReader is given it now"},
		{"attempts in a loop", "src *os.File", "data, err := io.ReadAll(src) // reads\n" + failed + attempts, "stream it from src itself (*os.File)"},
		{"a file by its name", "name string", "data, err := os.ReadFile(name) // reads\n" + failed + body, "open the file (os.Open) each time it is needed"},
		{"a file that it opens", "name string", "src, err := os.Open(name)\n" + failed + "defer src.Close()\ndata, err := io.ReadAll(src) // reads\n" + failed + body, "Open the file anew each time it is needed"},
		{"a text", "name string", "data, err := os.ReadFile(name) // reads\n" + failed + strings.Replace(body, "bytes.NewReader(data)", "strings.NewReader(string(data))", 1), "where strings.NewReader is given it now"},

		{"what cannot go back", "src io.Reader", "data, err := io.ReadAll(src) // reads\n" + failed + body, ""},
		{"the body of a request", "r *http.Request", "data, err := io.ReadAll(r.Body) // reads\n" + failed + body, ""},
		{"a reader in its place", "src io.ReadSeeker", "src = unpacked(src)\ndata, err := io.ReadAll(src) // reads\n" + failed + body, ""},
		{"what is packed", "src *os.File", "z, err := gzip.NewReader(src)\n" + failed + "data, err := io.ReadAll(z) // reads\n" + failed + body, ""},
		{"once", "src io.ReadSeeker", "data, err := io.ReadAll(src) // reads\n" + failed + "req, err := http.NewRequest(\"PUT\", url, bytes.NewReader(data))\nreturn nil, send(req, err)", ""},
		{"its sum as well", "src io.ReadSeeker", "data, err := io.ReadAll(src) // reads\n" + failed + "note(sha256.Sum256(data))\n" + body, ""},
		{"it is changed", "src io.ReadSeeker", "data, err := io.ReadAll(src) // reads\n" + failed + "data[0] = 1\n" + body, ""},
		{"it is kept", "src io.ReadSeeker", "data, err := io.ReadAll(src) // reads\n" + failed + "kept[src] = data\n" + body, ""},
		{"an archive, which needs any place of it", "src io.ReadSeeker", "data, err := io.ReadAll(src) // reads\n" + failed + "return func() (*zip.Reader, int64, error) {\nz, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))\nreturn z, 0, err\n}, nil", ""},
		{"by a function that is not known", "src io.ReadSeeker", "data, err := io.ReadAll(src) // reads\n" + failed + "for range 3 {\nput(bytes.NewReader(data))\n}\nreturn nil, nil", ""},
	} {
		text := "package main\n\nfunc body(" + c.given + ") (any, error) {\n" + c.source + "\n}\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		x, ok := repeatedFrom(NewInput(session.New(r.Open())).code, []stack.Frame{{Func: "main.body", File: "a.go", Line: lineWith(text, "// reads").Line}})
		if ok != (c.advice != "") || ok && !strings.Contains(x.advice(), c.advice) {
			t.Errorf("%s: %v %+v", c.name, ok, x)
		}
	}
}
