package repeats

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// reset forgets all that was counted.
func reset() {
	pairsMu.Lock()
	defer pairsMu.Unlock()
	pairs = map[pair]*sum{}
	for i := range fns {
		f := &fns[i]
		f.off.Store(false)
		f.cut.Store(0)
		f.calls.Store(0)
		f.ns.Store(0)
		f.concurrent.Store(nil)
		f.everywhere.Store(nil)
		f.recursion.Store(nil)
		f.later.Store(0)
		f.large.Store(0)
		f.placed.Store(false)
		f.before.Store(0)
		f.looks.Store(-1 << 60)
		together[i].Store(false)
		f.spent.Store(-1 << 60) // nothing is cut because the machine is busy
	}
	spentOnAll.Store(-1 << 60)
	spentOnSites.Store(-1 << 60)
	counting = true
}

// counted calls f as a function of a number, with arguments and results.
func counted(id uint32, args []any, f func() []any) {
	gr := Enter(id)
	if gr == nil {
		f()
		return
	}
	gr.Args(args...)
	var results []any
	defer func() { gr.Leave(false, results...) }()
	results = f()
}

// around calls f within a call of function 0.
func around(f func()) {
	if gr := Enter(0); gr != nil {
		defer gr.Leave(false)
	}
	f()
}

type node struct {
	name string
	next *node
	n    int
}

// lists leads to many values.
type lists struct{ nodes []node }

// holder has a method whose value has the holder with it.
type holder struct{ n int }

func (h *holder) get() int { return h.n }

// asked is an argument with small fields behind one that leads to many.
type asked struct {
	of   *lists
	at   int
	next *node
}

// callTest is what is told of the calls that do makes within another.
type callTest struct {
	name                    string
	do                      func()
	calls, distinct, differ int64
	traits                  traits
}

var (
	state  = &node{name: "a"}
	hidden = map[string]int{}
	long   = &lists{make([]node, 1000)}
)

// result is a function that returns x.
func result(x any) func() []any { return func() []any { return []any{x} } }

