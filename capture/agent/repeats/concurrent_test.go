package repeats

import (
	"sync"
	"testing"
)

// at makes calls of function 1 with the arguments of each list at once: all have begun before one ends.
func at(args [][]any, result func(i int) any) {
	var begun, all sync.WaitGroup
	begun.Add(len(args))
	for i, a := range args {
		all.Go(func() {
			counted(1, a, func() []any {
				begun.Done()
				begun.Wait()
				return []any{result(i)}
			})
		})
	}
	all.Wait()
}

// TestConcurrent: calls with the same arguments that go on at once.
func TestConcurrent(t *testing.T) {
	one, other := &node{name: "a"}, &node{name: "a"}
	same := func(int) any { return "y" }
	for _, test := range []struct {
		name                  string
		args                  [][]any
		result                func(i int) any
		together, apart, most int64
	}{
		{"the same text", [][]any{{"x"}, {"x"}, {"x"}}, same, 2, 0, 3},
		{"other texts", [][]any{{"x"}, {"z"}}, same, 0, 0, 1},
		{"the same place", [][]any{{one, 1}, {one, 1}}, same, 1, 0, 2},
		{"the same at another place", [][]any{{one}, {other}}, same, 0, 0, 1},
		{"other results", [][]any{{"x"}, {"x"}}, func(i int) any { return i + 1 }, 1, 1, 2},
	} {
		reset()
		at(test.args, test.result)
		fl := fns[1].concurrent.Load()
		if fl.together != test.together || fl.most != test.most || fl.apart > test.apart || test.apart == 0 && fl.apart > 0 {
			t.Errorf("%s: %+v", test.name, fl.sums)
		}
		if len(fl.now) > 0 {
			t.Errorf("%s: %d go on", test.name, len(fl.now))
		}
	}
}

// TestWithout: of calls with the same arguments some call what others have been seen to call at once.
func TestWithout(t *testing.T) {
	reset()
	one := &node{}
	at([][]any{{"x"}, {"x"}}, func(int) any { return "y" })
	get := func(key string, miss bool) {
		counted(0, []any{one, key}, func() []any {
			if miss {
				counted(1, []any{key}, func() []any { return []any{"y"} })
			}
			return []any{"y"}
		})
	}
	for i := range 6 {
		get("a", i%3 == 0)
		get("b", true) // never remembered
	}
	get("c", true)     // nobody else asks
	for i := range 4 { // what is asked for is not seen
		counted(0, []any{one, make(chan int)}, func() []any {
			if i == 0 {
				counted(1, []any{"d"}, func() []any { return []any{"y"} })
			}
			return []any{"y"}
		})
	}
	if got := fns[0].concurrent.Load().without()[1]; got != [2]int64{6, 2} {
		t.Errorf("%v", got)
	}
}

// TestBegins: calls that return nothing go on together, and who asks for the same at one place is known once several have.
func TestBegins(t *testing.T) {
	reset()
	one := &node{}
	work := func(wait func()) func() []any {
		return func() []any {
			gr := Enter(1)
			gr.Begins(one)
			wait()
			gr.Leave(false)
			return []any{"y"}
		}
	}
	var begun, all sync.WaitGroup
	begun.Add(3)
	for range 3 {
		all.Go(func() {
			counted(0, []any{one}, work(func() {
				begun.Done()
				begun.Wait()
			}))
		})
	}
	all.Wait()
	for range 6 { // found done
		counted(0, []any{one}, func() []any { return []any{"y"} })
	}
	fl := fns[1].concurrent.Load()
	if fl.together != 2 || fl.most != 3 || fl.apart != 0 {
		t.Errorf("%+v", fl.sums)
	}
	if got := fns[0].concurrent.Load().without()[1]; got[0] < 6 || got[1] < 1 || got[1] > 3 || got[0]-got[1] != 6 {
		t.Errorf("%v", got)
	}
}
