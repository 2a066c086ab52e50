package insight

import (
	"strings"
	"testing"

	"loupe/analysis/account/accounttest"
	"loupe/session"
	"loupe/value/stack"
)

// TestMadeClients: a client that is made for each request is told, though it dials elsewhere;
// one that is made seldom is not, nor are goroutines that anything else starts.
func TestMadeClients(t *testing.T) {
	const frames = "main.dial@main.go:43;main.handle@main.go:7"
	starts := func(every int, by string) func(p *accounttest.Program) {
		n := 0
		return func(p *accounttest.Program) {
			if n++; n%every == 0 {
				p.Create(100000+n, "google.golang.org/grpc/internal/grpcsync.(*CallbackSerializer).run", accounttest.In(append(strings.Split(by, ";"), strings.Split(frames, ";")...)...))
			}
			ask(p, 4e6, "main.handle@main.go:9")
		}
	}
	const newClient = "google.golang.org/grpc/internal/grpcsync.NewCallbackSerializer@cs.go:52;google.golang.org/grpc.NewClient@cc.go:9"
	for _, c := range []struct {
		name string
		do   func(p *accounttest.Program)
		says string
	}{
		{"each time", starts(1, newClient), "the program makes new clients with grpc.NewClient in main.dial at main.go:43: 400 in"},
		{"seldom", starts(10, newClient), ""},
		{"something else", starts(1, "golang.org/x/sync/errgroup.(*Group).Go@g.go:9"), ""},
	} {
		found := madeClients(ld06, NewInput(session.New(served(t, 400, c.do).Open())))
		switch {
		case c.says == "" && len(found) > 0:
			t.Errorf("%s: %s", c.name, found[0].Summary)
		case c.says != "" && (len(found) != 1 || found[0].Severity != Warning || !strings.Contains(found[0].Summary, c.says) || found[0].Evidence[0].Line != 43):
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

// TestMadeWith: a client that is made with what the request brings, and one that is kept by a key, are
// told as that. MAKE is where it is made, CALL where the function is called that makes it.
func TestMadeWith(t *testing.T) {
	const serve = "func handle(w http.ResponseWriter, r *http.Request) {\n"
	for _, c := range []struct {
		name, text, brings, kept string
	}{
		{"credentials", "func open(user, password string) { redis.New(&redis.Options{ // MAKE\nAddr: addr, Username: user, Password: password}) }\n" + serve + "user, password, ok := r.BasicAuth()\nopen(user, password) // CALL\n}", "user and password", ""},
		{"a target", "func open(ctx context.Context, to string) { redis.New(ctx, to) /* MAKE */ }\n" + serve + "to := r.URL.Query().Get(`to`)\nif to == `` { to = all[0] }\nopen(r.Context(), to) // CALL\n}", "to", ""},
		{"a field of what is made for the request", "func (s *user) open() { redis.New(s.token) /* MAKE */ }\n" + serve + "s := &user{token: r.Header.Get(`T`)}\ns.open() // CALL\n}", "s.token", ""},
		{"set later", "func open(o *redis.Options) { redis.New(o) /* MAKE */ }\n" + serve + "o := &redis.Options{}\no.Password = r.FormValue(`p`)\nopen(o) // CALL\n}", "o", ""},
		{"out of the context", "func open(ctx context.Context) {\ntoken := TokenFromContext(ctx)\nredis.New(token) /* MAKE */ }\n" + serve + "open(r.Context()) // CALL\n}", "token", ""},
		{"of a message", "func (s *server) Get(ctx context.Context, req *pb.GetRequest) {\nredis.New(req.Shard) /* MAKE */ }", "req.Shard", ""},
		{"always the same", "func (s *server) open(ctx context.Context) { redis.New(ctx, s.addr) /* MAKE */ }\n" + serve + "s.open(r.Context()) // CALL\n}", "", ""},
		{"of all shards", "func open(ctx context.Context, a string) { redis.New(ctx, a) /* MAKE */ }\n" + serve + "for _, a := range shards {\nopen(r.Context(), a) // CALL\n}}", "", ""},
		{"one that is looked up", "func open(to string) { redis.New(to) /* MAKE */ }\n" + serve + "to, err := d.lookup(r.Host)\nopen(to) // CALL\n}", "", ""},
		{"one of the program's", "func open(to string) { redis.New(to) /* MAKE */ }\n" + serve + "to := backends[r.Host]\nopen(to) // CALL\n}", "", ""},
		{"a password that is looked up", "func open(user, to string) { redis.New(to, passwords[user]) /* MAKE */ }\n" + serve + "open(r.Header.Get(`U`), to) // CALL\n}", "user", ""},
		{"made of parts", "func open(to string) { redis.New(to) /* MAKE */ }\n" + serve + "host := strings.TrimPrefix(r.URL.Path, `/`)\nopen(fmt.Sprintf(`%s:1`, host)) // CALL\n}", "to", ""},
		{"kept", "func (s *server) open(name string) *redis.Client {\nc, ok := s.all[name]\nif !ok {\nc = redis.New(name) // MAKE\ns.all[name] = c }\nreturn c }\n" + serve + "s.open(r.FormValue(`t`)) // CALL\n}", "", "s.all[name] = c"},
		{"kept by its caller", "func open(name string) *redis.Client { return redis.New(name) /* MAKE */ }\n" + serve + "if _, ok := all.Load(r.Host); !ok {\nc := open(r.Host) // CALL\nall.Store(r.Host, c)\n}}", "", "all.Store(r.Host, c)"},
		{"kept where it is made", "func open(name string) *redis.Client {\nif all[name] == nil {\nall[name] = redis.New(name) // MAKE\n}\nreturn all[name] }\n" + serve + "open(r.Host) // CALL\n}", "", "all[name] = redis.New(name)"},
		{"put, and never looked for", "func open(name string) *redis.Client {\nc := redis.New(name) // MAKE\nall[name] = c\nreturn c }\n" + serve + "open(s.host) // CALL\n}", "", ""},
	} {
		text := "package main\n\nimport (\"fmt\"; \"strings\")\n\n" + c.text + "\n"
		line := func(mark string) int { return strings.Count(text[:max(0, strings.Index(text, mark))], "\n") + 1 }
		x := madeAt{callee: "github.com/redis/go-redis/v9.New", way: []stack.Frame{{Func: "main.open", File: "a.go", Line: line("MAKE")}, {Func: "main.handle", File: "a.go", Line: line("CALL")}}}
		f := Finding{Severity: Warning, Advice: "Make one client."}
		x.tellMade(sourceOf(text), &f)
		switch {
		case c.brings != "" && (f.Severity != Info || !strings.Contains(f.Summary, "made with "+c.brings+", which the request brings")),
			c.kept != "" && (f.Severity != Info || len(f.Evidence) != 1 || !strings.Contains(f.Evidence[0].Source, c.kept)),
			c.brings+c.kept == "" && (f.Severity != Warning || f.Advice != "Make one client."):
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}
