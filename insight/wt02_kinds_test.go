package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
)

// TestKindsOfCalls: batches, and different texts of a fixed list, are told from keys; the call of
// get is on line 5.
func TestKindsOfCalls(t *testing.T) {
	for _, c := range []struct {
		name, loop   string
		batch, fixed bool
	}{
		{"chunks", "for part := range slices.Chunk(ids, 50) {\nget(ctx, part)\n}", true, false},
		{"the first of the rest", "for len(ids) > 0 { part := ids[:n]; ids = ids[n:]\nget(ctx, query(part))\n}", true, false},
		{"the first of the rest, gone through", "for len(ids) > 0 { part := ids[:n]; ids = ids[n:]; args := make([]any, len(part)); for i, id := range part { args[i] = id }\nget(ctx, args...)\n}", true, false},
		{"from one to another", "for i := 0; i < len(ids); i += n {\nget(ctx, ids[i:min(i+n, len(ids))])\n}", true, false},
		{"gathered from the first of the rest", "for len(ids) > 0 { n := min(len(ids), 100); list := make([]item, 0, n); for _, id := range ids[:n] { list = append(list, item{id}) }; ids = ids[n:]\nget(ctx, list)\n}", true, false},
		{"gathered until it is enough", "for _, id := range ids { if list = append(list, id); len(list) < 100 { continue }; if len(list) == 100 {\nget(ctx, list)\nlist = nil\n} }", true, false},
		{"the last of a part", "for len(ids) > 0 { last := 0; for _, id := range ids[:n] { last = id }; ids = ids[n:]\nget(ctx, last)\n}", false, false},
		{"gathered beside", "for _, id := range ids { list = append(list, id); if len(list) == 100 {\nget(ctx, id)\nlist = nil\n} }", false, false},
		{"one id", "for _, id := range ids {\nget(ctx, id)\n}", false, false},
		{"a prefix of an id", "for _, id := range ids {\nget(ctx, id[:8])\n}", false, false},
		{"by index", "for i := range ids {\nget(ctx, ids[i])\n}", false, false},
		{"statements", "for _, q := range []string{\"SELECT a FROM t\", \"SELECT b FROM u\"} {\nget(ctx, q)\n}", false, true},
		{"commands in a variable", "steps := []string{\"RSET\", \"MAIL FROM:<\" + a + \"> x\", \"RCPT TO:<b> y\"}; for _, st := range steps {\nget(st)\n}", false, true},
		{"paths", "for _, p := range []string{\"/users\", \"/orders\"} {\nget(base + p)\n}", false, true},
		{"a list of keys", "for _, k := range []string{\"a\", \"b\", \"c\"} {\nget(ctx, k)\n}", false, false},
		{"a list that is not asked with", "for _, q := range []string{\"SELECT a FROM t\", \"SELECT b FROM u\"} {\nget(ctx)\nuse(q)\n}", false, false},
	} {
		code, at := lineFive(c.loop)
		loops := loopsAround(code, at)
		l := loops[len(loops)-1]
		if batch, fixed := l.batches(5, "get"), l.fixedTexts(5); batch != c.batch || fixed != c.fixed {
			t.Errorf("%s: batch %v, fixed %v", c.name, batch, fixed)
		}
	}
}

// TestWT02Kinds: batches are not to be asked for by one query with many keys, and a transaction has
// one connection; chains are no N+1.
func TestWT02Kinds(t *testing.T) {
	at := func(loop string, frames ...string) Finding {
		r := served(t, 20, func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, append(frames, "main.handle@a.go:5")...)
			}
		})
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc handle() {\n"+loop+"\n}\n"))
		return answers(t, r, "WT02")[0]
	}
	if f := at("for _, id := range ids {\nget(ctx, id)\n}", "main.get@b.go:1"); f.Severity != Warning || !strings.Contains(f.Advice, "errgroup") {
		t.Errorf("%s: %s", f.Severity, f.Advice)
	}
	if f := at("for part := range slices.Chunk(ids, 50) {\nget(ctx, part)\n}", "main.get@b.go:1"); f.Severity != Info || strings.Contains(f.Advice, "one query with many keys") || strings.Contains(f.Title, "N+1") {
		t.Errorf("%s %s: %s", f.Severity, f.Title, f.Advice)
	}
	if f := at("for id != 0 {\nv := get(ctx, id)\nid = v.Prev\n}", "main.get@b.go:1"); f.State != Fine || !strings.Contains(f.Summary, "needs what an earlier one has given") && !strings.Contains(f.Summary, "until the answer is accepted") {
		t.Errorf("%s: %s", f.State, f.Summary)
	}
	if f := at("for _, id := range ids {\ntx.Exec(id)\n}", "database/sql.(*Tx).Exec@sql.go:1"); strings.Contains(f.Advice, "errgroup") || !strings.Contains(f.Advice, "one connection") {
		t.Errorf("%s: %s", f.Title, f.Advice)
	}
}

