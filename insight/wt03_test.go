package insight

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
)

// TestWT03Source: the source says what needs what, and whether the order may matter.
func TestWT03Source(t *testing.T) {
	const ms = time.Millisecond
	for body, want := range map[string]Severity{
		"user := get(1)\n\tads := get(2)\n\tuse(user, ads)":    Warning,
		"user := get(1)\n\tads := get(user)\n\tuse(user, ads)": "",
		"user := get(1)\n\tads := insert(2)\n\tuse(user, ads)": Info,
		// One of two calls with one key may have an effect on the other, unless both only read.
		"until := hold(cart)\n\tsum := total(cart)\n\tuse(until, sum)": Info,
		"user := getUser(id)\n\tads := getAds(id)\n\tuse(user, ads)":   Warning,
		"res := insert(doc.ID)\n\tnow := get(doc.ID)\n\tuse(res, now)": "",
		"was := get(doc.ID)\n\tres := insert(doc.ID)\n\tuse(res, was)": "",
		"user := user(ctx)\n\tads := ads(ctx)\n\tuse(user, ads)":       Warning,
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			ask(p, 5*ms, "main.get@db.go:40", "main.handle@main.go:3")
			ask(p, 5*ms, "main.get@db.go:40", "main.handle@main.go:4")
		})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\nfunc handle() {\n\t"+body+"\n}\n"))
		f := answers(t, r, "WT03")[0]
		if f.Severity != want {
			t.Errorf("%s: %s %s: %s", body, f.State, f.Severity, f.Summary)
		}
	}
}

// TestWT03Names: the advice names what does not say that it only reads, and nothing that does.
func TestWT03Names(t *testing.T) {
	for body, want := range map[string]string{
		"c := d.GetClient(id)\n\tm := d.MessagesFor(id)\n\tuse(c, m)":     "the name of MessagesFor does not say that it only reads",
		"c := d.IssueToken(id)\n\tm := d.GetClient(id)\n\tuse(c, m)":      "the name of IssueToken does not say",
		"c := d.Hold(id)\n\tm := d.Total(id)\n\tuse(c, m)":                "the names of Hold, Total do not say that they only read",
		"c := d.LookupClient(id)\n\tm := d.ListMessages(id)\n\tuse(c, m)": "",
		"c := d.isKnown(id)\n\tm := d.GetClient(id)\n\tuse(c, m)":         "",
		"c := d.Total(id)\n\tm := d.Sum(of)\n\tuse(c, m)":                 "",
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			ask(p, 5*time.Millisecond, "main.get@db.go:40", "main.handle@main.go:3")
			ask(p, 5*time.Millisecond, "main.get@db.go:40", "main.handle@main.go:4")
		})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\nfunc handle() {\n\t"+body+"\n}\n"))
		f := answers(t, r, "WT03")[0]
		if f.State != Found || !strings.Contains(f.Advice, want) || want == "" && strings.Contains(f.Advice, "only read") {
			t.Errorf("%s: %s: %s", body, f.State, f.Advice)
		}
	}
}

// TestWT03: without the source it is a possibility, and said as one.
func TestWT03(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		do       func(p *accounttest.Program)
		severity Severity // "" is fine
		says     string
	}{
		{"three things by one helper", func(p *accounttest.Program) {
			ask(p, 4*ms, "main.get@db.go:40", "main.handle@main.go:7")
			ask(p, 3*ms, "main.get@db.go:40", "main.handle@main.go:8")
			ask(p, 5*ms, "main.get@db.go:40", "main.handle@main.go:9")
		}, Info, "a request of main.handle makes 3 calls one after another in main.handle (4.00 ms at line 7, 3.00 ms at line 8, 5.00 ms at line 9): 12.0 ms of 12.0 ms on average over 20; if they do not need each other, together they would take 5.00 ms"},
		{"in two functions", func(p *accounttest.Program) {
			ask(p, 4*ms, "main.user@db.go:40", "main.handle@main.go:7")
			ask(p, 5*ms, "main.feed@db.go:50", "main.handle@main.go:9")
		}, Info, "makes 2 calls one after another in main.handle (4.00 ms at line 7, 5.00 ms at line 9)"},
		{"one is short", func(p *accounttest.Program) {
			ask(p, ms/4, "main.user@db.go:40", "main.handle@main.go:7")
			ask(p, 15*ms, "main.feed@db.go:50", "main.handle@main.go:9")
		}, "", "no two long calls"},
		{"repeatedly", func(p *accounttest.Program) {
			for range 6 {
				ask(p, 2*ms, "main.user@db.go:40", "main.handle@main.go:7")
				ask(p, 2*ms, "main.feed@db.go:50", "main.handle@main.go:9")
			}
		}, "", "no two long calls"},
		{"one or the other", func() func(p *accounttest.Program) {
			n := 0
			return func(p *accounttest.Program) {
				if n++; n%3 == 0 {
					ask(p, 4*ms, "main.user@db.go:40", "main.handle@main.go:7")
				} else {
					ask(p, 5*ms, "main.feed@db.go:50", "main.handle@main.go:9")
				}
			}
		}(), "", "no two long calls"},
	} {
		f := answers(t, served(t, 20, c.do), "WT03")[0]
		state := Found
		if c.severity == "" {
			state = Fine
		}
		if f.State != state || f.Severity != c.severity || !strings.Contains(f.Summary, c.says) {
			t.Errorf("%s: %s %s: %s\nwant %q", c.name, f.State, f.Severity, f.Summary, c.says)
		}
		if state == Found && !strings.Contains(strings.Join(f.Doubts, " "), "this holds only if no call needs another's answer") {
			t.Errorf("%s: the doubts are %q", c.name, f.Doubts)
		}
	}
}

