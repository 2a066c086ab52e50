package clickhouse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/store"
)

// The table state has a few rows by name: the newest version of a name counts, and an
// empty value is none.
//
//	gen/N    the profiles of generation N, which others were made into, count
//	pin/X    a pin
//	claim/T  who does the housekeeping of a server, until when
const (
	genPrefix   = "gen/"
	pinPrefix   = "pin/"
	claimPrefix = "claim/"
)

// generation is a set of profiles that took the place of others at one moment. Those are
// named in the table dead, and do not count from then on.
type generation struct {
	number uint64
	since  int64 // s since 1970, by the clock of the server
	clean  bool  // the dead are gone from the table
}

func (g generation) name() string { return genPrefix + strconv.FormatUint(g.number, 10) }

func (g generation) value() string {
	word := "live"
	if g.clean {
		word = "clean"
	}
	return word + " " + strconv.FormatInt(g.since, 10)
}

// state is what counts at one moment.
type state struct {
	gens []generation // sorted by number
	pins []store.Pin  // sorted by name
}

// state reads what counts, and the kinds that there are, which questions need too.
func (e *Engine) state(ctx context.Context) (*state, error) {
	s := &state{}
	err := e.c.ask(ctx, "SELECT name, argMax(value, version) FROM "+e.c.all("state")+" GROUP BY name UNION ALL SELECT concat('kind/', toString(hash)) AS name, types FROM "+e.c.all("kinds"), func(r *rows) error {
		name, value := r.text(), r.text()
		if r.err != nil || value == "" {
			return r.err
		}
		if hash, ok := strings.CutPrefix(name, "kind/"); ok {
			h, err := strconv.ParseUint(hash, 10, 64)
			if err != nil {
				return err
			}
			return e.names.learn(h, value)
		}
		return s.add(name, value)
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(s.gens, func(a, b generation) int {
		if a.number < b.number {
			return -1
		}
		return 1
	})
	slices.SortFunc(s.pins, func(a, b store.Pin) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// add reads one row of the table.
func (s *state) add(name, value string) error {
	if number, ok := strings.CutPrefix(name, genPrefix); ok {
		n, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return fmt.Errorf("cannot read the state %q: %w", name, err)
		}
		word, since, _ := strings.Cut(value, " ")
		at, err := strconv.ParseInt(since, 10, 64)
		if err != nil {
			return fmt.Errorf("cannot read the state %q: %w", name, err)
		}
		s.gens = append(s.gens, generation{n, at, word == "clean"})
	}
	if strings.HasPrefix(name, pinPrefix) {
		var saved savedPin
		if err := json.Unmarshal([]byte(value), &saved); err != nil {
			return fmt.Errorf("cannot read the state %q: %w", name, err)
		}
		ms, err := store.ParseMatchers(saved.Matchers)
		if err != nil {
			return fmt.Errorf("the pin %q: %w", saved.Name, err)
		}
		s.pins = append(s.pins, store.Pin{Name: saved.Name, Matchers: ms, Range: store.Range{Start: saved.Start, End: saved.End}, Reason: saved.Reason})
	}
	return nil
}

// visible returns the condition for the profiles that count.
func (s *state) visible(c *client) string {
	gens, dead := []uint64{0}, []uint64{}
	for _, g := range s.gens {
		gens = append(gens, g.number)
		if !g.clean {
			dead = append(dead, g.number)
		}
	}
	where := "gen IN (" + list(gens) + ")"
	if len(dead) > 0 {
		// Each shard asks its own table: the dead are where they lived.
		where += " AND id NOT IN (SELECT id FROM " + c.local("dead") + " WHERE gen IN (" + list(dead) + "))"
	}
	return where
}

// savedPin is a pin in the table.
type savedPin struct {
	Name     string    `json:"name"`
	Matchers string    `json:"matchers"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Reason   string    `json:"reason,omitempty"`
}

// put sets a value in the state of a host, or with "" in that over all shards.
func (c *client) put(ctx context.Context, host, name, value string) error {
	table := c.all("state")
	if host != "" {
		table = c.local("state")
	}
	// A version that is counted, not a time: clocks go back.
	statement := fmt.Sprintf("INSERT INTO %s (name, value, version) SELECT %s, %s, toUInt64(max(version) + 1) FROM %s WHERE name = %s", table, quote(name), quote(value), table, quote(name))
	if host != "" {
		return c.tell(ctx, host, statement)
	}
	return c.any(ctx, true, func(host string) error { return c.tell(ctx, host, statement) })
}

// Pin is that of [store.Engine].
func (e *Engine) Pin(ctx context.Context, p store.Pin) error {
	text, err := json.Marshal(savedPin{p.Name, p.Matchers.String(), p.Range.Start, p.Range.End, p.Reason})
	if err == nil {
		err = e.begin(ctx)
	}
	if err != nil {
		return err
	}
	return e.c.put(ctx, "", pinPrefix+p.Name, string(text))
}

// Unpin is that of [store.Engine].
func (e *Engine) Unpin(ctx context.Context, name string) error {
	if err := e.begin(ctx); err != nil {
		return err
	}
	return e.c.put(ctx, "", pinPrefix+name, "")
}

// Pins is that of [store.Engine].
func (e *Engine) Pins(ctx context.Context) ([]store.Pin, error) {
	if err := e.begin(ctx); err != nil {
		return nil, err
	}
	s, err := e.state(ctx)
	if err != nil {
		return nil, err
	}
	return s.pins, nil
}
