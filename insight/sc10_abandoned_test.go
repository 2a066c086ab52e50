package insight

import (
	"strings"
	"testing"

	"loupe/format/exectrace"
)

// TestAbandonedAt: a send is abandoned where who made its channel for it alone can leave without having received; a buffer, another receiver, a way out of
// the send's own, or a receiver that always comes to it is none.
func TestAbandonedAt(t *testing.T) {
	const work = "\tgo func() {\n\t\tch <- work() // send\n\t}()\n"
	const limited = "\tselect {\n\tcase v := <-ch:\n\t\treturn v\n\tcase <-time.After(d): // leaves\n\t\treturn 0\n\t}\n"
	const each = "\tfor _, x := range xs {\n\t\tgo func() {\n\t\t\tch <- do(x) // send\n\t\t}()\n\t}\n"
	const made = "\tch := make(chan int) // made\n"
	for _, c := range []struct {
		name, body string
		is, one    bool
	}{
		{"a time limit", made + work + limited, true, true},
		{"a var", "\tvar ch = make(chan int) // made\n" + work + limited, true, true},
		{"no room, said so", "\tch := make(chan int, 0) // made\n" + work + limited, true, true},
		{"beside a channel of errors", made + "\terrs := make(chan error)\n\tgo func() {\n\t\tif v, err := try(); err != nil {\n\t\t\terrs <- err\n\t\t} else {\n\t\t\tch <- v // send\n\t\t}\n\t}()\n" +
			"\tselect {\n\tcase v := <-ch:\n\t\treturn v\n\tcase <-errs: // leaves\n\t\treturn 0\n\tcase <-ctx.Done():\n\t\treturn 1\n\t}\n", true, true},
		{"an early return", made + work + "\tif bad() {\n\t\treturn 0 // leaves\n\t}\n\treturn <-ch\n", true, true},
		{"nothing behind the select", made + work + "\tselect {\n\tcase v := <-ch:\n\t\tprint(v)\n\tcase <-time.After(d): // leaves\n\t}\n\treturn 0\n", true, true},
		{"a look", made + work + "\tselect {\n\tcase v := <-ch:\n\t\treturn v\n\tdefault: // leaves\n\t\treturn 0\n\t}\n", true, true},
		{"the first error of many", made + each + "\tfor range xs {\n\t\tif v := <-ch; v < 0 {\n\t\t\treturn v // leaves\n\t\t}\n\t}\n\treturn 0\n", true, false},
		{"the first answer of many", made + each + "\treturn <-ch\n", false, false},
		{"a loop with a way out", made + each + "\tfor range xs {\n\t\tselect {\n\t\tcase v := <-ch:\n\t\t\tprint(v)\n\t\tcase <-ctx.Done(): // leaves\n\t\t\treturn 0\n\t\t}\n\t}\n\treturn 0\n", true, false},
		{"a function of the program", made + "\tgo send(ch, 1)\n" + limited, true, true},
		{"a group", made + "\tg.Go(func() {\n\t\tch <- work() // send\n\t})\n" + limited, true, true},
		{"it sends in a loop", made + "\tgo func() {\n\t\tfor _, x := range xs {\n\t\t\tch <- x // send\n\t\t}\n\t}()\n" + limited, true, false},

		{"room for one", "\tch := make(chan int, 1)\n" + work + limited, false, false},
		{"room for all", "\tch := make(chan int, len(xs))\n" + each + limited, false, false},
		{"it always receives", made + work + "\tdoMore()\n\treturn <-ch\n", false, false},
		{"it receives behind the limit", made + work + "\tselect {\n\tcase v := <-ch:\n\t\treturn v\n\tcase <-time.After(d):\n\t\tprint(`slow`)\n\t}\n\treturn <-ch\n", false, false},
		{"it receives in the other case", made + work + "\tselect {\n\tcase v := <-ch:\n\t\treturn v\n\tcase <-ctx.Done():\n\t\tstop()\n\t\t<-ch\n\t\treturn 0\n\t}\n", false, false},
		{"it goes on after a tick", made + work + "\tfor {\n\t\tselect {\n\t\tcase v := <-ch:\n\t\t\treturn v\n\t\tcase <-tick:\n\t\t\tprint(`.`)\n\t\t}\n\t}\n", false, false},
		{"a return before it starts", made + "\tif bad() {\n\t\treturn 0\n\t}\n" + work + "\treturn <-ch\n", false, false},
		{"the send has a way out", made + "\tgo func() {\n\t\tselect {\n\t\tcase ch <- work(): // send\n\t\tcase <-ctx.Done():\n\t\t}\n\t}()\n" + limited, false, false},
		{"another goroutine receives the rest", made + work + "\tdefer func() {\n\t\tgo func() {\n\t\t\t<-ch\n\t\t}()\n\t}()\n" + limited, false, false},
		{"it is given to somebody", made + work + "\tkeep(ch)\n" + limited, false, false},
		{"it is returned", made + work + "\tif bad() {\n\t\treturn 0\n\t}\n\tout = ch\n\treturn <-ch\n", false, false},
		{"of the package", work + limited, false, false},
		{"a field", "\tgo func() {\n\t\ts.ch <- work() // send\n\t}()\n" + strings.ReplaceAll(limited, "<-ch", "<-s.ch"), false, false},
		{"it receives all", made + each + "\tfor range xs {\n\t\tprint(<-ch)\n\t}\n\treturn 0\n", false, false},
		{"it is sent where it is made", made + "\tgo drain()\n\tch <- 1 // send\n" + limited, false, false},
	} {
		text := "package main\n\nfunc f(xs []int) int {\n" + c.body + "}\n"
		if strings.Contains(c.body, "go send(") {
			text += "\nfunc send(to chan<- int, n int) {\n\tto <- n // send\n}\n"
		}
		a, ok := abandonedAt(sourceOf(text), lineWith(text, "// send"))
		if ok != c.is || ok && (a.one != c.one || a.made != sourceLine(text, "made") || a.leaves != sourceLine(text, "leaves")) {
			t.Errorf("%s: %v, %+v\n%s", c.name, ok, a, text)
		}
	}
}

