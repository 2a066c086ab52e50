package insight

import (
	"regexp"
	"strings"
	"testing"

	repeatsfile "loupe/format/repeats"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestKeptByCount: of several containers the one keeps a value that entries do not leave, by how often each store and each delete was reached.
func TestKeptByCount(t *testing.T) {
	const head = "package shop\n\nimport (\n\"time\"\n\"slices\"\n)\n\n" +
		"type client struct {\nid int\nbuf []byte\n}\n\n" +
		"type hub struct {\nclients map[*client]bool\nlist []*client\nn, most int\n}\n\n" +
		"var asked = map[*client]string{}\n\n" +
		"func (h *hub) connect(id int) { /*2000*/\nc := &client{id: id, buf: make([]byte, 1<<20)} // made\nh.clients[c] = true\nask(c)\nif id > 0 { /*2000*/\nh.disconnect(c)\n}\n}\n\n" +
		"func ask(c *client) { /*2000*/\nasked[c] = \"x\"\n}\n\n"
	const leaves = "func (h *hub) disconnect(c *client) { /*1998*/\nif h.n > 0 { /*9*/\nh.n--\n}\ndelete(h.clients, c)\n}\n"
	const answer = "func answer(c *client, s string) bool { /*30*/\nif asked[c] != s { /*27*/\nreturn false\n}\ndelete(asked, c)\nreturn true\n}\n"
	const keeps = "the map asked at a.go:31, stored 2,000 times, deleted 3 times in the run that counts; it goes into hub.clients at a.go:23 as well, where its delete is reached about as often: stored 2,000 times, deleted 1,998 times"
	const both = "the recording does not tell which of them keeps it"
	list := strings.NewReplacer("asked[c] = \"x\"", "h.list = append(h.list, c)", "func ask(c *client)", "func (h *hub) ask(c *client)", "ask(c)\nif", "h.ask(c)\nif", "var asked = map[*client]string{}", "var asked int").Replace(head)
	for _, c := range []struct {
		name, source string
		functions    []repeatsfile.Func
		says, not    string
		lets         bool
	}{
		{"deleted too seldom", head + leaves + answer, nil, keeps, both, false},
		{"the advice names where the other one lets go", head + leaves + answer, nil, "hardly ever reached: a.go:44 (3 times). Entries are deleted from hub.clients at a.go:38: delete them from asked there as well", "Nothing was taken out", false},
		{"the delete is never reached", head + leaves + "func answer(c *client, s string) {\nif asked[c] == s {\ndelete(asked, c)\n}\n}\n", nil, "asked at a.go:31, stored 2,000 times, deleted 0 times", both, false},
		{"nothing in the source deletes", head + leaves, nil, "stored 2,000 times, deleted 0 times in the run that counts; it goes into hub.clients", both, false},
		{"a function of one block, by its calls", head + "func (h *hub) disconnect(c *client) {\ndelete(h.clients, c)\nprintln(h.left())\n}\nfunc (h *hub) left() int { return 1 }\n" + answer,
			[]repeatsfile.Func{{Name: "shop.(*hub).disconnect", File: "/src/a.go", Line: 34, Calls: 1998}}, "asked at a.go:31, stored 2,000", both, false},
		{"the other one, which is first", head + strings.ReplaceAll(leaves, "1998", "12") + "func answer(c *client) { /*1990*/\nif true { /*1990*/\ndelete(asked, c)\n}\n}\n", nil, "the map hub.clients at a.go:23, stored 2,000 times, deleted 12 times in the run that counts; it goes into asked at a.go:31 as well, where its delete is reached about as often", both, false},
		{"both let go", head + leaves + "func answer(c *client) { /*1990*/\nif true { /*1990*/\ndelete(asked, c)\n}\n}\n", nil, "it goes into asked at a.go:31 as well; of hub.clients: stored 2,000 times, deleted 1,998 times in the run that counts; of asked: stored 2,000 times, deleted 1,990 times", "stays in it", true},
		{"half of it", head + leaves + strings.NewReplacer("/*30*/", "/*1800*/", "/*27*/", "/*800*/").Replace(answer), nil, both, "stays in it", true},
		{"emptied as a whole", head + leaves + "func reset() { /*40*/\nif true { /*40*/\nclear(asked)\n}\n}\n", nil, both, "stays in it", true},
		{"an expiry that has not come yet", head + leaves + "func (h *hub) expire(now time.Time, until time.Time) { /*9*/\nfor c := range asked { /*9000*/\nif until.Before(now) { /*0*/\ndelete(asked, c)\n}\n}\n}\n", nil, "asked at a.go:31, stored 2,000 times, deleted 0 times", both, true},
		{"a limit above the delete that has not come yet", head + leaves + "func (h *hub) evict() {\nfor c := range asked {\ndelete(asked, c)\n}\n}\nfunc (h *hub) look() { /*9*/\nif len(asked) > h.most { /*0*/\nh.evict()\n}\n}\n", nil, "asked at a.go:31, stored 2,000 times, deleted 0 times", both, true},
		{"given away", head + leaves + "var take func(map[*client]string)\nfunc give() { /*5*/\nif true { /*5*/\ntake(asked)\n}\n}\n", nil, "hub.clients at a.go:23", "stays in it", true},
		{"one entry for each name", strings.NewReplacer("asked = map[*client]string{}", "asked = map[int]*client{}", "asked[c] = \"x\"", "asked[c.id] = c").Replace(head) + leaves, nil, both, "stays in it", true},
		{"one entry for each name, of a sync.Map", strings.NewReplacer("asked = map[*client]string{}", "asked sync.Map", "asked[c] = \"x\"", "asked.LoadOrStore(c.id, c)", "\"time\"", "\"time\"; \"sync\"").Replace(head) + leaves, nil, "asked", "stays in it", true},
		{"few of them", strings.ReplaceAll(head, "2000", "12") + strings.ReplaceAll(leaves, "1998", "12") + answer, nil, both, "stays in it", true},
		{"a list that is cut", list + leaves + "func (h *hub) pop() { /*1900*/\nif len(h.list) > 0 { /*1900*/\nh.list = h.list[1:]\n}\n}\n", nil, "hub.list", "stays in it", true},
		{"a list that is not", list + leaves + "func (h *hub) pop() { /*19*/\nif h.n > 0 { /*2*/\nh.list = h.list[1:]\n}\n}\n", nil, "the slice hub.list at a.go:31, stored 2,000 times, deleted 2 times in the run that counts; it goes into hub.clients at a.go:23 as well, where its delete is reached", both, false},
		{"not counted", regexpCounts.ReplaceAllString(head+leaves+answer, ""), nil, both, "in the run that counts", true},
	} {
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(c.source))
		if c.name != "not counted" {
			r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, countedFile(t, "/src/a.go", c.source, c.functions...))
		}
		at := 1 + strings.Count(c.source[:strings.Index(c.source, "// made")], "\n")
		line := stack.Frame{Func: "shop.(*hub).connect", File: "/src/a.go", Line: at}
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"shop.(*hub).connect:/src/a.go:22", []int64{2000, 64 << 20, 2000, 64 << 20}}))
		in := NewInput(session.New(r.Open()))
		f := Finding{Severity: Warning}
		tellHolder(in, &f, line, []stack.Frame{line}, "otherwise")
		text := f.Summary + " " + f.Advice
		if strings.HasPrefix(f.Summary, ";") {
			t.Errorf("%s: a summary begins with its second clause: %s", c.name, f.Summary)
		}
		if !strings.Contains(text, c.says) || c.not != "" && strings.Contains(text, c.not) {
			t.Errorf("%s: %s; want %q and not %q", c.name, text, c.says, c.not)
		}
		if lets := f.lets.File != ""; lets != c.lets {
			t.Errorf("%s: the source lets it go: %v, at %v", c.name, lets, f.lets)
		}
		if h := HoldingOf(in, line, []stack.Frame{line}); h.Bounded != c.lets {
			t.Errorf("%s: bounded %v: %v", c.name, h.Bounded, h.Evidence)
		}
	}
}

