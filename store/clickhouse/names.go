package clickhouse

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"loupe/store"
)

// Series and kinds are named by hashes of what they are, so that every writer gives them
// the same name without asking. What a name stands for never changes.

// hashOf names a text. 64 bits of SHA-256: of a million series two have the same name
// with a probability of 3 in 100 million.
func hashOf(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.LittleEndian.Uint64(sum[:]) | 1
}

// labelsText writes labels as a selector that they are the only match of.
func labelsText(l store.Labels) string {
	var ms store.Matchers
	for n, v := range l.All() {
		ms = append(ms, &store.Matcher{Name: n, Op: store.Equal, Value: v})
	}
	return ms.String()
}

// parseLabels undoes labelsText.
func parseLabels(text string) (store.Labels, error) {
	ms, err := store.ParseMatchers(text)
	if err != nil {
		return store.Labels{}, err
	}
	var list []store.Label
	for _, m := range ms {
		if m.Op != store.Equal {
			return store.Labels{}, fmt.Errorf("cannot read labels %.200q: %s is no label", text, m)
		}
		list = append(list, store.Label{Name: m.Name, Value: m.Value})
	}
	return store.MakeLabels(list), nil
}

// kind says what a column of values is: one type, or several that are multiples of what
// is stored. The samples and the nanoseconds of a CPU profile are one column.
type kind struct {
	types []store.Type
	times []int64
}

// times returns by what the column is multiplied for a type, 0 when it does not have it.
func (k *kind) of(t store.Type) int64 {
	for i, one := range k.types {
		if one == t {
			return k.times[i]
		}
	}
	return 0
}

// text writes a kind, a line for each type.
func (k *kind) text() string {
	var b strings.Builder
	for i, t := range k.types {
		fmt.Fprintf(&b, "%d %s\n", k.times[i], strconv.Quote(t.String()))
	}
	return b.String()
}

// parseKind undoes text.
func parseKind(text string) (*kind, error) {
	k := &kind{}
	for line := range strings.Lines(text) {
		times, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		n, err := strconv.ParseInt(times, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("cannot read a kind %.200q: %w", text, err)
		}
		s, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("cannot read a kind %.200q: %w", text, err)
		}
		t, err := store.ParseType(s)
		if err != nil {
			return nil, err
		}
		k.types, k.times = append(k.types, t), append(k.times, n)
	}
	return k, nil
}

// family is a column of a profile with the types that are multiples of it.
type family struct {
	kind
	column int
}

// familiesOf finds which columns of a profile are to be stored.
func familiesOf(p *store.Profile) (out []family) {
	for k, t := range p.Types {
		if t == (store.Type{}) {
			continue
		}
		joined := false
		for i := range out {
			if n := multiple(p, out[i].column, k); n > 0 && !joined {
				out[i].types, out[i].times = append(out[i].types, t), append(out[i].times, n)
				joined = true
			}
		}
		if !joined {
			out = append(out, family{kind{[]store.Type{t}, []int64{1}}, k})
		}
	}
	return out
}

// multiple returns how many times column a column b is, 0 when it is not. Only columns of
// a CPU profile are looked at, which are so by what they mean: where it is an accident,
// each profile would have kinds of its own.
func multiple(p *store.Profile, a, b int) (n int64) {
	if p.Types[a].Period != "cpu" || p.Types[a].Over() != store.Sum || p.Types[b].Over() != store.Sum {
		return 0
	}
	x, y := p.Samples.Values[a], p.Samples.Values[b]
	for i := range x {
		switch {
		case x[i] == 0 && y[i] == 0:
			continue
		case x[i] == 0 || y[i]%x[i] != 0 || n != 0 && y[i]/x[i] != n:
			return 0
		}
		if n = y[i] / x[i]; n <= 0 {
			return 0
		}
	}
	return n
}

// registry remembers what names stand for.
type registry struct {
	mu     sync.Mutex
	labels map[uint64]store.Labels
	kinds  map[uint64]*kind
}

// maxNames is how many series are remembered; beyond it they are asked for again.
const maxNames = 500_000

// series asks for the labels of series that are not known yet and returns those of all.
func (g *registry) series(ctx context.Context, c *client, hashes []uint64) (map[uint64]store.Labels, error) {
	out := make(map[uint64]store.Labels, len(hashes))
	var missing []uint64
	g.mu.Lock()
	for _, h := range hashes {
		if l, ok := g.labels[h]; ok {
			out[h] = l
		} else {
			missing = append(missing, h)
		}
	}
	g.mu.Unlock()
	for len(missing) > 0 {
		part := missing[:min(len(missing), 20_000)]
		missing = missing[len(part):]
		err := c.ask(ctx, "SELECT hash, labels FROM "+c.all("names")+" WHERE hash IN ("+list(part)+")", func(r *rows) error {
			hash, text := r.uint64(), r.text()
			if r.err != nil {
				return r.err
			}
			l, err := parseLabels(text)
			out[hash] = l
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, h := range part {
			if _, ok := out[h]; !ok {
				return nil, fmt.Errorf("the table %s does not name series %d, which profiles have (was part of the database removed?)", c.all("names"), h)
			}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.labels == nil || len(g.labels) > maxNames {
		g.labels = map[uint64]store.Labels{}
	}
	for h, l := range out {
		g.labels[h] = l
	}
	return out, nil
}

// learn remembers kinds.
func (g *registry) learn(hash uint64, text string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kinds[hash] != nil {
		return nil
	}
	k, err := parseKind(text)
	if err != nil {
		return err
	}
	if g.kinds == nil {
		g.kinds = map[uint64]*kind{}
	}
	g.kinds[hash] = k
	return nil
}

// having returns the kinds that have a type, all of them for the zero Type.
func (g *registry) having(t store.Type) map[uint64]*kind {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[uint64]*kind{}
	for h, k := range g.kinds {
		if t == (store.Type{}) || k.of(t) != 0 {
			out[h] = k
		}
	}
	return out
}
