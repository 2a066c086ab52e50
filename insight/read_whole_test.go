package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestGoneThroughOnce: what is read as a whole is told from what is needed as a whole, by what the source does with it, and
// by what it does before.
func TestGoneThroughOnce(t *testing.T) {
	for _, c := range []struct {
		name, source string
		want         wayThrough // none where it is needed
	}{
		{"the first of the rest", "data, err := io.ReadAll(f)\nfor n := 1; len(data) > 0; n++ {\nsize := min(part, len(data))\nsend(n, data[:size])\ndata = data[size:]\n}\nreturn err", inParts},
		{"by a counter", "data, err := io.ReadAll(f)\nfor i := 0; i < len(data); i += part {\nsend(i, data[i:min(i+part, len(data))])\n}\nreturn err", inParts},
		{"by a counter and an end", "data, err := io.ReadAll(f)\nfor i := 0; i < len(data); i += part {\nend := min(i+part, len(data))\nsend(i, data[i:end])\n}\nreturn err", inParts},
		{"chunks", "data, err := os.ReadFile(name)\nfor p := range slices.Chunk(data, part) {\nsend(0, p)\n}\nreturn err", inParts},
		{"a newline is looked for", "data, err := os.ReadFile(name)\nfor len(data) > 0 {\ni := bytes.IndexByte(data, '\\n')\nsend(i, data[:i])\ndata = data[i+1:]\n}\nreturn err", inLines},
		{"cut at newlines", "data, err := os.ReadFile(name)\nfor len(data) > 0 {\nline, rest, _ := bytes.Cut(data, []byte(\"\\n\"))\nsend(0, line)\ndata = rest\n}\nreturn err", inLines},
		{"cut at newlines, by itself", "data, err := os.ReadFile(name)\nfor len(data) > 0 {\nvar line []byte\nline, data, _ = bytes.Cut(data, []byte(\"\\n\"))\nsend(0, line)\n}\nreturn err", inLines},
		{"lines", "data, err := os.ReadFile(name)\nif err != nil {\nreturn err\n}\nfor _, l := range strings.Split(string(data), \"\\n\") {\nsum += count(l)\n}\nreturn nil", inLines},
		{"lines of a text", "data, err := os.ReadFile(name)\nif err != nil {\nreturn err\n}\ntext := strings.TrimSpace(string(data))\nfor _, l := range strings.Split(text, \"\\n\") {\nsum += count(strings.TrimSpace(l))\n}\nreturn nil", inLines},
		{"lines of a variable", "data, err := os.ReadFile(name)\nlines := bytes.Split(data, []byte(\"\\n\"))\nfor _, l := range lines {\nsum += count(string(l))\n}\nreturn err", inLines},
		{"numbers of lines", "data, err := os.ReadFile(name)\nfor _, l := range strings.Split(string(data), \"\\n\") {\nf := strings.Fields(l)\nn, err := strconv.Atoi(f[1])\nsum += n\n}\nreturn err", inLines},
		{"a scanner", "data, err := os.ReadFile(name)\ns := bufio.NewScanner(bytes.NewReader(data))\nfor s.Scan() {\nsum += count(s.Text())\n}\nreturn err", inStream},
		{"a copy", "data, err := io.ReadAll(f)\nif err != nil {\nreturn err\n}\nreturn os.WriteFile(name, data, 0o600)", inWrite},
		{"an answer", "data, err := os.ReadFile(name)\nif err != nil {\nreturn err\n}\nw.Write(data)\nreturn err", inWrite},
		{"a hash", "data, err := os.ReadFile(name)\nsum := sha256.Sum256(data)\nuse(sum[:])\nreturn err", inHash},
		{"a hash of each of many files", "for _, name := range names {\ndata, err := os.ReadFile(name)\nsums[name] = sha256.Sum256(data)\n}\nreturn nil", inHash},
		{"into a hash", "h := sha256.New()\ndata, err := os.ReadFile(name)\nh.Write(data)\nreturn err", inHash},
		{"by a function of its own", "data, err := io.ReadAll(f)\nsendAll(data)\nreturn err\n}\n\nfunc sendAll(all []byte) {\nfor len(all) > 0 {\nsend(0, all[:part])\nall = all[part:]\n}", inParts},

		{"two passes", "data, err := io.ReadAll(f)\nfor i := 0; i < len(data); i += part {\nsend(i, data[i:i+part])\n}\nos.WriteFile(name, data, 0o600)\nreturn err", ""},
		{"anywhere", "data, err := io.ReadAll(f)\nfor _, o := range offsets {\nsend(o, data[o:o+part])\n}\nreturn err", ""},
		{"windows that overlap", "data, err := io.ReadAll(f)\nfor i := 0; i+size <= len(data); i += part {\nsend(i, data[i:i+size])\n}\nreturn err", ""},
		{"a part that is left out", "data, err := io.ReadAll(f)\nfor len(data) > 0 {\nsend(0, data[:size])\ndata = data[part:]\n}\nreturn err", ""},
		{"backwards", "data, err := io.ReadAll(f)\nfor len(data) > 0 {\nsend(0, data[len(data)-part:])\ndata = data[:len(data)-part]\n}\nreturn err", ""},
		{"an element", "data, err := io.ReadAll(f)\nif data[0] == 'x' {\nreturn nil\n}\nw.Write(data)\nreturn err", ""},
		{"a limit is asked for", "data, err := io.ReadAll(f)\nif len(data) > most {\nreturn errLarge\n}\nw.Write(data)\nreturn err", ""},
		{"its length comes first", "data, err := io.ReadAll(f)\nfmt.Fprintln(w, len(data))\nw.Write(data)\nreturn err", ""},
		{"its sum comes first", "data, err := io.ReadAll(f)\nsum := sha256.Sum256(data)\nfmt.Fprintln(w, sum)\nw.Write(data)\nreturn err", ""},
		{"its sum decides", "data, err := io.ReadAll(f)\nif sha256.Sum256(data) != want {\nreturn errSum\n}\nos.WriteFile(name, data, 0o600)\nreturn err", ""},
		{"the same file", "data, err := os.ReadFile(name)\nreturn os.WriteFile(name, data, 0o600)", ""},
		{"the file is emptied in between", "data, err := os.ReadFile(name)\nos.Truncate(name, 0)\nw.Write(data)\nreturn err", ""},
		{"the file is made anew in between", "data, err := os.ReadFile(name)\nout, err := os.Create(name)\nfor _, l := range strings.Split(string(data), \"\\n\") {\nfmt.Fprintln(out, l)\n}\nreturn err", ""},
		{"a lock is taken in between", "data, err := os.ReadFile(name)\nmu.Lock()\nfor _, l := range strings.Split(string(data), \"\\n\") {\nsum += count(l)\n}\nreturn err", ""},
		{"other pieces than lines", "data, err := os.ReadFile(name)\nfor _, l := range strings.Split(string(data), \"\\n\\n\") {\nsum += count(l)\n}\nreturn err", ""},
		{"pieces by a variable", "data, err := os.ReadFile(name)\nfor _, l := range bytes.Split(data, sep) {\nsum += count(string(l))\n}\nreturn err", ""},
		{"the line before", "data, err := os.ReadFile(name)\nvar prev []byte\nfor _, l := range bytes.Split(data, []byte(\"\\n\")) {\nif bytes.Equal(l, prev) {\nsum++\n}\nprev = l\n}\nreturn err", ""},
		{"the longest line in a field", "data, err := os.ReadFile(name)\nfor _, l := range bytes.Split(data, []byte(\"\\n\")) {\nif len(l) > len(best.line) {\nbest.line = l\n}\n}\nreturn err", ""},
		{"a line for later", "data, err := os.ReadFile(name)\nfor _, l := range bytes.Split(data, []byte(\"\\n\")) {\nlater = func() { count(string(l)) }\n}\nreturn err", ""},
		{"to who ranges over it", "data, err := os.ReadFile(name)\nfor _, l := range bytes.Split(data, []byte(\"\\n\")) {\nif !yield(l) {\nbreak\n}\n}\nreturn err", ""},
		{"parts to a pool", "data, err := io.ReadAll(f)\nfor len(data) > 0 {\np := data[:part]\npool.Go(func() { send(0, p) })\ndata = data[part:]\n}\nreturn err", ""},
		{"written again and again", "data, err := io.ReadAll(f)\nfor _, w := range all {\nw.Write(data)\n}\nreturn err", ""},
		{"a relay of a request", "data, err := io.ReadAll(r.Body)\nw.Write(data)\nreturn err", ""},
		{"kept", "data, err := io.ReadAll(f)\ncache[name] = data\nw.Write(data)\nreturn err", ""},
		{"parts are kept", "data, err := io.ReadAll(f)\nfor len(data) > 0 {\nparts = append(parts, data[:part])\ndata = data[part:]\n}\nreturn err", ""},
		{"parts are gathered", "data, err := io.ReadAll(f)\nvar mine [][]byte\nfor len(data) > 0 {\nmine = append(mine, data[:part])\ndata = data[part:]\n}\nsend(0, mine)\nreturn err", ""},
		{"lines are gathered", "data, err := os.ReadFile(name)\nvar mine [][]byte\nfor l := range bytes.Lines(data) {\nmine = append(mine, l)\n}\nsend(0, mine)\nreturn err", ""},
		{"fields of lines are kept", "data, err := os.ReadFile(name)\nfor _, l := range strings.Split(string(data), \"\\n\") {\nf := strings.Fields(l)\ncache[f[0]] = nil\n}\nreturn err", ""},
		{"parsed", "data, err := io.ReadAll(f)\njson.Unmarshal(data, &v)\nreturn err", ""},
		{"byte by byte", "data, err := io.ReadAll(f)\nfor _, c := range data {\nsum += int(c)\n}\nreturn err", ""},
		{"by another goroutine", "data, err := io.ReadAll(f)\ngo w.Write(data)\nreturn err", ""},
		{"in a function literal", "data, err := io.ReadAll(f)\nretry(func() { w.Write(data) })\nreturn err", ""},
		{"a library has it", "data, err := io.ReadAll(f)\nlib.Use(data)\nreturn err", ""},
		{"a library has the parts", "data, err := io.ReadAll(f)\nfor p := range slices.Chunk(data, part) {\nlib.Use(p)\n}\nreturn err", ""},
		{"all lines are counted first", "data, err := os.ReadFile(name)\nlines := bytes.Split(data, []byte(\"\\n\"))\nout := make([]int, len(lines))\nfor i, l := range lines {\nout[i] = count(string(l))\n}\nreturn err", ""},
		{"changed", "data, err := os.ReadFile(name)\ndata = bytes.ToUpper(data)\nw.Write(data)\nreturn err", ""},
		{"into a variable of before", "var data []byte\ndata, err = io.ReadAll(f)\nw.Write(data)\nreturn err", ""},
	} {
		text := "package main\n\nfunc load(name string, f io.Reader) error {\n" + c.source + "\n}\n\nfunc send(n int, b []byte) { sum += n + len(b) }\n\nfunc count(s string) int { return strings.Count(s, \"x\") }\n\nvar (\nparts [][]byte\ncache map[string][]byte\n)\n"
		r := recordingtest.New("title x")
		withSource(r, "a.go", text)
		at := stack.Frame{Func: "main.load", File: "a.go", Line: lineWith(text, "Read"+map[bool]string{true: "File(name)", false: "All("}[strings.Contains(text, "ReadFile(name)")]).Line}
		got, ok := goneThroughOnce(NewInput(session.New(r.Open())).code, []stack.Frame{at})
		if ok != (c.want != "") || got.way != c.want && ok {
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
		if ok != want || ok && !strings.HasPrefix(got.advice(), "Open the file (os.Open) where load reads it") {
			t.Errorf("%s: %v, %+v", by, ok, got)
		}
	}
}
