// Package incident holds the targets of a fleet against alert rules, as loupe watch does with
// one program, and keeps what it captures of the moment as recordings in a folder.
//
// A storm is bounded: for each rule and target there is a pause, in an hour there are so many recordings
// and calls of hooks, and the folder has so many recordings and bytes. What is left out is counted and told.
package incident

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"loupe/capture/alert"
	"loupe/capture/collect"
	"loupe/format/yamlfile"
	"loupe/source/bounded"
	"loupe/value/unit"
)

// Config is a file of alert rules.
type Config struct {
	Alerts []*Condition
	// Interval is the time between two readings of a target, History for how long readings are kept
	// for a recording, Pause the least time between two incidents of one rule and target.
	Interval, History, Pause time.Duration
	// Hourly is how many recordings are taken, and how often hooks are called, within an hour at most.
	Hourly int
	// Limit is the memory that percentages are of, 0 for what the machine of a target tells.
	Limit unit.Bytes
	// Exec and Webhook are told of incidents.
	Exec, Webhook string
	// Count and Bytes bound what is kept, Bucket the recordings in a bucket.
	Count  int
	Bytes  unit.Bytes
	Bucket unit.Bytes
}

// Condition is a rule with the targets that it is for.
type Condition struct {
	// Rule is as package alert reads it.
	Rule string
	// Only are the labels that a target must have, each as a whole; none is all targets.
	Only map[string]*regexp.Regexp
	// Phases are what is captured.
	Phases []collect.Phase
}

// selects tells whether the condition is for a target with labels.
func (c *Condition) selects(labels map[string]string) bool {
	for name, want := range c.Only {
		if !want.MatchString(labels[name]) {
			return false
		}
	}
	return true
}

// usualCapture is what is captured where nothing else is said. A CPU profile is not among
// it: it says little of one moment, and the store has those of the time around it. The heap comes first, because a program
// that is about to be killed may not live to see the rest.
const usualCapture = "heap,goroutine,trace:2s"

// Read reads a file of alert rules. An error names the line.
func Read(path string) (*Config, error) {
	data, err := bounded.ReadNamed(path)
	if err != nil {
		return nil, err
	}
	return parse(path, data)
}

// config reads a file.
type config struct {
	yamlfile.Reader
	capture string
	out     Config
}

// parse reads the text of a file.
func parse(path string, data []byte) (*Config, error) {
	r, doc, err := yamlfile.Parse(path, data)
	if errors.Is(err, yamlfile.ErrEmpty) {
		return nil, fmt.Errorf("%w: want alerts, a list of rules", err)
	}
	if err != nil {
		return nil, err
	}
	c := &config{Reader: r, capture: usualCapture, out: Config{
		Interval: 10 * time.Second, History: 5 * time.Minute, Pause: 10 * time.Minute, Hourly: 12, Count: 100, Bytes: 2 << 30, Bucket: 20 << 30,
	}}
	var alerts *yamlfile.Node
	err = c.Fields(doc, yamlfile.Keys{
		"alerts":   func(n *yamlfile.Node) error { alerts = n; return nil },
		"interval": c.Duration(&c.out.Interval), "history": c.Duration(&c.out.History), "pause": c.Duration(&c.out.Pause),
		"hourly": c.Int(&c.out.Hourly, 1), "limit": c.bytes(&c.out.Limit), "capture": c.Text(&c.capture),
		"hooks": func(n *yamlfile.Node) error {
			return c.Fields(n, yamlfile.Keys{"exec": c.Text(&c.out.Exec), "webhook": c.Text(&c.out.Webhook)})
		},
		"keep": func(n *yamlfile.Node) error {
			return c.Fields(n, yamlfile.Keys{"count": c.Int(&c.out.Count, 1), "bytes": c.bytes(&c.out.Bytes), "bucket": c.bytes(&c.out.Bucket)})
		},
	})
	if err != nil {
		return nil, err
	}
	if c.out.Interval < leastInterval {
		return nil, c.Errorf(doc, "interval: want at least %v, not %v", leastInterval, c.out.Interval)
	}
	if alerts == nil {
		return nil, c.Errorf(doc, "there are no alerts: want a list such as [{rule: goroutines>10000}]")
	}
	if err := c.Each(alerts, c.condition); err != nil {
		return nil, err
	}
	if len(c.out.Alerts) == 0 {
		return nil, c.Errorf(alerts, "alerts has no rule: want one such as {rule: goroutines>10000}")
	}
	return &c.out, nil
}

// leastInterval keeps the cost of looking small.
const leastInterval = 100 * time.Millisecond

// bytes reads an amount of memory.
func (c *config) bytes(to *unit.Bytes) yamlfile.Value {
	return func(n *yamlfile.Node) error {
		b, err := unit.ParseBytes(n.Value)
		if err != nil || b <= 0 {
			return c.Errorf(n, "want an amount such as 2GB, not %q", n.Value)
		}
		*to = b
		return nil
	}
}

// condition reads one of the alerts.
func (c *config) condition(n *yamlfile.Node) error {
	one := &Condition{Only: map[string]*regexp.Regexp{}}
	only, capture := map[string]string{}, c.capture
	if err := c.Fields(n, yamlfile.Keys{"rule": c.Text(&one.Rule), "only": c.Map(&only), "capture": c.Text(&capture)}); err != nil {
		return err
	}
	if _, err := alert.Parse(one.Rule); err != nil {
		return c.Errorf(n, "%v", err)
	}
	for name, text := range only {
		e, err := regexp.Compile("^(?:" + text + ")$")
		if err != nil {
			return c.Errorf(n, "only: %s: %v", name, err)
		}
		one.Only[name] = e
	}
	phases, err := collect.ParsePhases(capture, 0)
	if err != nil {
		return c.Errorf(n, "capture: %v", err)
	}
	one.Phases = phases[1:] // the bare one is what led there
	c.out.Alerts = append(c.out.Alerts, one)
	return nil
}
