package insight

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestGoneThroughOnce: what is read as a whole is told from what is needed as a whole, by what the source does with it.
func TestGoneThroughOnce(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         []wayThrough // none where it is needed
	}{
		{"the first of the rest", "data, err := io.ReadAll(f)\nfor n := 1; len(data) > 0; n++ {\nsize := min(part, len(data))\nsend(n, data[:size])\ndata = data[size:]\n}\nreturn err", []wayThrough{inParts}},
		{"by a counter", "data, err := io.ReadAll(f)\nfor i := 0; i < len(data); i += part {\nsend(i, data[i:min(i+part, len(data))])\n}\nreturn err", []wayThrough{inParts}},
		{"chunks", "data, err := os.ReadFile(name)\nfor p := range slices.Chunk(data, part) {\nsend(0, p)\n}\nreturn err", []wayThrough{inParts}},
		{"a separator is looked for", "data, err := os.ReadFile(name)\nfor len(data) > 0 {\ni := bytes.IndexByte(data, '\\n')\nsend(i, data[:i])\ndata = data[i+1:]\n}\nreturn err", []wayThrough{inParts}},
		{"lines", "data, err := os.ReadFile(name)\nif err != nil {\nreturn err\n}\nfor _, l := range strings.Split(string(data), \"\\n\") {\nsum += count(l)\n}\nreturn nil", []wayThrough{inLines}},
		{"lines of a variable", "data, err := os.ReadFile(name)\nlines := bytes.Split(data, nl)\nfor _, l := range lines {\nsum += count(string(l))\n}\nreturn err", []wayThrough{inLines}},
		{"a scanner", "data, err := os.ReadFile(name)\ns := bufio.NewScanner(bytes.NewReader(data))\nfor s.Scan() {\nsum += count(s.Text())\n}\nreturn err", []wayThrough{inStream}},
		{"a copy", "data, err := io.ReadAll(f)\nos.WriteFile(name, data, 0o600)\nreturn err", []wayThrough{inWrite}},
		{"an answer", "data, err := os.ReadFile(name)\nw.Write(data)\nreturn err", []wayThrough{inWrite}},
		{"a hash", "data, err := os.ReadFile(name)\nsum := sha256.Sum256(data)\nkeep(sum[:])\nreturn err", []wayThrough{inHash}},
		{"a hash of each of many files", "for _, name := range names {\ndata, err := os.ReadFile(name)\nsums[name] = sha256.Sum256(data)\n}\nreturn nil", []wayThrough{inHash}},
		{"a hash of what is written", "data, err := io.ReadAll(f)\nsum := sha256.Sum256(data)\nos.WriteFile(name, data, 0o600)\nkeep(sum[:])\nreturn err", []wayThrough{inHash, inWrite}},
		{"by a function of its own", "data, err := io.ReadAll(f)\nsendAll(data)\nreturn err\n}\n\nfunc sendAll(all []byte) {\nfor len(all) > 0 {\nsend(0, all[:part])\nall = all[part:]\n}", []wayThrough{inParts}},

		{"two passes", "data, err := io.ReadAll(f)\nfor i := 0; i < len(data); i += part {\nsend(i, data[i:i+part])\n}\nos.WriteFile(name, data, 0o600)\nreturn err", nil},
		{"anywhere", "data, err := io.ReadAll(f)\nfor _, o := range offsets {\nsend(o, data[o:o+part])\n}\nreturn err", nil},
		{"an element", "data, err := io.ReadAll(f)\nif data[0] == 'x' {\nreturn nil\n}\nw.Write(data)\nreturn err", nil},
		{"written again and again", "data, err := io.ReadAll(f)\nfor _, w := range all {\nw.Write(data)\n}\nreturn err", nil},
		{"kept", "data, err := io.ReadAll(f)\ncache[name] = data\nw.Write(data)\nreturn err", nil},
		{"parts are kept", "data, err := io.ReadAll(f)\nfor len(data) > 0 {\nparts = append(parts, data[:part])\ndata = data[part:]\n}\nreturn err", nil},
		{"parts are gathered", "data, err := io.ReadAll(f)\nvar mine [][]byte\nfor len(data) > 0 {\nmine = append(mine, data[:part])\ndata = data[part:]\n}\nsend(mine)\nreturn err", nil},
		{"lines are gathered", "data, err := os.ReadFile(name)\nvar mine [][]byte\nfor l := range bytes.Lines(data) {\nmine = append(mine, l)\n}\nsend(mine)\nreturn err", nil},
		{"fields of lines are kept", "data, err := os.ReadFile(name)\nfor _, l := range strings.Split(string(data), \"\\n\") {\nf := strings.Fields(l)\ncache[f[0]] = nil\n}\nreturn err", []wayThrough{inLines}},
		{"parsed", "data, err := io.ReadAll(f)\njson.Unmarshal(data, &v)\nreturn err", nil},
		{"by another goroutine", "data, err := io.ReadAll(f)\ngo w.Write(data)\nreturn err", nil},
		{"in a function literal", "data, err := io.ReadAll(f)\nretry(func() { w.Write(data) })\nreturn err", nil},
		{"a library has it", "data, err := io.ReadAll(f)\nlib.Use(data)\nreturn err", nil},
		{"all lines are counted first", "data, err := os.ReadFile(name)\nlines := bytes.Split(data, nl)\nout := make([]int, len(lines))\nfor i, l := range lines {\nout[i] = count(string(l))\n}\nreturn err", nil},
		{"changed", "data, err := os.ReadFile(name)\ndata = bytes.TrimSpace(data)\nw.Write(data)\nreturn err", nil},
	} {
		text := "package main\n\nfunc load(name string, f io.Reader) error {\n" + c.source + "\n}\n\nvar (\nparts [][]byte\ncache map[string][]byte\n)\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		at := stack.Frame{Func: "main.load", File: "a.go", Line: lineWith(text, "data, err :=").Line}
		got, ok := goneThroughOnce(NewInput(session.New(r.Open())).code, []stack.Frame{at})
		if ok != (c.want != nil) || ok && !slices.Equal(slices.Sorted(maps.Keys(got.ways)), c.want) {
			t.Errorf("%s: %v, %+v", c.name, ok, got)
		}
	}
}

// TestGoneThroughByCaller: what a function reads and returns is followed in its caller.
func TestGoneThroughByCaller(t *testing.T) {
	const text = "package main\n\nfunc load(name string) ([]byte, error) {\nreturn os.ReadFile(name) // reads\n}\n\nfunc send(w io.Writer) error {\ndata, err := load(\"x\") // calls\nw.Write(data)\nreturn err\n}\n\nfunc keep() {\ndata, _ := load(\"x\") // keeps\nall = append(all, data)\n}\n\nvar all [][]byte\n"
	for by, want := range map[string]bool{"calls": true, "keeps": false} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		frames := []stack.Frame{{Func: "main.load", File: "a.go", Line: lineWith(text, "// reads").Line}, {Func: "main.send", File: "a.go", Line: lineWith(text, "// "+by).Line}}
		got, ok := goneThroughOnce(NewInput(session.New(r.Open())).code, frames)
		if ok != want || ok && !strings.HasPrefix(got.advice(), "Copy it instead") {
			t.Errorf("%s: %v, %+v", by, ok, got)
		}
	}
}
