package insight

import (
	"fmt"
	"strings"
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
		// The call is that on line 5, whatever else fails.
		{"rows of a reader", "for { x, err := r.Read(); if err == io.EOF { return nil }; if err != nil { return err }\n_, err = call(x)\nif err != nil {\nreturn err\n}\n}", false, false, false},
		{"rows of a reader, by an error of its own", "for { x, err := r.Read(); if err == io.EOF { return nil }; if err != nil { return err }\nif _, err := call(x); err != nil {\nreturn err\n}\n}", false, false, false},
		{"rows of a reader, into one error", "for { if x, err = r.Read(); errors.Is(err, io.EOF) { break }\nerr = call(x)\nif err != nil {\nreturn err\n}\n}", false, false, false},
		{"decoded one by one", "for { var x item; if err := dec.Decode(&x); err != nil { return err }\ncall(x)\n}", false, false, false},
		{"a stream", "for {\nmsg, err := stream.Recv()\nif err == io.EOF {\nreturn nil\n}\nif err != nil {\nreturn err\n}\nuse(msg)\n}", true, false, true},
		{"pages with a status", "for {\nresp, err := get(page)\nif err != nil {\nreturn err\n}\nif resp.StatusCode != http.StatusOK {\nreturn errStatus\n}\npage = next(resp)\nif page == \"\" {\nreturn nil\n}\n}", true, false, true},
		{"tries again over a certain status", "for {\nresp := get()\nif resp.StatusCode != http.StatusServiceUnavailable {\nreturn resp\n}\n}", true, true, false},
		{"tries again over all high ones", "for {\nresp := get()\nif resp.StatusCode < 500 {\nreturn resp\n}\n}", true, true, false},
		{"ends at high ones", "for {\nresp := get()\nuse(resp)\nif resp.StatusCode >= 400 {\nreturn resp\n}\n}", false, false, false},
		{"what can be tried again", "for {\nerr := send()\nif !busy(err) {\nreturn err\n}\n}", true, true, false},
		{"goes on while it works", "for i := 0; i < n && err == nil; i++ {\nerr = send()\n}", false, false, false},
		{"an iterator's caller ends it", "for c := 1; c != 0; {\nit, err := get(c)\nif !yield(it, err) || err != nil {\nreturn\n}\nc = it.Next\n}", true, false, true},
		{"in a select", "for { select { case <-t.C:\nif ask(k) == nil {\nreturn nil\n}\ncase <-late:\nreturn errBusy\n}}", true, true, false},
		{"what a package prints is no value", "for { row, err := r.Read(); if err == io.EOF { break }\nresp := call(row)\nio.Copy(io.Discard, resp.Body)\nfmt.Println(resp)\n}", false, false, false},
		{"asks in the condition", "for {\nif ask(k) == nil {\nreturn nil\n}\n}", true, true, false},
		{"asks in the condition of the loop", "for i := 0; i < 5 &&\nask(k) != nil; i++ {\nsleep(d)\n}", true, true, false},
		{"a budget", "for b.Next() {\nif ask(k) == nil {\nreturn nil\n}\n}", true, true, false},
		{"a list of pauses", "for _, d := range delays {\nif err := ask(k); err == nil {\nreturn nil\n}\ntime.Sleep(d)\n}", true, true, false},
		{"a table of pauses", "for i := 0; i < len(delays); i++ {\nif err := ask(k); err == nil {\nreturn nil\n}\ntime.Sleep(delays[i])\n}", true, true, false},
		{"until so many errors", "for len(errs) < 20 {\nerr := ask(k)\nif err == nil {\nreturn nil\n}\nerrs = append(errs, err)\n}", true, true, false},
		{"a flag", "for !done {\nif err := ask(k); err != nil {\ntime.Sleep(d)\n} else {\ndone = true\n}\n}", true, false, false},
		{"a number of tries", "for i := range attempts {\nif err := ask(i); err == nil {\nreturn nil\n}\n}}; const attempts = 5; func g() {", true, true, false},
		{"keys of a map", "for host := range hosts {\nif err := ask(host); err == nil {\nreturn nil\n}\n}", false, false, false},
		{"an item in a request", "for _, id := range ids { req.ID = id\nv, err := get(req)\nif err == nil {\nreturn v\n}\n}", false, false, false},
		{"an item in a function", "for _, id := range ids { one := func() (int, error) { return fetch(id) }\nv, err := one()\nif err == nil {\nreturn v\n}\n}", false, false, false},
		{"an item that is scanned", "for rows.Next() { rows.Scan(&id)\nv, err := get(id)\nif err == nil {\nreturn v\n}\n}", false, false, false},
		{"a list that shrinks", "for len(todo) > 0 { id := todo[0]\nv, err := get(id)\nif err == nil {\nreturn v\n}\ntodo = todo[1:]\n}", false, false, false},
		{"pages by number", "for page := 1; ; page++ {\nlist := get(page)\nall = append(all, list...)\nif len(list) < 100 {\nbreak\n}\n}", true, false, true},
		{"parts that are added up", "for {\nn := drain()\ntotal += n\nif n == 0 {\nbreak\n}\n}", true, false, true},
		{"by goto", "again:\nerr := ask(k)\nif err != nil {\ntime.Sleep(d)\ngoto again\n}\nuse(k)", true, true, false},
		{"by goto, at the end", "again: n++\nif err := ask(k); err == nil {\nreturn nil\n}\ntime.Sleep(d)\ngoto again", true, true, false},
		{"goto for something else", "top: n++; if n < 5 { goto top }\nif err := ask(k); err != nil {\nreturn err\n}", false, false, false},
		{"goto out, not back", "for _, id := range ids { if id == 0 { goto end }\nif err := ask(id); err != nil {\nreturn err\n}\n}\nend: use(k)", false, false, false},
		{"a label of a loop", "outer: for _, id := range ids {\nif err := ask(id); err == nil {\nbreak outer\n}\n}", false, false, false},
		// Success does not end these: nothing is tried again, whatever an error may be.
		{"numbers, some of which may be missing", "for i := range n {\nerr := get(ctx, i)\nif err != nil && !errors.Is(err, errNone) {\nreturn err\n}\n}", false, false, false},
		{"so many, some of which may be missing", "for range n {\nerr := get(ctx)\nif err != nil && !errors.Is(err, errNone) {\nreturn err\n}\n}", false, false, false},
		{"goes on while there is something, or it is busy", "for {\nerr := get(ctx)\nif err != nil && !busy(err) {\nreturn err\n}\n}", false, false, false},
		{"ends at a certain status", "for {\nresp, err := get()\nif err != nil || resp.StatusCode == 500 {\nreturn err\n}\n}", false, false, false},
		// An answer that ends it as a failure is none that it waits for.
		{"until a time, all answers good", "for time.Now().Before(end) {\ns, err := get(name(n))\nif err != nil {\npanic(err)\n}\nif !good(s) {\npanic(s)\n}\nn++\n}", false, false, false},
		{"until a time, all answers good, by an error", "for time.Now().Before(end) {\ns, err := get(name(n))\nif err != nil {\nreturn err\n}\nif !good(s) {\nreturn fmt.Errorf(\"bad answer %q\", s)\n}\nn++\n}", false, false, false},
		{"until it is done or has failed", "for {\nst, err := get(id)\nif err != nil {\nreturn err\n}\nswitch st.State {\ncase \"FINISHED\":\nreturn nil\ncase \"FAILED\":\nreturn errors.New(\"failed\")\n}\n}", true, false, false},
		{"ends when there is none left", "for range 12 {\nj, err := claim(ctx)\nif errors.Is(err, errNone) {\nreturn nil\n}\nif err != nil {\nreturn err\n}\nwork(j)\n}", true, false, true},
		{"the first number that works", "for i := 0; i < n; i++ {\nif err := ask(i); err == nil {\nreturn i\n}\n}", false, false, false},
		{"a counter of tries", "for attempt := 0; attempt < n; attempt++ {\nif err := ask(attempt); err == nil {\nreturn nil\n}\n}", true, true, false},
		{"parts that are gone through", "for {\nlist := get()\nfor _, x := range list {\nuse(x)\n}\nif len(list) == 0 {\nbreak\n}\n}", true, false, true},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main; import \"io\"\n\nfunc f() {\n"+c.loop+"\n}\n"))
		in := NewInput(session.New(r.Open()))
		got, ok := askingAround(in.code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 5}})
		if ok != c.asks || got.retries != c.retries || got.follows != c.follow {
			t.Errorf("%s: %v %+v", c.name, ok, got)
		}
	}
}

