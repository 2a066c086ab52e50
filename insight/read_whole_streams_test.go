package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// streamsHead is the source of [TestReadStreams] up to the body of a function.
const streamsHead = `package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"strings"
)

func read(name string) ([]byte, error) {
	b, err := os.ReadFile(name) // reads
	if err != nil {
		return nil, fmt.Errorf("no file %s: %w", name, err)
	}
	return b, nil
}

func text(name string) (string, error) {
	b, err := os.ReadFile(name) // texts
	if err != nil {
		return "", err
	}
	return string(b), nil
}

type server struct {
	newSum func() hash.Hash
	buf    bytes.Buffer
	rd     io.Reader
}

type keeper struct{ all []byte }

func (k *keeper) Write(b []byte) (int, error) {
	k.all = append(k.all, b...)
	return len(b), nil
}

var (
	all    map[string][]byte
	shared hash.Hash
)

func sumOf(b []byte) error {
	h := md5.New()
	h.Write(b)
	return note(h.Sum(nil))
}

func load(s *server, name, kind string, r io.Reader, out *os.File, newHash func() hash.Hash, other func() io.Writer, keyed func(string) hash.Hash, k *keeper) error {
`

// TestReadStreams: what is read as a whole, by a helper or into a buffer, and goes on only to what takes it a part at a time is
// told from what is kept, looked at or used twice; and the advice names what takes it.
func TestReadStreams(t *testing.T) {
	const failed = "if err != nil {\nreturn err\n}\n"
	const helper = "data, err := read(name) // calls\n" + failed
	for _, c := range []struct {
		name, source string
		want         wayThrough // none where all of it is needed
		advice       string     // a part of it
	}{
		{"a hash by a function value", helper + "h := newHash()\nh.Write(data)\nreturn note(h.Sum(nil))", inHash, "where read reads it"},
		{"a hash by a field", helper + "h := s.newSum()\nh.Write(data)\nreturn note(h.Sum(nil))", inHash, "io.Copy(h, f)"},
		{"a hash by its type alone", helper + "check := sha256.New()\ncheck.Write(data)\nreturn note(check.Sum(nil))", inHash, "io.Copy(check, f)"},
		{"a hash by a switch", helper + "var sum hash.Hash\nswitch kind {\ncase \"md5\":\nsum = md5.New()\ncase \"sha1\":\nsum = sha1.New()\ndefault:\nreturn fmt.Errorf(\"no hash %s\", kind)\n}\nsum.Write(data)\nreturn note(sum.Sum(nil))", inHash, "io.Copy(sum, f)"},
		{"the sum of a helper's", helper + "sum := sha256.Sum256(data)\nreturn note(sum)", inHash, "with h of the hash's New"},
		{"a text for a hash", helper + "h := sha256.New()\nio.WriteString(h, string(data))\nreturn note(h.Sum(nil))", inHash, "io.Copy(h, f)"},
		{"a helper's text", "data, err := text(name) // calls\n" + failed + "sc := bufio.NewScanner(strings.NewReader(data))\nfor sc.Scan() {\nsum += len(sc.Bytes())\n}\nreturn nil", inStream, "give it to bufio.NewScanner"},
		{"handed on", helper + "return sumOf(data)", inHash, "io.Copy(h, f)"},
		{"a reader in a variable", helper + "rd := bytes.NewReader(data)\nzr, err := gzip.NewReader(rd)\n" + failed + "return use(zr)", inStream, "give it to gzip.NewReader"},
		{"a table", helper + "rows := csv.NewReader(bytes.NewReader(data))\nfor {\nrow, err := rows.Read()\n" + failed + "note(len(row))\n}", inStream, "give it to csv.NewReader"},
		{"documents in a row", helper + "dec := json.NewDecoder(bytes.NewReader(data))\nfor dec.More() {\nvar v item\nif err := dec.Decode(&v); err != nil {\nreturn err\n}\nnote(v)\n}\nreturn nil", inStream, "give it to json.NewDecoder"},
		{"a copy to an open file", helper + "_, err = io.Copy(out, bytes.NewReader(data))\nreturn err", inWrite, "io.Copy(out, f)"},
		{"a buffer", "var buf bytes.Buffer\nbuf.ReadFrom(r) // calls\nh := sha256.New()\nh.Write(buf.Bytes())\nreturn note(h.Sum(nil))", inHash, "Copy it into the hash instead of reading it first: io.Copy(h, r)"},
		{"a buffer by a copy", "buf := new(bytes.Buffer)\nif _, err := io.Copy(buf, r); err != nil { // calls\nreturn err\n}\n_, err := buf.WriteTo(out)\nreturn err", inWrite, "io.Copy(out, r)"},
		{"a buffer that is read", "var buf bytes.Buffer\nbuf.Grow(1 << 20)\n_, err := io.Copy(&buf, r) // calls\n" + failed + "sc := bufio.NewScanner(&buf)\nfor sc.Scan() {\nsum++\n}\nreturn nil", inStream, "Give the reader itself to bufio.NewScanner"},

		{"one document", helper + "return json.NewDecoder(bytes.NewReader(data)).Decode(&v)", "", ""}, // the decoder takes all of it, too
		{"one document by a variable", helper + "dec := json.NewDecoder(bytes.NewReader(data))\ndec.UseNumber()\nreturn dec.Decode(&v)", "", ""},
		{"a function value that gives something else", helper + "h := other()\nh.Write(data)\nreturn nil", "", ""},
		{"a function value with an argument", helper + "h := keyed(name)\nh.Write(data)\nreturn nil", "", ""},
		{"into a buffer in memory", helper + "var b bytes.Buffer\nb.Write(data)\nreturn note(b.String())", "", ""},
		{"into a builder", helper + "var b strings.Builder\nb.WriteString(string(data))\nreturn note(b.String())", "", ""},
		{"to a writer of the program", helper + "k.Write(data)\nreturn nil", "", ""},
		{"copied to a writer of the program", helper + "io.Copy(k, bytes.NewReader(data))\nreturn nil", "", ""},
		{"hashed and kept", helper + "h := newHash()\nh.Write(data)\nall[name] = data\nreturn nil", "", ""},
		{"hashed and looked at", helper + "h := newHash()\nh.Write(data)\nif data[0] == '{' {\nreturn errKind\n}\nreturn nil", "", ""},
		{"hashed and returned", helper + "h := newHash()\nh.Write(data)\nreturn give(data)", "", ""},
		{"hashed twice", helper + "h := newHash()\nfor range 2 {\nh.Write(data)\n}\nreturn nil", "", ""},
		{"a part is hashed", helper + "h := newHash()\nh.Write(data[4:])\nreturn nil", "", ""},
		{"a reader that seeks", helper + "rd := bytes.NewReader(data)\nzr, err := zip.NewReader(rd, rd.Size())\n" + failed + "return use(zr)", "", ""},
		{"a reader that is kept", helper + "rd := bytes.NewReader(data)\ns.rd = rd\nreturn nil", "", ""},
		{"a reader that is used twice", helper + "rd := bytes.NewReader(data)\nio.Copy(out, rd)\nrd.Seek(0, 0)\nreturn nil", "", ""},
		{"a switch that does more", helper + "var sum hash.Hash\nswitch kind {\ncase \"md5\":\nsum = md5.New()\ncase \"drop\":\nremove(name)\n}\nsum.Write(data)\nreturn nil", "", ""},
		{"a package's hash", helper + "shared = sha256.New()\nshared.Write(data)\nreturn nil", "", ""},
		{"a buffer with something in it", "var buf bytes.Buffer\nbuf.WriteString(\"head\")\nbuf.ReadFrom(r) // calls\nh := sha256.New()\nh.Write(buf.Bytes())\nreturn nil", "", ""},
		{"a buffer that is kept", "var buf bytes.Buffer\nbuf.ReadFrom(r) // calls\nall[name] = buf.Bytes()\nreturn nil", "", ""},
		{"a buffer of a field", "s.buf.ReadFrom(r) // calls\nh := sha256.New()\nh.Write(s.buf.Bytes())\nreturn nil", "", ""},
		{"a buffer whose length comes first", "var buf bytes.Buffer\nbuf.ReadFrom(r) // calls\nfmt.Fprintln(out, buf.Len())\nbuf.WriteTo(out)\nreturn nil", "", ""},
		{"a file that reads", "f, err := os.Create(name)\n" + failed + "f.ReadFrom(r) // calls\nreturn nil", "", ""},
	} {
		text := streamsHead + c.source + "\n}\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		frames := []stack.Frame{{Func: "main.load", File: "a.go", Line: lineWith(text, "// calls").Line}}
		switch {
		case strings.Contains(c.source, "read(name)"):
			frames = append([]stack.Frame{{Func: "main.read", File: "a.go", Line: lineWith(text, "// reads").Line}}, frames...)
		case strings.Contains(c.source, "text(name)"):
			frames = append([]stack.Frame{{Func: "main.text", File: "a.go", Line: lineWith(text, "// texts").Line}}, frames...)
		}
		got, ok := goneThroughOnce(NewInput(session.New(r.Open())).code, frames)
		if ok != (c.want != "") || got.way != c.want && ok {
			t.Errorf("%s: %v, %+v", c.name, ok, got)
		}
		if ok && !strings.Contains(got.advice(), c.advice) {
			t.Errorf("%s: %s", c.name, got.advice())
		}
	}
}
