package incident

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"loupe/capture/alert"
	"loupe/capture/collect"
	"loupe/capture/hook"
	"loupe/capture/scrape"
	"loupe/recording"
	"loupe/store/blob"
	"loupe/value/secret"
)

// Fleet has the targets that are watched. [scrape.Scraper] is one.
type Fleet interface {
	// Targets are those that there are now.
	Targets() []*scrape.Target
	// Hold keeps a target for a capture, until release is called.
	Hold(ctx context.Context, t *scrape.Target) (release func())
}

// Options say where incidents go.
type Options struct {
	// Dir is the folder of the recordings.
	Dir string
	// Tool names the program in recordings.
	Tool string
	// Tell is given what happens, in one line.
	Tell func(format string, args ...any)
	// Now is the time; nil is that of this machine.
	Now func() time.Time
	// Bucket has all incidents and recordings too, when there is one: those of the folder are brought there, and may
	// go here then. A bucket belongs to one folder at a time. What is not there is brought again every Retry, a minute by default.
	Bucket blob.Bucket
	Retry  time.Duration
	// Pinned returns what tells whether an incident stays whatever the bounds are; nil for none.
	Pinned func() (func(*Incident) bool, error)
}

// Monitor watches the targets of a fleet.
type Monitor struct {
	fleet Fleet
	opt   Options
	kept  *folder
	tier  *tier         // nil without a bucket
	turns chan struct{} // captures that may run at once

	storms *storms
	rules  *inForce
}

// New makes a monitor of a fleet.
func New(fleet Fleet, opt Options) (*Monitor, error) {
	if opt.Tell == nil {
		opt.Tell = func(string, ...any) {}
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	kept, err := openFolder(opt.Dir)
	if err != nil {
		return nil, fmt.Errorf("cannot keep incidents: %w", err)
	}
	kept.now = opt.Now
	if opt.Pinned != nil {
		kept.pins = opt.Pinned
	}
	m := &Monitor{fleet: fleet, opt: opt, kept: kept, turns: make(chan struct{}, atOnce), rules: &inForce{config: &Config{}}, storms: &storms{last: map[string]*Incident{}}}
	if opt.Bucket != nil {
		m.tier = newTier(kept, opt)
	}
	if m.tier == nil { // which may have them
		kept.tellDamaged(opt.Tell)
	}
	return m, nil
}

// Close lets another process use the folder. Nothing may be running.
func (m *Monitor) Close() error { return m.kept.held.Close() }

// atOnce is how many captures run at the same time.
const atOnce = 2

// List are the incidents, the newest first.
func (m *Monitor) List() []Incident { return m.kept.list() }

// Place is where the recording of an incident lies here: a folder, or a packed one that was brought back; "" where there
// is none on this machine.
func (m *Monitor) Place(id string) string {
	if in, ok := m.kept.get(id); ok && in.Recorded {
		return m.kept.local(&in)
	}
	return ""
}

// ErrNone is an incident without a recording.
var ErrNone = errors.New("there is no recording of this incident")

// Fetch is Place, and brings the recording back from the bucket if that alone has it.
func (m *Monitor) Fetch(ctx context.Context, id string) (string, error) {
	in, ok := m.kept.get(id)
	switch {
	case !ok || !in.Recorded:
		return "", ErrNone
	case m.tier != nil:
		return m.tier.fetch(ctx, id)
	}
	if dir := m.kept.local(&in); dir != "" {
		return dir, nil
	}
	return "", ErrNone
}

// Packed is Fetch, packed: temp is a folder where that can be done.
func (m *Monitor) Packed(ctx context.Context, id, temp string) (string, error) {
	name, err := m.Fetch(ctx, id)
	if err != nil || filepath.Ext(name) == packed {
		return name, err
	}
	to := filepath.Join(temp, "recording"+packed)
	return to, recording.Zip(name, to)
}

// Rules are those that are in force.
func (m *Monitor) Rules() []Rule { return m.rules.rules() }

// rereadEvery is how often the file of rules is looked at.
const rereadEvery = time.Second

// RunFile watches by the rules in a file until ctx ends. When the file changes it is read again;
// while it is wrong, the rules that it had go on. It fails only where the file is wrong at the beginning.
func (m *Monitor) RunFile(ctx context.Context, path string) error {
	c, err := Read(path)
	for err == nil {
		within, stop := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { m.Run(within, c) })
		c = m.changed(ctx, path)
		stop()
		running.Wait()
		if c == nil {
			return nil
		}
	}
	return err
}

