package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestHeldThread: a goroutine that locks its thread, and never unlocks it, may be meant never to end.
func TestHeldThread(t *testing.T) {
	for text, want := range map[string]bool{
		"go func() {\nruntime.LockOSThread()\nstart()\nselect {} /*1*/\n}()":                                  true,
		"go func() {\nruntime.LockOSThread()\ndefer runtime.UnlockOSThread()\nselect {} /*1*/\n}()":           false,
		"go func() {\nselect {} /*1*/\n}()":                                                                   false,
		"runtime.LockOSThread()\ngo func() {\nselect {} /*1*/\n}()":                                           false,
		"runtime.LockOSThread()\nselect {} /*1*/":                                                             true,
		"go func() {\nselect {} /*1*/\n}()\ngo func() {\nruntime.LockOSThread()\nselect {}\n}()":              false,
		"go func() {\nruntime.LockOSThread()\nc <- 1\nwork()\nruntime.UnlockOSThread()\nselect {} /*1*/\n}()": false,
	} {
		text = "func f() {\n" + text + "\n}"
		at := numbered("package main\n\n" + text)[0]
		if got := heldThread(sourcesOf(text).code, at) > 0; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestBegunOnce: what main starts a number of times is bounded; what a function or a handler starts is not.
func TestBegunOnce(t *testing.T) {
	const keep = "func keep() {\nselect {} /*1*/\n}\n"
	for _, c := range []struct {
		text, fn string
		want     bool
	}{
		{keep + "func main() {\ngo keep()\n}", "main.keep", true},
		{keep + "func main() {\nfor i := 0; i < 4; i++ {\ngo keep()\n}\n}", "main.keep", true},
		{keep + "func main() {\nfor {\ngo keep()\n}\n}", "main.keep", false},
		{keep + "func main() {\nfor x := range jobs {\ngo keep()\n}\n}", "main.keep", false},
		{keep + "func handle() {\ngo keep()\n}\nfunc main() {\ngo keep()\n}", "main.keep", false},
		{keep + "func main() {\nhttp.HandleFunc(p, func() {\ngo keep()\n})\n}", "main.keep", false},
		{keep, "main.keep", false},
		{"func main() {\ngo func() {\nselect {} /*1*/\n}()\n}", "main.main.func1", true},
		{"func main() {\nfor {\ngo func() {\nselect {} /*1*/\n}()\n}\n}", "main.main.func1", false},
	} {
		at := numbered("package main\n\n" + c.text)[0]
		at.Func = c.fn
		if got := begunOnce(sourcesOf(c.text).code, at); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

// TestBegunOnceFiles: which function started a goroutine goes by its whole name and its file, of a program of several.
func TestBegunOnceFiles(t *testing.T) {
	const once = "func main() {\ngo func() {\nselect {}\n}()\n}\n"
	const again = "func init() {\nfor {\ngo func() {\nselect {}\n}()\n}\n}\n"
	const keep = "func keep() {\nselect {}\n}\n"
	for _, c := range []struct {
		name  string
		files [2]string // a.go and b.go
		at    stack.Frame
		want  bool
	}{
		{"the program's", [2]string{"package main\n" + once, "package other\n"}, stack.Frame{Func: "main.main.func1", File: "a.go", Line: 4}, true},
		{"the second one", [2]string{"package main\n" + once, "package other\n"}, stack.Frame{Func: "main.main.func2", File: "a.go", Line: 4}, true},
		{"one within the other", [2]string{"package main\n" + once, "package other\n"}, stack.Frame{Func: "main.main.func1.1", File: "a.go", Line: 4}, false},
		{"beside one in another file", [2]string{"package main\n" + once, "package other\n" + again}, stack.Frame{Func: "main.main.func1", File: "a.go", Line: 4}, true},
		{"beside a longer file", [2]string{"package main\n" + once, "package other\n" + strings.Repeat("\n", 200) + again}, stack.Frame{Func: "main.main.func1", File: "a.go", Line: 4}, true},
		{"of a file that is not there", [2]string{"package main\n" + once, "package other\n"}, stack.Frame{Func: "main.main.func1", File: "c.go", Line: 4}, false},
		{"main of a package domain", [2]string{"package domain\n" + once, "package main\n"}, stack.Frame{Func: "domain.main.func1", File: "a.go", Line: 4}, false},
		{"main of a package by that name", [2]string{"package main\n" + once, "package other\n"}, stack.Frame{Func: "shop/main.main.func1", File: "a.go", Line: 4}, false},
		{"by its name", [2]string{"package main\n" + keep + "func main() {\ngo keep()\n}\n", "package other\n"}, stack.Frame{Func: "main.keep", File: "a.go", Line: 3}, true},
		{"by main of a package domain", [2]string{"package domain\n" + keep + "func main() {\ngo keep()\n}\n", "package main\n"}, stack.Frame{Func: "domain.keep", File: "a.go", Line: 3}, false},
		{"by init of a package", [2]string{"package domain\n" + keep + "func init() {\ngo keep()\n}\n", "package main\n"}, stack.Frame{Func: "domain.keep", File: "a.go", Line: 3}, true},
	} {
		r := recordingtest.New("title x")
		for i, text := range c.files {
			name := string(rune('a'+i)) + ".go"
			r.Put(recording.Entry{Path: "source/" + name, Kind: recording.Source, Source: name}, []byte(text))
		}
		if got := begunOnce(NewInput(session.New(r.Open())).code, c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestEndsInType: a type is that of its package, whatever it is a pointer to or a list of.
func TestEndsInType(t *testing.T) {
	for text, want := range map[string]bool{
		"http.Request": true, "*http.Request": true, "[]http.Request": true, "[]*http.Request": true, "map[string]http.Request": true, "...http.Request": true,
		"myhttp.Request": false, "*my_http.Request": false, "example.com/http.Request": false, "http.RequestCtx": false, "Request": false, "": false,
	} {
		if got := endsInType(text, "http.Request"); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestKeptInMap: one goroutine for each element of a map that has a bound is no leak; of a map without one it may be.
func TestKeptInMap(t *testing.T) {
	const head = "func (u *unit) serve() {\nfor o := range u.in {}\n}\nfunc (h *hub) unit(id string) *unit {\nu := h.units[id]\n"
	for text, want := range map[string]bool{
		"if u == nil && len(h.units) < 100 {\nu = &unit{}\nh.units[id] = u\ngo u.serve()\n}":                                                  true,
		"if u == nil {\nif len(h.units) < most {\nu = &unit{}\nh.units[id] = u\ngo u.serve()\n}\n}":                                           true,
		"if u == nil {\nu = &unit{}\nh.units[id] = u\ngo u.serve()\n}":                                                                        false,
		"if u == nil || len(h.units) < 100 {\nu = &unit{}\nh.units[id] = u\ngo u.serve()\n}":                                                  false,
		"if len(h.units) < 100 {\nlog(id)\n}\nu = &unit{}\nh.units[id] = u\ngo u.serve()":                                                     false,
		"if u == nil && len(h.units) < 100 {\nu = &unit{}\nh.units[id] = u\nv := &unit{}\ngo v.serve()\n}":                                    false,
		"if u == nil && len(h.units) < 100 {\nu = &unit{}\nh.units[id] = u\ngo u.serve()\n}\nreturn u\n}\nfunc more(u *unit) {\ngo u.serve()": false,
	} {
		_, kept, got := keptInMap(sourcesOf(head+text+"\n}").code, stack.Frame{Func: "main.(*unit).serve", File: "a.go", Line: 4})
		if got != want || got && kept != "h.units" {
			t.Errorf("%s: %v %s", text, got, kept)
		}
	}
}
