package insight

import (
	"strings"
	"testing"

	"loupe/value/stack"
)

// TestKeptThrough: what is taken with a slot and given back after a pause is found; what each try makes for itself, reads, or
// only counts is not.
func TestKeptThrough(t *testing.T) {
	const head = "type bank struct {\nslots, lines chan struct{}\nfree []*modem\nbusy map[int]bool\nnames map[string]string\n}\nfunc (b *bank) take() *modem { return b.free[0] }\n"
	const enter = "b.slots <- struct{}{} /*1*/\ndefer func() { <-b.slots }()\n"
	for _, c := range []struct{ name, body, want string }{
		{"popped and pushed back", enter + "m := b.free[0]\nb.free = b.free[1:]\ndefer func() { b.free = append(b.free, m) }()\nask(m)\ntime.Sleep(d) /*2*/", "m"},
		{"pushed back behind the pause", enter + "m := b.free[0]\nb.free = b.free[1:]\nask(m)\ntime.Sleep(d) /*2*/\nb.free = append(b.free, m)", "m"},
		{"received and sent back", enter + "m := <-b.idle\ndefer func() { b.idle <- m }()\ntime.Sleep(d) /*2*/", "m"},
		{"the slot has a value", "m := <-b.idle /*1*/\ndefer func() { b.idle <- m }()\nask(m)\ntime.Sleep(m.wait) /*2*/", "m"},
		{"borrowed by a method", enter + "m := b.take()\ndefer b.giveBack(m)\nfor range 3 {\nif ask(m) {\nreturn\n}\ntime.Sleep(d) /*2*/\n}", "m"},
		{"used by the next try", enter + "m := b.take()\nfor range 3 {\nif ask(m) {\nreturn\n}\ntime.Sleep(d) /*2*/\n}", "m"},
		{"marked as busy", enter + "b.busy[i] = true\ndefer delete(b.busy, i)\ntime.Sleep(d) /*2*/", "b.busy[i]"},
		{"an open connection", enter + "c, err := open(x)\ndefer c.Close()\ntime.Sleep(d) /*2*/", "c"},
		{"nothing", enter + "for range 3 {\nif ask() == nil {\nreturn\n}\ntime.Sleep(d) /*2*/\n}", ""},
		{"an answer of each try", enter + "for range 3 {\nr, err := http.Get(u)\nif err == nil {\nr.Body.Close()\nreturn\n}\ntime.Sleep(d) /*2*/\n}", ""},
		{"a request that is made before", enter + "r := newRequest(u)\nfor range 3 {\nif client.Do(r) == nil {\nreturn\n}\ntime.Sleep(d) /*2*/\n}", ""},
		{"something read", enter + "n := b.names[k]\nfor range 3 {\nif ask(n) {\nreturn\n}\ntime.Sleep(d) /*2*/\n}", ""},
		{"a number that grows", enter + "wait := d\nfor range 3 {\nif ask() {\nreturn\n}\ntime.Sleep(wait) /*2*/\nwait *= 2\n}", ""},
		{"given back before the pause", enter + "m := b.take()\nask(m)\nb.giveBack(m)\ntime.Sleep(d) /*2*/", ""},
		{"a way to give back the slot", "leave := b.take() /*1*/\ndefer leave()\ntime.Sleep(d) /*2*/", ""},
		{"a context", enter + "ctx, cancel := context.WithTimeout(ctx, d)\ndefer cancel()\nask(ctx)\ntime.Sleep(d) /*2*/", ""},
		{"taken before the slot", "m := b.take()\ndefer b.giveBack(m)\n" + enter + "time.Sleep(d) /*2*/", ""},
	} {
		text := head + "func (b *bank) deliver() {\n" + c.body + "\n}"
		at := numbered("package main\n\n" + text)
		way := func(f stack.Frame, leaf string) []stack.Frame {
			return []stack.Frame{{Func: leaf, File: "chan.go", Line: 1}, {Func: "runtime.gopark", File: "proc.go", Line: 1}, f, {Func: "main.main", File: "a.go", Line: 99}}
		}
		kept, found, known := keptThrough(sourcesOf(text).code, way(at[0], "runtime.chansend1"), way(at[1], "time.Sleep"))
		if kept.name != c.want || found != (c.want != "") || !known {
			t.Errorf("%s: %q %v, want %q", c.name, kept.text(), known, c.want)
		}
	}
	if _, _, known := keptThrough(sourcesOf("").code, []stack.Frame{{Func: "main.f", File: "z.go", Line: 3}}, []stack.Frame{{Func: "main.f", File: "z.go", Line: 5}}); known {
		t.Error("a file that is not there is read")
	}
}

// TestKeptDeeper: what is taken in a function between the slot and the pause is found too.
func TestKeptDeeper(t *testing.T) {
	const text = "func (b *bank) deliver() {\nb.enter() /*1*/\ndefer b.leave()\nb.try() /*2*/\n}\nfunc (b *bank) try() {\nm := <-b.idle\nask(m)\ntime.Sleep(d) /*3*/\nb.idle <- m\n}"
	at := numbered("package main\n\n" + text)
	at[2].Func = "main.(*bank).try"
	kept, found, _ := keptThrough(sourcesOf(text).code, []stack.Frame{{Func: "main.(*bank).enter"}, at[0]}, []stack.Frame{{Func: "time.Sleep"}, at[2], at[1]})
	if !found || !strings.Contains(kept.text(), "m is taken at a.go:9 with the slot, and given back, or used, after the pause (a.go:12)") {
		t.Errorf("%v %s", found, kept.text())
	}
}
