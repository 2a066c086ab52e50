package insight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/sched"
	"loupe/format/exectrace"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/stack"
)

// stay leaves n goroutines at a place when the trace ends.
func (s *scene) stay(function string, reason exectrace.NameID, n int, wait time.Duration, at stack.ID) {
	s.Left = append(s.Left, sched.Left{Name: s.name(function), State: exectrace.Waiting, Reason: reason, Stack: at,
		Count: int64(n), Created: int64(n), Longest: wait, Wait: times(n, wait)})
}

// stuckLock is a scene in which n goroutines wait for a mutex when the trace ends.
func stuckLock(t *testing.T, n int, wait time.Duration) *scene {
	s := newScene(t)
	s.stay("main.serve", exectrace.NameSync, n, wait, s.stack("internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "shop/cache.Get:/src/cache/cache.go:20", "main.serve:/src/main.go:3"))
	return s
}

// TestStillWaiting: waits that have not ended when the trace does are waits.
func TestStillWaiting(t *testing.T) {
	s := stuckLock(t, 50, 1900*ms)
	severity(t, "a lock", s.expect("LK01", Found, "goroutines waited 1m35s", "cache.go:20", "50 waits", "50 were still waiting when the trace ended"), Warning)
	s.expect("LK04", Fine, "47.50 goroutines waited", "none of them got it during the trace")
	s.expect("LK02", Fine, "cache.go:20", "1m35s")
	s.stay("main.serve", exectrace.NameNetwork, 1, 1900*ms, s.stack("internal/poll.runtime_pollWait", "net.(*conn).Read", "shop/cache.Get:/src/cache/cache.go:22", "main.serve:/src/main.go:3"))
	s.expect("LK02", Found, "waits in net.(*conn).Read at cache.go:22")

	few := stuckLock(t, 2, 1900*ms)
	few.expect("LK01", Fine, "waited 3.80 s")
	few.expect("LK04", Fine, "1.90 goroutines waited")
	few.expect("LK02", Fine, "cache.go:20")

	s = newScene(t)
	send := s.stack("runtime.chansend1", "shop/feed.Produce:/src/feed/feed.go:14", "main.serve:/src/main.go:3")
	s.stay("main.serve", exectrace.NameChanSend, 50, 1900*ms, send)
	s.stay("main.serve", exectrace.NameChanReceive, 50, 1900*ms, s.stack("runtime.chanrecv1", "main.serve:/src/main.go:4"))
	s.expect("LK08", Found, "47.5 goroutines waited to send at feed.Produce at feed.go:14", "50 were still waiting")
	s = newScene(t)
	s.stay("main.serve", exectrace.NameChanSend, 1, 1900*ms, send)
	s.expect("LK08", Fine, "waited 1.90 s to send")

	// Those that were there before the trace, of which no event says what they wait for.
	s = newScene(t)
	s.stay("main.serve", exectrace.NameChanSend, 50, 1900*ms, s.stack("runtime.chansend1", "shop/feed.Produce:/src/feed/feed.go:14", "main.serve:/src/main.go:3"))
	before := sched.Left{Name: s.name("main.serve"), State: exectrace.Waiting, Stack: s.stack("runtime.gopark", "runtime.chansend", "runtime.chansend1", "shop/feed.Produce:/src/feed/feed.go:14", "main.serve:/src/main.go:3"), Count: 400, Longest: 900 * ms, Wait: times(400, 900*ms)}
	s.Left = append(s.Left, before)
	s.expect("LK08", Found, "448 goroutines waited to send at feed.Produce at feed.go:14", "450 waits", "450 were still waiting when the trace ended, 400 of them since before it began")
	s = newScene(t)
	before.Stack = s.stack("runtime.gopark", "runtime.chanrecv", "runtime.chanrecv1", "shop/feed.Take:/src/feed/feed.go:24", "main.serve:/src/main.go:3")
	before.Name = s.name("main.serve")
	s.Left = append(s.Left, before)
	s.expect("LK08", Fine, "no goroutine waited to send")

	s = newScene(t)
	s.stay("main.serve", exectrace.NameSelect, 20, 1900*ms, s.stack("runtime.selectgo", "database/sql.(*DB).conn", "database/sql.(*DB).Query", "shop/cache.Get:/src/cache/cache.go:30", "main.serve"))
	s.stay("main.serve", exectrace.NameSelect, 500, 1900*ms, s.stack("runtime.selectgo", "shop/cache.Idle:/src/cache/cache.go:40", "main.serve"))
	s.expect("LK06", Found, "queries waited 38.0 s", "100% of the blocked time")
}

// with puts further profiles beside a scene.
func (s *scene) with(add func(r *recordingtest.Recording)) *scene {
	s.beside = append(s.beside, add)
	return s
}

// TestOtherFileAsked: where the better file shows nothing, another is asked, and none is
// contradicted.
func TestOtherFileAsked(t *testing.T) {
	mutex := func(n int64, d time.Duration) func(r *recordingtest.Recording) {
		return func(r *recordingtest.Recording) { withProfile(r, recording.Mutex, "", column{unlock27, values(n, d)}) }
	}
	first := func(s *scene, id string) Finding {
		for _, f := range Run(s.input()) {
			if f.Rule == id {
				return f
			}
		}
		t.Fatalf("%s is silent", id)
		return Finding{}
	}
	says := func(f Finding, state State, words ...string) {
		t.Helper()
		if f.State != state || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(f.Summary, w) }) {
			t.Errorf("%s is %q: %s, want %q with %q", f.Rule, f.State, f.Summary, state, words)
		}
	}
	beside := newScene(t).with(mutex(8000, 18*time.Second))
	f := first(beside, "LK01")
	says(f, Found, "18.0 s", "none.go:27")
	severity(t, "of another file", f, Info)
	says(first(beside, "LK02"), Fine, "none.go:27", "18.0 s")
	says(first(beside, "LK04"), TooLittle, "none.go:27", "mutex profile")
	// What is short in the other file is no "no goroutine waited" either.
	little := newScene(t).with(mutex(1000, 5*ms))
	says(first(little, "LK01"), Fine, "5.00 ms")
	says(first(little, "LK02"), Fine, "none.go:27")

	look := func(r *recordingtest.Recording) {
		withProfile(r, recording.Goroutine, "", column{"main.main shop/feed.Produce:/src/none.go:14 runtime.chansend1 runtime.gopark", []int64{2000}},
			column{"main.main shop/store.(*cache).put:/src/none.go:23 sync.(*Mutex).Lock sync.runtime_SemacquireMutex runtime.gopark", []int64{2}})
	}
	seen := newScene(t).with(look)
	says(first(seen, "LK08"), Found, "2,000 goroutines waited to send")
	says(first(seen, "LK01"), TooLittle, "2 goroutines waited")
	says(first(seen, "LK02"), TooLittle, "one goroutine snapshot")
	says(first(seen, "LK04"), TooLittle, "none.go:23")
	// A trace with a little of it takes nothing away.
	some := newScene(t).with(look)
	some.stay("main.serve", exectrace.NameChanSend, 1, 100*ms, some.stack("runtime.chansend1", "shop/feed.Produce:/src/feed/feed.go:14", "main.serve:/src/main.go:3"))
	f = first(some, "LK08")
	says(f, Found, "2,000 goroutines waited to send")
	doubted(t, f, "the execution trace does not show it")
}

