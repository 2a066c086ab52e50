package sweep

import (
	"context"
	"fmt"
	"sync"

	"loupe/format/exectrace"
	"loupe/value/stack"
)

// Desk finds out what many want to know of one trace, in as few passes as
// possible, and keeps it. Any number of goroutines may use it.
type Desk struct {
	trace *exectrace.Trace

	mu   sync.Mutex
	kept map[string]*answer
}

// NewDesk returns the desk of a trace.
func NewDesk(t *exectrace.Trace) *Desk { return &Desk{trace: t, kept: map[string]*answer{}} }

// Trace returns the trace.
func (d *Desk) Trace() *exectrace.Trace { return d.trace }

// Want is something that a pass can find out.
type Want[T any] struct {
	// Key names it. Of wants with the same key the first is served, and all
	// get its answer.
	Key string
	// Begin joins the pass and returns what makes the answer when it is over.
	// Readers may share the answer: it must not change any more.
	Begin func(p *Pass) (finish func() (T, error), err error)
}

// Wanted is a [Want] of any type.
type Wanted interface {
	key() string
	begin(p *Pass) (finish func() (any, error), err error)
}

func (w Want[T]) key() string { return w.Key }

func (w Want[T]) begin(p *Pass) (func() (any, error), error) {
	finish, err := w.Begin(p)
	return func() (any, error) { return finish() }, err
}

// answer is what is known about a want, or going to be.
type answer struct {
	from   *joint
	finish func() (any, error)
	value  any
	err    error
}

// joint is a pass for several wants. Whoever waits for one of them reads; when
// he has to go, another one who waits goes on. Nobody reads when nobody waits, and
// what has been read is kept for who comes back.
type joint struct {
	pass    *Pass
	answers []*answer
	reading bool
	over    bool
	news    chan struct{} // closed when reading or over changes
}

// Get returns what is wanted. What else is likely to be wanted soon is found
// out in the same pass, unless it is known already. While Get reads, it tells
// how much is done; tell may be nil.
func Get[T any](ctx context.Context, d *Desk, tell func(done float64), w Want[T], with ...Wanted) (T, error) {
	var none T
	a, err := d.answer(ctx, tell, append([]Wanted{w}, with...))
	if err != nil {
		return none, err
	}
	v, ok := a.value.(T)
	if !ok && a.err == nil {
		return none, fmt.Errorf("BUG: two wants are called %q", w.Key)
	}
	return v, a.err
}

// Prepare finds out all that is wanted, in one pass as far as it is not known.
// What went wrong with one of them [Get] tells.
func (d *Desk) Prepare(ctx context.Context, tell func(done float64), wants ...Wanted) error {
	for i := range wants {
		if _, err := d.answer(ctx, tell, wants[i:]); err != nil {
			return err
		}
	}
	return nil
}

// answer returns the answer to the first of some wants.
func (d *Desk) answer(ctx context.Context, tell func(float64), wants []Wanted) (*answer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a := d.kept[wants[0].key()]
		if a == nil {
			if err := d.begin(wants); err != nil {
				return nil, err
			}
			continue
		}
		j := a.from
		switch {
		case j.over:
			return a, nil
		case !j.reading:
			d.read(ctx, j, tell)
			continue
		}
		news := j.news
		d.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-news:
		}
		d.mu.Lock()
	}
}

// begin makes a pass for those of the wants that have no answer.
func (d *Desk) begin(wants []Wanted) error {
	j := &joint{pass: New(d.trace), news: make(chan struct{})}
	kept := map[string]*answer{}
	for _, w := range wants {
		if d.kept[w.key()] != nil || kept[w.key()] != nil {
			continue
		}
		finish, err := w.begin(j.pass)
		if err != nil {
			return err
		}
		a := &answer{from: j, finish: finish}
		kept[w.key()] = a
		j.answers = append(j.answers, a)
	}
	for key, a := range kept {
		d.kept[key] = a
	}
	if len(j.pass.by[exectrace.KindGoTransition]) > 1 {
		j.pass.Ahead()
	}
	return nil
}

// read goes on with a pass until it is over or ctx is. The desk is locked when it
// is called and when it returns.
func (d *Desk) read(ctx context.Context, j *joint, tell func(float64)) {
	j.reading = true
	d.mu.Unlock()
	whole := false
	defer func() {
		d.mu.Lock()
		j.reading = false
		j.over = j.over || whole
		close(j.news)
		j.news = make(chan struct{})
		if !whole && ctx.Err() == nil { // a panic: nobody else should try
			for key, a := range d.kept {
				if a.from == j {
					delete(d.kept, key)
				}
			}
			j.over = true
			for _, a := range j.answers {
				a.err = ErrStopped
			}
		}
	}()
	err := j.pass.Run(func() bool {
		if tell != nil {
			tell(j.pass.Done())
		}
		return ctx.Err() != nil
	})
	if err == ErrStopped {
		return
	}
	for _, a := range j.answers {
		if a.err = err; err == nil {
			a.value, a.err = a.finish()
		}
		a.finish = nil
	}
	// Root fills its table when it is asked. From now on many may ask.
	if r := j.pass.r; r.Stacks().Len() > 0 {
		r.Root(stack.ID(r.Stacks().Len() - 1))
	}
	j.pass, j.answers = nil, nil // who is still there keeps what it was made of
	whole = true
}
