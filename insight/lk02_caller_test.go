package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestFetchOfCaller: a call that is fetched under a lock is shared by all who wait only where it is given nothing of the caller, and what is kept has no key.
func TestFetchOfCaller(t *testing.T) {
	const head = "package main\n\nimport (\n\t\"context\"\n\t\"sync\"\n\t\"time\"\n)\n\ntype box struct {\n\tmu sync.Mutex\n\tuser, tok string\n\tver int\n\tval value\n\texp time.Time\n\tpeer *peer\n\tshared *state\n\tentries map[string]*box\n}\n\ntype state struct {\n\tmu sync.Mutex\n\ttok string\n}\n\n"
	const get, lock = "func (b *box) get(ctx context.Context, user string) (string, error) {\n", "\tb.mu.Lock() // lock\n\tdefer b.mu.Unlock()\n"
	const look, end = "\tif time.Now().Before(b.exp) { // =0\n\t\treturn b.tok, nil\n\t}\n", "\tif err != nil { // =100\n\t\treturn \"\", err\n\t}\n\tb.tok = v\n\treturn b.tok, nil\n}\n"
	const sets = "\nfunc with(ctx context.Context, user string) context.Context {\n\treturn context.WithValue(ctx, key{}, user)\n}\n"
	const fresh = "\nfunc (b *box) fresh(user string) bool { return b.user == user }\n"
	const all, only = "Let all who wait share", "Only callers with the same "
	const since = "Do not share the call that is under way"
	keep := strings.Replace(end, "b.tok = v", "b.user, b.tok = user, v", 1)
	for _, c := range []struct{ name, source, want, not string }{
		{"nothing of the caller", get + lock + look + "\tv, err := fetch(\"x\") // call\n" + end + sets, all, "context.WithoutCancel"},
		{"a context, and none has a value", get + lock + look + "\tv, err := fetch(ctx) // call\n" + end, all + " the call that is under way, and its error", only},
		{"a context that nobody ends", get + lock + look + "\tv, err := fetch(context.Background()) // call\n" + end + sets, all, "context.WithoutCancel"},
		{"a context, and some have a value", get + lock + look + "\tv, err := fetch(ctx) // call\n" + end + sets, only + "values in ctx", all},
		{"a time limit of it", get + lock + look + "\tc2, cancel := context.WithTimeout(ctx, time.Second)\n\tdefer cancel()\n\tv, err := fetch(c2) // call\n" + end + sets, only + "values in ctx", all},
		{"that of a request", strings.Replace(get, "user string", "r *http.Request", 1) + lock + look + "\tv, err := fetch(r.Context()) // call\n" + end + sets, only + "values in r.Context()", all},
		{"a context of its own with a parameter in it", get + lock + look + "\tc2 := context.WithValue(context.Background(), key{}, user)\n\tv, err := fetch(c2) // call\n" + end, only + "user", all},
		{"a value of a context", get + lock + look + "\tu := ctx.Value(key{}).(string)\n\treq := ask(u)\n\tv, err := fetch(req) // call\n" + end, only + "ctx.Value(key{})", all},
		{"a method of a parameter", strings.Replace(get, "user string", "s source", 1) + lock + look + "\tv, err := s.load() // call\n" + end, only + "s ", all},
		{"a field that was set to a parameter", get + lock + look + "\tb.peer.user = user\n\tv, err := b.peer.load() // call\n" + end, only + "user", all},
		{"what has the lock", get + lock + look + "\tv, err := b.peer.load() // call\n" + end + sets, all, only},
		{"a receiver that shares the lock with others", get + strings.ReplaceAll(lock+look+"\tv, err := b.peer.load() // call\n"+end, "b.mu", "b.shared.mu"), only + "b ", all},
		{"what has the lock, behind a pointer", get + strings.ReplaceAll(strings.ReplaceAll(lock+look+"\tv, err := b.shared.load() // call\n"+end, "b.mu", "b.shared.mu"), "b.tok", "b.shared.tok"), all, only},
		{"a lock of the package", "var mu sync.Mutex\n\nvar tok string\n\n" + get + strings.ReplaceAll(strings.ReplaceAll(lock, "b.mu", "mu"), "b.tok", "tok") + "\tif tok != \"\" { // =0\n\t\treturn tok, nil\n\t}\n\tv, err := b.peer.load() // call\n" + strings.ReplaceAll(end, "b.tok", "tok"), only + "b ", all},

		{"compared with a parameter", get + lock + "\tif b.user == user { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(ctx) // call\n" + keep, "Keep one value for each user, in a map by it", all},
		{"compared with a parameter that the call is given", get + lock + "\tif b.user == user { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(user) // call\n" + keep, "singleflight by user", "also given"},
		{"compared with a parameter, the other way round", get + lock + "\tif user == b.user && time.Now().Before(b.exp) { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + keep, "singleflight by user", all},
		{"compared in a method", get + lock + "\tif b.fresh(user) { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + keep + fresh, "singleflight by user", all},
		{"compared with what a context has", get + lock + "\tif b.user == userOf(ctx) { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + strings.Replace(keep, "= user", "= userOf(ctx)", 1), "singleflight by userOf(ctx)", all},
		{"compared with a parameter, and a context beside", get + lock + "\tif b.user == user { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(ctx) // call\n" + keep + sets, "The fetch is also given ctx", all},
		{"compared with a parameter, and not stored", get + lock + "\tif b.user == user { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + end, only + "user", "Keep one value"},
		{"compared with something fixed", get + lock + "\tif b.user == \"root\" { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + keep, all, only},
		{"no older than the caller allows", strings.Replace(get, "user string", "age time.Duration", 1) + lock + "\tif time.Since(b.exp) < age { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + end, all, only},

		{"begun after the caller came", strings.Replace(get, "user string", "since time.Time", 1) + lock + "\tif b.exp.After(since) { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + end, since, all},
		{"no older a state than the caller's", strings.Replace(get, "user string", "want int", 1) + lock + "\tif b.ver >= want { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + strings.Replace(end, "b.tok = v", "b.ver, b.tok = v, v", 1), since, all},
		{"of the state that an atomic counts", "var gen atomic.Int64\n\n" + get + lock + "\tg := gen.Load()\n\tif b.ver == g { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + strings.Replace(end, "b.tok = v", "b.ver, b.tok = g, v", 1), since, all},
		{"of the state that a function gives", "func state() int64 { return count }\n\n" + get + lock + "\tif b.ver == state() { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + strings.Replace(end, "b.tok = v", "b.ver, b.tok = g, v", 1), since, all},
		{"until a time that it has", get + lock + "\tnow := time.Now()\n\tif now.Before(b.exp) { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + end, all, since},
		{"for as long as the settings say", "var ttl = time.Minute\n\n" + get + lock + "\tif time.Since(b.exp) < ttl { // =0\n\t\treturn b.tok, nil\n\t}\n\tv, err := fetch(\"x\") // call\n" + end, all, since},
		{"an entry of the key that is fetched", get + "\te := b.entries[user]\n" + strings.NewReplacer("b.mu", "e.mu", "b.tok", "e.tok", "b.exp", "e.exp").Replace(lock+look+"\tv, err := fetch(user) // call\n"+end), all, only},
		{"an entry, and a context", get + "\te := b.entries[user]\n" + strings.NewReplacer("b.mu", "e.mu", "b.tok", "e.tok", "b.exp", "e.exp").Replace(lock+look+"\tv, err := fetch(ctx, user) // call\n"+end) + sets, only + "values in ctx", "same user"},
	} {
		text := head + c.source
		at := func(mark string) stack.Frame {
			return stack.Frame{Func: "main.(*box).get", File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
		}
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1")
		withSource(r, "a.go", text)
		code := NewInput(session.New(r.Open())).code
		countBlocks(code, text)
		outside := []stack.Frame{{Func: "internal/poll.(*FD).Read"}, {Func: "net/http.(*Client).Do"}}
		p := protectedBy(code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at("// lock")}, append(outside[:2:2], at("// call")))
		if p == nil {
			p = &protected{}
		}
		if !strings.Contains(p.advice, c.want) || c.not != "" && strings.Contains(p.advice, c.not) {
			t.Errorf("%s: %q: %q", c.name, p.says, p.advice)
		}
	}
}
