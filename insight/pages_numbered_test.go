package insight

import (
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestNumberedPages: pages by a number that the loop counts, or that goes into a query as one, are told from what an answer
// leads to, and from what is asked again. The call is on line 5.
func TestNumberedPages(t *testing.T) {
	const counted = "all = append(all, list...)\nif len(list) == 0 {\nbreak\n}\n}"
	for _, c := range []struct {
		name, loop, rest string
		want             numbering
	}{
		{"counted by the loop", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "", pagesByCount},
		{"counted by a turn", "for {\nlist := get(ctx, page)\nall = append(all, list...)\nif len(list) == 0 {\nbreak\n}\npage++\n}", "", pagesByCount},
		{"counted by a sum", "for {\nlist := get(ctx, page)\nall = append(all, list...)\nif len(list) == 0 {\nbreak\n}\npage = page + 1\n}", "", pagesByCount},
		{"an offset by the size of a page", "for {\nlist := get(ctx, offset, limit)\nall = append(all, list...)\nif len(list) < limit {\nbreak\n}\noffset += limit\n}", "", pagesByCount},
		{"until more is false", "for page := 1; ; page++ {\nr := get(ctx, page)\nall = append(all, r.Items...)\nif !r.More {\nbreak\n}\n}", "", pagesByCount},
		{"up to the last", "for page := 1; page <= last; page++ {\nr := get(ctx, page)\nall = append(all, r.Items...)\nlast = r.Last\n}", "", pagesByCount},
		{"a field", "for {\nlist := get(ctx, opt)\nall = append(all, list...)\nif len(list) == 0 {\nbreak\n}\nopt.Page++\n}", "", pagesByCount},
		{"in an address", "for n := 1; ; n++ { url := fmt.Sprintf(\"%s/x?page=%d\", base, n)\nlist := get(ctx, url)\n" + counted, "", pagesByCount},
		{"under a key", "for n := 1; ; n++ {\nlist := fetch(ctx, n)\n" + counted, "func fetch(ctx context.Context, n int) []item {\nq := url.Values{}\nq.Set(\"page\", strconv.Itoa(n))\nreturn do(q)\n}", pagesByCount},
		{"the next number of a query", "for page := 1; page != 0; {\nlist, next := fetch(ctx, \"x\", page, 50)\nall = append(all, list...)\npage = next\n}", "func fetch(ctx context.Context, of string, n, per int) ([]item, int) {\nreturn do(fmt.Sprintf(\"/%s/items?page=%d&per_page=%d\", of, n, per))\n}", pagesByAnswer},
		{"the next number, two functions on", "for page := 1; page != 0; {\nlist, next := fetch(ctx, page)\nall = append(all, list...)\npage = next\n}", "func fetch(ctx context.Context, n int) ([]item, int) {\nreturn list(ctx, n)\n}\n\nfunc list(ctx context.Context, at int) ([]item, int) {\nreturn do(fmt.Sprintf(\"/items?per_page=%d&page=%d\", 50, at))\n}", pagesByAnswer},

		{"the next number in a literal of a query", "for page := 1; page != 0; {\nlist, next := fetch(ctx, page)\nall = append(all, list...)\npage = next\n}", "func fetch(ctx context.Context, n int) ([]item, int) {\nreturn do(url.Values{\"page\": {strconv.Itoa(n)}, \"per_page\": {\"50\"}})\n}", pagesByAnswer},
		{"the next number as an element of one", "for page := 1; page != 0; {\nlist, next := fetch(ctx, page)\nall = append(all, list...)\npage = next\n}", "func fetch(ctx context.Context, n int) ([]item, int) {\nq := url.Values{}\nq[\"page\"] = []string{strconv.Itoa(n)}\nreturn do(q)\n}", pagesByAnswer},
		{"the next number behind a key", "for page := 1; page != 0; {\nlist, next := fetch(ctx, page)\nall = append(all, list...)\npage = next\n}", "func fetch(ctx context.Context, n int) ([]item, int) {\nreturn do(base + \"/items?per_page=50&page=\" + strconv.Itoa(n))\n}", pagesByAnswer},
		{"a size in a literal of a query", "for page := 1; page != 0; {\nlist, next := fetch(ctx, page)\nall = append(all, list...)\npage = next\n}", "func fetch(ctx context.Context, n int) ([]item, int) {\nreturn do(url.Values{\"size\": {strconv.Itoa(n)}})\n}", noPages},
		{"a size behind a key", "for page := 1; page != 0; {\nlist, next := fetch(ctx, page)\nall = append(all, list...)\npage = next\n}", "func fetch(ctx context.Context, n int) ([]item, int) {\nreturn do(base + \"/items?page=1&size=\" + strconv.Itoa(n))\n}", noPages},
		{"the next number in options", "for {\nlist, r := client.List(ctx, org, opt)\nall = append(all, list...)\nif r.NextPage == 0 {\nbreak\n}\nopt.Page = r.NextPage\n}", "", pagesByAnswer},
		{"the next number in options by address", "for {\nlist, r := client.List(ctx, &opt)\nall = append(all, list...)\nopt.Page = r.NextPage\nif opt.Page == 0 {\nbreak\n}\n}", "", pagesByAnswer},
		{"a text in options", "for {\nlist, r := client.List(ctx, opt)\nall = append(all, list...)\nif r.NextPage == \"\" {\nbreak\n}\nopt.Page = r.NextPage\n}", "", noPages},
		{"a token in options", "for {\nlist, r := client.List(ctx, opt)\nall = append(all, list...)\nif r.Next == 0 {\nbreak\n}\nopt.Cursor = r.Next\n}", "", noPages},
		{"a number with a token in options", "for {\nlist, r := client.List(ctx, opt)\nall = append(all, list...)\nif r.NextPage == 0 {\nbreak\n}\nopt.Page = r.NextPage\nopt.Token = r.Token\n}", "", noPages},

		{"a client that logs in first", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nif c.token == \"\" {\nc.token = login()\n}\nc.calls++\nreturn do(c.token, n)\n}", pagesByCount},

		{"a client that keeps a sum of the page before", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nr := do(c.prev, n)\nc.prev = r.Sum\nreturn r.Items\n}", pagesCarried},
		{"options that keep a token", "for page := 1; ; page++ {\nlist := get(ctx, page, opt)\n" + counted, "func get(ctx context.Context, n int, o *options) []item {\nreturn fetch(n, o)\n}\n\nfunc fetch(n int, o *options) []item {\nr := do(o.after, n)\nif r.more {\no.after = r.after\n}\nreturn r.Items\n}", pagesCarried},
		{"a client that keeps the cookie of an answer", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nr := do(c.sid, n)\nfor _, k := range r.Cookies() {\nc.sid = k\n}\nreturn r.Items\n}", pagesCarried},
		{"a client that keeps a header of an answer, if it is another one", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nr := do(c.sid, n)\nif k := r.Get(\"sid\"); k != c.sid {\nc.sid = k\n}\nreturn r.Items\n}", pagesCarried},
		{"a client that keeps it by another method", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nr := do(c.sid, n)\nc.note(r)\nreturn r.Items\n}\n\nfunc (c *client) note(r answer) {\nc.sid = r.Session()\n}", pagesCarried},
		{"a variable of the package", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "var sid string\n\nfunc get(ctx context.Context, n int) []item {\nr := do(sid, n)\nsid = r.Header.Get(\"sid\")\nreturn r.Items\n}", pagesCarried},
		{"a variable of the package for others", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "var last answer\n\nfunc get(ctx context.Context, n int) []item {\nr := do(n)\nlast = read(r)\nreturn r.Items\n}", pagesByCount},
		{"a client that gathers", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nr := do(n)\nc.all = append(c.all, r.Items...)\nreturn r.Items\n}", pagesByCount},
		{"a client that notes which page was last", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nc.page = n\nr := do(c.page)\nreturn r.Items\n}", pagesByCount},
		{"a field that the loop sets", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\ncl.sid = list[0].Session\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nreturn do(c.sid, n)\n}", pagesCarried},
		{"a field that the loop sets for others", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\ncl.seen = list[0].Time\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nreturn do(c.sid, n)\n}", pagesByCount},
		{"a jar for cookies", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "func get(ctx context.Context, n int) []item {\nr, _ := client.Get(address(n))\nreturn decode(r)\n}\n\nfunc login() {\nclient.Jar = jar\n}", pagesCarried},
		{"a jar in a client that is made", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "var client = &http.Client{Jar: jar}\n\nfunc get(ctx context.Context, n int) []item {\nr, _ := client.Get(address(n))\nreturn decode(r)\n}", pagesCarried},
		{"a jar of another client", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "func get(ctx context.Context, n int) []item {\nr, _ := http.Get(address(n))\nreturn decode(r)\n}\n\nfunc login() {\nclient.Jar = jar\n}", pagesByCount},
		{"no jar", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "func get(ctx context.Context, n int) []item {\nr, _ := client.Get(address(n))\nreturn decode(r)\n}\n\nfunc login() {\nclient.Jar = nil\n}", pagesByCount},
		{"the peer is told of each page", "for page := 1; ; page++ {\nlist := get(ctx, page)\ndone(list)\n" + counted, "func done(list []item) {\nclient.Post(address(list), \"\", nil)\n}", pagesCarried},
		{"the peer is told of each page with a request that is made for it", "for page := 1; ; page++ {\nlist := get(ctx, page)\ndone(list)\n" + counted, "func done(list []item) {\nreq, _ := http.NewRequest(http.MethodDelete, address(list), nil)\nclient.Do(req)\n}", pagesCarried},
		{"more is asked of each page", "for page := 1; ; page++ {\nlist := get(ctx, page)\nmore(list)\n" + counted, "func more(list []item) {\nreq, _ := http.NewRequest(\"GET\", address(list), nil)\nclient.Do(req)\n}", pagesByCount},
		{"pages by Post", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "func get(ctx context.Context, n int) []item {\nr, _ := client.Post(address, \"\", body(n))\nreturn decode(r)\n}", pagesByCount},
		{"until an item is known", "for page := 1; ; page++ {\nlist := get(ctx, page)\nfor _, it := range list {\nif known[it.ID] {\nreturn\n}\nall = append(all, it)\n}\n}", "", pagesUntil},
		{"until the first item is old", "for page := 1; ; page++ {\nlist := get(ctx, page)\nif len(list) == 0 || list[0].Time < since {\nreturn\n}\nall = append(all, list...)\n}", "", pagesUntil},
		{"an item that fails", "for page := 1; ; page++ {\nlist := get(ctx, page)\nfor _, it := range list {\nif it.Bad {\nreturn fmt.Errorf(\"bad\")\n}\n}\n" + counted, "", pagesByCount},
		{"an offset that a loop within counts", "for offset < total {\nlist := get(ctx, offset)\nfor _, it := range list {\nall = append(all, it)\noffset++\n}\n}", "", noPages},
		{"an offset that a loop within adds to", "for offset < total {\nlist := get(ctx, offset)\nfor range list {\noffset += 1\n}\nall = append(all, list...)\n}", "", noPages},
		{"an offset that is computed of an answer", "for {\nlist := fetch(ctx, off)\nall = append(all, list...)\nif len(list) == 0 {\nbreak\n}\noff = advance(off, list)\n}", "func fetch(ctx context.Context, n int) []item {\nreturn do(fmt.Sprintf(\"/items?offset=%d\", n))\n}", noPages},
		{"an offset by the greatest number of an answer", "for last < total {\nlist := fetch(ctx, last)\nfor _, it := range list {\nlast = max(last, it.ID)\nall = append(all, it)\n}\n}", "func fetch(ctx context.Context, n int) []item {\nreturn do(fmt.Sprintf(\"/items?offset=%d\", n))\n}", noPages},
		{"the next number as another type", "for page := 1; page != 0; {\nlist, next := fetch(ctx, page)\nall = append(all, list...)\npage = int(next)\n}", "func fetch(ctx context.Context, n int) ([]item, int64) {\nreturn do(fmt.Sprintf(\"/items?page=%d\", n))\n}", pagesByAnswer},
		{"a page that a function fills", "for page := 1; ; page++ {\nlist := get(ctx, page)\n" + counted, "func get(ctx context.Context, n int) []item {\nvar p answer\nfill(&p, do(n))\nreturn p.Items\n}\n\nfunc fill(p *answer, b []byte) {\np.Items = parse(b)\nif len(p.Items) > 9 {\np.Items = cut(p.Items)\n}\n}", pagesByCount},
		{"options by value", "for page := 1; ; page++ {\nlist := get(ctx, page, opt)\n" + counted, "func get(ctx context.Context, n int, o options) []item {\nif o.size > 9 {\no.size = least(o.size)\n}\nreturn do(n, o.size)\n}", pagesByCount},
		{"a client that keeps the request that it makes", "for page := 1; ; page++ {\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nc.req = request(n)\nreturn do(c.req)\n}", pagesByCount},
		{"a client of a turn", "for page := 1; ; page++ { cl := newClient()\nlist := cl.get(ctx, page)\n" + counted, "func (c *client) get(ctx context.Context, n int) []item {\nr := do(c.prev, n)\nc.prev = r.Sum\nreturn r.Items\n}", pagesByCount},
		{"a token", "for {\nr := get(ctx, token)\nall = append(all, r.Items...)\nif token = r.Next; token == \"\" {\nbreak\n}\n}", "", noPages},
		{"a token called page", "for page := \"\"; ; {\nr := get(ctx, page)\nall = append(all, r.Items...)\nif page = r.Next; page == \"\" {\nbreak\n}\n}", "", noPages},
		{"the next address", "for url != \"\" {\nr := get(ctx, url)\nall = append(all, r.Items...)\nurl = r.Next\n}", "", noPages},
		{"a number with a token", "for page := 1; ; page++ {\nr := get(ctx, page, token)\nall = append(all, r.Items...)\nif token = r.Next; token == \"\" {\nbreak\n}\n}", "", noPages},
		{"a field beside a cursor", "for {\nr := get(ctx, opt)\nall = append(all, r.Items...)\nif r.Next == \"\" {\nbreak\n}\nopt.Page++\nopt.Cursor = r.Next\n}", "", noPages},
		{"a token in the address", "for page := 1; ; page++ { url := fmt.Sprintf(\"%s?page=%d&token=%s\", base, page, token)\nr := get(ctx, url)\nall = append(all, r.Items...)\nif token = r.Next; token == \"\" {\nbreak\n}\n}", "", noPages},
		{"the next number of a cursor", "for at := 1; at != 0; {\nlist, next := fetch(ctx, at)\nall = append(all, list...)\nat = next\n}", "func fetch(ctx context.Context, n int) ([]item, int) {\nreturn do(fmt.Sprintf(\"/items?cursor=%d&page=%d\", n, 1))\n}", noPages},
		{"the next number of nobody knows what", "for page := 1; page != 0; {\nlist, next := lib.Fetch(ctx, page)\nall = append(all, list...)\npage = next\n}", "", noPages},
		{"the next text of a query", "for page := \"1\"; page != \"\"; {\nlist, next := fetch(ctx, page)\nall = append(all, list...)\npage = next\n}", "func fetch(ctx context.Context, n string) ([]item, string) {\nreturn do(fmt.Sprintf(\"/items?page=%s\", n))\n}", noPages},
		{"an offset by what has come", "for {\nlist := get(ctx, offset)\nall = append(all, list...)\nif len(list) == 0 {\nbreak\n}\noffset += len(list)\n}", "", noPages},
		{"an id by the last", "for {\nlist := get(ctx, after)\nall = append(all, list...)\nif len(list) == 0 {\nbreak\n}\nafter = list[len(list)-1].ID\n}", "", noPages},
		{"a number that starts again", "for page := 1; ; page++ {\nlist := get(ctx, page)\nall = append(all, list...)\nif len(list) == 0 {\npage = 0\n}\n}", "", noPages},
		{"tries", "for attempt := 1; ; attempt++ {\nlist := get(ctx, attempt)\n" + counted, "", noPages},
		{"polls", "for i := 0; ; i++ {\ndone := get(ctx, i)\nif done {\nbreak\n}\n}", "", noPages},
		{"events by a count", "for n := 0; ; n++ {\nev := get(ctx, n)\nall = append(all, ev)\nif ev.Last {\nbreak\n}\n}", "", noPages},
		{"counted beside", "for {\nlist := get(ctx, id)\nall = append(all, list...)\nif len(list) == 0 {\nbreak\n}\npage++\n}", "", noPages},
	} {
		r := recordingtest.New("title x")
		withSource(r, "a.go", "package main\n\nfunc f() {\n"+c.loop+"\n}\n\n"+c.rest+"\n")
		code := NewInput(session.New(r.Open())).code
		a, ok := askingAround(code, []stack.Frame{{Func: "main.f", File: "a.go", Line: 5}})
		if a.pages != c.want {
			t.Errorf("%s: %+v, %v", c.name, a, ok)
		}
		if (a.advice() == pagesAdvice) != (c.want == pagesByCount) || (a.advice() == saidPagesAdvice) != (c.want == pagesByAnswer) {
			t.Errorf("%s: %s", c.name, a.advice())
		}
	}
}
