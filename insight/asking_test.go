package insight

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestAskingAround: a loop whose end the answer decides is told from one that goes through
// items; the call is on line 5.
func TestAskingAround(t *testing.T) {
	for _, c := range []struct {
		name, loop      string
		asks            bool
		retries, follow bool
	}{
		{"polls", "for i := 0; ; i++ {\ndone, err := state(ctx, i)\nif done || err != nil {\nreturn err\n}\n<-t.C\n}", true, false, false},
		{"polls in the condition", "for !ready {\nready = state()\ntime.Sleep(d)\n}", true, false, false},
		{"tries again while it is busy", "for i := 0; i < n; i++ {\nb, err = once()\nif !errors.Is(err, errBusy) {\nreturn b, err\n}\n}", true, true, false},
		{"tries again by the status", "for range 5 {\nresp, err := client.Do(req)\nif err != nil {\nreturn err\n}\nif resp.StatusCode != 503 {\nbreak\n}\n}", true, true, false},
		{"looks at the answer in a switch", "for {\nresp := get()\nswitch resp.StatusCode {\ncase 200:\nreturn resp\n}\n}", true, true, false},
		{"follows pages", "for {\npage, err := list(ctx, token)\nif err != nil {\nreturn err\n}\nall = append(all, page.Items...)\ntoken = page.Next\nif token == \"\" {\nbreak\n}\n}", true, false, true},
		{"follows pages by the condition", "for next != \"\" {\npage := get(next)\nnext = page.Next\n}", true, false, true},
		{"one for each item", "for _, id := range ids {\nv, err := get(id)\nif err != nil {\nreturn err\n}\nall = append(all, v)\n}", false, false, false},
		{"looks for one among items", "for _, id := range ids {\nv := get(id)\nif v.Match {\nreturn v\n}\n}", false, false, false},
		{"items by index", "for i := 0; i < n; i++ {\nv := get(ids[i])\nif v.Match {\nreturn v\n}\n}", false, false, false},
		{"rows of an answer", "for rows.Next() {\nv := get(rows.ID())\nif v.Match {\nreturn v\n}\n}", false, false, false},
		{"takes from a queue", "for {\nget(<-queue)\nif len(queue) == 0 {\nreturn\n}\n}", false, false, false},
		{"ends on an error alone", "for {\nv, err := get()\nif err != nil {\nreturn err\n}\nuse(v)\n}", false, false, false},
		{"so many", "for range n {\nv := get()\nuse(v)\n}", false, false, false},
		{"what fails among items is tried again", "for _, id := range ids { for {\nv, err := get(id)\nif err == nil {\nbreak\n}\nuse(v)\n}}", false, false, false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f() {\n"+c.loop+"\n}\n"))
		in := NewInput(session.New(r.Open()))
		got, ok := askingAround(in.code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 5}})
		if ok != c.asks || got.retries != c.retries || got.follows != c.follow {
			t.Errorf("%s: %v %+v", c.name, ok, got)
		}
	}
}

// TestPaces: a pause in a loop that nothing ends but its items keeps a rate.
func TestPaces(t *testing.T) {
	for text, want := range map[string]bool{
		"for _, x := range list {\n<-limit.C\nif err := send(x); err != nil {\nreturn err\n}\n}": true,
		"for i := 0; i < 60; i++ {\ntime.Sleep(d)\nsend(i)\n}":                                   true,
		"for i := 0; i < 60; i++ {\ntime.Sleep(d)\nif ready() {\nbreak\n}\n}":                    false,
		"for !ready() {\ntime.Sleep(d)\n}":                                                       false,
		"for {\ntime.Sleep(d)\nif ready() {\nreturn\n}\n}":                                       false,
		"{\ntime.Sleep(d)\n}": false,
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f() {\n"+text+"\n}\n"))
		if got := paces(NewInput(session.New(r.Open())).code, stack.Frame{Func: "main.f", File: "a.go", Line: 5}); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}
