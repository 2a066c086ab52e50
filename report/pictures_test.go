package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"loupe/analysis/calltree"
	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
	"loupe/format/symbol"
	"loupe/value/stack"
)

// server is a small CPU profile with recursion, an inlined call and labels.
const server = `
	net/http.(*conn).serve:/go/net/http/server.go:10  net/http.(*conn).serve:/go/net/http/server.go:10  net/http.(*conn).serve:/go/net/http/server.go:12  runtime.gcBgMarkWorker
	example.com/shop.walk:/src/walk.go:5              example.com/shop.walk:/src/walk.go:5              example.com/shop.write:/src/write.go:3            runtime.gcDrain
	example.com/shop.walk:/src/walk.go:6              strings.Index:/go/strings/strings.go:7~           syscall.Syscall
	runtime.mallocgc                                  internal/bytealg.IndexByte
	= 40 30 20 10
	@ tenant=a tenant=b - -
	@ bytes=64 bytes=4096 bytes=64 -
`

// hostileNames are names that want to get out of their place.
var hostileNames = []string{
	`</script><script>alert(1)</script>`, `"onload="alert(1)`, `'&<!--]]>`, "a\u2028b\u2029c", "nul\x00 bell\x07 bad\xff", "\u202eright to left", `\"\\`, "${x}`", strings.Repeat("long", 400),
}

func decode(t testing.TB, data []byte) *profile.Profile {
	t.Helper()
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pictureOf(t testing.TB, p *profile.Profile, set func(*pprof.Config)) *CallGraph {
	t.Helper()
	cfg := pprof.Defaults()
	cfg.NodeFraction, cfg.EdgeFraction = 0, 0
	if set != nil {
		set(&cfg)
	}
	r, err := pprof.New(p, []string{"svg"}, cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &CallGraph{Graph: r.Graph(), Header: r.Header()}
}

func flameOf(p *profile.Profile, diff bool) *Flame {
	index := len(p.SampleTypes) - 1
	opt := calltree.FlameOptions{MinShare: FlameShare}
	if diff {
		opt.Base = func(yield func(stack.ID, int64) bool) {
			for id, v := range p.Samples(index) {
				if !yield(id, v/2+int64(id)%7) {
					return
				}
			}
		}
	}
	f := &Flame{Graph: calltree.Flame(p.Stacks, p.Samples(index), opt), Title: "test", Diff: diff, Header: calltree.Header{Type: "samples", Unit: "count"}}
	opt.Inverted = true
	f.Inverted = calltree.Flame(p.Stacks, p.Samples(index), opt)
	f.Source = func(id stack.FrameID) string { f := p.Stacks.Frame(id); return fmt.Sprintf("%s:%d", f.File, f.Line) }
	return f
}

// hostileProfile has the hostile names as functions, files and labels.
func hostileProfile() *profile.Profile {
	p := &profile.Profile{SampleTypes: []profile.ValueType{{Type: "</script>", Unit: "\"'<"}}, Stacks: new(stack.Table), Values: make([][]int64, 1)}
	for i, name := range hostileNames {
		leaf := p.Stacks.InternFrame(stack.Frame{Func: name, File: name, Line: i})
		root := p.Stacks.InternFrame(stack.Frame{Func: hostileNames[(i+1)%len(hostileNames)], File: name})
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern([]stack.FrameID{leaf, root}))
		p.Values[0] = append(p.Values[0], int64(10+i))
	}
	p.Comments = hostileNames
	p.Mappings = []profile.Mapping{{File: "/bin/<b>"}}
	return p
}

// wide is a profile with random stacks over many functions.
func wide(functions, stacks int) *profile.Profile {
	r := rand.New(rand.NewPCG(1, 2))
	p := &profile.Profile{SampleTypes: []profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, Stacks: new(stack.Table), Values: make([][]int64, 1)}
	frames := make([]stack.FrameID, functions)
	for i := range frames {
		frames[i] = p.Stacks.AppendFrame(stack.Frame{Func: fmt.Sprintf("example.com/p%d.F%d", i%50, i), Line: i})
	}
	for range stacks {
		s := make([]stack.FrameID, 1+r.IntN(30))
		for k := range s {
			s[k] = frames[r.IntN(functions)]
		}
		p.StackIDs = append(p.StackIDs, p.Stacks.Intern(s))
		p.Values[0] = append(p.Values[0], 10_000_000*int64(1+r.IntN(9)))
	}
	return p
}

func goldenPicture(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", "pictures", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed (-update rewrites it):\n%s", name, got)
	}
}