// TestAbandonedSends: of a few senders, of whom none was received in the trace, the source shows that they are a leak; not of those of whom some were.
func TestAbandonedSends(t *testing.T) {
	of := func(n int) *scene {
		s := newScene(t)
		s.withSource("/src/feed/x.go", "package feed\n\nfunc ask() int {\n\tch := make(chan int)\n\tgo func() {\n\t\tch <- work()\n\t}()\n\tselect {\n\tcase v := <-ch:\n\t\treturn v\n\tcase <-time.After(d):\n\t\treturn 0\n\t}\n}\n")
		s.stay("shop/feed.ask.func1", exectrace.NameChanSend, n, 1900*ms, s.stack("runtime.chansend1", "shop/feed.ask.func1:/src/feed/x.go:6"))
		return s
	}
	f := of(12).expect("SC10", Found, "12 goroutines wait to send at feed.ask.func1 at x.go:6 when the trace ends", "nobody received", "(x.go:11)")
	severity(t, "a few", f, Warning)
	if !strings.Contains(f.Advice, "Make ch at x.go:4 with room for one value") {
		t.Errorf("advice: %s", f.Advice)
	}
	of(9).expect("SC10", Fine)
	working := of(12)
	working.stay("shop/feed.ask", exectrace.NameNetwork, 12, 1900*ms, working.stack("internal/poll.runtime_pollWait", "shop/feed.load:/src/feed/x.go:30", "shop/feed.ask:/src/feed/x.go:7"))
	working.expect("SC10", Fine)
	few := of(12)
	few.stay("shop/feed.ask", exectrace.NameNetwork, 3, 1900*ms, few.stack("internal/poll.runtime_pollWait", "shop/feed.load:/src/feed/x.go:30", "shop/feed.ask:/src/feed/x.go:7"))
	few.expect("SC10", Found)
	two := of(12) // another sender of the same channel is no call that may receive
	two.stay("shop/feed.ask.func2", exectrace.NameChanSend, 12, 1900*ms, two.stack("runtime.chansend1", "shop/feed.ask.func2:/src/feed/x.go:7"))
	two.expect("SC10", Found)
	some := of(12)
	some.block("shop/feed.ask.func1", exectrace.NameChanSend, 30, 20*ms, some.stack("runtime.chansend1", "shop/feed.ask.func1:/src/feed/x.go:6"), 0)
	some.expect("SC10", Fine)
}
