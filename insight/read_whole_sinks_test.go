package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestReadSinks: what is read as a whole and then given to files, answers and hashes, each of which could take a stream, is
// told from what is used otherwise, or for which something that is known of all of it has to be there first.
func TestReadSinks(t *testing.T) {
	const failed = "if err != nil {\nreturn err\n}\n"
	for _, c := range []struct {
		name, source string
		want         wayThrough // none where all of it is needed
	}{
		{"a file and sums", "sum := sha256.Sum256(data)\nn, err := io.Copy(f, bytes.NewReader(data))\n" + failed + "return note(n, sum, crc32.ChecksumIEEE(data))", inSinks},
		{"a file and a hash", "h := sha256.New()\nh.Write(data)\nif _, err := f.Write(data); err != nil {\nreturn err\n}\nreturn note(h.Sum(nil))", inSinks},
		{"its length at the end", "_, err = f.Write(data)\n" + failed + "sum := md5.Sum(data)\nreturn note(len(data), sum)", inSinks},
		{"its length behind them", "sum := md5.Sum(data)\n_, err = f.Write(data)\nlog.Print(len(data), sum)\nreturn err", inSinks},
		{"its length alone besides", "_, err = f.Write(data)\n" + failed + "return note(len(data))", inWrite},
		{"two sums", "a := md5.Sum(data)\nreturn note(a, sha1.Sum(data))", inSinks},
		{"a table", "c := crc32.Checksum(data, table)\nreturn note(c, sha1.Sum(data))", inSinks},
		{"two files", "_, err = f.Write(data)\n" + failed + "_, err = g.Write(data)\nreturn err", inWrites},
		{"by a buffer's WriteTo", "sum := md5.Sum(data)\n_, err = bytes.NewBuffer(data).WriteTo(f)\nlog.Print(sum)\nreturn err", inSinks},
		{"a new temporary file", "sum := md5.Sum(data)\nt, err := os.CreateTemp(\"\", \"x\")\n" + failed + "defer t.Close()\nt.Write(data)\nreturn note(sum)", inSinks},
		{"a file by its name", "sum := md5.Sum(data)\nerr = os.WriteFile(name, data, 0o600)\n" + failed + "return note(sum)", ""}, // it may be the file that is read
		{"body: a file by its name", "sum := md5.Sum(data)\nerr = os.WriteFile(name, data, 0o600)\n" + failed + "return note(sum)", inSinks},
		{"body: with a limit", "r = http.MaxBytesReader(w, r, 100)\nsum := md5.Sum(data)\nerr = os.WriteFile(name, data, 0o600)\n" + failed + "return note(sum)", ""},
		{"a file that others write records to", "sum := md5.Sum(data)\nshared.Write(data)\nreturn note(sum)", ""},
		{"its sum is compared at last", "f.Write(data)\nif md5.Sum(data) != want {\nreturn errSum\n}\nreturn nil", inSinks},
		{"a field that is a file", "sum := md5.Sum(data)\ns.out.Write(data)\nreturn note(sum)", ""},

		{"its sum comes first", "sum := md5.Sum(data)\nfmt.Fprintln(f, sum)\nf.Write(data)\nreturn nil", ""},
		{"its sum decides", "sum := md5.Sum(data)\nif sum != want {\nreturn errSum\n}\nf.Write(data)\nreturn nil", ""},
		{"its sum decides at once", "if md5.Sum(data) != want {\nreturn errSum\n}\nf.Write(data)\nreturn nil", ""},
		{"body: its sum decides about a file by its name", "sum := md5.Sum(data)\nif sum != want {\nreturn errSum\n}\nif err := os.MkdirAll(dir, 0o755); err != nil {\nreturn err\n}\ntmp := name + \".part\"\nif err := os.WriteFile(tmp, data, 0o600); err != nil {\nreturn err\n}\nreturn os.Rename(tmp, name)", inChecked},
		{"body: its sum decides which file", "sum := md5.Sum(data)\nif sum != want {\nname = other\n}\nreturn os.WriteFile(name, data, 0o600)", ""},
		{"body: its sum decides, beside another file", "sum := md5.Sum(data)\nif sum != want {\nreturn errSum\n}\nf.Write(data)\nreturn os.WriteFile(name, data, 0o600)", ""},
		{"body: its sum decides, and something happens", "sum := md5.Sum(data)\nif sum != want {\nreturn errSum\n}\nmu.Lock()\nreturn os.WriteFile(name, data, 0o600)", ""},
		{"its sum decides about a file by its name, which may be the one that is read", "sum := md5.Sum(data)\nif sum != want {\nreturn errSum\n}\nreturn os.WriteFile(name, data, 0o600)", ""},
		{"its sum is the name", "sum := md5.Sum(data)\nreturn os.WriteFile(hex.EncodeToString(sum[:]), data, 0o600)", ""},
		{"its length comes first", "fmt.Fprintln(f, len(data))\nf.Write(data)\nreturn note(md5.Sum(data))", ""},
		{"its length is a header", "w.Header().Set(\"Content-Length\", strconv.Itoa(len(data)))\nw.Write(data)\nreturn nil", ""},
		{"a limit", "if len(data) > 100 {\nreturn errLarge\n}\nf.Write(data)\nreturn note(md5.Sum(data))", ""},
		{"a text of it", "f.Write(data)\nreturn note(md5.Sum(data), string(data))", ""},
		{"parsed as well", "f.Write(data)\nsum := md5.Sum(data)\nreturn json.Unmarshal(data, &v)", ""},
		{"returned", "f.Write(data)\nsum := md5.Sum(data)\nreturn give(data, sum)", ""},
		{"stored", "sum := md5.Sum(data)\nf.Write(data)\ncache[name] = data\nreturn note(sum)", ""},
		{"stored by its sum", "sum := md5.Sum(data)\nf.Write(data)\nsums[sum] = data\nreturn nil", ""},
		{"in a struct", "sum := md5.Sum(data)\nf.Write(data)\nuse(item{body: data})\nreturn note(sum)", ""},
		{"sent", "sum := md5.Sum(data)\nf.Write(data)\nch <- data\nreturn note(sum)", ""},
		{"in a closure", "sum := md5.Sum(data)\nf.Write(data)\nlater(func() { f.Write(data) })\nreturn note(sum)", ""},
		{"by another goroutine", "sum := md5.Sum(data)\nf.Write(data)\ngo upload(data)\nreturn note(sum)", ""},
		{"a part", "f.Write(data[4:])\nreturn note(md5.Sum(data))", ""},
		{"twice", "f.Write(data)\nf.Write(data)\nreturn note(md5.Sum(data))", ""},
		{"tried again", "for range 3 {\nif _, err := f.Write(data); err == nil {\nbreak\n}\n}\nreturn note(md5.Sum(data))", ""},
		{"only sometimes", "if verbose {\nf.Write(data)\n}\nreturn note(md5.Sum(data))", ""},
		{"only if it suits", "return check(md5.Sum(data) == want && sha1.Sum(data) == other)", ""},
		{"into a buffer", "var b bytes.Buffer\nb.Write(data)\nreturn note(md5.Sum(data))", ""},
		{"a message", "u.Write(data)\nreturn note(md5.Sum(data))", ""},
		{"something else between", "f.Write(data)\nmu.Lock()\nreturn note(md5.Sum(data))", ""},
		{"a header before", "f.Write(header)\nf.Write(data)\nreturn note(md5.Sum(data))", ""},
		{"a file that it may be", "t, err := os.Create(name)\n" + failed + "t.Write(data)\nreturn note(md5.Sum(data))", ""},
		{"changed", "data = bytes.ToUpper(data)\nf.Write(data)\nreturn note(md5.Sum(data))", ""},
		{"only its length", "return note(len(data))", ""},
	} {
		text := "package main\n\nimport (\n\"crypto/sha256\"\n\"os\"\n\"bytes\"\n)\n\nfunc load(name string, r io.Reader, q *http.Request, shared *os.File, w http.ResponseWriter, u *net.UDPConn, s *server) error {\nf, err := os.CreateTemp(\"\", \"f\")\ng, err := os.CreateTemp(\"\", \"g\")\ndata, err := io.ReadAll(r)\n" + failed + c.source + "\n}\n\ntype server struct {\nout *os.File\n}\n"
		if strings.HasPrefix(c.name, "body: ") {
			text = strings.Replace(text, "ReadAll(r)", "ReadAll(q.Body)", 1)
		}
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		at := stack.Frame{Func: "main.load", File: "a.go", Line: lineWith(text, "ReadAll(").Line}
		got, ok := goneThroughOnce(NewInput(session.New(r.Open())).code, []stack.Frame{at})
		if ok != (c.want != "") || got.way != c.want && ok {
			t.Errorf("%s: %v, %+v", c.name, ok, got)
		}
		if streams := strings.Contains(got.advice(), "io.MultiWriter"); ok && streams != (c.want == inSinks || c.want == inWrites || c.want == inChecked) {
			t.Errorf("%s: %s", c.name, got.advice())
		}
	}
}