// TestEndedOnly: a profile of waits has only those that have ended, and the answer says
// so.
func TestEndedOnly(t *testing.T) {
	other := column{idle, values(10, 9*time.Second)}
	expect(t, "no lock", alone(recording.Block, other), "LK01", Fine, "no goroutine waited for a mutex; a goroutine that is still waiting is in no block profile")
	expect(t, "no lock", alone(recording.Block, other), "LK02", Fine, "a goroutine that is still waiting is in no block profile")
	expect(t, "no sender", alone(recording.Block, other), "LK08", Fine, "a goroutine that is still waiting is in no block profile")
	expect(t, "no query", alone(recording.Block, other), "LK06", Fine, "a goroutine that is still waiting is in no block profile")
	expect(t, "empty", alone(recording.Mutex), "LK01", TooLittle, "still waiting", "Unlock")
	seen := withProfile(alone(recording.Block, other), recording.Goroutine, "", column{"main.main shop/feed.Produce:/src/none.go:14 runtime.chansend1 runtime.gopark", []int64{2}})
	expect(t, "two senders in a look", seen, "LK08", TooLittle, "2 goroutines waited to send")
}

// TestLK02Blind: a profile of waits for locks does not have what a holder waits for.
func TestLK02Blind(t *testing.T) {
	lock := column{"main.main shop/store.(*cache).put:/src/none.go:23 sync.(*Mutex).Lock", values(8000, 5*time.Second)}
	expect(t, "block", alone(recording.Block, lock), "LK02", TooLittle, "waited 5.00 s", "none.go:23", "block profile does not show", "record -phases trace")
	expect(t, "mutex", alone(recording.Mutex, column{unlock27, values(8000, 5*time.Second)}), "LK02", TooLittle, "mutex profile does not show", "record -phases trace")
	look := withProfile(alone(recording.Block, lock), recording.Goroutine, "", column{"main.main shop/store.run:/src/none.go:80", []int64{1}})
	expect(t, "with a look", look, "LK02", Fine, "not seen held")
}