// lineFive is the second line of a function's body.
func lineFive(body string) (*code, stack.Frame) {
	r := recordingtest.New("title x")
	withSource(r, "a.go", "package main\n\nfunc f() {\n"+body+"\n}\n\nfunc over() bool { return time.Now().After(end) }\n\nfunc ready() bool { return find(time.Now()) }\n")
	return NewInput(session.New(r.Open())).code, stack.Frame{Func: "main.f", File: "a.go", Line: 5}
}

// TestPaces: a pause in a loop that nothing ends but its items keeps a rate.
func TestPaces(t *testing.T) {
	for text, want := range map[string]bool{
		"for _, x := range list {\n<-limit.C\nif err := send(x); err != nil {\nreturn err\n}\n}":          true,
		"for i := 0; i < 60; i++ {\ntime.Sleep(d)\nsend(i)\n}":                                            true,
		"for i := 0; i < 60; i++ {\ntime.Sleep(d)\nif ready() {\nbreak\n}\n}":                             false,
		"for !ready() {\ntime.Sleep(d)\n}":                                                                false,
		"for !over() {\ntime.Sleep(d)\nsend(i)\n}":                                                        true,
		"for {\ntime.Sleep(min(d, most))\nsend()\nif d := time.Until(due); d <= 0 {\nreturn\n}\n}":        true,
		"for {\ntime.Sleep(min(d, most))\nd = time.Until(due)\nif d <= 0 {\nreturn\n}\n}":                 true,
		"for range list {\nselect {\ncase err := <-lost:\nlog.Fatal(err)\ncase <-t.C:\n}\nsend()\n}":      true,
		"for range list {\nselect {\ncase x := <-in:\nall = append(all, x)\ncase <-t.C:\n}\nsend(all)\n}": false,
		"for range list {\nselect {\ncase <-found:\nbreak\ncase <-t.C:\n}\nsend(all)\n}":                  false,
		"for {\ntime.Sleep(d)\nif ready() {\nreturn\n}\n}":                                                false,
		"{\ntime.Sleep(d)\n}": false,
		"for time.Since(start) < length {\n<-tick.C\nsend()\n}": true,
		// A wait for something else stands in a loop through its items.
		"for _, b := range batches {\nselect {\ncase <-b.done:\ncase <-ctx.Done():\nreturn ctx.Err()\n}\n}": false,
	} {
		if got := paces(lineFive(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestRetriesAround: a pause between tries stands in a loop that ends when one has worked.
func TestRetriesAround(t *testing.T) {
	for text, want := range map[string]bool{
		"for { err := try(); if err == nil { return }\ntime.Sleep(d)\n}":              true,
		"for { if err := try(); err != nil { n++ } else { return }\ntime.Sleep(d)\n}": true,
		"for { if err := try(); err != nil { return err }\ntime.Sleep(d)\n}":          false,
		"for !ready() {\ntime.Sleep(d)\n}":                                            false,
		"{\ntime.Sleep(d)\n}":                                                         false,
	} {
		if got := retriesAround(lineFive(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestTurnsOfMany: a value that can come by very many ways is looked for on each of them once.
func TestTurnsOfMany(t *testing.T) {
	var b strings.Builder
	b.WriteString("package main\n\nfunc f() {\nfor {\nx0, y0 := get(), 1\n")
	for i := range 60 {
		fmt.Fprintf(&b, "x%d, y%d := x%d + y%d, x%d - y%d\n", i+1, i+1, i, i, i, i)
		fmt.Fprintf(&b, "if other%d == x%d {\nz = x%d + z\n}\n", i, i, i)
	}
	b.WriteString("if nothing > z {\nreturn\n}\nif x60 == 0 {\nreturn\n}\n}\n}\n")
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(b.String()))
	in := NewInput(session.New(r.Open()))
	if _, ok := askingAround(in.code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 5}}); !ok {
		t.Error("the answer decides, by way of sixty sums")
	}
	if _, ok := askingAround(in.code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 2}}); ok {
		t.Error("there is no call on line 2")
	}
	// On a line whose calls decide nothing.
	if a, ok := askingAround(in.code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 6}}); ok {
		t.Errorf("%+v", a)
	}
}
