package memo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// TestGet: a value is computed once, whoever asks, and errors are kept like values.
func TestGet(t *testing.T) {
	var m Memo
	var n atomic.Int64
	wrong := errors.New("wrong")
	var asked sync.WaitGroup
	for range 20 {
		asked.Go(func() {
			v, err := Get(t.Context(), &m, "seven", func(context.Context) (int, error) { n.Add(1); return 7, wrong })
			if v != 7 || err != wrong {
				t.Errorf("%d, %v; what could be had comes with the error", v, err)
			}
		})
	}
	asked.Wait()
	if n.Load() != 1 || !m.Has("seven") {
		t.Errorf("computed %d times, kept: %v", n.Load(), m.Has("seven"))
	}
	if _, err := Get(t.Context(), &m, "seven", func(context.Context) (string, error) { return "", nil }); err == nil {
		t.Error("a number is taken for a string")
	}
	if c := m.Costs(); len(c) != 1 || c[0].Key != "seven" || c[0].Took < 0 {
		t.Errorf("it has cost %v", c)
	}
	m.Forget("seven")
	if m.Has("seven") {
		t.Error("what was forgotten is kept")
	}
}

// TestNil: an interface or a pointer that is nil is a value.
func TestNil(t *testing.T) {
	var m Memo
	if v, err := Get(t.Context(), &m, "pointer", func(context.Context) (*int, error) { return nil, nil }); v != nil || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := Get(t.Context(), &m, "interface", func(context.Context) (error, error) { return nil, nil }); v != nil || err != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// TestLeave: one who leaves does not end what another waits for; the last one does, and
// who comes then gets a value that was computed to its end.
func TestLeave(t *testing.T) {
	var m Memo
	began, ended := make(chan context.Context, 10), make(chan bool)
	compute := func(ctx context.Context) (string, error) {
		began <- ctx
		select {
		case <-ctx.Done():
			<-ended
			return "cut off", nil // as rules answer that know nothing of cancelling
		case <-ended:
			return "whole", nil
		}
	}
	type answer struct {
		value string
		err   error
	}
	ask := func(ctx context.Context) chan answer {
		c := make(chan answer, 1)
		go func() {
			v, err := Get(ctx, &m, "key", compute)
			c <- answer{v, err}
		}()
		return c
	}
	first, leaveFirst := context.WithCancel(t.Context())
	second, leaveSecond := context.WithCancel(t.Context())
	one := ask(first)
	work := <-began
	two := ask(second)
	for waits(&m, "key") != 2 {
	}
	leaveFirst()
	if a := <-one; a.err != context.Canceled || work.Err() != nil {
		t.Errorf("the one who left got %v; the work of the other: %v", a, work.Err())
	}
	leaveSecond()
	if a := <-two; a.err != context.Canceled {
		t.Errorf("the last one got %v", a)
	}
	<-work.Done()
	third := ask(t.Context())
	for waits(&m, "key") != 1 {
	}
	ended <- true // the first work ends
	again := <-began
	ended <- true
	if a := <-third; a.value != "whole" || a.err != nil || again.Err() != nil {
		t.Errorf("who came later got %v; his work: %v", a, again.Err())
	}
	if v, err := Get(t.Context(), &m, "key", compute); v != "whole" || err != nil {
		t.Errorf("kept is %q, %v", v, err)
	}
}

// waits is how many wait for a value.
func waits(m *Memo, key string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.kept[key]; v != nil {
		return v.waiting
	}
	return 0
}

// TestOnce: what cannot be ended is kept though nobody waited for its end.
func TestOnce(t *testing.T) {
	var told []string
	m := Memo{Around: Around{Reading: func(key string) func() {
		told = append(told, key)
		return func() { told = append(told, key+" over") }
	}}}
	ctx, leave := context.WithCancel(t.Context())
	begun, end, over := make(chan bool), make(chan bool), make(chan bool)
	go func() {
		defer close(over)
		if _, err := Once(ctx, &m, "file", func(ctx context.Context) (int, error) {
			close(begun)
			<-end
			return 1, ctx.Err()
		}); err != context.Canceled {
			t.Error(err)
		}
	}()
	<-begun
	leave()
	<-over
	close(end)
	v, err := Once(t.Context(), &m, "file", func(context.Context) (int, error) { return 2, nil })
	if v != 1 || err != nil {
		t.Errorf("%d, %v; want what was begun first", v, err)
	}
	if fmt.Sprint(told) != "[file file over]" {
		t.Errorf("told was %q", told)
	}
}

// TestFault: who waits for what panics, panics, with the stack of the computation; what it
// asked for itself stays as it was.
func TestFault(t *testing.T) {
	var m Memo
	wrong := errors.New("index out of range")
	inner := func() (int, error) {
		return Get(t.Context(), &m, "inner", func(context.Context) (int, error) { panic(wrong) })
	}
	for range 2 {
		func() {
			defer func() {
				f, ok := recover().(*Fault)
				if !ok || f.Error() != wrong.Error() || !errors.Is(f, wrong) || len(f.Stack) == 0 {
					t.Errorf("panicked with %v", f)
				}
			}()
			_, _ = Get(t.Context(), &m, "outer", func(context.Context) (int, error) { return inner() })
			t.Error("nobody panicked")
		}()
	}
}

// TestGetFew: of a family the last eight are kept, and those that somebody waits for.
func TestGetFew(t *testing.T) {
	var m Memo
	begun, end := make(chan bool), make(chan bool)
	go func() {
		_, _ = GetFew(t.Context(), &m, "range", "slow", func(context.Context) (int, error) { close(begun); <-end; return 0, nil })
		close(end)
	}()
	<-begun
	var computed []int
	ask := func(n int) {
		v, err := GetFew(t.Context(), &m, "range", fmt.Sprint(n), func(context.Context) (int, error) { computed = append(computed, n); return n, nil })
		if v != n || err != nil {
			t.Errorf("%d: %d, %v", n, v, err)
		}
	}
	for n := range 10 {
		ask(n)
		ask(0) // is always new
	}
	end <- true
	<-end
	ask(1) // is gone
	ask(9)
	if want := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1}; !slices.Equal(computed, want) {
		t.Errorf("computed were %v, want %v", computed, want)
	}
}

// TestBase: what the base ends is no answer, and who asks afterwards is told why.
func TestBase(t *testing.T) {
	base, end := context.WithCancel(t.Context())
	held := 0
	m := Memo{Around: Around{Base: base, Hold: func(work, asker context.Context) (context.Context, func()) {
		held++
		return work, func() { held-- }
	}}}
	_, err := Get(t.Context(), &m, "key", func(ctx context.Context) (int, error) {
		if held != 1 {
			t.Errorf("%d held", held)
		}
		end()
		<-ctx.Done()
		return 0, ctx.Err()
	})
	if err != context.Canceled || held != 0 {
		t.Errorf("%v, %d held", err, held)
	}
}