// TestNothingLeft: of what is all in use, nobody says that nothing was taken out where a delete was counted.
func TestNothingLeft(t *testing.T) {
	const source = "package shop\n\ntype hub struct{ clients map[string][]byte }\n\nfunc (h *hub) add(id string) { /*900*/\nh.clients[id] = make([]byte, 1<<20)\nif id != \"\" { /*900*/\nh.drop(id)\n}\n}\n\nfunc (h *hub) drop(id string) { /*DROPS*/\nif id != \"x\" { /*DROPS*/\ndelete(h.clients, id)\n}\n}\n"
	for drops, want := range map[string]string{
		"880": "though what takes entries out of hub.clients was reached: stored 900 times, deleted 880 times in the run that counts",
		"8":   "Hardly anything is taken out of hub.clients: stored 900 times, deleted 8 times in the run that counts, at a.go:14 (8 times)",
		"0":   "Nothing was taken out of hub.clients in the run that counts (stored 900 times, deleted 0 times, at a.go:14 (0 times)), which lasts for seconds",
		"":    "Nothing was taken out in this recording",
	} {
		text := strings.ReplaceAll(source, "DROPS", drops)
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(text))
		if drops != "" {
			r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, countedFile(t, "/src/a.go", text))
		}
		line := stack.Frame{Func: "shop.(*hub).add", File: "/src/a.go", Line: 6}
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"shop.(*hub).add:/src/a.go:6", []int64{900, 64 << 20, 900, 64 << 20}}))
		f := Finding{Severity: Warning}
		tellHolder(NewInput(session.New(r.Open())), &f, line, []stack.Frame{line}, "otherwise")
		if !strings.Contains(f.Advice, want) {
			t.Errorf("%s: %s", drops, f.Advice)
		}
	}
}

