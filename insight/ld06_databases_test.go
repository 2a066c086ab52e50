package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestDatabases: waits of package database/sql for new connections are told from those for
// answers, and handles that are opened again and again are told.
func TestDatabases(t *testing.T) {
	const query = "shop/store.find:/src/store/find.go:20"
	waits := func(dials, answers int) *scene {
		s := newScene(t)
		s.block("main.serve", exectrace.NameNetwork, dials, 3*time.Millisecond, s.stack("internal/poll.(*FD).Read", "shop/driver.(*conn).login:/src/driver/conn.go:9", sqlConn, "database/sql.(*DB).QueryContext", query, "main.serve"), 0)
		s.block("main.serve", exectrace.NameNetwork, answers, 3*time.Millisecond, s.stack("internal/poll.(*FD).Read", "shop/driver.(*conn).ask:/src/driver/conn.go:19", "database/sql.(*DB).QueryContext", query, "main.serve"), 0)
		s.block("main.serve", exectrace.NameNetwork, 5000, 3*time.Millisecond, s.stack("internal/poll.(*FD).Read", "net/http.(*conn).serve"), 0)
		return s
	}
	asleep := func(logins, answers int) *scene {
		s := newScene(t)
		s.block("main.serve", exectrace.NameSleep, logins, 3*time.Millisecond, s.stack("time.Sleep", "shop/driver.(*drv).Open:/src/driver/conn.go:9", "database/sql.dsnConnector.Connect", sqlConn, "database/sql.(*DB).QueryContext", query, "main.serve"), 0)
		s.block("main.serve", exectrace.NameSleep, answers, 3*time.Millisecond, s.stack("time.Sleep", "shop/driver.(*conn).ask:/src/driver/conn.go:19", "database/sql.(*DB).QueryContext", query, "main.serve"), 0)
		return s
	}
	crowded := func(n int) *scene {
		s := newScene(t)
		s.block("main.serve", exectrace.NameSelect, n, 3*time.Millisecond, s.stack("runtime.selectgo", sqlConn, "database/sql.(*DB).QueryContext", query, "main.serve"), 0)
		return s
	}
	handlesOf := func(n int64) *scene {
		s := waits(10, 1000)
		g := &sched.Group{Name: s.name(sqlOpener), Created: n, Creator: s.stack("database/sql.OpenDB", "database/sql.Open", "shop/store.open:/src/store/open.go:7", "main.serve")}
		s.Creators = append(s.Creators, g)
		return s
	}
	for _, c := range []struct {
		name string
		s    *scene
		says string // "" is nothing
		line int
	}{
		{"too few idle ones", waits(300, 700), "of the time that goroutines waited for databases, 30.0% was spent on new connections: 900 ms in 300 waits", 20},
		{"kept", waits(10, 990), "", 0},
		{"a driver without sockets", asleep(300, 700), "of the time that goroutines waited for databases, 30.0% was spent on new connections: 900 ms in 300 waits", 20},
		{"waits for a free one", crowded(300), "", 0},
		{"a few in all", waits(50, 50), "", 0},
		{"a handle for each", handlesOf(400), "400 database handles (sql.DB) were opened in 2.00 s", 7},
		{"one handle", handlesOf(1), "", 0},
	} {
		found := databases(ld06, c.s.input())
		if c.says == "" {
			if len(found) > 0 {
				t.Errorf("%s: %s", c.name, found[0].Summary)
			}
			continue
		}
		if len(found) != 1 || found[0].Severity != Warning || !strings.HasPrefix(found[0].Summary, c.says) || found[0].Evidence[0].Line != c.line {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}

// TestOpeningCosts: what the CPUs do while connections are opened is done for these, and it goes
// under them.
func TestOpeningCosts(t *testing.T) {
	const query = "shop/store.find:/src/store/find.go:20"
	for samples, first := range map[string]string{"80 20": "LD06", "4 96": "LD06"} {
		s := newScene(t)
		s.block("main.serve", exectrace.NameNetwork, 300, 3*time.Millisecond, s.stack("internal/poll.(*FD).Read", "shop/driver.(*conn).login:/src/driver/conn.go:9", sqlConn, "database/sql.(*DB).QueryContext", query, "main.serve"), 0)
		s.block("main.serve", exectrace.NameNetwork, 700, 3*time.Millisecond, s.stack("internal/poll.(*FD).Read", "shop/driver.(*conn).ask:/src/driver/conn.go:19", "database/sql.(*DB).QueryContext", query, "main.serve"), 0)
		s.with(func(r *recordingtest.Recording) {
			r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile("shop/store.find:/src/store/find.go:20 shop.other:/src/a.go:1\n"+
				sqlConn+"\nshop/driver.(*conn).login:/src/driver/conn.go:8\ncrypto/pbkdf2.Key\n= "+samples+"\n"))
		})
		in := s.input()
		found := databases(ld06, in)
		if len(found) != 1 || found[0].Severity != Warning || len(found[0].costs) == 0 || found[0].saves != (samples == "80 20") {
			t.Fatalf("%s: %+v", samples, found)
		}
		hashing := Finding{Rule: "CP18", State: Found, Severity: Warning, Score: 90, saves: true, costs: []cost{{file: "/src/driver/conn.go", line: 8, callee: "crypto/pbkdf2.Key"}}, Evidence: []Evidence{{File: "/src/driver/conn.go", Line: 8}}}
		all := []Finding{hashing, found[0]}
		byWorth(in, all)
		if cards := Cards(in, all); all[cards[0].Finding].Rule != first || all[1].Severity != Warning {
			t.Errorf("%s: first %s, %+v", samples, all[cards[0].Finding].Rule, cards)
		}
	}
}

// TestNeverSet: the only handle of a source that nothing sets a limit of idle connections for is named; not one of several, nor where it is set.
func TestNeverSet(t *testing.T) {
	for name, c := range map[string]struct{ body, says string }{
		"one":         {"db, err := sql.Open(\"x\", dsn)", "opened at a.go:4 keeps two"},
		"two":         {"db, err := sql.Open(\"x\", dsn)\n\tother, err := sql.Open(\"y\", dsn)", ""},
		"it is set":   {"db, err := sql.Open(\"x\", dsn)\n\tdb.SetMaxIdleConns(n)", ""},
		"none opened": {"db, err := handed()", ""},
	} {
		var f Finding
		tellNeverSet(sourceOf("package main\n\nfunc f() {\n\t"+c.body+"\n}\n"), nil, &f)
		if (c.says == "") != (f.Advice == "") || !strings.Contains(f.Advice, c.says) {
			t.Errorf("%s: %s", name, f.Advice)
		}
	}
}