var callTests = []callTest{
	{"the same text", func() {
		for range 5 {
			counted(1, []any{"x"}, result("y"))
		}
	}, 5, 1, 0, 0},
	{"equal texts at different places", func() {
		for i := range 5 {
			counted(1, []any{strings.Repeat("x", 3)[:2+i%2*0]}, result([]byte("y")))
		}
	}, 5, 1, 0, Refers},
	{"other texts", func() {
		for i := range 5 {
			counted(1, []any{fmt.Sprint(i)}, result("y"))
		}
	}, 5, 5, 0, 0},
	{"other results", func() {
		for i := range 5 {
			counted(1, []any{"x"}, result(fmt.Sprint(i)))
		}
	}, 5, 1, 4, 0},
	{"a number", func() {
		for range 3 {
			counted(1, []any{1.5}, result(2))
		}
	}, 3, 1, 0, Plain},
	{"what a pointer leads to is the same", func() {
		for range 3 {
			counted(1, []any{&node{name: "a", next: &node{name: "b"}}}, result("y"))
		}
	}, 3, 1, 0, 0},
	{"and is another one", func() {
		for i := range 3 {
			counted(1, []any{&node{name: "a", next: &node{n: i}}}, result("y"))
		}
	}, 3, 3, 0, 0},
	{"it changes what it is given", func() {
		for range 3 {
			counted(1, []any{state}, func() []any { state.n++; return []any{true} })
		}
	}, 3, 3, 0, Plain | Alters},
	{"it adds to a map", func() {
		for i := range 3 {
			counted(1, []any{hidden}, func() []any { hidden[fmt.Sprint(i)] = i; return []any{true} })
		}
	}, 3, 3, 0, Plain | Alters | Partial | First},
	{"a map with the same keys is taken for the same, and said to be partial", func() {
		for i := range 3 {
			counted(1, []any{hidden}, func() []any { hidden["0"] = i; return []any{"y"} })
		}
	}, 3, 1, 0, Partial | First},
	{"a number behind a receiver with a long list", func() {
		for i := range 5 {
			counted(1, []any{long, i}, result("y"))
		}
	}, 5, 5, 0, Partial | First},
	{"a struct behind it", func() {
		for i := range 5 {
			counted(1, []any{long, node{name: "a", n: i}}, result("y"))
		}
	}, 5, 5, 0, Partial | First},
	{"a list behind it, of the same at another place", func() {
		for range 5 {
			counted(1, []any{long, []string{"a", "b"}}, result("y"))
		}
	}, 5, 1, 0, Partial | First},
	{"a number behind two of them, of which one is given", func() {
		for i := range 5 {
			counted(1, []any{long, long.nodes, i}, result("y"))
		}
	}, 5, 5, 0, Partial | First | Others | Large},
	{"a field of an argument behind one with a long list", func() {
		for i := range 5 {
			counted(1, []any{asked{long, i, nil}}, result("y"))
		}
	}, 5, 5, 0, Partial | First | Large},
	{"the end of a long list is not seen, and that is said", func() {
		for i := range 5 {
			long.nodes[999].n = i
			counted(1, []any{long.nodes}, result("y"))
		}
	}, 5, 1, 0, Partial | First | Large},
	{"the same of a list behind the receiver, whose place is compared", func() {
		for i := range 5 {
			long.nodes[999].n = i
			counted(1, []any{long}, result("y"))
		}
	}, 5, 1, 0, Partial | First},
	{"another one of those", func() {
		var others [5]lists
		for i := range others {
			others[i].nodes = make([]node, 1000)
			counted(1, []any{&others[i]}, result("y"))
		}
	}, 5, 5, 0, Partial | First},
	{"values of package reflect are told apart by where they lead, and what is there is not known", func() {
		for i := range 5 {
			counted(1, []any{reflect.ValueOf(long.nodes).Index(i)}, result("y"))
		}
	}, 5, 5, 0, Partial | First | Unknown},
	{"the same one", func() {
		for range 5 {
			counted(1, []any{reflect.ValueOf(&long.nodes[0])}, result("y"))
		}
	}, 5, 1, 0, Partial | First | Unknown},
	{"some in a list, and one in an interface behind a text", func() {
		for i := range 3 {
			counted(1, []any{"x", []reflect.Value{reflect.ValueOf(&long.nodes[i])}, any(reflect.ValueOf(&long.nodes[0]))}, result("y"))
		}
	}, 3, 3, 0, Partial | Others | Unknown},
	{"what functions have caught is not known", func() {
		for i := range 3 {
			counted(1, []any{"x", func() int { return i }}, result("y"))
		}
	}, 3, 1, 0, Partial | Others | Unknown},
	{"a method of a value has that with it", func() {
		for i := range 3 {
			counted(1, []any{(&holder{i}).get}, result("y"))
		}
	}, 3, 1, 0, Partial | First | Unknown},
	{"a function with a name has caught nothing", func() {
		for range 3 {
			counted(1, []any{"x", strings.ToUpper}, result("y"))
		}
	}, 3, 1, 0, Partial | Others},
	{"no function", func() {
		for range 3 {
			counted(1, []any{"x", (func())(nil)}, result("y"))
		}
	}, 3, 1, 0, 0},
	{"an unsafe pointer", func() {
		for i := range 3 {
			counted(1, []any{unsafe.Pointer(&long.nodes[i])}, result("y"))
		}
	}, 3, 3, 0, Partial | First | Unknown},
	{"positions, which are the library's, are told apart by what lies in them", func() {
		for i := range 3 {
			counted(1, []any{token.Position{Filename: "a", Line: i}}, result("y"))
		}
	}, 3, 3, 0, Partial | First},
	{"much memory is looked at at its ends", func() {
		b := make([]byte, mostBytes+1)
		for i := range 5 {
			b[0], b[mostBytes/2] = byte(i/3), byte(i)
			counted(1, []any{b}, result("y"))
		}
	}, 5, 2, 0, Partial | First | Large},
	{"a result behind a large one", func() {
		for i := range 5 {
			counted(1, []any{"x"}, func() []any { return []any{long, i} })
		}
	}, 5, 1, 4, Vague | Refers},
	{"a writer", func() {
		for range 3 {
			counted(1, []any{&bytes.Buffer{}}, result("y"))
		}
	}, 3, 1, 0, Writes},
	{"an error", func() {
		for range 3 {
			counted(1, []any{"x"}, func() []any { return []any{"", errors.New("no")} })
		}
	}, 3, 1, 0, Fails},
	{"nothing but an error", func() {
		for range 3 {
			counted(1, []any{"x"}, func() []any { return []any{nil} })
		}
	}, 3, 1, 0, Void | Plain},
	{"a function is not seen through", func() {
		f := func() {}
		for range 3 {
			counted(1, []any{f}, result("y"))
		}
	}, 3, 1, 0, Unknown | Partial | First},
	{"it panics", func() {
		for range 3 {
			func() {
				defer func() { recover() }()
				counted(1, []any{"x"}, func() []any { panic("no") })
			}()
		}
	}, 3, 1, 0, Void | Plain | Fails},
	{"it returns nothing but zeros", func() {
		for range 3 {
			counted(1, []any{"x"}, result(0))
		}
	}, 3, 1, 0, Plain},
	{"what a sync.Map has is not seen", func() {
		for range 3 {
			counted(1, []any{&struct{ m sync.Map }{}}, result("y"))
		}
	}, 3, 3, 0, Partial | First},
	{"times of one moment", func() {
		at := time.Unix(1, 2)
		for range 3 {
			counted(1, []any{at}, result("y"))
		}
	}, 3, 1, 0, 0},
	{"a circle ends", func() {
		n := &node{}
		n.next = n
		for range 3 {
			counted(1, []any{n}, result("y"))
		}
	}, 3, 1, 0, Partial | First},
	{"a lock is no part of a value", func() {
		for range 3 {
			counted(1, []any{&struct {
				mu sync.Mutex
				n  int
			}{}}, result("y"))
		}
	}, 3, 1, 0, 0},
}