// TestBoundNotReached: of what has a bound, or waits for a length or a time, nobody says that it is to get a bound because the run that counts
// did not come to it.
func TestBoundNotReached(t *testing.T) {
	const head = "package shop\n\ntype cache struct {\nm map[int][]byte\nring []int\nnext, most int\n}\n\nfunc (c *cache) add(id int) { /*900*/\nc.m[id] = make([]byte, 1<<20) // made\n"
	const hard, not = "cache.m has a bound: see a.go:12", "Hardly anything"
	for name, row := range map[string]struct{ source, says string }{
		"a ring of keys":                {"if old := c.ring[c.next]; old >= 0 { /*0*/\ndelete(c.m, old)\n}\nc.ring[c.next] = id\nc.next = (c.next + 1) % len(c.ring)\n}\n", hard + ". Where it takes too much memory when it is full, lower that, or keep less of each entry. In the run that counts the bound was not reached (stored 900 times, deleted 0 times)"},
		"a length":                      {"\nif len(c.m) > c.most { /*0*/\ndelete(c.m, c.next)\n}\n}\n", hard},
		"reached":                       {"\nif len(c.m) > c.most { /*400*/\ndelete(c.m, c.next)\n}\n}\n", hard + ". Where it takes too much memory when it is full, lower that, or keep less of each entry. Record"},
		"a length elsewhere, with more": {"if id > 0 { /*900*/\nc.trim()\n}\n}\nfunc (c *cache) trim() { /*900*/\nif len(c.m) > c.most && c.next > 0 { /*0*/\ndelete(c.m, c.next)\n}\n}\n", "In the run that counts nothing was taken out of cache.m yet (stored 900 times, deleted 0 times, at a.go:17 (0 times)): that waits for a length or a time"},
	} {
		text := head + row.source
		r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase heap 9s..10s profiler=heap\n")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "/src/a.go"}, []byte(text))
		r.Put(recording.Entry{Path: "repeats.json", Kind: recording.Repeats}, countedFile(t, "/src/a.go", text))
		line := stack.Frame{Func: "shop.(*cache).add", File: "/src/a.go", Line: 10}
		r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, heapProfile(column{"shop.(*cache).add:/src/a.go:10", []int64{900, 64 << 20, 900, 64 << 20}}))
		f := Finding{Severity: Warning}
		tellHolder(NewInput(session.New(r.Open())), &f, line, []stack.Frame{line}, "otherwise")
		if !strings.Contains(f.Advice, row.says) || strings.Contains(f.Advice, not) {
			t.Errorf("%s: %s", name, f.Advice)
		}
	}
}

// regexpCounts are the counts in a source.
var regexpCounts = regexp.MustCompile(`/\*\d+\*/`)
