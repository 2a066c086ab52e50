package insight

import (
	"strings"
	"testing"
)

// TestListOrder: what the call is given and a list gets under the same lock keeps an order; what is only counted, or asked for, does not, and a list is not
// cut where a call fails after others have put something there.
func TestListOrder(t *testing.T) {
	const head = "package main\n\nimport \"sync\"\n\ntype room struct {\n\tmu sync.Mutex\n\thistory []string\n\tqueue list.List\n\tpages map[string]string\n\tstate state\n\thead string\n\tn int\n}\n\n"
	const lock = "func (r *room) do(k string) error {\n\tr.mu.Lock() // lock\n\tdefer r.mu.Unlock()\n"
	const order, change = "the lock keeps the calls in order", "the lock keeps a change together"
	for _, c := range []struct{ name, body, says, advice, not string }{
		{"in front", "\tr.history = append(r.history, k)\n\treturn send(k) // call\n}\n", order, "do not let one call serve several", "undo"},
		{"behind", "\tif err := send(k); err != nil { // call\n\t\treturn err\n\t}\n\tr.history = append(r.history, k)\n\treturn nil\n}\n", order, "queue under the lock", "undo"},
		{"made of it", "\te := event{k}\n\tr.history = append(r.history, e)\n\treturn send(encode(e)) // call\n}\n", order, "", ""},
		{"by a method", "\tr.add(k)\n\treturn send(k) // call\n}\n\nfunc (r *room) add(k string) { r.history = append(r.history, k) }\n", order, "", ""},
		{"a list of a library", "\tr.queue.PushBack(k)\n\treturn send(k) // call\n}\n", order, "", ""},
		{"a chain", "\tr.head = seal(r.head, k)\n\treturn send(r.head) // call\n}\n", order, "", ""},
		{"cut when it fails", "\tr.history = append(r.history, k)\n\tn := len(r.history)\n\tif err := send(k); err != nil { // call\n\t\tr.history = r.history[:n-1]\n\t}\n\treturn nil\n}\n", change, "in that order", "undo"},
		{"a count", "\tif r.n > 9 {\n\t\treturn errFull\n\t}\n\tsend(k) // call\n\tr.n++\n\treturn nil\n}\n", change, "undo", "for each key"},
		{"a count by its key", "\tn := r.pages[k]\n\tsend(k) // call\n\tr.pages[k] = n + 1\n\treturn nil\n}\n", change, "one lock for each key", "batch"},
		{"what another function makes", "\told := r.state\n\tsend(k) // call\n\tr.state = next(old, k)\n\treturn nil\n}\n", change, "Make the call shorter", "undo"},

		{"a cache that lists", "\tif p, ok := r.pages[k]; ok {\n\t\treturn p\n\t}\n\tp := fetch(k) // call\n\tr.pages[k] = p\n\tr.history = append(r.history, k)\n\treturn p\n}\n", "", "", ""},
		{"asked for", "\tr.history = append(r.history, k)\n\treturn fetch(k) // call\n}\n", "", "", ""},
		{"the answer is listed", "\tv := send(k) // call\n\tr.history = append(r.history, v)\n\treturn nil\n}\n", "", "", ""},
		{"another thing is listed", "\tr.history = append(r.history, now())\n\treturn send(k) // call\n}\n", "", "", ""},
		{"counted", "\tr.n++\n\treturn send(k) // call\n}\n", "", "", ""},
	} {
		p := protectionOf(head+lock+c.body, "(*room).do", "(*room).do")
		switch {
		case p == nil && c.says != "":
			t.Errorf("%s: nothing", c.name)
		case p != nil && (c.says == "" || !strings.Contains(p.says, c.says) || !strings.Contains(p.advice, c.advice) || c.not != "" && strings.Contains(p.advice, c.not)):
			t.Errorf("%s: %s: %s", c.name, p.says, p.advice)
		}
	}
}

// TestTurnsPaced: a lock whose holder sleeps for as long as what the lock guards says, and which sets that for the next one, keeps a rate; a pause
// that nothing guarded decides does not, nor does one that an answer asked for.
func TestTurnsPaced(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"sync\"\n\t\"time\"\n)\n\ntype gate struct {\n\tmu sync.Mutex\n\tlast, next time.Time\n\tgap time.Duration\n\ttokens int\n\tstate string\n}\n\nfunc (g *gate) pass() {\n\tg.mu.Lock() // lock\n\tdefer g.mu.Unlock()\n"
	for _, c := range []struct {
		name, body string
		paced      bool
	}{
		{"the time of the last turn", "\tif d := g.gap - time.Since(g.last); d > 0 {\n\t\ttime.Sleep(d) // call\n\t}\n\tg.last = time.Now()\n}\n", true},
		{"of the next one", "\ttime.Sleep(time.Until(g.next)) // call\n\tg.next = time.Now().Add(g.gap)\n}\n", true},
		{"reserved, and then slept under the lock", "\tg.next = g.next.Add(g.gap)\n\ttime.Sleep(time.Until(g.next)) // call\n}\n", true},
		{"a timer", "\tt := time.NewTimer(g.next.Sub(now()))\n\tselect { // call\n\tcase <-t.C:\n\tcase <-done:\n\t\treturn\n\t}\n\tg.next = now().Add(g.gap)\n}\n", true},
		{"in a function", "\tg.wait() // outer\n\tg.last = time.Now()\n}\n\nfunc (g *gate) wait() {\n\tif d := g.gap - time.Since(g.last); d > 0 {\n\t\ttime.Sleep(d) // call\n\t}\n}\n", true},
		{"tokens", "\tfor g.tokens < 1 {\n\t\tg.fill()\n\t\ttime.Sleep(g.gap) // call\n\t}\n\tg.tokens--\n}\n", true},

		{"a fixed pause", "\ttime.Sleep(g.gap) // call\n\tg.last = time.Now()\n}\n", false},
		{"told by a peer", "\ttime.Sleep(time.Until(g.next)) // call\n\tif err := send(); err != nil {\n\t\tg.next = time.Now().Add(g.gap)\n\t}\n}\n", false},
		{"nothing is set", "\ttime.Sleep(g.gap - time.Since(g.last)) // call\n}\n", false},
		{"a state is waited for", "\tfor g.ready() {\n\t\ttime.Sleep(g.gap) // call\n\t}\n}\n", false},
		{"no pause", "\tsend(time.Since(g.last)) // call\n\tg.last = time.Now()\n}\n", false},
	} {
		holder := []string{"(*gate).pass call"}
		if strings.Contains(c.body, "// outer") {
			holder = []string{"(*gate).wait call", "(*gate).pass outer"}
		}
		p := protectionAlong(head+c.body, []string{"(*gate).pass lock"}, holder)
		paced := p != nil && strings.Contains(p.says, "the lock keeps a rate")
		if paced != c.paced || paced && (!p.info || p.slow || !strings.Contains(p.advice, "reserve the turn")) {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}