// wellFormed reads all of an XML document and returns its text.
func wellFormed(t *testing.T, doc []byte) string {
	t.Helper()
	var text strings.Builder
	d := xml.NewDecoder(bytes.NewReader(doc))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("%v in\n%.2000s", err, doc)
		}
		switch x := token.(type) {
		case xml.CharData:
			text.Write(x)
		case xml.StartElement:
			for _, a := range x.Attr {
				if strings.HasPrefix(a.Name.Local, "on") {
					t.Errorf("an element has %s", a.Name.Local)
				}
			}
		}
	}
}

func written(t testing.TB, write func(w io.Writer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withoutAssets takes style and script out, which have files of their own.
func withoutAssets(doc []byte) []byte {
	for _, asset := range []string{callGraphCSS, callGraphJS, pageCSS + flameCSS, flameJS, pageCSS + webListCSS, webListJS} {
		doc = bytes.ReplaceAll(doc, []byte(asset), []byte("…\n"))
	}
	return doc
}

func TestCallGraphSVG(t *testing.T) {
	t.Parallel()
	data := profiletest.Encode(server, profiletest.Options{Types: []string{"samples/count"}})
	for name, set := range map[string]func(*pprof.Config){
		"functions": nil,
		"lines":     func(c *pprof.Config) { c.Granularity = "lines" },
		"trimmed":   func(c *pprof.Config) { c.NodeCount = 4 },
		"calltree":  func(c *pprof.Config) { c.CallTree = true },
	} {
		g := pictureOf(t, decode(t, data), set)
		doc := written(t, func(w io.Writer) error { return CallGraphSVG(w, g) })
		wellFormed(t, doc)
		goldenPicture(t, name+".svg", withoutAssets(doc))
		again := written(t, func(w io.Writer) error { return CallGraphSVG(w, pictureOf(t, decode(t, data), set)) })
		if !bytes.Equal(doc, again) {
			t.Errorf("%s: two pictures of one profile differ", name)
		}
	}
}

func TestCallGraphOfDifference(t *testing.T) {
	t.Parallel()
	p := decode(t, profiletest.Encode(server, profiletest.Options{Types: []string{"samples/count"}}))
	for i := range p.Values[0] {
		if i%2 == 0 {
			p.Values[0][i] *= -1
		}
	}
	doc := string(written(t, func(w io.Writer) error { return CallGraphSVG(w, pictureOf(t, p, nil)) }))
	if !strings.Contains(doc, `class="n m`) || !strings.Contains(doc, `class="n p`) {
		t.Error("a difference has no colours of both kinds")
	}
}

// TestHostileNames holds that no name gets out of its place, in any picture.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	p := hostileProfile()
	f := flameOf(p, false)
	f.Header.Comments, f.Title = hostileNames, hostileNames[0]
	g := pictureOf(t, p, func(c *pprof.Config) { c.Granularity = "lines" })
	for _, svg := range [][]byte{
		written(t, func(w io.Writer) error { return CallGraphSVG(w, g) }),
		written(t, func(w io.Writer) error { return FlameSVG(w, f) }),
	} {
		text := wellFormed(t, svg)
		if !strings.Contains(text, "alert(1)") {
			t.Error("the hostile name is not there at all")
		}
		if bytes.Contains(svg, []byte("<script>alert")) {
			t.Error("a name became a script")
		}
	}
	page := written(t, func(w io.Writer) error { return FlameHTML(w, f) })
	checkPage(t, page)
	if bytes.Contains(page, []byte("\u2028")) || bytes.Contains(page, []byte("\u202e")) {
		t.Error("a line separator or a change of direction is in the page")
	}
	start := bytes.Index(page, []byte(`id="data">`)) + len(`id="data">`)
	var v map[string]any
	if err := json.Unmarshal(page[start:start+bytes.Index(page[start:], []byte("</script>"))], &v); err != nil {
		t.Error(err)
	}
	l := &WebList{Listing: &calltree.Listing{}, Title: hostileNames[0], Notes: hostileNames, Header: calltree.Header{Comments: hostileNames}}
	for _, name := range hostileNames {
		l.Listing.Routines = append(l.Listing.Routines, calltree.Routine{Func: name, File: name, Lines: []calltree.Line{{Number: 1, Flat: 1, Text: name}}, Err: errors.New(name)})
		l.Routines = append(l.Routines, pprof.Routine{Names: []string{name}, Code: []pprof.Instruction{{Inst: symbol.Inst{Text: name, File: name, Line: 1}}}})
	}
	checkPage(t, written(t, func(w io.Writer) error { return WebListHTML(w, l) }))
}

// checkPage holds that a page has the scripts that it should have and nothing
// from elsewhere.
func checkPage(t *testing.T, page []byte) {
	t.Helper()
	text := string(withoutAssets(page))
	if n := strings.Count(text, "<script"); n > 2 {
		t.Errorf("the page has %d scripts", n)
	}
	if m := regexp.MustCompile(`(?i)<[a-z]+[^>]*\s(on\w+|src|href="[^#])`).FindString(text); m != "" {
		t.Errorf("the page has %q", m)
	}
	if !strings.Contains(text, "default-src 'none'") {
		t.Error("the page has no policy")
	}
}

func TestCallGraphPNG(t *testing.T) {
	t.Parallel()
	g := pictureOf(t, decode(t, profiletest.Encode(server, profiletest.Options{})), nil)
	data := written(t, func(w io.Writer) error { return CallGraphPNG(w, g) })
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() < 300 || b.Dy() < 300 {
		t.Errorf("the picture is %v", b)
	}
	written(t, func(w io.Writer) error { return CallGraphPNG(w, pictureOf(t, hostileProfile(), nil)) })
	written(t, func(w io.Writer) error { return CallGraphPNG(w, &CallGraph{Graph: &calltree.Graph{}}) })
}

// TestLargePictures holds that pictures of large profiles are bounded.
func TestLargePictures(t *testing.T) {
	if testing.Short() {
		t.Skip("some seconds")
	}
	t.Parallel()
	p := wide(5_200, 2_000)
	g := pictureOf(t, p, func(c *pprof.Config) { c.NodeCount = 100_000 })
	doc := written(t, func(w io.Writer) error { return CallGraphSVG(w, g) })
	if !bytes.Contains(doc, []byte("do not fit in a picture")) {
		t.Error("nothing is said about what is left out")
	}
	img := written(t, func(w io.Writer) error { return CallGraphPNG(w, g) })
	c, err := png.DecodeConfig(bytes.NewReader(img))
	if err != nil || c.Width*c.Height > 50_000_000 {
		t.Errorf("a PNG of %d by %d, %v", c.Width, c.Height, err)
	}
	// 4,000 stacks of 15 random frames: few boxes are wide enough.
	if page := written(t, func(w io.Writer) error { return FlameHTML(w, flameOf(p, false)) }); len(page) > 400_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

func TestFlame(t *testing.T) {
	t.Parallel()
	p := decode(t, profiletest.Encode(server, profiletest.Options{}))
	for name, f := range map[string]*Flame{"flame": flameOf(p, false), "flamediff": flameOf(p, true), "flameempty": {Graph: &calltree.FlameGraph{}}} {
		page := written(t, func(w io.Writer) error { return FlameHTML(w, f) })
		checkPage(t, page)
		goldenPicture(t, name+".html", withoutAssets(page))
		svg := written(t, func(w io.Writer) error { return FlameSVG(w, f) })
		wellFormed(t, svg)
		goldenPicture(t, name+".svg", svg)
	}
}

func TestWebListHTML(t *testing.T) {
	t.Parallel()
	in := func(pc uint64, line int, text string, flat int64, inlined ...symbol.Frame) pprof.Instruction {
		return pprof.Instruction{Flat: flat, Cum: flat, Inst: symbol.Inst{PC: pc, Bytes: make([]byte, 4), Text: text, File: "/src/walk.go", Line: line, Func: "shop.walk", Inlined: inlined}}
	}
	l := &WebList{
		Listing: &calltree.Listing{Total: 100, Routines: []calltree.Routine{
			{Func: "shop.walk", File: "/src/walk.go", Flat: 60, Cum: 90, Lines: []calltree.Line{
				{Number: 4, Text: "func walk() {"}, {Number: 5, Flat: 50, Cum: 50, Text: "\tx := a < b && c"}, {Number: 6, Flat: 10, Cum: 40, Text: "\t// why"}, {Number: 7, Text: "}"}}},
			{Func: "shop.gone", Err: errors.New("no such file")},
		}},
		Routines: []pprof.Routine{{Names: []string{"shop.walk"}, Code: []pprof.Instruction{
			in(0x100, 5, "MOVQ AX, BX", 30), in(0x104, 12, "ADDQ $1, AX", 20, symbol.Frame{Frame: stack.Frame{Func: "shop.add"}}), in(0x108, 6, "CALL f(SB)", 10), in(0x110, 5, "RET", 0), in(0x114, 90, "INT $3", 0),
		}}},
		Header: calltree.Header{Type: "samples", Unit: "count", File: "/bin/shop"},
	}
	page := written(t, func(w io.Writer) error { return WebListHTML(w, l) })
	checkPage(t, page)
	goldenPicture(t, "weblist.html", withoutAssets(page))
}

func BenchmarkPictures(b *testing.B) {
	p := wide(300, 3_000)
	g := pictureOf(b, p, func(c *pprof.Config) { c.NodeCount = 80 })
	f := flameOf(p, false)
	for name, write := range map[string]func(io.Writer) error{
		"graph.svg":  func(w io.Writer) error { return CallGraphSVG(w, g) },
		"graph.png":  func(w io.Writer) error { return CallGraphPNG(w, g) },
		"flame.html": func(w io.Writer) error { return FlameHTML(w, f) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
