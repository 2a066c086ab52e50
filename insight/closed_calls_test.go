package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
)

// closedSource has its calls on the lines that end in "// 1" and "// 2".
const closedSource = `package main

import (
	"bytes"
	"container/list"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	a, err := s.getA(ctx) // 1
	if err != nil {
		http.Error(w, err.Error(), 502)
		return
	}
	b, err := s.getB(ctx) // 2
	if err != nil {
		return
	}
	json.NewEncoder(w).Encode([]string{a, b})
}

type server struct {
	base, dir string
	hc        *http.Client
	db        *sql.DB
	tickets   chan string
	said      bytes.Buffer
	hist      list.List
	ring      *ring
	cache     map[string]string
	mu        sync.Mutex
	asked     atomic.Int64
	calls     atomic.Int64
	last      string
	hits      int
	open      func(string) (string, error)
	peers     peers
	one       lone
}

type ring struct{ at int }
type scope struct{ tenant atomic.Pointer[string] }
type scopeKey struct{}
type peers interface{ Fetch(string) (string, error) }
type near struct{ hc *http.Client }
type far struct{ hc *http.Client }
type lone interface{ Find(string) (string, error) }
type only struct{ hc *http.Client }

func (o only) Find(p string) (string, error) { _, err := o.hc.Get(p); return "", err }
func (n near) Fetch(p string) (string, error) { _, err := n.hc.Get(p); return "", err }
func (n far) Fetch(p string) (string, error)  { _, err := n.hc.Get(p); return "", err }

func scopeOf(ctx context.Context) *scope { s, _ := ctx.Value(scopeKey{}).(*scope); return s }

func (s *server) cached(p string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x, ok := s.cache[p]; ok {
		return x, nil
	}
	x, err := s.fetch(p)
	s.cache[p] = x
	return x, err
}

func (s *server) file(name string) string { return filepath.Join(s.dir, name+".json") }

func (s *server) ask(method, path string) (string, error) {
	req, err := http.NewRequest(method, s.base+path, nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "text/plain")
	resp, err := s.hc.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func (s *server) fetch(path string) (string, error) { return s.ask("GET", path) } // asks
`

const (
	itProves   = "made concurrently they would take"
	itSupposes = "if they do not need each other, together they would take"
)

