package load

import (
	"maps"
	"net/http"
	"sync"
	"testing"
	"time"

	"loupe/capture/load/target"
)

// keys counts how often each path was asked for.
type keys struct {
	mu   sync.Mutex
	seen map[string]int
}

func (k *keys) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen[r.URL.Path]++
}

// since returns what was seen, and forgets it.
func (k *keys) since() map[string]int {
	k.mu.Lock()
	defer k.mu.Unlock()
	seen := k.seen
	k.seen = map[string]int{}
	return seen
}

// TestSeries: the runs of a series send what none before has sent, and every series the same.
func TestSeries(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		const requests, lines = 60, 1000
		var text []byte
		for i := range lines {
			text = append(text, byte('a'+i/100), byte('a'+i/10%10), byte('a'+i%10), '\n')
		}
		k := &keys{seen: map[string]int{}}
		u, _ := serve(t, k.ServeHTTP)
		var list []target.Target
		for c := 'a'; c <= 'z'; c++ { // a list of addresses without templates: requests take them in turn
			list = append(list, target.Target{URL: u + "/list/" + string(c)})
		}
		sends := func(s *Series, seed uint64, change func(*Config), targets ...target.Target) map[string]int {
			t.Helper()
			k.since()
			c := Config{Targets: targets, Sources: &target.Sources{Read: func(string) ([]byte, error) { return text, nil }}, Engine: engine, Requests: requests, Concurrency: 1, Series: s, Seed: seed}
			if change != nil {
				change(&c)
			}
			do(t, c)
			return k.since()
		}
		for _, row := range []struct {
			url    string
			fresh  bool // no key comes twice in a series
			seeded bool // another seed has other keys
		}{
			{"/seq/{{seq}}", true, false},
			{"/rand/{{rand}}", true, true},
			{"/uuid/{{uuid}}", true, true},
			{`/line/{{line "words"}}`, true, false},
			{"/few/{{rand 1 3}}", false, false},
			{"/fixed", false, false},
		} {
			one := target.Target{URL: u + row.url}
			var first []map[string]int
			for range 2 {
				s := &Series{}
				all := map[string]int{}
				for run := range 3 {
					sent := sends(s, 1, nil, one)
					for key := range sent {
						if all[key] > 0 && row.fresh {
							t.Fatalf("%s: run %d sends %s again", row.url, run, key)
						}
						all[key]++
					}
					if len(first) == run {
						first = append(first, sent)
					} else if !maps.Equal(first[run], sent) {
						t.Errorf("%s: run %d of a second series sends something else", row.url, run)
					}
				}
				if row.fresh && len(all) != 3*requests {
					t.Errorf("%s: %d keys in three runs of %d requests", row.url, len(all), requests)
				}
			}
			if alone := sends(nil, 1, nil, one); !maps.Equal(alone, first[0]) {
				t.Errorf("%s: a run by itself is not as the first of a series", row.url)
			}
			if other := sends(nil, 2, nil, one); row.fresh && maps.Equal(other, first[0]) == row.seeded {
				t.Errorf("%s: with another seed the keys are the same: %v", row.url, !row.seeded)
			}
		}
		// What ends by the clock goes on from wherever it ended, and so does what follows a warm-up.
		s := &Series{}
		sent := sends(s, 1, func(c *Config) { c.Requests, c.Duration = 0, 50*time.Millisecond }, target.Target{URL: u + "/{{seq}}"})
		more := sends(s, 1, func(c *Config) { c.Warmup, c.Concurrency = 50*time.Millisecond, 3 }, target.Target{URL: u + "/{{seq}}"})
		for key, n := range more {
			if n > 1 || sent[key] > 0 {
				t.Errorf("%s was sent again", key)
			}
		}
		if n := int64(len(sent) + len(more)); n != s.sent {
			t.Errorf("%d keys, and %d requests were counted", n, s.sent)
		}
		s = &Series{}
		sends(s, 1, func(c *Config) { c.Requests = 5 }, list...)
		if sent = sends(s, 1, func(c *Config) { c.Requests = 2 }, list...); sent[list[5].URL[len(u):]] != 1 {
			t.Errorf("the list is sent from its beginning again: %v", sent)
		}
	})
}

// TestInStep: series that are in step send the same next, however much each has sent before.
func TestInStep(t *testing.T) {
	eachEngine(t, func(t *testing.T, engine string) {
		k := &keys{seen: map[string]int{}}
		u, _ := serve(t, k.ServeHTTP)
		sends := func(s *Series, requests int) map[string]int {
			t.Helper()
			k.since()
			do(t, Config{Targets: []target.Target{{URL: u + "/{{seq}}/{{rand}}"}}, Engine: engine, Requests: requests, Concurrency: 1, Series: s})
			return k.since()
		}
		slow, fast, third := &Series{}, &Series{}, &Series{}
		InStep(slow, fast) // nothing was sent yet
		for round := range 3 {
			before := sends(slow, 5)
			all := sends(fast, 5+10*round)
			for key := range before {
				if all[key] == 0 {
					t.Errorf("round %d: one got %s, the other did not", round, key)
				}
			}
			InStep(slow, fast)
		}
		InStep(third, slow)
		if !maps.Equal(sends(third, 3), sends(fast, 3)) {
			t.Error("one that begins later is not in step")
		}
	})
}

// TestAfterWarmUp: what is kept begins behind the warm-up, and in step where the longest was.
func TestAfterWarmUp(t *testing.T) {
	warm := func(s *Series, sent int64) int64 {
		p := &phase{first: 1000, limit: noEnd}
		p.taken.Store(sent)
		r := &run{Config: Config{Series: s}}
		return r.afterWarmUp(p)
	}
	slow, fast := &Series{}, &Series{}
	if a, b, c := warm(slow, 10), warm(fast, 400), warm(nil, 70); a != 1010 || b != 1400 || c != 1070 {
		t.Errorf("kept from %d, %d and %d on", a, b, c)
	}
	InStep(slow, fast)
	if a, b := warm(slow, 12), warm(fast, 480); a != b || a < 1480 {
		t.Errorf("in step: kept from %d and %d on", a, b)
	}
}
