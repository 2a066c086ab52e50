package incident

import (
	"os"
	"sync"

	"loupe/capture/hook"
)

// Rule is a rule with how far it can fire.
type Rule struct {
	Rule string
	// Targets is for how many it is, Known how many of those tell its figure.
	Targets, Known int
}

// inForce has the rules that are in force, and for which targets.
type inForce struct {
	mu     sync.Mutex
	config *Config
	told   map[*Condition]*figure // how far the figure of a rule is known
}

// figure is how many targets tell the figure of a rule.
type figure struct{ targets, known map[string]bool }

// begin puts rules in force, which nothing is known of yet.
func (f *inForce) begin(c *Config) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.config, f.told = c, map[*Condition]*figure{}
	for _, one := range c.Alerts {
		f.told[one] = &figure{map[string]bool{}, map[string]bool{}}
	}
}

// selects notes that a rule is for a target.
func (f *inForce) selects(c *Condition, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told[c].targets[key] = true
}

// knows notes that a target tells the figure of a rule.
func (f *inForce) knows(c *Condition, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.told[c].known[key] = true
}

// forget leaves a target out that is gone.
func (f *inForce) forget(key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.told {
		delete(one.targets, key)
		delete(one.known, key)
	}
}

// rules are those that are in force.
func (f *inForce) rules() (all []Rule) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.config.Alerts {
		one := f.told[c]
		all = append(all, Rule{c.Rule, len(one.targets), len(one.known)})
	}
	return all
}

// hooks are what is called when a rule fires.
func (f *inForce) hooks() hook.Hooks {
	f.mu.Lock()
	defer f.mu.Unlock()
	return hook.Hooks{Exec: f.config.Exec, Webhook: f.config.Webhook, Out: os.Stderr}
}