// changed waits for other rules; nil when ctx has ended.
func (m *Monitor) changed(ctx context.Context, path string) *Config {
	state := stamp(path)
	for {
		if !pause(ctx, rereadEvery) {
			return nil
		}
		now := stamp(path)
		if now == state {
			continue
		}
		state = now
		c, err := Read(path)
		if err == nil {
			m.opt.Tell("%s was read again", path)
			return c
		}
		m.opt.Tell("%v (the previous rules stay in force)", err)
	}
}

// stamp tells one state of a file from another.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime())
}

// pause waits, and tells whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Run watches the targets of the fleet by rules, until ctx ends.
func (m *Monitor) Run(ctx context.Context, c *Config) {
	m.rules.begin(c)
	m.storms.bound(c.Pause, c.Hourly)
	m.kept.keep(c.Count, int64(c.Bytes), int64(c.Bucket))
	if err := m.kept.bound(); err != nil {
		m.opt.Tell("incidents: %v", err)
	}
	var running sync.WaitGroup
	defer running.Wait()
	if m.tier != nil {
		running.Go(func() { m.tier.run(ctx) })
	}
	stops := map[string]context.CancelFunc{}
	for {
		m.kept.rewrite()
		now := map[string]bool{}
		for _, t := range m.fleet.Targets() {
			key := t.Key()
			now[key] = true
			if stops[key] != nil {
				continue
			}
			within, stop := context.WithCancel(ctx)
			stops[key] = stop
			running.Go(func() { m.watch(within, t, c) })
		}
		maps.DeleteFunc(stops, func(key string, stop context.CancelFunc) bool {
			if !now[key] {
				stop()
				m.rules.forget(key)
			}
			return !now[key]
		})
		if !pause(ctx, min(c.Interval, 2*time.Second)) {
			for _, stop := range stops {
				stop()
			}
			return
		}
	}
}

// rules are those of a target, which have seen nothing yet.
func rules(c *Config, t *scrape.Target) (mine map[*Condition]*alert.Rule) {
	mine = map[*Condition]*alert.Rule{}
	for _, one := range c.Alerts {
		if one.selects(t.Labels) {
			if r, err := alert.Parse(one.Rule); err == nil { // as it was when the file was read
				mine[one] = r
			}
		}
	}
	return mine
}

// reachEvery is how often a target is tried that does not answer, in intervals.
const reachEvery = 3

// watch watches one target until ctx ends, beginning anew when its process does.
func (m *Monitor) watch(ctx context.Context, t *scrape.Target, c *Config) {
	key := t.Key()
	for _, one := range c.Alerts {
		if one.selects(t.Labels) {
			m.rules.selects(one, key)
		}
	}
	if len(rules(c, t)) == 0 {
		return
	}
	for ctx.Err() == nil {
		w, err := collect.Watch(ctx, t.URL.String(), collect.WatchOptions{Interval: c.Interval, History: c.History, Limit: int64(c.Limit), Access: t.Job.Access})
		if err == nil {
			m.follow(ctx, w, t, c)
			err = w.Close()
		}
		// The scraper tells of a target that does not answer.
		if !pause(ctx, reachEvery*c.Interval) {
			return
		}
	}
}