// What is told of calls within another.
func TestCalls(t *testing.T) {
	for _, test := range callTests {
		reset()
		around(test.do)
		s := pairs[pair{0, 1}]
		if s == nil {
			t.Errorf("%s: nothing was counted", test.name)
			continue
		}
		if s.calls != test.calls || s.distinct != test.distinct || s.differ != test.differ || s.traits != test.traits || s.again != test.calls-test.distinct {
			t.Errorf("%s: %d calls, %d distinct, %d again, %d differ, traits %08b; want %d, %d, %d, %08b", test.name, s.calls, s.distinct, s.again, s.differ, s.traits, test.calls, test.distinct, test.differ, test.traits)
		}
	}
}

// A result that was changed after it was returned.
func TestChanged(t *testing.T) {
	for _, change := range []bool{false, true} {
		reset()
		around(func() {
			for range 4 {
				made := []int{1, 2}
				counted(1, []any{"x"}, func() []any { return []any{made} })
				if change {
					made[0] = 7
				}
			}
		})
		if got := pairs[pair{0, 1}].changed; got > 0 != change {
			t.Errorf("changed %v: %d", change, got)
		}
	}
}

// Each call around begins anew; a goroutine that is started in one is not within it.
func TestAround(t *testing.T) {
	reset()
	for range 3 {
		around(func() {
			counted(1, []any{"x"}, func() []any { return []any{"y"} })
			done := make(chan bool)
			go func() {
				counted(1, []any{"x"}, func() []any { return []any{"y"} })
				close(done)
			}()
			<-done
		})
	}
	if s := pairs[pair{0, 1}]; s.calls != 3 || s.distinct != 3 || s.again != 0 || s.activations != 3 {
		t.Errorf("%+v", s)
	}
	for i := range shards {
		if n := len(shards[i].gs); n > 0 {
			t.Errorf("%d goroutines are still followed", n)
		}
	}
}

