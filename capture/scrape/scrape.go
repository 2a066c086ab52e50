// Package scrape finds Go services and takes their profiles again and again, as
// net/http/pprof serves them: nothing is built into the service.
//
// Targets come from jobs ([Local], [Static], [Scraper.RunFile]), whose ways of finding are asked
// again and again. Each target is asked by one goroutine, for one profile at a time: two
// profilers disturb each other, and Go refuses a second CPU profile. What it costs the
// target is measured, and kept within a budget by asking more rarely ([Options]).
//
// What a profile means is for who takes it ([Sink]).
package scrape

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"loupe/source/bounded"
	"loupe/value/secret"
)

// Scrape is one profile that was taken.
type Scrape struct {
	Target *Target
	Kind   Kind
	// Data is the profile as it came.
	Data []byte
	// Begin and End are when it was asked for and had come, by the clock of this machine.
	Begin, End time.Time
}

// Sink takes profiles. It is called by several goroutines, once at a time for a target. It
// returns how many samples a CPU profile has, which is how often the program was
// interrupted.
type Sink func(context.Context, *Scrape) (samples int64, err error)

// Options say how targets are treated. The zero Options are the usual ones.
type Options struct {
	// Budget is the share of one CPU that profiling may take of a target: 0 is UsualBudget.
	Budget float64
	// Part and Parts divide the targets among several Scrapers that find the same ones:
	// number Part of Parts, from 1 on, takes its own. 0 is all of them.
	Part, Parts int
	// Tell is given what goes wrong and what it means, in one line.
	Tell func(format string, args ...any)
}

// mine tells whether a target is in the part of this Scraper. The address decides alone:
// labels may come later.
func (o Options) mine(t *Target) bool {
	if o.Parts <= 1 {
		return true
	}
	h := fnv.New64a()
	h.Write([]byte(t.URL.String()))
	return int(h.Sum64()>>16%uint64(o.Parts)) == o.Part-1
}

// UsualBudget is the share of one CPU that profiling may take of a target.
const UsualBudget = 0.01

// interruption is what one sample of a CPU profile is taken to cost: a signal, unwinding a
// stack of some twenty frames, and its share of writing the profile. docs/benchmarks.md has
// what was measured.
const interruption = 10 * time.Microsecond

// Scraper takes profiles of all targets of some jobs.
type Scraper struct {
	sink Sink
	opt  Options

	mu      sync.Mutex
	workers map[string]*worker
}

// New makes a Scraper that hands profiles to a sink.
func New(sink Sink, opt Options) *Scraper {
	if opt.Budget == 0 {
		opt.Budget = UsualBudget
	}
	if opt.Tell == nil {
		opt.Tell = func(string, ...any) {}
	}
	return &Scraper{sink: sink, opt: opt, workers: map[string]*worker{}}
}

// Run takes profiles until ctx ends, and returns when the last one is handed over. It may
// be called again, with other jobs.
func (s *Scraper) Run(ctx context.Context, jobs []*Job) {
	var running sync.WaitGroup
	for _, j := range jobs {
		running.Go(func() { s.follow(ctx, j, &running) })
	}
	running.Wait()
}

// follow starts and ends the workers of a job as its targets come and go.
func (s *Scraper) follow(ctx context.Context, j *Job, running *sync.WaitGroup) {
	found := make([][]Group, len(j.finders)) // the last of each
	next := make([]time.Time, len(j.finders))
	said := ""
	for ctx.Err() == nil {
		var failed error
		soonest := time.Now().Add(time.Hour)
		for i, f := range j.finders {
			if now := time.Now(); !now.Before(next[i]) {
				groups, err := f.find(ctx)
				if err == nil || groups != nil {
					found[i] = groups
				}
				failed = errors.Join(failed, err)
				next[i] = now.Add(f.every())
			}
			if next[i].Before(soonest) {
				soonest = next[i]
			}
		}
		failed = errors.Join(failed, s.arrange(ctx, j, slices.Concat(found...), running))
		if text := fmt.Sprint(failed); failed != nil && ctx.Err() == nil && text != said {
			s.opt.Tell("job %s: %s", j.Name, text)
			said = text
		}
		pause(ctx, time.Until(soonest))
	}
	s.arrange(ctx, j, nil, running)
}