// follow takes readings of a target until its process or ctx ends.
func (m *Monitor) follow(ctx context.Context, w *collect.Watcher, t *scrape.Target, c *Config) {
	mine, key := rules(c, t), t.Key()
	for {
		now, err := w.Next(ctx)
		if err != nil {
			return
		}
		for _, one := range c.Alerts {
			r := mine[one]
			if r == nil {
				continue
			}
			if r.Known(now) {
				m.rules.knows(one, key)
			}
			if why, fires := r.Check(now); fires {
				m.raise(ctx, w, t, one, why)
			}
		}
	}
}

// raise does what is to be done when a rule has fired.
func (m *Monitor) raise(ctx context.Context, w *collect.Watcher, t *scrape.Target, c *Condition, why string) {
	in := &Incident{At: m.opt.Now(), Rule: c.Rule, Why: why, Service: t.Labels[scrape.ServiceLabel], Target: secret.URL(t.URL.String()), Labels: maps.Clone(t.Labels)}
	before, within := m.storms.admit(in, t.Key())
	if before != nil {
		if err := m.kept.change(before, func(in *Incident) { in.Again++ }); err != nil {
			m.opt.Tell("incidents: %v", err)
		}
		m.tier.wake()
		return
	}
	m.opt.Tell("ALERT %s at %s (%s): %s", in.Rule, in.Target, in.Service, in.Why)
	full := ""
	if m.tier != nil {
		full = m.tier.full()
	}
	if in.Note = underWay; !within {
		in.Note = m.storms.note()
	} else if full != "" {
		in.Note = full
	}
	if err := m.kept.add(in); err != nil {
		m.opt.Tell("incidents: %v", err)
	}
	if !within {
		if why, first := m.storms.tell(in); first {
			m.notify(ctx, hook.Event{Alert: "storm", Why: why, Target: in.Target, Service: in.Service, Text: why})
		}
		m.tier.wake()
		return
	}
	if full == "" {
		if err := m.record(ctx, w, t, c, in); err != nil && ctx.Err() == nil {
			m.opt.Tell("incident %s: %v", in.ID, err)
		}
	}
	if err := m.kept.bound(); err != nil {
		m.opt.Tell("incidents: %v", err)
	}
	m.tier.wake()
	dir := m.Place(in.ID)
	if dir != "" {
		m.opt.Tell("recording %s (loupe report %s)", in.ID, dir)
	}
	m.notify(ctx, hook.Event{Alert: in.Rule, Why: in.Why, PID: w.PID(), Target: in.Target, Service: in.Service, Recording: dir,
		Text: fmt.Sprintf("%s at %s: %s", in.Service, in.Target, in.Why)})
}

// notify calls the hooks.
func (m *Monitor) notify(ctx context.Context, ev hook.Event) {
	hooks := m.rules.hooks()
	ev.Host, _ = os.Hostname()
	if err := hooks.Call(ctx, ev); err != nil && ctx.Err() == nil {
		m.opt.Tell("hooks: %v", err)
	}
}

// mostCapture bounds how long a capture takes.
const mostCapture = 2 * time.Minute

// record captures the moment. The target is held meanwhile, so that nobody else takes profiles of it.
func (m *Monitor) record(ctx context.Context, w *collect.Watcher, t *scrape.Target, c *Condition, in *Incident) error {
	ctx, cancel := context.WithTimeout(ctx, mostCapture)
	defer cancel()
	err := ctx.Err()
	select {
	case m.turns <- struct{}{}:
		release := m.fleet.Hold(ctx, t)
		err = w.Capture(ctx, m.kept.place(in), in.Service+": "+in.Why, m.opt.Tool, "alert "+in.Rule+": "+in.Why, c.Phases)
		release()
		<-m.turns
	case <-ctx.Done():
		err = ctx.Err()
	}
	note := ""
	if err != nil {
		note = "incomplete: " + err.Error()
	}
	bytes := size(m.kept.place(in))
	return errors.Join(err, m.kept.change(in, func(in *Incident) {
		in.Recorded, in.Note, in.Bytes = recorded(m.kept.place(in)), note, bytes
	}))
}
