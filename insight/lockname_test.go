package insight

import (
	"slices"
	"testing"

	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

const lockers = `package store

var table sync.Mutex

func (s *Store) Get(k string) int {
	mu := &s.shard(k).mu
	mu.Lock()
	defer mu.Unlock()
	s.mu.RLock()
	table.Lock()
	s.Lock()
	held := &s.mu
	held.Lock()
	return 0
}

func (db *Store) Scan() {
	db.mu.RLock()
	db.shards[0].mu.Lock()
}

func with(l *sync.Mutex) {
	l.Lock()
}
`

// TestLockName: a finding names the lock, by its field or variable, also where the
// line has it in a local one, and not only the call that waits.
func TestLockName(t *testing.T) {
	r := recordingtest.New("title x\n-- source/store/store.go source from=/src/store.go --\n" + lockers)
	in := NewInput(session.New(r.Open()))
	f := func(line int, want string, others ...string) {
		t.Helper()
		site := stack.Frame{Func: "store.(*Store).Get", File: "/src/store.go", Line: line}
		at, ok := in.code.takerAt(site)
		if at.name != want || ok != (want != "") {
			t.Errorf("line %d: %q, want %q", line, at.name, want)
		}
		var got []string
		for _, o := range in.code.otherTakers(site) {
			got = append(got, o.fn+"."+o.call)
		}
		if !slices.Equal(got, others) {
			t.Errorf("line %d: the lock is taken by %q too, want %q", line, got, others)
		}
	}
	f(7, "Store.shard(…).mu")
	f(9, "Store.mu", "Get.Lock", "Scan.RLock")
	f(10, "table")
	f(11, "Store")
	f(13, "Store.mu", "Get.RLock", "Scan.RLock")
	f(19, "Store.shards[0].mu")
	f(23, "l")
	f(3, "")
}
