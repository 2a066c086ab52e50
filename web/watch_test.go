package web

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"loupe/recording"
	"loupe/session"
)

// TestPace: five notices a second while they cost nothing, and a fifth of a
// core for those that cost much.
func TestPace(t *testing.T) {
	for _, c := range []struct {
		name   string
		cost   time.Duration // CPU time that each notice makes the pages ask for
		notice int           // in ten seconds
	}{{"free", 0, 50}, {"cheap", 10 * time.Millisecond, 50}, {"dear", 400 * time.Millisecond, 5}} {
		var p pace
		now, cpu, n := time.Unix(1000, 0), time.Second, 0
		p.ready(now, cpu)
		for range 100 {
			now = now.Add(watchEvery)
			if p.ready(now, cpu) {
				n++
				cpu += c.cost
			}
		}
		if n < c.notice-1 || n > c.notice+1 {
			t.Errorf("%s: %d notices in 10 s, want %d", c.name, n, c.notice)
		}
	}
	var blind pace
	if !blind.ready(time.Unix(1000, 0), 0) || blind.ready(time.Unix(1000, 5e8), 0) || !blind.ready(time.Unix(1001, 1), 0) {
		t.Error("without CPU times the pace is not one a second")
	}
}

// TestEditions: an older edition of a source stays open for as long as somebody
// reads it, and no longer.
func TestEditions(t *testing.T) {
	var opened, closed atomic.Int64
	src := Source{Name: "x", Open: func(context.Context) (*Opened, error) {
		opened.Add(1)
		return &Opened{Session: session.New(&recording.Recording{}), Close: func() error { closed.Add(1); return nil }}, nil
	}}
	s := &Server{sources: newShelf()}
	sub := s.sources.add(t.Context(), src)
	reader, release := holding(t.Context(), t.Context())
	if _, err := sub.open(reader); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		sub.changed()
		ctx, done := holding(t.Context(), t.Context())
		if _, err := sub.open(ctx); err != nil {
			t.Fatal(err)
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
	}
	sub.changed()
	if opened.Load() != 101 || closed.Load() != 100 || len(sub.editions.list) != 1 {
		t.Errorf("%d opened, %d closed, %d kept; want 101, 100 and that of the reader", opened.Load(), closed.Load(), len(sub.editions.list))
	}
	// The reader sees the source as it was when it came.
	o, err := once(reader, sub, "key", func(context.Context) (int, error) { return 7, nil })
	if now, later := sub.session(t.Context()); later != nil || now.Memo().Has("web key") || err != nil || o != 7 {
		t.Errorf("what was computed of an old edition is kept for the new one: %d, %v", o, err)
	}
	if err := release(); err != nil || closed.Load() != 101 || len(sub.editions.list) != 1 {
		t.Errorf("%d closed after the last reader, %d kept, want that of now: %v", closed.Load(), len(sub.editions.list), err)
	}
}

// TestEditionOfComputation: what is being computed keeps its edition open when
// the request that asked for it has gone.
func TestEditionOfComputation(t *testing.T) {
	var closed atomic.Bool
	s := &Server{sources: newShelf()}
	sub := s.sources.add(t.Context(), Source{Open: func(context.Context) (*Opened, error) {
		return &Opened{Session: session.New(&recording.Recording{}), Close: func() error { closed.Store(true); return nil }}, nil
	}})
	ctx, release := holding(t.Context(), t.Context())
	if _, err := sub.open(ctx); err != nil {
		t.Fatal(err)
	}
	began, end, done := make(chan bool), make(chan bool), make(chan error)
	go func() {
		_, err := once(ctx, sub, "slow", func(context.Context) (bool, error) {
			began <- true
			<-end
			if closed.Load() {
				return false, errors.New("closed while it is read")
			}
			return true, nil
		})
		done <- err
	}()
	<-began
	if err := release(); err != nil {
		t.Fatal(err)
	}
	sub.changed()
	end <- true
	if err := <-done; err != nil {
		t.Error(err)
	}
	for !closed.Load() { // the computation lets it go when it has ended
		time.Sleep(time.Millisecond)
	}
}

// TestRelist: what comes into a folder is listed, what leaves it is not, and
// keeps its number when it comes back.
func TestRelist(t *testing.T) {
	var names []string
	unreadable := false
	s := &Server{sources: newShelf(), opts: Options{List: func() []Source {
		if unreadable {
			return nil
		}
		all := []Source{}
		for _, n := range names {
			all = append(all, Source{Name: n, Open: func(context.Context) (*Opened, error) { return nil, errors.New("no") }})
		}
		return all
	}}}
	for _, step := range []struct {
		names []string
		fails bool
		news  bool
		want  string
	}{
		{[]string{"a", "a"}, false, true, "1a "},
		{[]string{"a"}, false, false, "1a "},
		{[]string{"b", "c"}, false, true, "2b 3c "},
		{nil, true, false, "2b 3c "},
		{[]string{"c", "a"}, false, true, "1a 3c "},
		{nil, false, true, ""},
	} {
		names, unreadable = step.names, step.fails
		if news := s.sources.relist(t.Context(), s.opts.List()); news != step.news {
			t.Errorf("%v: news %v", step.names, news)
		}
		have := ""
		for _, src := range s.list().Sources {
			have += src.ID + src.Name + " "
		}
		if have != step.want {
			t.Errorf("%v: listed are %q, want %q", step.names, have, step.want)
		}
	}
}