// TestClosedCalls: the advice is unconditional only where the source proves that each call is closed.
func TestClosedCalls(t *testing.T) {
	const plainA, plainB = "return s.fetch(\"/a\")", "return s.fetch(\"/b\")"
	for _, c := range []struct {
		name, a, b, old, now string
		severity             Severity // "" is fine
		summary, advice      string
	}{
		{"two reads", plainA, plainB, "", "", Warning, itProves, "Make independent calls concurrently"},
		{"what is made here is set", "q := url.Values{}\nq.Set(\"a\", \"b\")\nm := map[string]int{}\nm[\"a\"]++\nreturn s.fetch(\"/a?\" + q.Encode())", plainB, "", "", Warning, itProves, "Make independent"},
		{"it logs and counts", "log.Printf(\"a\")\ns.asked.Add(1)\nreturn s.fetch(\"/a\")", plainB, "", "", Warning, itProves, "Make independent"},
		{"queries", "var x string\nerr := s.db.QueryRowContext(ctx, `SELECT a FROM b`).Scan(&x)\nreturn x, err", plainB, "", "", Warning, itProves, "Make independent"},
		{"a statement is prepared", "st, err := s.db.PrepareContext(ctx, \"SELECT a FROM b\")\nif err != nil {\nreturn \"\", err\n}\ndefer st.Close()\nreturn s.fetch(\"/a\")", "var x string\nerr := s.db.QueryRowContext(ctx, `SELECT a FROM b`).Scan(&x)\nreturn x, err", "", "", Warning, "they would take", "ake "},
		{"the one method of an interface", "return s.one.Find(\"/a\")", plainB, "", "", Warning, itProves, "Make independent"},
		{"the environment is only read", "return s.fetch(os.Getenv(\"A\"))", plainB, "", "", Warning, itProves, "Make independent"},

		{"a value of the context", "x, err := s.fetch(\"/a\")\nif sc := scopeOf(ctx); sc != nil {\nsc.tenant.Store(&x)\n}\nreturn x, err", "p := \"/b\"\nif sc := scopeOf(ctx); sc != nil {\nif t := sc.tenant.Load(); t != nil {\np += *t\n}\n}\nreturn s.fetch(p)", "", "",
			Info, itSupposes, "If getB (line 26) does not need what getA (line 21) leaves behind (sc.tenant.Store is called at main.go:"},
		{"a channel", "x, err := s.fetch(\"/a\")\nselect {\ncase s.tickets <- x:\ndefault:\n}\nreturn x, err", "q := \"/b\"\nselect {\ncase t := <-s.tickets:\nq += t\ndefault:\n}\nreturn s.fetch(q)", "", "",
			Info, itSupposes, "leaves behind (s.tickets is sent to at main.go:"},
		{"a file by another expression", "x, err := s.fetch(\"/a\")\nos.WriteFile(s.file(\"schema\"), []byte(x), 0o644)\nreturn x, err", "d, _ := os.ReadFile(s.dir + \"/schema.json\")\nreturn s.fetch(\"/b\" + string(d))", "", "",
			Info, itSupposes, "leaves behind (os.WriteFile is called at main.go:"},
		{"files of other names", "x, err := s.fetch(\"/a\")\nos.WriteFile(\"a.json\", []byte(x), 0o644)\nreturn x, err", "d, _ := os.ReadFile(\"b.json\")\nreturn s.fetch(\"/b\" + string(d))", "", "", Warning, itSupposes, "The source does not prove that: os.WriteFile is called at main.go:"},
		{"a buffer", "x, err := s.fetch(\"/a\")\ns.said.WriteString(x)\nreturn x, err", "return s.fetch(s.said.String())", "", "", Info, itSupposes, "leaves behind (s.said.WriteString is called at main.go:"},
		{"the environment", "x, err := s.fetch(\"/a\")\nos.Setenv(\"A\", x)\nreturn x, err", "return s.fetch(os.Getenv(\"A\"))", "", "", Info, itSupposes, "leaves behind (os.Setenv is called at main.go:"},
		{"a count that is read", "s.asked.Add(1)\nreturn s.fetch(\"/a\")", "if s.asked.Load() > 1 {\nreturn \"\", nil\n}\nreturn s.fetch(\"/b\")", "", "", Info, itSupposes, "leaves behind (s.asked.Add is called at main.go:"},
		{"a field that is counted on and read", "s.hits++\nreturn s.fetch(\"/a\")", "if s.hits > 1 {\nreturn \"\", nil\n}\nreturn s.fetch(\"/b\")", "", "", "", "depend on each other", ""},
		{"both count", "s.hits++\ns.asked.Add(1)\nreturn s.fetch(\"/a\")", "s.hits++\ns.asked.Add(1)\nreturn s.fetch(\"/b\")", "", "", Warning, itProves, "Make independent"},
		{"both set it", "x, err := s.fetch(\"/a\")\ns.last = x\nreturn x, err", "x, err := s.fetch(\"/b\")\ns.last = x\nreturn x, err", "", "", Warning, itSupposes, "If none of these calls"},
		{"one cache", "return s.cached(\"/a\")", "return s.cached(\"/b\")", "", "", Warning, itSupposes, "The source does not prove that: s.cache[p] is set at main.go:"},
		{"it sets what nobody is seen to read", "x, err := s.fetch(\"/a\")\ns.last = x\nreturn x, err", plainB, "", "", Warning, itSupposes, "If none of these calls needs what another one leaves behind"},
		{"it sends a command by GET", plainA, plainB, "getB", "moveB", Warning, itSupposes, "by its name, moveB does something at the peer"},
		{"it gets or makes", plainA, plainB, "getB", "getOrMakeB", Warning, itSupposes, "by its name, getOrMakeB does something at the peer"},
		{"a function in a field", "return s.open(\"/a\")", plainB, "", "", Warning, itSupposes, "which function s.open is, is not seen"},
		{"several methods", "return s.peers.Fetch(\"/a\")", plainB, "", "", Warning, itSupposes, "s.peers.Fetch may be one of several methods"},
		{"functions that it is given", plainA, plainB, "s.getB(ctx)", "s.then(ctx)", Warning, itSupposes, "s.then"},
		{"a statement that changes something", "var x string\nerr := s.db.QueryRowContext(ctx, `UPDATE a SET b = 1 RETURNING c`).Scan(&x)\nreturn x, err", plainB, "", "", Warning, itSupposes, "s.db.QueryRowContext may change something at the peer"},
		{"a function of the database", "var x string\nerr := s.db.QueryRowContext(ctx, `SELECT finish_order($1)`, s.base).Scan(&x)\nreturn x, err", plainB, "", "", Warning, itSupposes, "s.db.QueryRowContext may change something at the peer"},
		{"a function of the database by its rows", "var x string\nerr := s.db.QueryRowContext(ctx, `SELECT * FROM app.finish_order($1)`, s.base).Scan(&x)\nreturn x, err", plainB, "", "", Warning, itSupposes, "s.db.QueryRowContext may change something at the peer"},
		{"functions that only read", "var x string\nerr := s.db.QueryRowContext(ctx, `SELECT coalesce(max(a), now()) FROM b WHERE c IN (1, 2) AND lower(d) = $1`, s.base).Scan(&x)\nreturn x, err", plainB, "", "", Warning, itProves, "Make independent"},
		{"the default client", "resp, err := http.DefaultClient.Get(s.base)\nif err != nil {\nreturn \"\", err\n}\ndefer resp.Body.Close()\nb, err := io.ReadAll(resp.Body)\nreturn string(b) + resp.Header.Get(\"A\"), err", plainB, "", "", Warning, itProves, "Make independent"},
		{"a token behind a value of the context", "sc := ctx.Value(scopeKey{}).(*session)\nresp, err := http.DefaultClient.Get(s.base + sc.token)\nif err != nil {\nreturn \"\", err\n}\ndefer resp.Body.Close()\nsc.token = resp.Header.Get(\"A\")\nreturn \"\", nil\n}\ntype session struct{ token string }\nfunc unused() (string, error) {\nreturn \"\", nil", "sc := ctx.Value(scopeKey{}).(*session)\nreturn s.fetch(sc.token)", "", "", Info, itSupposes, "leaves behind (sc.token is set at main.go:"},
		{"the source of one is missing", plainA, plainB, "s.getB(ctx)", "other.b(ctx)", Warning, itSupposes, "The source does not prove that: other.b is called at main.go:26"},
	} {
		text := closedSource + "\nfunc (s *server) getA(ctx context.Context) (string, error) {\n" + c.a + "\n}\nfunc (s *server) getB(ctx context.Context) (string, error) {\n" + c.b + "\n}\n"
		if c.old != "" {
			text = strings.ReplaceAll(text, c.old, c.now)
		}
		r := served(t, 20, func(p *accounttest.Program) {
			for _, mark := range []string{" // 1\n", " // 2\n"} {
				ask(p, 5*time.Millisecond, markedFrame("main.(*server).fetch", text, " // asks\n"), markedFrame("main.(*server).handle", text, mark))
			}
		})
		withSource(r, "main.go", text)
		f := answers(t, r, "WT03")[0]
		if f.Severity != c.severity || !strings.Contains(f.Summary, c.summary) || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s %s: %s\n%s", c.name, f.State, f.Severity, f.Summary, f.Advice)
		}
	}
}

