package insight

import (
	"strings"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// lockCode are the sources of a table test of locks, with the stacks of one that waits at // lock and of one that is at // call.
func lockCode(body string) (c *code, waiter, holder []stack.Frame) {
	return lockCodeIn(body, "main.(*svc).do", "// lock", "// call")
}

// lockCodeIn is that of a function that has other marks.
func lockCodeIn(body, function, lock, call string) (c *code, waiter, holder []stack.Frame) {
	const head = "package main\n\nimport (\n\t\"encoding/json\"\n\t\"io\"\n\t\"net/http\"\n\t\"os\"\n\t\"os/exec\"\n\t\"sync\"\n\t\"log\"\n\t\"fmt\"\n\t\"bytes\"\n\t\"database/sql\"\n\t\"compress/flate\"\n\t\"crypto/cipher\"\n\t\"path/filepath\"\n\t\"strings\"\n\t\"time\"\n)\n\n" +
		"type svc struct {\n\tmu sync.Mutex\n\tm map[string]string\n\ttoken string\n\tleft, hits int\n\tout chan string\n\tsubs []func(string)\n\tdir string\n\tzw *flate.Writer\n\tbuf bytes.Buffer\n\tenc cipher.Stream\n\tdb *sql.DB\n\tf *os.File\n}\n\n" +
		"var hc = &http.Client{}\n\nfunc get(path string) (string, error) {\n\tresp, err := hc.Get(\"http://peer\" + path)\n\tif err != nil {\n\t\treturn \"\", err\n\t}\n\tdefer resp.Body.Close()\n\tb, err := io.ReadAll(resp.Body)\n\treturn string(b), err\n}\n\n" +
		"func createAccount(user string) (string, error) { return get(\"/account?k=\" + user) }\n" +
		"func (s *svc) git(args ...string) error {\n\tcmd := exec.Command(\"git\", args...)\n\tcmd.Dir = s.dir\n\t_, err := cmd.CombinedOutput()\n\treturn err\n}\n\n"
	methods := ""
	for _, m := range [][2]string{
		{"s.find(", "func (s *svc) find(k string) (string, bool) { v, ok := s.m[k]; return v, ok }\n"},
		{"s.keep(", "func (s *svc) keep(k, v string) { s.m[k] = v }\n"},
		{"s.reset(", "func (s *svc) reset() { s.left, s.token = 9, \"\" }\n"},
	} {
		if strings.Contains(body, m[0]) {
			methods += m[1]
		}
	}
	text := head + methods + "func (s *svc) do(k string) (string, error) {\n\ts.mu.Lock() // lock\n\tdefer s.mu.Unlock()\n" + body + "}\n"
	at := func(mark string) stack.Frame {
		return stack.Frame{Func: function, File: "a.go", Line: 1 + strings.Count(text[:strings.Index(text, mark)], "\n")}
	}
	r := recordingtest.New("title x")
	withSource(r, "a.go", text)
	return NewInput(session.New(r.Open())).code, []stack.Frame{{Func: "sync.(*Mutex).Lock"}, at(lock)}, []stack.Frame{{Func: "net.(*conn).Read"}, at(call)}
}

// TestLockPurpose: that a call can be made without the lock is said without a condition only where the source proves a cache; else what the lock may be
// there for is named first.
func TestLockPurpose(t *testing.T) {
	const look = "\tif v, ok := s.m[k]; ok {\n\t\treturn v, nil\n\t}\n"
	const keep = "\tif err == nil {\n\t\ts.m[k] = v\n\t}\n\treturn v, err\n"
	const proven = "Do the I/O without the lock: look up"
	for _, c := range []struct{ name, body, want string }{
		{"a cache", look + "\tv, err := get(\"/page?k=\" + k) // call\n" + keep, proven},
		{"a cache by methods", "\tif v, ok := s.find(k); ok {\n\t\treturn v, nil\n\t}\n\tv, err := get(k) // call\n\ts.keep(k, v)\n\treturn v, err\n", proven},
		{"a cache that logs", look + "\tv, err := get(\"/page?k=\" + k) // call\n\tlog.Println(k)\n" + keep, proven},
		{"a cache of a table", look + "\tvar v string\n\terr := s.db.QueryRow(\"SELECT v FROM t WHERE k = ?\", k).Scan(&v) // call\n" + keep, proven},
		{"a cache of files", look + "\tb, err := os.ReadFile(k) // call\n\tv := string(b)\n" + keep, proven},
		{"a token", "\tif s.token != \"\" {\n\t\treturn s.token, nil\n\t}\n\tv, err := get(\"/token\") // call\n\ts.token = v\n\treturn v, err\n", proven},
		{"what is fetched is under another key", look + "\tv, err := get(k) // call\n\ts.m[\"last\"] = v\n\treturn v, err\n", "s.m is checked"},
		{"made where there is none, by its address", look + "\tv, err := get(\"/create?k=\" + k) // call\n" + keep, "get changes something, going by \"/create?k=\" at a.go:"},
		{"made where there is none, by its name", look + "\tv, err := createAccount(k) // call\n" + keep, "createAccount changes something, going by its name"},
		{"made by a statement", look + "\tvar v string\n\terr := s.db.QueryRow(\"INSERT INTO t (k) VALUES (?) RETURNING id\", k).Scan(&v) // call\n" + keep, "going by \"INSERT INTO t (k) VALUE"},
		{"a cache that is emptied as well", look + "\tv, err := get(k) // call\n\ts.reset()\n" + keep, "s.left is changed"},
		{"a cache that tells others", look + "\tv, err := get(k) // call\n\ts.out <- v\n" + keep, "sent to a channel"},
		{"a channel behind the call", "\tv, err := get(k) // call\n\ts.out <- k + v\n\treturn v, err\n", "something is sent to a channel at a.go:"},
		{"callbacks behind the call", "\tv, err := get(k) // call\n\tfor _, f := range s.subs {\n\t\tf(v)\n\t}\n\treturn v, err\n", "a function that is kept is called (f)"},
		{"a working copy", "\treturn \"\", s.git(\"status\") // call\n", "a process is started (exec.Command)"},
		{"the number of a file", "\tes, err := os.ReadDir(s.dir)\n\tf, err := os.Create(filepath.Join(s.dir, fmt.Sprint(len(es))))\n\terr = f.Sync() // call\n\treturn \"\", err\n", "a folder is looked at (os.ReadDir) at a.go:"},
		{"a stream", "\ts.zw.Write([]byte(k)) // call\n\ts.enc.XORKeyStream(nil, nil)\n\treturn \"\", nil\n", "s.enc.XORKeyStream changes the state of s.enc"},
		{"nothing that is shared", "\treturn get(k) // call\n", "Make the call without the lock: nothing under it is shared"},
		{"a check and a change", "\tif s.left == 0 {\n\t\treturn \"\", nil\n\t}\n\tv, err := get(\"/charge\") // call\n\ts.left--\n\treturn v, err\n", "s.left is checked at a.go:"},
		{"what is not seen", look + "\tv, err := peerlib.Exchange(k) // call\n" + keep, "what peerlib.Exchange does is not seen"},
	} {
		code, waiter, holder := lockCode(c.body)
		got := purposeOf(code, waiter, holder).advice(doingCall)
		if !strings.Contains(got, c.want) || strings.HasPrefix(got, proven) != (c.want == proven) {
			t.Errorf("%s: %s", c.name, got)
		}
		if c.want != proven && !strings.Contains(got, "If ") {
			t.Errorf("%s: no condition: %s", c.name, got)
		}
	}
	if got := (&lockPurpose{unseen: true}).advice(doingCall); !strings.HasPrefix(got, "Find out first what the lock is there for: the sources do not show it. If ") {
		t.Errorf("without sources: %s", got)
	}
}

// TestWorkApart: work is said to be possible before the lock is taken only where it has nothing to do with what is shared.
func TestWorkApart(t *testing.T) {
	for body, want := range map[string]bool{
		"\tv := fmt.Sprint(k) // call\n\ts.token = v\n":                                                                    true,
		"\tv := sum(k) // call\n\ts.m[k] = v\n}\n\nfunc sum(k string) string { return k\n":                                 true,
		"\tv := fmt.Sprint(s.token) // call\n\ts.m[k] = v\n":                                                               false,
		"\tv := s.sum(k) // call\n\ts.m[k] = v\n}\n\nfunc (s *svc) sum(k string) string { return s.token\n":                false,
		"\tx := s.m[k]\n\tv := fmt.Sprint(x) // call\n\ts.m[k] = v\n":                                                      false,
		"\ts.zw.Write([]byte(k)) // call\n":                                                                                false,
		"\tv := last(k) // call\n\ts.m[k] = v\n}\n\nvar n int\n\nfunc last(k string) string { n++; return fmt.Sprint(n)\n": false,
	} {
		code, waiter, holder := lockCode(body)
		if got := purposeOf(code, waiter, holder[1:]).workApart(); got != want {
			t.Errorf("%q: %v", body, got)
		}
	}
}

// TestSyncsSame: one sync serves all only where all write to the same file.
func TestSyncsSame(t *testing.T) {
	for body, want := range map[string]syncedFile{
		"\ts.f.WriteString(k)\n\terr := s.f.Sync() // call\n\treturn \"\", err\n":                syncsShared,
		"\tf, err := os.Create(k)\n\tf.WriteString(k)\n\tf.Sync() // call\n\treturn \"\", err\n": syncsOwn,
		"\tf := open(k)\n\tf.WriteString(k)\n\treturn \"\", f.Sync() // call\n":                  syncsUnknown,
	} {
		code, _, holder := lockCode(body)
		if got := syncsSame(code, append([]stack.Frame{{Func: "os.(*File).Sync"}}, holder[1:]...)); got != want {
			t.Errorf("%q: %v", body, got)
		}
	}
}
