// Package memo computes each value once, for as long as somebody waits for it.
//
// A [Memo] belongs to one thing that does not change, such as a recording. Who asks for
// a value that nobody has asked for sets it going; who asks meanwhile waits for the same
// one. Anybody may leave. When the last one has, [Get] ends the work, and [Once] does
// not.
package memo

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memo keeps values by their keys. Any number of goroutines may use it. The zero Memo is
// empty.
type Memo struct {
	// Around goes around each computation. It is set before the first one.
	Around Around

	mu     sync.Mutex
	kept   map[string]*value
	recent map[string][]string // keys of families of which few are kept, the newest last
}

// Around is what goes on around computations. What is nil does not.
type Around struct {
	// Base ends all of them.
	Base context.Context
	// Hold returns the context of a computation, with what the one holds who asked
	// first, and gives that back when the computation is over.
	Hold func(work, asker context.Context) (held context.Context, release func())
	// Reading is told when a value of [Once] is begun, and then that it is over.
	Reading func(key string) (over func())
}

// value is what is known under a key, or going to be.
type value struct {
	done    chan struct{}
	value   any
	err     error
	fault   *Fault
	took    time.Duration
	waiting int
	cancel  context.CancelFunc
	ended   bool // nobody waits, and it was told to end
}

// Fault is what a computation panicked with. Everybody who waits for it panics with it.
type Fault struct {
	// Value is what was given to panic.
	Value any
	// Stack is that of the computation.
	Stack []byte
}

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprint(f.Value) }

// Unwrap returns the value where it is an error, as those of the runtime are.
func (f *Fault) Unwrap() error {
	err, _ := f.Value.(error)
	return err
}

// Get returns what compute gives, which is called once for a key. When nobody waits any
// more its context is cancelled, and what it then gives is not kept. Otherwise the
// context stays as it is: the value may go on asking with it. Beside an error the value
// is what compute gave, or zero where ctx was done before.
func Get[T any](ctx context.Context, m *Memo, key string, compute func(ctx context.Context) (T, error)) (T, error) {
	return typed[T](m.get(ctx, key, true, func(ctx context.Context) (any, error) { return compute(ctx) }))
}

// Once is Get for what cannot be ended: it runs to its end, and is kept.
func Once[T any](ctx context.Context, m *Memo, key string, compute func(ctx context.Context) (T, error)) (T, error) {
	return typed[T](m.get(ctx, key, false, func(ctx context.Context) (any, error) { return compute(ctx) }))
}

// few is how many values of a family are kept.
const few = 8

// GetFew is Get for what there may be any number of, such as answers for a range: of a
// family the last eight are kept, and those that somebody waits for.
func GetFew[T any](ctx context.Context, m *Memo, family, key string, compute func(ctx context.Context) (T, error)) (T, error) {
	key = family + " " + key
	m.touch(family, key)
	return Get(ctx, m, key, compute)
}

// touch makes a key the newest of its family, and forgets the oldest.
func (m *Memo) touch(family, key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.recent == nil {
		m.recent = map[string][]string{}
	}
	list := slices.DeleteFunc(m.recent[family], func(k string) bool { return k == key })
	list = append(list, key)
	over := len(list) - few
	m.recent[family] = slices.DeleteFunc(list, func(k string) bool {
		v := m.kept[k]
		if over <= 0 || k == key || v != nil && v.waiting > 0 {
			return false
		}
		over--
		delete(m.kept, k)
		return true
	})
}

// Has tells whether the value of a key is known.
func (m *Memo) Has(key string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.kept[key]
	return v != nil && v.over()
}

// Forget drops the value of a key. Who waits for it still gets it.
func (m *Memo) Forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
}

// Cost is what a value has cost.
type Cost struct {
	Key string
	// Took is wall time, with what it waited for of other values.
	Took time.Duration
}

// Costs returns what the values that are kept have cost, the dearest first.
func (m *Memo) Costs() []Cost {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Cost
	for key, v := range m.kept {
		if v.over() {
			all = append(all, Cost{key, v.took})
		}
	}
	slices.SortFunc(all, func(a, b Cost) int {
		if a.Took != b.Took {
			return int(min(max(b.Took-a.Took, -1), 1))
		}
		return strings.Compare(a.Key, b.Key)
	})
	return all
}

// typed gives a value its type.
func typed[T any](v any, err error) (T, error) {
	t, ok := v.(T)
	if !ok && v != nil {
		return t, fmt.Errorf("BUG: a value is a %T and not a %T", v, t)
	}
	return t, err
}

func (v *value) over() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

// get waits for a value until ctx is done, and sets it going where nobody has.
func (m *Memo) get(ctx context.Context, key string, ends bool, compute func(context.Context) (any, error)) (any, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := m.join(ctx, key, ends, compute)
		select {
		case <-v.done:
		case <-ctx.Done():
		}
		if m.leave(v, ends) && !v.ended {
			if v.fault != nil {
				panic(v.fault)
			}
			return v.value, v.err
		}
	}
}

// join returns the value under a key, for one more who waits.
func (m *Memo) join(ctx context.Context, key string, ends bool, compute func(context.Context) (any, error)) *value {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.kept[key]; v != nil && !(v.ended && v.over()) {
		v.waiting++
		return v
	}
	v := &value{done: make(chan struct{}), waiting: 1}
	if m.kept == nil {
		m.kept = map[string]*value{}
	}
	m.kept[key] = v
	base := m.Around.Base
	if base == nil {
		base = context.Background()
	}
	work, cancel := context.WithCancel(base)
	v.cancel = cancel
	release := func() {}
	if m.Around.Hold != nil {
		work, release = m.Around.Hold(work, ctx)
	}
	over := func() {}
	if m.Around.Reading != nil && !ends {
		over = m.Around.Reading(key)
	}
	go v.run(work, release, over, compute)
	return v
}

// leave is one less who waits, and tells whether the value is there.
func (m *Memo) leave(v *value, ends bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	v.waiting--
	over := v.over()
	if ends && !over && v.waiting == 0 {
		v.ended = true
		v.cancel()
	}
	return over
}

// run computes.
func (v *value) run(ctx context.Context, release, over func(), compute func(context.Context) (any, error)) {
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			v.fault = fault(p)
		}
		v.took = time.Since(began)
		release()
		over()
		close(v.done)
	}()
	// A file that is mapped may become shorter: that is a panic and no crash.
	debug.SetPanicOnFault(true)
	v.value, v.err = compute(ctx)
}

// fault is what was recovered; that of a computation which this one waited for stays.
func fault(p any) *Fault {
	if f, ok := p.(*Fault); ok {
		return f
	}
	return &Fault{p, debug.Stack()}
}