// TestLookBesideBlocks: a block profile has the waits that have ended, and takes nothing from
// a look that shows who waits still; of many locks the last finding says how many more
// there are.
func TestLookBesideBlocks(t *testing.T) {
	look := func(r *recordingtest.Recording) {
		withProfile(r, recording.Goroutine, "", column{"main.main shop/store.(*cache).put:/src/none.go:23 sync.(*Mutex).Lock sync.runtime_SemacquireMutex runtime.gopark", []int64{50}})
	}
	blocks := func(r *recordingtest.Recording) {
		withProfile(r, recording.Block, "", column{"main.main shop/feed.take:/src/none.go:14 runtime.chanrecv1", values(10, time.Second)})
	}
	for name, r := range map[string]*recordingtest.Recording{"alone": recordingtest.New("title x\ntarget package ./shop module=shop\n"), "beside": recordingtest.New("title x\ntarget package ./shop module=shop\n")} {
		if look(r); name == "beside" {
			blocks(r)
		}
		severity(t, name, expect(t, name, r, "LK01", Found, "50 goroutines waited"), Warning)
	}
	r := recordingtest.New("title x\ntarget package ./shop module=shop\n")
	var all []column
	for i := range 5 {
		all = append(all, column{fmt.Sprintf("main.main shop/store.(*cache).put%d:/src/none.go:%d sync.(*Mutex).Lock sync.runtime_SemacquireMutex runtime.gopark", i, 23+i), []int64{50}})
	}
	withProfile(r, recording.Goroutine, "", all...)
	found := answers(t, r, "LK01")
	if last := found[len(found)-1]; len(found) != 3 || !strings.Contains(last.Evidence[len(last.Evidence)-1].Text, "2 more locks") {
		t.Errorf("%d findings, the last with %+v", len(found), last.Evidence)
	}
}

// TestHandfulInLaterFile: ten waits in the mutex profile of a program in whose trace nobody
// waited are no finding.
func TestHandfulInLaterFile(t *testing.T) {
	s := newScene(t).with(func(r *recordingtest.Recording) {
		withProfile(r, recording.Mutex, "", column{unlock27, values(10, 500*ms)})
	})
	for _, f := range Run(s.input()) {
		if f.Rule == "LK01" && f.State == Found {
			t.Errorf("found: %s", f.Summary)
		}
	}
}