// arrange makes the workers of a job those of the groups.
func (s *Scraper) arrange(ctx context.Context, j *Job, groups []Group, running *sync.WaitGroup) (err error) {
	wanted := map[string]*Target{}
	for _, g := range groups {
		targets, wrong := j.targets(g)
		err = errors.Join(err, wrong)
		for _, t := range targets {
			if s.opt.mine(t) {
				wanted[t.Key()] = t
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, w := range s.workers {
		if w.target.Job == j && wanted[key] == nil {
			w.stop()
			delete(s.workers, key)
		}
	}
	for key, t := range wanted {
		if s.workers[key] != nil || ctx.Err() != nil {
			continue
		}
		within, stop := context.WithCancel(ctx)
		w := &worker{turn: newTurn(), target: t, sink: s.sink, opt: s.opt, stop: stop, client: t.Job.Access.Client(), missing: map[string]bool{}, wrong: map[string]error{}}
		s.workers[key] = w
		running.Go(func() { w.run(within) })
	}
	return err
}

// State is how a target is getting on.
type State struct {
	Target *Target
	// Last is when a profile came last, Err what is wrong with one that does not come.
	Last time.Time
	Err  error
	// Taken counts profiles. Cost is the time of one CPU that a round of them takes, at
	// most, and Every how often a round is taken, in order to keep to the budget.
	Taken       int64
	Cost, Every time.Duration
}

// States are those of all targets, by their URLs.
func (s *Scraper) States() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []State
	for _, key := range slices.Sorted(maps.Keys(s.workers)) {
		all = append(all, s.workers[key].now())
	}
	return all
}

// Targets are those that are asked for profiles now.
func (s *Scraper) Targets() []*Target {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Target
	for _, key := range slices.Sorted(maps.Keys(s.workers)) {
		all = append(all, s.workers[key].target)
	}
	return all
}

// Hold keeps a target for somebody who takes profiles of it for himself: the one that is being
// taken is given up at once, and no other is begun before release is called. It returns
// when nothing is under way any more, or ctx ends.
func (s *Scraper) Hold(ctx context.Context, t *Target) (release func()) {
	s.mu.Lock()
	w := s.workers[t.Key()]
	s.mu.Unlock()
	if w == nil {
		return func() {}
	}
	return w.turn.hold(ctx)
}

// worker takes the profiles of one target.
type worker struct {
	turn   *turn
	target *Target
	sink   Sink
	opt    Options
	stop   context.CancelFunc
	client *http.Client
	// missing are the profiles that the target does not have, wrong what went wrong with
	// each of the others when it was last asked for.
	missing map[string]bool
	wrong   map[string]error

	mu    sync.Mutex
	state State
}

func (w *worker) now() State {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.state
	s.Target = w.target
	return s
}

// run takes rounds until ctx ends. Targets begin at different moments of the interval, each
// at the same one whenever it is found again.
func (w *worker) run(ctx context.Context) {
	defer w.client.CloseIdleConnections()
	every := w.target.Job.Interval
	pause(ctx, w.offset(every))
	for ctx.Err() == nil {
		begin := time.Now()
		cost, answered := w.round(ctx)
		if !answered {
			clear(w.missing) // what comes next at the address may be another program
		}
		every = max(w.target.Job.Interval, time.Duration(float64(cost)/w.opt.Budget))
		w.mu.Lock()
		w.state.Cost, w.state.Every = cost, every
		w.mu.Unlock()
		pause(ctx, time.Until(begin.Add(every)))
	}
}

// offset is when in an interval the target has its turn.
func (w *worker) offset(every time.Duration) time.Duration {
	h := fnv.New64a()
	h.Write([]byte(w.target.Key()))
	return time.Duration(h.Sum64() % uint64(every))
}

// round takes each profile once. cost is the CPU time that it took the target at most;
// answered tells whether the target has answered at all.
func (w *worker) round(ctx context.Context) (cost time.Duration, answered bool) {
	asked, lacked := 0, 0
	for _, k := range w.target.Job.Profiles {
		if w.missing[k.Name] || ctx.Err() != nil {
			continue
		}
		asked++
		one, err := w.take(ctx, k)
		cost += one
		if errors.Is(err, errHeld) {
			answered = true
			continue
		}
		if lacks := (*lacking)(nil); errors.As(err, &lacks) {
			w.missing[k.Name] = true
			delete(w.wrong, k.Name)
			answered = true
			lacked++
			continue
		}
		answered = answered || err == nil
		w.note(ctx, k.Name, err)
	}
	if lacked == asked && len(w.missing) == len(w.target.Job.Profiles) {
		w.note(ctx, "", errNone)
	}
	return cost, answered
}

// note keeps how it went with one profile: that others came says nothing of it. An error is
// told when it is another than the last one, once for all profiles.
func (w *worker) note(ctx context.Context, kind string, err error) {
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil {
		delete(w.wrong, kind)
		delete(w.wrong, "")
		w.state.Last = time.Now()
		w.state.Taken++
	} else {
		if !slices.ContainsFunc(slices.Collect(maps.Values(w.wrong)), func(known error) bool { return known.Error() == err.Error() }) {
			w.opt.Tell("%s: %v", secret.URL(w.target.URL.String()), err)
		}
		w.wrong[kind] = err
	}
	w.state.Err = w.problem()
}

// problem is what is wrong with the target: what is with its first profile of which
// something is, by its name where others come.
func (w *worker) problem() error {
	asked := 0
	var first error
	for _, k := range w.target.Job.Profiles {
		if !w.missing[k.Name] {
			asked++
		}
		if err := w.wrong[k.Name]; err != nil && first == nil {
			first = fmt.Errorf("%s: %w", k.Name, err)
		}
	}
	switch {
	case w.wrong[""] != nil:
		return w.wrong[""]
	case first != nil && len(w.wrong) == asked:
		return errors.Unwrap(first)
	}
	return first
}

// errNone is the error of a target that answers and has none of the profiles.
var errNone = errors.New("it has no profiles there (does it import net/http/pprof, and is this its port and path?)")

// lacking is the error of a profile that a target does not have.
type lacking struct{ status string }

func (l *lacking) Error() string { return "it answers " + l.status }

// maxProfile bounds a profile as it comes.
const maxProfile = 64 << 20

// take asks for one profile and hands it over.
func (w *worker) take(ctx context.Context, k Kind) (cost time.Duration, err error) {
	length := time.Duration(0)
	if k.timed() {
		length = w.target.Job.Length
	}
	mine, done, err := w.turn.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	within, cancel := context.WithTimeout(mine, length+w.target.Job.Timeout)
	defer cancel()
	u := w.target.URL.JoinPath(k.Path)
	if length > 0 {
		query := u.Query()
		// net/http/pprof takes whole seconds alone.
		query.Set("seconds", strconv.Itoa(max(1, int(length.Round(time.Second)/time.Second))))
		u.RawQuery = query.Encode()
	}
	begin := time.Now()
	data, err := w.get(within, u)
	end := time.Now()
	if errors.Is(context.Cause(mine), errHeld) {
		return end.Sub(begin), errHeld
	}
	if err != nil {
		return 0, err
	}
	samples, err := w.sink(ctx, &Scrape{Target: w.target, Kind: k, Data: data, Begin: begin, End: end})
	return max(0, end.Sub(begin)-length) + time.Duration(samples)*interruption, err
}

// get fetches what is at an address.
func (w *worker) get(ctx context.Context, u *url.URL) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	w.target.Job.Access.Show(req)
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer: %w", errors.Unwrap(err))
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return bounded.ReadAll(resp.Body, secret.URL(u.String()), maxProfile)
	case http.StatusNotFound, http.StatusNotImplemented:
		return nil, &lacking{resp.Status}
	default:
		text, _ := bounded.ReadAll(resp.Body, "", 200)
		return nil, fmt.Errorf("it answers %s: %.200q", resp.Status, text)
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