// TestWT03Writes: calls that change something keep their order among each other; one of them may
// still be made while others only read.
func TestWT03Writes(t *testing.T) {
	for names, want := range map[string]State{"createUser createAd": Fine, "createUser findAd": Found, "findUser findAd": Found} {
		first, second, _ := strings.Cut(names, " ")
		f := answers(t, served(t, 20, func(p *accounttest.Program) {
			ask(p, 5*time.Millisecond, "main."+first+"@db.go:40", "main.handle@main.go:3")
			ask(p, 5*time.Millisecond, "main."+second+"@db.go:50", "main.handle@main.go:4")
		}), "WT03")[0]
		if f.State != want {
			t.Errorf("%s: %s: %s", names, f.State, f.Summary)
		}
	}
}

// TestWT03Compared: a call that is made before and after another one keeps the order of the three.
func TestWT03Compared(t *testing.T) {
	const ms = time.Millisecond
	for body, want := range map[string]State{
		"a := get(1)\n\tv := get(2)\n\tb := get(1)\n\tuse(a == b, v)": Fine,
		"a := get(1)\n\tv := get(2)\n\tb := get(3)\n\tuse(a == b, v)": Found,
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for line := 3; line <= 5; line++ {
				ask(p, 5*ms, "main.get@db.go:40", fmt.Sprintf("main.handle@main.go:%d", line))
			}
		})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main\nfunc handle() {\n\t"+body+"\n}\n"))
		if f := answers(t, r, "WT03")[0]; f.State != want {
			t.Errorf("%s: %s: %s", body, f.State, f.Summary)
		}
	}
}

// TestWT03Jar: calls by a client with a cookie jar may need what the ones before them have set.
func TestWT03Jar(t *testing.T) {
	const ms = time.Millisecond
	for maker, want := range map[string]Severity{
		"s := &shop{&http.Client{Jar: jar}}":                                                  Info,
		"jar.n = 1; c := &http.Client{}; c.Jar = jar; s := &shop{c}":                          Info,
		"s := newShop() }; func newShop() *shop { return &shop{&http.Client{Jar: jar}}":       Info,
		"s := &shop{&http.Client{}}":                                                          Warning,
		"s := &shop{&http.Client{Jar: nil}}":                                                  Warning,
		"s := &shop{&http.Client{}} }; func other() { login := &http.Client{Jar: jar}; use()": Warning,
	} {
		r := served(t, 20, func(p *accounttest.Program) {
			for line := 3; line <= 4; line++ {
				ask(p, 5*ms, "net/http.(*Client).Do@client.go:9", "main.(*shop).page@main.go:9", fmt.Sprintf("main.handle@main.go:%d", line))
			}
		})
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte("package main; import \"net/http\"\nfunc handle() {\n\tuser := s.page(1)\n\tads := s.page(2)\n\tuse(user, ads)\n}\ntype shop struct { c *http.Client }\nfunc (s *shop) page(n int) int {\n\treturn s.c.Do(n)\n}\nfunc main() { "+maker+" }\n"))
		f := answers(t, r, "WT03")[0]
		if f.Severity != want || (want == Info) != strings.Contains(strings.Join(f.Doubts, " "), "cookies") || (want == Info) == strings.Contains(f.Summary, "they would take") {
			t.Errorf("%s: %s %s: %s\n%q", maker, f.State, f.Severity, f.Summary, f.Doubts)
		}
	}
}