// TestAsksTheSame: what is given to a call is the same in each turn where nothing in the loop sets it, or may change it.
func TestAsksTheSame(t *testing.T) {
	for loop, want := range map[string]bool{
		"for _, line := range lines {\nn, err := get(id)\nout = append(out, n+line)\n}":            true,
		"for range 8 {\nout = append(out, get(ctx, id))\n}":                                        true,
		"for _, line := range lines {\nn, err := get(id, line)\nout = append(out, n)\n}":           false,
		"for i := 0; i < 8; i++ {\nout = append(out, get(id+i))\n}":                                false,
		"for _, line := range lines { req.Name = line\nout = append(out, get(req))\n}":             false,
		"for _, line := range lines { req.Header.Set(\"x\", line)\nout = append(out, get(req))\n}": false,
		"for _, line := range lines { fill(&req, line)\nout = append(out, get(req))\n}":            false,
		"for range 8 {\nout = append(out, get(next()))\n}":                                         false,
		"for range 8 {\nout = append(out, get(<-ids))\n}":                                          false,
		"for range 8 {\nout = append(out, get())\n}":                                               false,
		"for range 8 {\nout = append(out, get(ctx))\n}":                                            false,
	} {
		code, at := lineFive(loop)
		loops := loopsAround(code, at)
		if got := loops[len(loops)-1].asksTheSame(5, "get", nil); got != want {
			t.Errorf("%s: %v", loop, got)
		}
	}
}

// TestWT02Peers: peers that are asked one after another have no query in common.
func TestWT02Peers(t *testing.T) {
	for _, c := range []struct {
		loop  string
		dials bool
		want  string
	}{
		{"for _, e := range endpoints {\nget(ctx, e)\n}", true, "a call to another peer"},
		{"for _, e := range endpoints {\nget(ctx, e)\n}", false, "the same call to a peer"},
		{"for _, id := range ids {\nget(ctx, id)\n}", true, "the same call to a peer"},
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for i := range 8 {
				if c.dials {
					await(p, time.Millisecond, "network", "net.(*netFD).connect@fd.go:1", "net.Dial@dial.go:1", "main.get@b.go:1", "main.handle@a.go:5")
				}
				ask(p, time.Duration(1+i*i)*time.Millisecond, "main.get@b.go:2", "main.handle@a.go:5")
			}
		})
		withSource(r, "a.go", "package main\n\nfunc handle() {\n"+c.loop+"\n}\n")
		if f := answers(t, r, "WT02")[0]; !strings.Contains(f.Summary, c.want) || strings.Contains(f.Advice, "one query") == strings.Contains(c.want, "another") {
			t.Errorf("%s: %s\n%s", c.loop, f.Summary, f.Advice)
		}
	}
}

