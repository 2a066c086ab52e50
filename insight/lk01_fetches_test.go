package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestEachFetches: of a value that is fetched under a lock it is told from the counts whether those who wait take what was fetched, or each of them
// fetches for itself; without counts neither is claimed.
func TestEachFetches(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"context\"\n\t\"sync\"\n\t\"time\"\n)\n\ntype box struct {\n\tmu sync.Mutex\n\ttok string\n\texp time.Time\n\terr error\n\tall map[string]*box\n\tclosed bool\n}\n\nfunc (b *box) get(ctx context.Context, k string) (string, error) {\n"
	const lock = "\tb.mu.Lock() // lock\n\tdefer b.mu.Unlock()\n"
	const look = "\tif time.Now().Before(b.exp) { // =%F\n\t\treturn b.tok, nil\n\t}\n"
	const fetch = "\tv, err := fetch(ctx) // call\n\tif err != nil { // =%E\n\t\treturn \"\", err\n\t}\n\tb.tok, b.exp = v.Tok, v.Exp\n\treturn b.tok, nil\n"
	const around = "\tif b.tok == \"\" { // =%A\n\t\tv, err := fetch() // call\n\t\tif err != nil { // =%E\n\t\t\treturn \"\", err\n\t\t}\n\t\tb.tok = v\n\t}\n\treturn b.tok, nil\n"
	const entry = "\te := b.all[k]\n\te.mu.Lock() // lock\n\tdefer e.mu.Unlock()\n\tif e.tok != \"\" { // =%F\n\t\treturn e.tok, nil\n\t}\n\tv, err := fetch(k) // call\n\tif err != nil { // =%E\n\t\treturn \"\", err\n\t}\n\te.tok = v\n\treturn e.tok, nil\n"
	const share, next, either = "share the call that is under way, and its error", "and with singleflight they would wait as they do now", "If the call fails, or what it gives is old at once"
	for _, c := range []struct {
		name, body   string
		f, e, a      string // how often it is found, fails, and is fetched within an if; of 100
		says, advice string
		not          string
		uncounted    bool
	}{
		{"each fails", lock + look + fetch, "0", "100", "", "100 of 100 calls of get fetched it under the lock, and 100 of these failed", share, "before it is asked for", false},
		{"with a context of its own", lock + look + fetch, "0", "100", "", "", "context.WithoutCancel", "", false},
		{"many found it, and most of the others failed", lock + look + fetch, "60", "38", "", "40 of 100 calls of get fetched it under the lock, and 38 of these failed", share, "", false},
		{"it is old at once", lock + look + fetch, "10", "0", "", "what is stored does not count any more", share, "After an error", false},
		{"one serves many", lock + look + fetch, "95", "0", "", "all who wait need the one that is being fetched", next, share, false},
		{"one serves many, and few fail", lock + look + fetch, "80", "3", "", "all who wait need", next, share, false},
		{"few calls", lock + look + fetch, "96", "4", "", "all who wait need", next, share, false},
		{"nothing was counted", lock + look + fetch, "", "", "", "if that succeeds", either, "as they do now", true},
		{"fetched where there is none, each fails", lock + around, "", "100", "100", "100 of 100 calls of get fetched it", share, "context", false},
		{"fetched where there is none", lock + around, "", "0", "5", "all who wait need", next, share, false},
		{"that of an entry, each fails", entry, "0", "100", "", "100 of these failed", share, "", false},
		{"that of an entry, each fetches its own", entry, "10", "0", "", "that of one entry", "Have the entry before it is asked for", share, false},
		{"looked for before the lock, too, each fails", look + lock + strings.Replace(look, "%F", "0", 1) + fetch, "0", "100", "", "100 of these failed", share, "Keep the work", false},
		{"looked for before the lock, too", look + lock + strings.Replace(look, "%F", "45", 1) + fetch, "0", "0", "", "lets one make the result for all", "Keep the work", share, false},
		{"only before the lock", strings.Replace(look, "%F", "50", 1) + "\tb.mu.Lock() // lock\n\tdefer b.mu.Unlock()\n" + fetch, "", "0", "", "and not again under it", "Look for b.tok again behind the Lock", "as they do now", false},
		{"something else is asked before the lock", "\tif b.closed { // =0\n\t\treturn \"\", errClosed\n\t}\n" + lock + fetch, "", "0", "", "", "", "again behind the Lock", false},
		{"fetched anew by each", lock + fetch, "", "0", "", "", "", "again behind the Lock", false},
		{"only before the lock, and in what is called under it", strings.Replace(look, "%F", "50", 1) + lock + "\tif b.old() {\n\t\tv, err := fetch(ctx) // call\n\t\tb.tok = v.Tok\n\t\treturn b.tok, err\n\t}\n\treturn b.tok, nil\n", "", "0", "", "", "", "again behind the Lock", false},
	} {
		text := head + strings.NewReplacer("%F", c.f, "%E", c.e, "%A", c.a).Replace(c.body) + "}\n"
		at := func(mark string) stack.Frame {
			return stack.Frame{Func: "main.(*box).get", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		if !c.uncounted {
			countBlocks(code, text)
		}
		outside := []stack.Frame{{Func: "internal/poll.(*FD).Read"}, {Func: "net/http.(*Client).Do"}}
		p := protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at("// lock")}, append(outside[:2:2], at("// call")))
		if p == nil {
			p = &protected{}
		}
		if !strings.Contains(p.says, c.says) || !strings.Contains(p.advice, c.advice) || c.not != "" && strings.Contains(p.advice, c.not) {
			t.Errorf("%s: %q: %q", c.name, p.says, p.advice)
		}
		if c.advice == share && p.info || c.advice == next && !p.info {
			t.Errorf("%s: an info: %v", c.name, p.info)
		}
	}
}
