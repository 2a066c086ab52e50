package insight

import (
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestSearchByHand: a loop that looks one up is told from others; line 6 is in it.
func TestSearchByHand(t *testing.T) {
	for _, c := range []struct {
		name, body string
		calledIn   bool // a loop
		want       bool
	}{
		{"nested", "for _, r := range in {\nfor i := range out {\nif out[i].key == r.key {\nbreak\n}\n}\n}", false, true},
		{"goes on with the outer one", "next: for _, r := range in {\nfor _, o := range out {\nif o == r {\ncontinue next\n}\n}\n}", false, true},
		{"a function called in a loop", "{\nfor _, o := range list {\nif o.ID == id {\nreturn o\n}\n}}", true, true},
		{"a function called once", "{\nfor _, o := range list {\nif o.ID == id {\nreturn o\n}\n}}", false, false},
		{"scans for a character", "for more() {\nfor i := range text {\nif text[i] == ' ' {\nbreak\n}\n}\n}", false, false},
		{"sums up", "for _, r := range in {\nfor _, o := range out {\nif o.key == r.key {\nn += o.n\n}\n}\n}", false, false},
		{"looks for nothing", "for _, r := range in {\nfor _, o := range out {\nif o == nil {\nbreak\n}\n}\n}", false, false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f() {\n"+c.body+"\n}\n"))
		in := NewInput(session.New(r.Open()))
		if _, got := searchByHand(in.code, stack.Frame{Func: "main.f", File: "a.go", Line: 6}, c.calledIn); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestNeedleAt: whether a search looks for another term in each turn; it is on line 6.
func TestNeedleAt(t *testing.T) {
	for text, want := range map[string]needle{
		"for _, l := range lines {\n\nif strings.Contains(l, \"77\") {\nn++\n}\n}":                 needleFixed,
		"for _, l := range lines {\n\nif strings.Contains(l, term) {\nn++\n}\n}":                   needleFixed,
		"for _, l := range lines {\nfor _, term := range terms {\nn += strings.Index(l, term)\n}}": needleOfLoop,
		"for _, l := range lines {\nterm := next()\nn += strings.Count(l, term)\n}":                needleOfLoop,
		"for _, l := range lines {\n\nn += strings.Map(f, l)\n}":                                   needleUnknown,
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f() {\n"+text+"\n}\n"))
		if got := NewInput(session.New(r.Open())).code.parse("a.go").needleAt(6); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestCP20ByHand: a loop of the program's own that searches is a warning, with its line.
func TestCP20ByHand(t *testing.T) {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nphase cpu 0s..5s profiler=cpu")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte("package main\n\nfunc f() {\nfor _, r := range in {\nfor i := range out {\nif out[i].key == r.key {\nbreak\n}\n}\n}\n}\n"))
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop.f:/src/a.go:6 shop.g:/src/b.go:1\n= 60                40\n"))
	f := expect(t, "a nested loop", r, "CP20", Found, "60.0% of the CPU time goes into a loop in shop.f at a.go:6 that compares one after the other until it finds one")
	severity(t, "CP20", f, Warning)
}