// TestWT02Writes: calls that change something are not to be made at the same time for the asking;
// what says that they do is a method, a statement, or a name.
func TestWT02Writes(t *testing.T) {
	const send = "package main\n\nfunc send(v any) error {\n\treq, _ := http.NewRequest(%s, url, body(v))\n\treturn client.Do(req)\n}\n"
	const helped = "package main\n\nfunc send(e any) error {\n\treq, _ := newRequest(%s)\n\treturn client.Do(req)\n}\n\nfunc newRequest(%s) (*http.Request, error) {\n\treturn http.NewRequest(%s, url, body(v))\n}\n"
	for _, c := range []struct {
		name, loop, callee string
		frames             []string
		says               string // empty where nothing is known to change
	}{
		{"a POST", "for _, e := range events {\nif err := send(e); err != nil {\nreturn err\n}\n}", fmt.Sprintf(send, `"POST"`), []string{"net/http.(*Client).Do@client.go:1", "main.send@b.go:5"}, "it sends a POST): a later one may depend on the effect of an earlier one; and the loop ends at the first error (line 5)"},
		{"a POST of net/http", "for _, e := range events {\nsend(e)\n}", "", []string{"net/http.(*Client).Post@client.go:1", "main.send@b.go:5"}, "it sends a POST): a later one"},
		{"a GET", "for _, e := range events {\nif err := send(e); err != nil {\nreturn err\n}\n}", fmt.Sprintf(send, "http.MethodGet"), []string{"net/http.(*Client).Do@client.go:1", "main.send@b.go:5"}, ""},
		{"the caller says", "for _, e := range events {\nsend(ctx, http.MethodDelete, e)\n}", fmt.Sprintf(send, "method"), []string{"net/http.(*Client).Do@client.go:1", "main.send@b.go:5"}, "it sends a DELETE"},
		{"a PUT through a helper", "for _, e := range events {\nsend(e)\n}", fmt.Sprintf(helped, "e", "v any", "http.MethodPut"), []string{"net/http.(*Client).Do@client.go:1", "main.send@b.go:5"}, "it sends a PUT"},
		{"a GET through a helper", "for _, e := range events {\nsend(e)\n}", fmt.Sprintf(helped, "e", "v any", "http.MethodGet"), []string{"net/http.(*Client).Do@client.go:1", "main.send@b.go:5"}, ""},
		{"given to a helper", "for _, e := range events {\nsend(e)\n}", fmt.Sprintf(helped, `"DELETE", e`, "method string, v any", "method"), []string{"net/http.(*Client).Do@client.go:1", "main.send@b.go:5"}, "it sends a DELETE"},
		{"a GET given to a helper", "for _, e := range events {\nsend(e)\n}", fmt.Sprintf(helped, `"GET", e`, "method string, v any", "method"), []string{"net/http.(*Client).Do@client.go:1", "main.send@b.go:5"}, ""},
		{"in the loop itself", "for _, e := range events { req, _ := http.NewRequest(\"POST\", url, e)\nclient.Do(req)\n}", "", []string{"net/http.(*Client).Do@client.go:1"}, "it sends a POST"},
		{"another request beside the loop", "http.NewRequest(\"POST\", url, nil); for _, e := range events { req, _ := http.NewRequest(\"GET\", url, e)\nclient.Do(req)\n}", "", []string{"net/http.(*Client).Do@client.go:1"}, ""},
		{"by its name", "for _, e := range events {\ndb.insertRow(e)\n}", "", []string{"main.(*db).insertRow@b.go:5"}, "main.(*db).insertRow changes something"},
		{"a name that begins like one", "for _, e := range events {\ndb.postal(e)\n}", "", []string{"main.(*db).postal@b.go:5"}, ""},
		{"a statement", "for _, e := range events {\ndb.Exec(q, e)\n}", "", []string{"database/sql.(*DB).ExecContext@sql.go:1"}, "it executes a statement"},
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for range 8 {
				ask(p, 2*time.Millisecond, append(c.frames, "main.handle@a.go:5")...)
			}
		})
		withSource(r, "a.go", "package main\n\nfunc handle() error {\n"+c.loop+"\nreturn nil\n}\n")
		withSource(r, "b.go", c.callee)
		f := answers(t, r, "WT02")[0]
		at := strings.Contains(f.Advice, "errgroup")
		doubts := strings.Join(f.Doubts, "\n")
		switch {
		case f.State != Found:
			t.Errorf("%s: %s", c.name, f.Summary)
		case c.says == "" && (!at || strings.Contains(doubts, "effect")), c.says != "" && (at || !strings.Contains(doubts, c.says)):
			t.Errorf("%s: %s\n%s", c.name, f.Advice, doubts)
		}
	}
}

