package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/session"
	"loupe/value/stack"
)

// TestClients: connections of a client with a pool that requests make again and again are told,
// with the setting that keeps few of them; those that fill a pool, those of net/http and
// database/sql and those that are dialled by hand are for others to tell.
func TestClients(t *testing.T) {
	const (
		ms  = time.Millisecond
		get = "main.get@main.go:21"
	)
	redigo := []string{"net.(*netFD).connect@net.go:1", "net.(*Dialer).DialContext@net.go:2", "github.com/gomodule/redigo/redis.DialContext@conn.go:3", "main.newPool.func1@main.go:9",
		"github.com/gomodule/redigo/redis.(*Pool).Get@pool.go:4", get, "main.handle@main.go:30"}
	const pool = "package main\n\nfunc newPool() *redis.Pool {\n\treturn &redis.Pool{\n\t\tMaxIdle: LIMIT,\n\t\tMaxActive: 100,\n\n\t\tDial: func() (redis.Conn, error) {\n\t\t\treturn redis.Dial(\"tcp\", addr)\n\t\t},\n\t}\n}\n\n\n\n\n\n\n\nfunc get() {\n\tc := pool.Get()\n\tBACK\n}\n"
	source := func(limit, back string) string {
		return strings.NewReplacer("LIMIT", limit, "BACK", back).Replace(pool)
	}
	making := func(every int, frames []string) func(p *accounttest.Program) {
		n := 0
		return func(p *accounttest.Program) {
			if n++; n%every == 0 {
				await(p, 2*ms, "network", frames...)
			}
			ask(p, 4*ms, get, "main.handle@main.go:30")
		}
	}
	for _, c := range []struct {
		name, source string
		do           func(p *accounttest.Program)
		says         []string // none is nothing
	}{
		{"few are kept", source("0", "defer c.Close()"), making(2, redigo), []string{"a request of main.handle makes 0.500 new connections in main.newPool.func1 at main.go:9: 200 in", "their pool keeps no idle connection (main.go:5)", "Raise MaxIdle at main.go:5"}},
		{"none is put back", source("50", "use(c)"), making(1, redigo), []string{"makes 1.00 new connections", "puts none back by its source", "Put the connection back where main.get has used it"}},
		{"of a client that keeps two", "", making(1, []string{"net.(*netFD).connect@net.go:1", "net.(*Dialer).DialContext@net.go:2", "github.com/bradfitz/gomemcache/memcache.(*Client).getConn@m.go:3", get, "main.handle@main.go:30"}),
			[]string{"makes 1.00 new connections in main.get at main.go:21", "keeps 2 idle connections for each server unless MaxIdleConns is set"}},
		{"it fills", source("50", "defer c.Close()"), making(40, redigo), nil},
		{"by hand", "", making(1, []string{"net.(*netFD).connect@net.go:1", "net.(*Dialer).DialContext@net.go:2", "net.Dial@net.go:3", get, "main.handle@main.go:30"}), nil},
		{"of net/http", "", making(1, []string{"net.(*netFD).connect@net.go:1", "net.(*Dialer).DialContext@net.go:2", "net/http.(*Transport).dial@t.go:3", "github.com/acme/api.(*Client).Get@c.go:3", get, "main.handle@main.go:30"}), nil},
		{"of database/sql", "", making(1, []string{"net.(*netFD).connect@net.go:1", "net.(*Dialer).DialContext@net.go:2", "github.com/lib/pq.Dial@c.go:3", sqlConn + "@sql.go:9", get, "main.handle@main.go:30"}), nil},
	} {
		r := served(t, 400, c.do)
		if c.source != "" {
			r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(c.source))
		}
		found := clients(ld06, NewInput(session.New(r.Open())))
		if len(c.says) == 0 {
			if len(found) > 0 {
				t.Errorf("%s: %s", c.name, found[0].Summary)
			}
			continue
		}
		if len(found) != 1 || found[0].Severity != Warning {
			t.Errorf("%s: %+v", c.name, found)
			continue
		}
		for _, says := range c.says {
			if text := found[0].Summary + " " + found[0].Advice; !strings.Contains(text, says) {
				t.Errorf("%s: %s; want %q", c.name, text, says)
			}
		}
	}
}

// TestUserOf: who uses a connection is behind those that only hand it on.
func TestUserOf(t *testing.T) {
	c := sourceOf("package main\n\nfunc dial() (*conn, error) {\n\treturn net.Dial(peer)\n}\nfunc (p *Pool) Get() (*conn, error) {\n\tc, err := dial()\n\treturn c, err\n}\nfunc handle() {\n\tc, err := p.Get()\n\tdefer p.Put(c)\n}\nfunc direct() error {\n\tc, err := dial()\n\tuse(c)\n\treturn err\n}\n")
	at := func(fn string, line int) stack.Frame {
		return stack.Frame{Func: "main." + fn, File: "a.go", Line: line}
	}
	for want, path := range map[int][]stack.Frame{
		11: {at("dial", 4), at("(*Pool).Get", 7), at("handle", 11)},
		15: {at("dial", 4), at("direct", 15), at("main", 1)},
	} {
		if got, ok := userOf(c, path); !ok || got.Line != want {
			t.Errorf("%+v, want line %d", got, want)
		}
	}
}

// TestIdentity: a connection that checks who somebody is may not serve others: an info.
func TestIdentity(t *testing.T) {
	dials := []string{"net.(*netFD).connect@net.go:1", "net.Dial@net.go:3", "main.dial@main.go:4", "main.(*Pool).bind@main.go:8", "main.handle@main.go:12"}
	for name, severe := range map[string]Severity{"main.(*Pool).search@main.go:8": Warning, dials[3]: Info} {
		dials[3] = name
		r := served(t, 400, func(p *accounttest.Program) { await(p, 2*time.Millisecond, "network", dials...) })
		withSource(r, "main.go", "package main\n\nfunc dial() net.Conn {\n\treturn net.Dial(peer)\n}\n\nfunc (d *directory) bind() {\n\tc := dial()\n}\n\nfunc handle() {\n\td.bind()\n}\n")
		found := clients(ld06, NewInput(session.New(r.Open())))
		if len(found) != 1 || found[0].Severity != severe {
			t.Errorf("%s: %+v", dials[3], found)
		}
	}
}

// TestPoolSettings: a limit of idle connections is found as a field, an assignment and a call,
// and times are none.
func TestPoolSettings(t *testing.T) {
	c := connSources{sourceOf("package main\n\nvar p = &redis.Pool{MaxIdle: 3, IdleTimeout: 4, MaxIdleTime: 5}\nfunc f() {\n\tmc.MaxIdleConns = 4\n\tdb.SetMaxIdle(n)\n\tt := &http.Transport{MaxIdleConns: 1}\n}\n")}
	all := c.poolSettings()
	if len(all) != 3 || all[0].keeps != 3 || all[0].of != "redis.Pool" || all[1].owner != "mc" || all[1].keeps != 4 || all[2].known || all[2].at.Line != 6 {
		t.Errorf("%+v", all)
	}
}
