// Package clickhouse is the engine of package store on ClickHouse, one server or the shards
// of a cluster, over its HTTP interface and nothing else. docs/formats/clickhouse.md
// describes the tables, which any client of ClickHouse can read.
//
//	at, err := clickhouse.ParseAddress("clickhouse://loupe:secret@db:8123/loupe")
//	...
//	e, err := clickhouse.Open(ctx, at, clickhouse.Options{})
//
// Several processes may write to and read from one database at the same time: none of
// them gives numbers that another has to know. Series and kinds are named by hashes,
// code by numbers of a space that belongs to one process. Housekeeping is done by
// whoever gets the claim to it; the others leave it alone.
//
// Writers that come at the same time share one insert. A profile is claimed by its ID
// before it is inserted, so that a repeated one is known for what it is, whoever gets
// it: see the table seen. What profiles refer to is inserted before they are.
//
// ClickHouse adds up, by series, time and stack; what comes back is put into a tree here.
package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"loupe/store"
)

// Options are those of Open. The zero Options are the usual ones.
type Options struct {
	// Every is the least time between the begins of two inserts, in which writers are
	// collected: ClickHouse merges what each one leaves. 0 means 250 ms.
	Every time.Duration
	// Patience is how long Write repeats what fails for a reason that passes, such as a
	// shard that is being started. 0 means 40 s.
	Patience time.Duration
	// Settle is how long an insert whose end nobody knows may go on; until then the same
	// profile is not written again. 0 means 20 s.
	Settle time.Duration
	// Grace is how long profiles that were thinned out are still there for questions
	// that began before. 0 means a minute.
	Grace time.Duration

	hook func(statement string) error // for tests
}

// Engine is the store in one database. It has more methods than most because it is the
// interface of package store, each with little below it.
type Engine struct {
	c     *client
	w     *writer
	opt   Options
	names registry
	code  code
	keep  keeper
}

var _ store.Engine = (*Engine)(nil)

// Open makes the tables where they are not there, and returns the store in them. It
// fails when a host does not answer.
func Open(ctx context.Context, at Address, opt Options) (*Engine, error) {
	opt.Every = cmp.Or(opt.Every, 250*time.Millisecond)
	opt.Patience = cmp.Or(opt.Patience, 40*time.Second)
	opt.Settle = cmp.Or(opt.Settle, insertTime+5*time.Second)
	opt.Grace = cmp.Or(opt.Grace, time.Minute)
	e := &Engine{c: newClient(at), opt: opt}
	e.c.hook = opt.hook
	e.w = newWriter(e.c, &e.names, opt)
	if err := e.c.prepare(ctx); err != nil {
		return nil, fmt.Errorf("cannot open the store %s: %w", at, err)
	}
	return e, nil
}

// Exists tells whether a database has the tables of a store. It makes nothing.
func Exists(ctx context.Context, at Address) (bool, error) {
	c := newClient(at)
	defer c.http.CloseIdleConnections()
	n := uint64(0)
	err := c.ask(ctx, "SELECT count() FROM system.tables WHERE database = "+quote(at.Database)+" AND name = 'profiles'", func(r *rows) error {
		n = r.uint64()
		return r.err
	})
	if err != nil {
		return false, fmt.Errorf("cannot open the store %s: %w", at, err)
	}
	return n > 0, nil
}

// begin is the begin of every method.
func (e *Engine) begin(ctx context.Context) error {
	if e.w.isClosed() {
		return store.ErrClosed
	}
	return ctx.Err()
}

// Write is that of [store.Engine]. What one call has for several shards or days may be
// seen in part before it returns, or when it fails; repeated, it is there once.
func (e *Engine) Write(ctx context.Context, profiles []*store.Profile) error {
	return e.write(ctx, profiles, nil)
}

// write writes profiles, which are as they came unless moved says what they are.
func (e *Engine) write(ctx context.Context, profiles []*store.Profile, moved []*store.Moved) error {
	for _, p := range profiles {
		if err := p.Check(); err != nil {
			return err
		}
	}
	if err := e.begin(ctx); err != nil {
		return err
	}
	if len(profiles) == 0 {
		return nil
	}
	if err := e.w.write(ctx, profiles, moved); err != nil {
		if errors.Is(err, store.ErrClosed) || ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			return err
		}
		return fmt.Errorf("cannot write to %s: %w", e.c.at, err)
	}
	return nil
}

// Close is that of [store.Engine].
func (e *Engine) Close() error {
	if err := e.w.close(); err != nil {
		return err
	}
	e.c.http.CloseIdleConnections()
	return nil
}
