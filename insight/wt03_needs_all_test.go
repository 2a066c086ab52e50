package insight

import (
	"strings"
	"testing"
)

// TestSecondNeeds: what the loop that handles the items may need of all of them.
func TestSecondNeeds(t *testing.T) {
	const types = "package main\n\nimport (\n\"context\"\n\"crypto/sha256\"\n\"encoding/hex\"\n\"errors\"\n\"fmt\"\n\"hash\"\n\"io\"\n\"log\"\n\"net/http\"\n\"sync\"\n)\n\n" +
		"type item struct { key, sum string; n int }\ntype names struct { owner map[string]string; n int }\n" +
		"func (m *names) claim(x item) { m.owner[x.sum] = x.key }\nfunc (m *names) owns(x item) bool { return m.owner[x.sum] == x.key }\nfunc (m *names) size() int { return m.n }\n" +
		"type scanner struct { i int; bad bool; limit int; cur item }\nfunc (s *scanner) scan() bool { s.cur = item{}; s.bad = s.i == 3; s.i++; return s.i < 9 }\nfunc (s *scanner) item() item { return s.cur }\nfunc (s *scanner) ok() bool { return !s.bad }\n" +
		"type pusher struct { c *http.Client; base string; sent, total int; log *log.Logger; mu sync.Mutex; h hash.Hash }\nfunc (p *pusher) send(x ...string) error { p.mu.Lock(); defer p.mu.Unlock(); p.sent++; _, err := p.c.Get(p.base + x[0]); return err }\n" +
		"func work(i int) item { x := &item{}; x.fill(i); return *x }\nfunc (x *item) fill(i int) { x.n = i; x.sum = fmt.Sprint(i) }\nfunc mark(m map[string]int, x item) { m[x.key]++ }\n"
	for _, c := range []struct{ what, text, says string }{ // says is "" where all is as it was before
		{"nothing of all", "var all []item\nfor i := range n {\nall = append(all, work(i))\n}\nfor _, x := range all {\np.send(x.key, x.sum)\n}\n", ""},
		{"what was there before", "limit, ids := n+1, map[string]bool{\"a\": true}\nvar all []item\nfor i := range n {\nif i < limit && !ids[\"b\"] {\nall = append(all, work(i))\n}\n}\nfor _, x := range all {\nif ids[x.key] && x.n < limit {\np.send(x.key)\n}\n}\n", ""},
		{"both count and log", "var all []item\nfor i := range n {\np.log.Println(i)\nall = append(all, work(i))\n}\nfor _, x := range all {\np.log.Println(x)\np.send(x.key)\n}\n", ""},
		{"nothing to do", "var all []item\nfor i := range n {\nall = append(all, work(i))\n}\nif len(all) == 0 {\nreturn\n}\nfor _, x := range all {\np.send(x.key)\n}\n", ""},
		{"a setting decides", "var all []item\nfor i := range n {\nall = append(all, work(i))\n}\nif p.base == \"\" {\nreturn\n}\nfor _, x := range all {\np.send(x.key)\n}\n", ""},
		{"something new between", "var all []item\nfor i := range n {\nall = append(all, work(i))\n}\nq := make(chan item, 3)\nto := p.base + \"/up\"\nfor _, x := range all {\nq <- x\np.send(to)\n}\n", ""},
		{"an item is filled by its turn", "var all []*item\nfor i := range n {\nx := &item{}\nx.fill(i)\nall = append(all, x)\n}\nfor _, x := range all {\np.send(x.key, x.sum)\n}\n", ""},

		{"a hash over all", "var all []item\nroot := sha256.New()\nfor i := range n {\nx := work(i)\nio.WriteString(root, x.sum)\nall = append(all, x)\n}\ntotal := hex.EncodeToString(root.Sum(nil))\nfor _, x := range all {\np.send(x.key, total)\n}\n", "reads root"},
		{"a hash in a field", "var all []item\nfor i := range n {\nx := work(i)\np.h.Write([]byte(x.sum))\nall = append(all, x)\n}\nfor _, x := range all {\np.send(x.key, string(p.h.Sum(nil)))\n}\n", "reads h"},
		{"a map that later ones overwrite", "m := &names{}\nvar all []item\nfor i := range n {\nx := work(i)\nm.claim(x)\nall = append(all, x)\n}\nfor _, x := range all {\nif m.owns(x) {\np.send(x.key)\n}\n}\n", "reads owner"},
		{"another field of it", "m := &names{}\nvar all []item\nfor i := range n {\nx := work(i)\nm.claim(x)\nall = append(all, x)\n}\nfor _, x := range all {\nif m.size() > 3 {\np.send(x.key)\n}\n}\n", ""},
		{"a map of the function", "seen := map[string]int{}\nvar all []item\nfor i := range n {\nx := work(i)\nmark(seen, x)\nall = append(all, x)\n}\nfor _, x := range all {\nif seen[x.key] > 1 {\np.send(x.key)\n}\n}\n", "reads seen"},
		{"by a function of the function", "sum := 0\nadd := func(x item) { sum += x.n }\nvar all []item\nfor i := range n {\nx := work(i)\nadd(x)\nall = append(all, x)\n}\nfor _, x := range all {\np.send(x.key, fmt.Sprint(sum))\n}\n", "reads sum"},
		{"a field that is a sum", "var all []item\nfor i := range n {\nx := work(i)\np.count(x)\nall = append(all, x)\n}\nfor _, x := range all {\np.send(x.key, fmt.Sprint(p.total))\n}\n", "reads total"},
		{"given to a library as a whole", "m := &names{}\nvar all []item\nfor i := range n {\nx := work(i)\nm.claim(x)\nall = append(all, x)\n}\nfor _, x := range all {\np.send(x.key, fmt.Sprint(m))\n}\n", "reads owner"},
		{"a variable of the package", "var all []item\nfor i := range n {\nx := work(i)\nkeep(x)\nall = append(all, x)\n}\nfor _, x := range all {\np.send(x.key, last)\n}\n", "reads last"},
		{"a check of all", "s := &scanner{}\nvar all []item\nfor s.scan() {\nall = append(all, s.item())\n}\nif !s.ok() {\nreturn\n}\nfor _, x := range all {\np.send(x.key)\n}\n", "whether any is handled: it reads bad"},
		{"a check around the handling", "s := &scanner{}\nvar all []item\nfor s.scan() {\nall = append(all, s.item())\n}\nif s.ok() {\nfor _, x := range all {\np.send(x.key)\n}\n}\n", "whether any is handled"},
		{"a check that is a variable", "good := true\ncheck := func(x item) { good = good && x.n > 0 }\nvar all []item\nfor i := range n {\nx := work(i)\ncheck(x)\nall = append(all, x)\n}\nif !good {\nlog.Fatal(\"bad\")\n}\nfor _, x := range all {\np.send(x.key)\n}\n", "whether any is handled"},
		{"a turn ends all", "var all []item\nfor i := range n {\nx := work(i)\nif x.n > 5 {\nreturn\n}\nall = append(all, x)\n}\nfor _, x := range all {\np.send(x.key)\n}\n", "a turn of the first phase ends all"},
		{"a list is written between", "m := &names{}\nvar all []item\nfor i := range n {\nx := work(i)\nm.claim(x)\nall = append(all, x)\n}\nm.write(p)\nfor _, x := range all {\np.send(x.key)\n}\n", "this is called between the phases"},
	} {
		text := types + "var last string\nfunc keep(x item) { last = x.key }\nfunc (p *pusher) count(x item) { p.total += x.n }\nfunc (m *names) write(p *pusher) { for k := range m.owner { p.send(k) } }\nfunc run(n int, p *pusher) {\n" + c.text + "}\n"
		d := newDerivations(sourceOf(text))
		found := false
		for _, decl := range d.t.decls {
			if decl.Name.Name != "run" {
				continue
			}
			for _, list := range gatheredLists(d, decl) {
				if list.against != "" || len(list.passes) != 1 {
					continue
				}
				found = true
				need := secondNeeds(d, list)
				if (need == nil) != (c.says == "") || need != nil && !strings.Contains(need.text, c.says) {
					t.Errorf("%s: %+v, want %q", c.what, need, c.says)
				}
			}
		}
		if !found {
			t.Errorf("%s: there is no list", c.what)
		}
	}
}
