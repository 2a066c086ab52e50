package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
	"loupe/value/stack"
)

// TestPings: calls that only ask whether a peer is there are told where uses of it follow and they take a notable part of the time; those of a check of
// the program's health, those at the start, rare ones, and those beside calls of another peer are not.
func TestPings(t *testing.T) {
	const (
		pingDB  = "example.com/pg.(*conn).Ping@pg.go:1;database/sql.(*DB).pingDC@sql.go:2;database/sql.(*DB).PingContext@sql.go:3;main.session@a.go:%d;main.%s@a.go:%d"
		pingOne = "example.com/pg.(*conn).Ping@pg.go:1;database/sql.(*DB).pingDC@sql.go:2;database/sql.(*Conn).PingContext@sql.go:3;main.session@a.go:%d;main.%s@a.go:%d"
		redis   = "github.com/redis/go-redis/v9.(*baseClient).process@r.go:1;github.com/redis/go-redis/v9.cmdable.Ping@r.go:2;main.session@a.go:%d;main.%s@a.go:%d"
		query   = "example.com/pg.(*conn).Query@pg.go:5;database/sql.(*DB).QueryContext@sql.go:6;main.find@a.go:%d;main.%s@a.go:%d"
		get     = "github.com/redis/go-redis/v9.(*baseClient).process@r.go:1;github.com/redis/go-redis/v9.cmdable.Get@r.go:4;main.find@a.go:%d;main.%s@a.go:%d"
		http    = "example.com/http.(*Client).Do@c.go:5;main.find@a.go:%d;main.%s@a.go:%d"
	)
	const source = "package main\n\nfunc handle() {\n\tsession() // S\n\tfind() // F\n}\n\nfunc session() {\n\tdb.PingContext(ctx) // P\n\trows, err := db.QueryContext(ctx, \"SELECT 1\") // O\n}\n\nfunc find() {\n\tdb.QueryContext(ctx, \"SELECT a FROM b WHERE c = ?\", c) // Q\n}\n"
	type call struct {
		way  string
		mark string
		each time.Duration
	}
	ms := time.Millisecond
	for _, c := range []struct {
		name, root    string
		calls         []call
		told          bool
		says, advises string
	}{
		{"a ping of a database", "handle", []call{{pingDB, "P", 4 * ms}, {query, "Q", 6 * ms}}, true, "a request of main.handle asks whether the database is there before it uses it: one ping in each, 40", "database/sql replaces broken connections by itself"},
		{"of a connection", "handle", []call{{pingOne, "P", 4 * ms}, {query, "Q", 4 * ms}}, true, "one ping in each, 49", "those on a *sql.Conn are not"},
		{"before each of two", "handle", []call{{pingOne, "P", 4 * ms}, {query, "Q", 4 * ms}, {pingOne, "P", 4 * ms}, {query, "Q", 4 * ms}}, true, "2 pings in each, 50", "database/sql"},
		{"of another peer", "handle", []call{{redis, "P", 4 * ms}, {get, "Q", 4 * ms}}, true, "asks whether its peer is there", "each use has to deal with an error in any case"},
		{"a statement that asks for nothing", "handle", []call{{query, "O", 4 * ms}, {query, "Q", 4 * ms}}, true, "asks whether", "Leave the ping out"},

		{"a check of its health", "healthz", []call{{pingDB, "P", 4 * ms}, {query, "Q", 4 * ms}}, false, "", ""},
		{"what asks for the state of an order", "orderStatus", []call{{pingDB, "P", 4 * ms}, {query, "Q", 4 * ms}}, true, "one ping in each", "Leave the ping out"},
		{"another one", "Ready", []call{{pingDB, "P", 4 * ms}, {query, "Q", 4 * ms}}, false, "", ""},
		{"nothing but pings", "handle", []call{{pingDB, "P", 4 * ms}}, false, "", ""},
		{"beside another peer", "handle", []call{{pingDB, "P", 4 * ms}, {http, "Q", 4 * ms}}, false, "", ""},
		{"a small part", "handle", []call{{pingDB, "P", ms}, {query, "Q", 20 * ms}}, false, "", ""},
		{"queries alone", "handle", []call{{query, "Q", 4 * ms}, {query, "Q", 4 * ms}}, false, "", ""},
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for _, x := range c.calls {
				outer := map[string]string{"P": "S", "O": "S", "Q": "F"}[x.mark]
				ask(p, x.each, strings.Split(fmt.Sprintf(x.way, sourceLine(source, x.mark), c.root, sourceLine(source, outer)), ";")...)
			}
		})
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
		f := answers(t, r, "WT02")[0]
		if told := f.Title == pingsTitle; told != c.told || told && (f.Severity != Warning || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Advice, c.advises)) {
			t.Errorf("%s: %s %s %q: %s\nadvice: %s", c.name, f.State, f.Severity, f.Title, f.Summary, f.Advice)
		}
	}
}

// TestPingOn: a ping is the outermost function of that name which the program calls; where a unit itself has it, there is none.
func TestPingOn(t *testing.T) {
	for names, want := range map[string]int{
		"net.(*conn).Read lib.(*Conn).Ping main.f":                                                   1,
		"net.(*conn).Read lib.(*conn).ping lib.(*DB).PingContext main.f":                             2,
		"net.(*conn).Read main.(*client).Ping main.f":                                                1,
		"net.(*conn).Read google.golang.org/grpc/health/grpc_health_v1.(*healthClient).Check main.f": 1,
		"net.(*conn).Read lib.(*conn).Shipping main.f":                                               -1,
		"net.(*conn).Read main.ask main.Ping net/http.HandlerFunc.ServeHTTP":                         -1,
		"net.(*conn).Read lib.(*Conn).Query main.f":                                                  -1,
	} {
		var frames []stack.Frame
		for _, name := range strings.Fields(names) {
			frames = append(frames, stack.Frame{Func: name})
		}
		if got := pingOn(frames, func(f stack.Frame) bool { return strings.HasPrefix(f.Func, "main.") }); got != want {
			t.Errorf("%s: %d", names, got)
		}
	}
}
