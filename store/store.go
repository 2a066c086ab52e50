// Package store holds profiles over time: what a fleet of programs sends every few
// seconds, and the questions that are asked of weeks of it. It has the words of that
// (labels, types, matchers, written profiles, merged stacks) and one small interface,
// [Engine], which package block implements on the disk of one machine. Package
// storetest holds every engine to one suite.
//
// A writer fills in a [Profile] for each profile that came, and writes several at once:
//
//	p, err := profile.Decode(body, profile.Options{})
//	...
//	err = engine.Write(ctx, []*store.Profile{{
//		ID:      store.IDOf(clientAndSequence),    // the same when it is sent again
//		Labels:  store.LabelsOf("service_name", "shop", "pod", "a"),
//		Types:   store.TypesOf(p, ""),              // or made by hand; a zero Type leaves a column out
//		Time:    p.Time, Duration: p.Duration,
//		Samples: p,
//	}})
//
// When Write returns nil, the profiles are durable. What is written must be a
// difference where the type is one of activity (CPU, allocations, delays): cumulative
// profiles are made into differences before they get here.
//
// A reader names a [Selection] and asks for [Engine.Totals] (a line for each group of
// labels), [Engine.Stacks] (a flame graph, or several in one pass, for a diff) or
// [Engine.Top] (functions over a long range):
//
//	typ, err := store.ParseType("process_cpu:cpu:nanoseconds:cpu:nanoseconds")
//	m, err := store.ParseMatchers(`{service_name="shop",pod=~"a|b"}`)
//	got, err := engine.Stacks(ctx, store.StacksQuery{Selection: store.Selection{
//		Type: typ, Matchers: m, Range: store.Range{Start: from, End: to}}})
//	inclusive := got.Inclusive(0) // one value for each node
//	p, err := got.Profile(0)      // as a profile, for everything that reads one
//
// How values add up over time is the type's business and nobody else's, see
// [Type.Over]: memory in use and goroutines are states, which are never summed over
// time. An engine refuses a query that asks for it.
//
// The package touches nothing outside the process and knows no protocol.
package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"loupe/format/profile"
)

// Labels that mean something to an engine. All others are the writer's.
const (
	// ServiceLabel names the program. Every written profile has it.
	ServiceLabel = "service_name"
	// BuildLabel is the build id of the program, where it is known.
	BuildLabel = "build_id"
	// VersionLabel is the version as people name it, such as v1.42.0.
	VersionLabel = "version"
)

// Errors that callers tell apart. Engines wrap them with what was wrong.
var (
	// ErrTooMuch is a query that costs more than its [Limits] allow.
	ErrTooMuch = errors.New("the query costs too much")
	// ErrAggregation is a query that sums a state over time, or the like.
	ErrAggregation = errors.New("this type cannot be aggregated so")
	// ErrClosed is any call after Close.
	ErrClosed = errors.New("the store is closed")
	// ErrInvalid is a written profile that cannot be stored, whatever is retried.
	ErrInvalid = errors.New("the profile cannot be stored")
	// ErrLocked is a folder that another process has open.
	ErrLocked = errors.New("another process uses the store")
)

// ID names one written profile, so that it is stored once however often a client
// repeats it. The zero ID names nothing: such a profile is stored each time.
type ID [16]byte

// IDOf makes an ID of whatever tells profiles apart: the bytes that came, or a client's
// name with the number that it has given. It is the begin of the SHA-256.
func IDOf(parts ...[]byte) (id ID) {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
		h.Write([]byte{0})
	}
	copy(id[:], h.Sum(nil))
	return id
}

// Profile is a profile to be written. Nothing of it is modified, or kept after Write.
type Profile struct {
	ID     ID     // see there
	Labels Labels // the series, with [ServiceLabel]
	// Time is when the profile began, by the clock of whoever took it, and Duration how
	// long it was taken: 0 for a state. A profile is in a [Range] when Time is.
	Time     time.Time
	Duration time.Duration
	// Types names the columns of Samples.Values, in their order. A zero Type leaves its
	// column out.
	Types []Type
	// Samples are the stacks and values. Strings among the labels of samples (goroutine
	// labels, span ids) are kept with the sample, never as a series; numbers are not
	// kept: those that Go writes are sizes of objects, and would split every stack.
	Samples *profile.Profile
}

// Engine is a store. Its methods may be called at the same time, and stop early when the
// context ends. An engine has one owner, who calls Maintain now and then.
type Engine interface {
	// Write stores profiles, all or none of them. When it returns nil they are durable
	// and every later query sees them. One whose ID was written before is left out: an
	// engine remembers at least the last 100,000 IDs, over restarts too. After an error
	// other than ErrInvalid the caller may write the same again.
	Write(ctx context.Context, profiles []*Profile) error

	// Types returns the types that the selection has, sorted.
	Types(ctx context.Context, s Selection) ([]Type, error)
	// LabelNames returns the names of labels of the selected series, sorted.
	LabelNames(ctx context.Context, s Selection) ([]string, error)
	// LabelValues returns the values of one label of the selected series, sorted.
	LabelValues(ctx context.Context, name string, s Selection) ([]string, error)
	// Series returns the selected series, sorted, each once for all its types.
	Series(ctx context.Context, s Selection) ([]Labels, error)

	// Totals returns how much there was over time, sorted by labels.
	Totals(ctx context.Context, q TotalsQuery) ([]TotalSeries, error)
	// Stacks adds up the stacks of all selected profiles.
	Stacks(ctx context.Context, q StacksQuery) (*Stacks, error)
	// Top returns the functions that most was spent in.
	Top(ctx context.Context, q TopQuery) (*Top, error)

	// Drop removes the profiles that are selected for good, pinned or not, with all the
	// types that they have.
	Drop(ctx context.Context, s Selection) error
	// Maintain does the housekeeping that is due by now: it merges, thins out and drops
	// what the policy says, and keeps what is pinned. It is to be called every minute
	// or so.
	Maintain(ctx context.Context, policy Policy, now time.Time) error
	// Pin keeps what it selects from being thinned out or dropped. A pin of the same
	// name is replaced.
	Pin(ctx context.Context, p Pin) error
	// Unpin takes a pin away. An unknown name is no error.
	Unpin(ctx context.Context, name string) error
	// Pins returns the pins, sorted by name.
	Pins(ctx context.Context) ([]Pin, error)

	// Close waits for what is under way and makes the store ready to be opened again.
	Close() error
}
