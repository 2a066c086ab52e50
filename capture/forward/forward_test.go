package forward

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"loupe/capture/collect"
	"loupe/capture/remote"
	"loupe/format/push"
	"loupe/store"
	"loupe/store/intake"
	"loupe/store/storetest"
	"loupe/web/fleet"
)

// sink is a server that may be away.
type sink struct {
	mu    sync.Mutex
	err   error // what everything is answered with, by who it is of
	got   map[string]int
	calls int
}

func (s *sink) send(ctx context.Context, items ...push.Item) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.err != nil {
		return s.err
	}
	for _, i := range items {
		s.got[i.ID]++
	}
	return ctx.Err()
}

func (s *sink) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// running starts a Forwarder of an engine in memory; stop ends it.
func running(t *testing.T, send func(context.Context, ...push.Item) error, opt Options) (e store.Engine, said func() string, stop func()) {
	var mu sync.Mutex
	var lines []string
	opt.Tell = func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, fmt.Sprintf(format, args...))
	}
	f := New(send, opt)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	said = func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(lines, "\n")
	}
	return f.Around(storetest.NewMemory()), said, func() { cancel(); <-done }
}

// TestAway lets a server be away: nobody waits for it, what fits into the queue is sent when it
// is back, each profile once, and the rest is told of.
func TestAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{got: map[string]int{}, err: errors.New("connection refused")}
		e, said, stop := running(t, s.send, Options{Profiles: 150})
		list, _ := storetest.Aged(1)
		var all []*store.Profile // 360: more than the queue and all workers hold
		for seed := range uint64(3) {
			some, _ := storetest.Aged(seed + 1)
			all = append(all, some...)
		}
		for _, p := range all {
			before := time.Now()
			if err := e.Write(t.Context(), []*store.Profile{p}); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(before); took != 0 {
				t.Fatalf("a write waits %v", took)
			}
		}
		time.Sleep(10 * time.Minute)
		if calls := s.calls; calls < 40 || calls > 400 {
			t.Errorf("a server that is away is asked %d times in ten minutes", calls)
		}
		s.set(nil)
		time.Sleep(2 * time.Minute)
		if n := strings.Count(said(), "connection refused (retrying"); n != 1 || !strings.Contains(said(), "the server answers again") {
			t.Errorf("it says %s", said())
		}
		// Those that workers hold do not count in the queue.
		if n := len(s.got); n < 150 || n > 150+workers*batch || !strings.Contains(said(), fmt.Sprintf("dropped %d profiles, which are stored here only", len(all)-n)) {
			t.Errorf("%d of %d were sent; it says %s", n, len(all), said())
		}
		if err := e.Write(t.Context(), list[:10]); err != nil { // again, by their clients
			t.Fatal(err)
		}
		stop()
		for id, n := range s.got {
			if n != 1 {
				t.Errorf("%s was sent %d times", id, n)
			}
		}
	})
}

// TestEnd sends what waits when it is stopped, and does not wait for a server that is away.
func TestEnd(t *testing.T) {
	for _, away := range []error{nil, errors.New("away")} {
		synctest.Test(t, func(t *testing.T) {
			s := &sink{got: map[string]int{}, err: away}
			e, said, stop := running(t, s.send, Options{})
			list, _ := storetest.Aged(3)
			if err := e.Write(t.Context(), list); err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			stop()
			if took := time.Since(begin); took > 6*time.Second {
				t.Errorf("the end takes %v", took)
			}
			if away == nil && len(s.got) != len(list) {
				t.Errorf("%d of %d were sent", len(s.got), len(list))
			}
			if away != nil && !strings.Contains(said(), fmt.Sprintf("dropped %d profiles", len(list))) {
				t.Errorf("it says %s", said())
			}
		})
	}
}

// TestServer forwards to a server of profiles one of which it refuses for good: the others of
// its batch arrive, and have the same totals.
func TestServer(t *testing.T) {
	there := storetest.NewMemory()
	inner := fleet.New(there, intake.New(there), fleet.Options{})
	refused := 0
	var mu sync.Mutex
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		refused++
		fail := refused == 1
		mu.Unlock()
		if fail { // as if one of the batch were too old
			http.Error(w, "one is too old", http.StatusBadRequest)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer web.Close()
	server, err := remote.New(web.URL, collect.Access{})
	if err != nil {
		t.Fatal(err)
	}
	here := storetest.NewMemory()
	f := New(server.Push, Options{})
	e := f.Around(here)
	list, _ := storetest.Aged(4)
	if err := e.Write(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f.Run(ctx)
	storetest.Same(t, there, here)
}