// markedFrame is the frame of a function on the line of main.go that a mark ends.
func markedFrame(function, text, mark string) string {
	return fmt.Sprintf("%s@main.go:%d", function, strings.Count(text[:strings.Index(text, mark)], "\n")+1)
}

// TestClosedKeys: a client that calls are given is no key of theirs.
func TestClosedKeys(t *testing.T) {
	const text = "package main\nimport \"net/http\"\nfunc (s *server) handle() {\n\tx := user[info](s.c, \"/a\") // 1\n\ty := prices[info](s.c, \"/b\") // 2\n\tuse(x, y)\n}\ntype info struct{}\n" +
		"type server struct{ c *API }\ntype API struct{ hc *http.Client }\nfunc user[T any](a *API, p string) (v T) {\n\ta.hc.Get(p) // asks\n\treturn v\n}\nfunc prices[T any](a *API, p string) (v T) {\n\ta.hc.Get(p)\n\treturn v\n}\n"
	for field, want := range map[string]bool{"hc *http.Client": false, "id string": true} {
		text := strings.Replace(text, "hc *http.Client", field, 1)
		r := served(t, 20, func(p *accounttest.Program) {
			for _, mark := range []string{" // 1\n", " // 2\n"} {
				ask(p, 5*time.Millisecond, markedFrame("main.user[...]", text, " // asks\n"), markedFrame("main.(*server).handle", text, mark))
			}
		})
		withSource(r, "main.go", text)
		if f := answers(t, r, "WT03")[0]; strings.Contains(f.Advice, "same key (s.c)") != want {
			t.Errorf("%s: %s %s\n%s", field, f.Severity, f.Summary, f.Advice)
		}
	}
}