// TestWT02Transfer: of calls that take as long as the peer reads their bodies, several at once are no sure gain; small ones, and those that wait for an
// answer, keep the plain advice.
func TestWT02Transfer(t *testing.T) {
	const loop, writes = "for _, e := range events {\nget(e)\n}", "internal/poll.(*FD).Write@fd.go:1"
	frames := []string{"net.(*conn).Write@net.go:1", "net/http.(*Client).Do@client.go:1", "main.get@b.go:5", "main.handle@a.go:5"}
	const send = "package main; import \"net/http\"\n\nfunc get(v any) error {\n\treq, _ := http.NewRequest(%s, url, body(v))\n\treturn client.Do(req)\n}\n\nvar client = http.DefaultClient\n"
	for _, c := range []struct {
		name, method string
		do           func(p *accounttest.Program)
		severity     Severity
		has, not     string
		doubts       string
	}{
		{"large bodies", `"POST"`, func(p *accounttest.Program) {
			for range 3 {
				await(p, time.Millisecond, "network", append([]string{writes}, frames...)...)
			}
			ask(p, 100*time.Microsecond, frames[1:]...)
		}, Info, "transfer of its body", "IN, a join", "it sends a POST"},
		{"small bodies", `"POST"`, func(p *accounttest.Program) { ask(p, 2*time.Millisecond, frames[1:]...) }, Warning, "Send all at once", "IN, a join", "it sends a POST"},
		{"small answers", "http.MethodGet", func(p *accounttest.Program) { ask(p, 2*time.Millisecond, frames[1:]...) }, Warning, "sk for all at once: one query with many keys (IN, a join)", "transfer", ""},
		{"large answers", "http.MethodGet", func(p *accounttest.Program) {
			ask(p, 100*time.Microsecond, frames[1:]...)
			for range 20 {
				await(p, 100*time.Microsecond, "network", append([]string{readNet}, frames[1:]...)...)
			}
		}, Info, "sk for all at once", "transfer of its body", "pieces"},
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for range 8 {
				c.do(p)
			}
		})
		withSource(r, "a.go", "package main\n\nfunc handle() error {\n"+loop+"\nreturn nil\n}\n")
		withSource(r, "b.go", fmt.Sprintf(send, c.method))
		f := answers(t, r, "WT02")[0]
		if f.State != Found || f.Severity != c.severity || !strings.Contains(f.Advice, c.has) || strings.Contains(f.Advice, c.not) || !strings.Contains(strings.Join(f.Doubts, "\n"), c.doubts) {
			t.Errorf("%s: %s %s %q: %s\n%s\n%q", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice, f.Doubts)
		}
	}
}

// TestBatchSize: how many are in a batch is told where the source has one number for it.
func TestBatchSize(t *testing.T) {
	for text, want := range map[string]int{
		"for part := range slices.Chunk(ids, 50) {\nget(part)\n}":                                            50,
		"for len(ids) > 0 { n := min(len(ids), 100)\nget(ids[:n])\nids = ids[n:]\n}":                         100,
		"for i := 0; i < len(ids); i += 20 {\nget(ids[i:min(i+20, len(ids))])\n}":                            20,
		"for i := 0; i < len(ids); i += size { end := min(i+size, len(ids))\nget(ids[i:end])\n}":             0,
		"for _, id := range ids { list = append(list, id); if len(list) >= 30 {\nget(list)\nlist = nil\n} }": 30,
		"for part := range slices.Chunk(ids, size) {\nget(part)\n}":                                          0,
	} {
		code, at := lineFive(text)
		loops := loopsAround(code, at)
		if got := batchSize(code, loops[len(loops)-1]); got != want {
			t.Errorf("%s: %d", text, got)
		}
	}
	f := Finding{Title: "N+1 queries"}
	if tellBatches(100, "it sends a POST", &f); f.Severity != Info || f.Title != "Batches are sent one after another" || !strings.Contains(f.Advice, "sends batches already, of 100 at most") || len(f.Doubts) != 1 {
		t.Errorf("%s: %s %q", f.Title, f.Advice, f.Doubts)
	}
}
