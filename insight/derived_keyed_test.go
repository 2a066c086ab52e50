package insight

import (
	"slices"
	"testing"
)

// TestKeyedOn: a function whose result depends on what is kept for long and on texts and numbers is
// told from one that changes something, that depends on other things of a request, or on what each
// request changes.
func TestKeyedOn(t *testing.T) {
	const ring = `package main

import ("sort"; "math/rand/v2")

type ring struct { tokens []int; calls int }

func (r *ring) update(all []int) { r.tokens = all }
func (r *ring) sorted(some map[int]bool) []int {
	var out []int
	for _, t := range r.tokens {
		if some[t] {
			out = append(out, t)
		}
	}
	sort.Ints(out) // 1
	return out
}
`
	const serve = "net/http.serverHandler.ServeHTTP"
	for _, c := range []struct {
		name, source, library string
		keys                  []string // none where there is no such function
	}{
		{"by a tenant and a size", "func (r *ring) shard(tenant string, size int) []int {\nrnd := rand.New(rand.NewPCG(uint64(len(tenant)), 1))\nsome := map[int]bool{}\nfor range size {\nsome[r.tokens[rnd.IntN(len(r.tokens))]] = true\n}\nreturn r.sorted(some) // 2\n}\nfunc (r *ring) serve(w any, q query) {\nprint(r.shard(q.tenant, 3)) // 3\n}\n", serve, []string{"tenant", "size"}},
		{"by all of a request", "func (r *ring) shard(q query) []int {\nreturn r.sorted(q.some()) // 2\n}\nfunc (r *ring) serve(w any, q query) {\nprint(r.shard(q)) // 3\n}\n", serve, nil},
		{"each request changes it", "func (r *ring) shard(size int) []int {\nreturn r.sorted(map[int]bool{size: true}) // 2\n}\nfunc (r *ring) serve(w any, q query) {\nr.tokens = append(r.tokens, q.token)\nprint(r.shard(q.size)) // 3\n}\n", serve, nil},
		{"it counts", "func (r *ring) shard(size int) []int {\nr.calls++\nreturn r.sorted(map[int]bool{size: true}) // 2\n}\nfunc (r *ring) serve(w any, q query) {\nprint(r.shard(q.size)) // 3\n}\n", serve, nil},
		{"it is random", "func (r *ring) shard(size int) []int {\nreturn r.sorted(map[int]bool{rand.IntN(size): true}) // 2\n}\nfunc (r *ring) serve(w any, q query) {\nprint(r.shard(q.size)) // 3\n}\n", serve, nil},
		{"it is kept already", "var known = map[int][]int{}\nfunc (r *ring) shard(size int) []int {\nreturn r.sorted(map[int]bool{size: true}) // 2\n}\nfunc (r *ring) serve(w any, q query) {\nif known[q.size] == nil {\nknown[q.size] = r.shard(q.size) // 3\n}\nprint(known[q.size])\n}\n", serve, nil},
		{"a tool does it once", "func (r *ring) shard(size int) []int {\nreturn r.sorted(map[int]bool{size: true}) // 2\n}\nfunc run(r *ring, q query) {\nprint(r.shard(q.size)) // 3\n}\n", "", nil},
	} {
		way, user := derivedStack(ring+c.source, c.library)
		x, ok := keyedAmong(newDerivations(sourceOf(ring+c.source)), way, user, 0)
		if ok != (c.keys != nil) || !slices.Equal(x.keys, c.keys) {
			t.Errorf("%s: %v, by %v, want by %v", c.name, ok, x.keys, c.keys)
		}
	}
}

// TestAssumedName: what is imported has its name by the custom of its path, also with a version.
func TestAssumedName(t *testing.T) {
	for of, want := range map[string]string{"sync": "sync", "math/rand/v2": "rand", "gopkg.in/yaml.v3": "yaml", "github.com/a/go-redis/v9": "redis", "example.com/v2x": "v2x", "v2": "v2", "github.com/a/b_c": "b_c"} {
		if got := assumedName(of); got != want {
			t.Errorf("%s is called %q, want %q", of, got, want)
		}
	}
}
