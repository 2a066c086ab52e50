package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestShortened: a slice that is shortened beside the append, always or by its length, is bounded;
// one that is shortened elsewhere, or under another condition, may not be.
func TestShortened(t *testing.T) {
	const none, some, bound = "none", "some", "bound"
	for body, want := range map[string]string{
		"if n := len(s.all) - keep; n > 0 {\ns.all = append([]*item(nil), s.all[n:]...)\n}":                         bound,
		"if len(s.all) > keep {\ns.all = s.all[1:]\n}":                                                              bound,
		"if len(s.all) > keep {\ns.all = s.all[:keep]\n}":                                                           bound,
		"s.all = append(s.all[:0], s.all[max(0, len(s.all)-keep):]...)":                                             bound,
		"for len(s.all) > keep {\ns.all = slices.Delete(s.all, 0, 1)\n}":                                            bound,
		"if len(s.all) > keep {\ncopy(s.all, s.all[1:])\ns.all = s.all[:len(s.all)-1]\n}":                           bound,
		"if len(s.all) > keep {\nrest := make([]*item, keep)\ncopy(rest, s.all[len(s.all)-keep:])\ns.all = rest\n}": bound,
		"if len(s.all) <= keep {\nreturn\n}\ns.all = s.all[len(s.all)-keep:]":                                       bound,
		"over := len(s.all) - keep\nif over > 0 {\ns.all = slices.Clone(s.all[over:])\n}":                           bound,
		"": none,
		"if len(s.all) > keep {\nlog.Print(s.all[1:])\n}":                                 none,
		"if len(s.all) > keep {\no.all = o.all[1:]\n}":                                    none,
		"s.all = s.all[:cap(s.all)]":                                                      none,
		"s.all = append(s.all, s.all[1:]...)":                                             none,
		"s.all = s.all[0:]":                                                               none,
		"if s.trims && len(s.all) > keep {\ns.all = s.all[1:]\n}":                         some,
		"if s.trims {\nif len(s.all) > keep {\ns.all = s.all[1:]\n}\n}":                   some,
		"if s.trims {\ns.all = s.all[1:]\n}":                                              some,
		"if !s.trims {\nreturn\n}\nif len(s.all) > keep {\ns.all = s.all[1:]\n}":          some,
		"go func() {\ns.all = s.all[1:]\n}()":                                             some,
		"}\nfunc (s *store) take() (v *item) {\nv, s.all = s.all[0], s.all[1:]\nreturn v": some,
		"}\nfunc (o *other) take() (v *item) {\nv, o.all = o.all[0], o.all[1:]\nreturn v": none,
	} {
		checkShortened(t, "\ns.all = append(s.all, &item{b})\n"+body, want)
	}
	checkShortened(t, "\ns.all = append(s.all, &item{b}, &item{b})\nif len(s.all) > keep {\ns.all = s.all[1:]\n}", some)
	checkShortened(t, "\ns.all = append(s.all, &item{b}, &item{b})\nfor len(s.all) > keep {\ns.all = s.all[1:]\n}", bound)
	checkShortened(t, "\nif s.on {\ns.all = append(s.all, &item{b})\n} else {\ns.all = s.all[1:]\n}", some)
	checkShortened(t, "\nif len(s.all) < keep {\ns.all = append(s.all, &item{b})\n} else {\ns.all = append(s.all[1:], &item{b})\n}", bound)
	checkShortened(t, "\nif len(s.all) >= keep {\ns.all = s.all[1:]\n}\ns.all = append(s.all, &item{b})", bound)
	checkShortened(t, "\nswitch b[0] {\ncase 1:\ns.all = append(s.all, &item{b})\ncase 2:\ns.all = s.all[1:]\n}", some)
}

func checkShortened(t *testing.T, body, want string) {
	t.Helper()
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc (s *store) add() {\nb := make([]byte, 4096)"+body+"\n}\ntype store struct { all []*item }\ntype other struct { all []*item }\ntype item struct { b []byte }\n"))
	in := NewInput(session.New(r.Open()))
	at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
	h, ok := sourceHolders{in.code}.holder(at, []stack.Frame{at})
	got := "none"
	switch {
	case h.bounds.File != "":
		got = "bound"
	case h.lets.File != "":
		got = "some"
	}
	if !ok || got != want {
		t.Errorf("%s\n%v %s, want %s: %s", body, ok, got, want, h.advice)
	}
	f := Finding{Severity: Warning}
	tellHolder(in, &f, at, []stack.Frame{at}, "")
	if want == "bound" && f.Severity != Info {
		t.Errorf("%s\n%s: %s", body, f.Severity, f.Advice)
	}
}