// Of very many arguments some are kept, from which the rest is estimated.
func TestSampled(t *testing.T) {
	reset()
	around(func() {
		for i := range 20_000 {
			counted(1, []any{i % 5_000}, func() []any { return []any{"y"} })
		}
	})
	s := pairs[pair{0, 1}]
	if s.sampled == 0 || s.calls != 20_000 || s.distinct < 2_500 || s.distinct > 10_000 {
		t.Errorf("%+v", s)
	}
}

// A function whose counting takes far longer than its work is counted no more. Of its later calls one in 64 stands for all, within calls that
// had begun before.
func TestCut(t *testing.T) {
	reset()
	fns[1].spent.Store(enoughSpent * 2)
	around(func() {
		counted(1, []any{"x"}, func() []any { return []any{"y"} })
		seen := 0
		for range 10 * seldom {
			if gr := Enter(1); gr != nil {
				seen++
				gr.Args("x")
				gr.Leave(false, "z")
			}
		}
		if seen != 10 {
			t.Errorf("%d calls were looked at, want 10", seen)
		}
	})
	if s := pairs[pair{0, 1}]; fns[1].cut.Load() == 0 || s.calls != 1 || s.differ != 10 {
		t.Errorf("cut at %d: %+v", fns[1].cut.Load(), s)
	}
	var steps []int64
	for _, x := range pairs[pair{0, 1}].course {
		steps = append(steps, x.calls)
	}
	if want := []int64{1, 0, 0, 0, 0, 0, 64, 2 * 64, 4 * 64, 3 * 64}; !slices.Equal(steps, want) {
		t.Errorf("a course with %v, want %v", steps, want)
	}
	delete(pairs, pair{0, 1})
	around(func() {
		for range 10 * seldom {
			counted(1, []any{"x"}, func() []any { return []any{"y"} })
		}
	})
	if s := pairs[pair{0, 1}]; s != nil && len(s.course) > 0 {
		t.Errorf("a call that began later has a course: %+v", s.course)
	}
}

// What is written of calls, of those that go on too.
func TestWrite(t *testing.T) {
	reset()
	around(func() { counted(2, []any{"x"}, func() []any { return []any{"y"} }) })
	var b bytes.Buffer
	around(func() {
		counted(1, []any{"x"}, func() []any { return []any{"y"} })
		counted(1, []any{"x"}, func() []any { return []any{"y"} })
		write(&b, true)
	})
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if !strings.HasPrefix(lines[0], "loupe repeats 1 ") || lines[len(lines)-1] != "end last" {
		t.Errorf("%q", lines)
	}
	for _, want := range []string{"p 0 2 0 1 ", "p 0 1 1 1 ", "f 1 2 ", "f 2 1 "} {
		if !strings.Contains(b.String(), "\n"+want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// Many goroutines at once, while it is written.
func TestTogether(t *testing.T) {
	reset()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				around(func() {
					for i := range 3 {
						counted(1, []any{i % 2}, func() []any { runtime.Gosched(); return []any{i % 2} })
					}
				})
			}
		})
	}
	for range 20 {
		write(&bytes.Buffer{}, false)
	}
	all.Wait()
	if s := pairs[pair{0, 1}]; s.calls != 4800 || s.again != 1600 || s.differ != 0 {
		t.Errorf("%+v", s)
	}
}

// What is held of results is bounded, for all that is under way together, and given back.
func TestHeld(t *testing.T) {
	reset()
	around(func() {
		for i := range 3000 {
			text := make([]string, 200)
			counted(1, []any{i % 200}, func() []any { return []any{text} })
		}
		if n := heldBytes.Load(); n <= 0 || n > mostHeldBytes+1<<20 {
			t.Errorf("%d bytes are held", n)
		}
		long := strings.Repeat("x", mostHeldSize+1)
		before := heldBytes.Load()
		counted(2, []any{1}, func() []any { return []any{[]string{long}} })
		if n := heldBytes.Load(); n != before {
			t.Errorf("a long text is held: %d bytes, %d before", n, before)
		}
	})
	if n := heldBytes.Load(); n != 0 {
		t.Errorf("%d bytes are held behind the call around", n)
	}
}
