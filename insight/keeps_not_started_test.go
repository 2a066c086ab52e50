package insight

import (
	"strings"
	"testing"
)

// TestNotStarted: where nothing calls what would take entries out of a map, that is said; what may be called after all is named as before.
// A map that a function makes itself and gives on is followed to what keeps it.
func TestNotStarted(t *testing.T) {
	const source = `func f(s *store) { labels := map[string]string{}
	labels["a"] = string(read())
	s.put("k", &series{labels: labels})
}
func main() {
	s := &store{entries: map[string]*entry{}}
	s.start()
	f(s)
}
type series struct { labels map[string]string }
type entry struct { of *series }
type store struct { entries map[string]*entry }
func (s *store) put(k string, of *series) { s.entries[k] = &entry{of: of} }
func (s *store) start() { go func() { for range time.Tick(time.Hour) { s.clean() } }() }
func (s *store) clean() {
	for k := range s.entries {
		delete(s.entries, k)
	}
}
func read() []byte { return nil }`
	for _, c := range []struct {
		name      string
		replaced  []string
		says, not string
	}{
		{"started", nil, "store.entries", "nothing in the sources calls"},
		{"not started", []string{"\ts.start()\n", "\t_ = 0\n"}, "what takes entries out of it (store.clean at a.go:19) is not come to: nothing in the sources calls start (a.go:16)", ""},
		{"not called at all", []string{"s.clean()", "_ = 0"}, "nothing in the sources calls clean (a.go:17)", ""},
		{"given as a value", []string{"\ts.start()\n", "\tonce(s.start)\n"}, "store.entries", "nothing in the sources calls"},
		{"what a library may call", []string{"\ts.start()\n", "\t_ = 0\n", "start()", "Run()"}, "store.entries", "nothing in the sources calls"},
		{"started by another method", []string{"\ts.start()\n", "\ts.open()\n", "func read()", "func (s *store) open() { s.start() }\nfunc read()"}, "store.entries", "nothing in the sources calls"},
	} {
		text := strings.NewReplacer(c.replaced...).Replace(source)
		f := saidOf(text)
		said := f.Summary + " " + f.Advice
		if !strings.Contains(said, c.says) || c.not != "" && strings.Contains(said, c.not) || strings.Contains(said, "labels") {
			t.Errorf("%s: %s\n%s", c.name, f.Summary, f.Advice)
		}
	}
}
