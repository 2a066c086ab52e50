package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// shelf has the sources of a server: which there are, and which have changed.
type shelf struct {
	ctx   context.Context // of the server
	hub   *hub
	heaps *heldHeap
	// named makes the source of an id that none of the others has; nil for none.
	named func(id string) (Source, error)

	mu    sync.Mutex
	all   []*subject
	count int // of sources that were added, apart from those that were named
}

// maxNamed is how many sources are kept that were made of their ids.
const maxNamed = 16

func newShelf() *shelf { return &shelf{hub: &hub{}, heaps: newHeldHeap()} }

// add makes a subject of a source. The caller holds l.mu, or nobody else
// knows the server yet.
func (l *shelf) add(ctx context.Context, src Source) *subject {
	l.count++
	return l.put(ctx, src, strconv.Itoa(l.count))
}

// put makes a subject with an id.
func (l *shelf) put(ctx context.Context, src Source, id string) *subject {
	sub := &subject{Source: src, id: id, ctx: ctx, hub: l.hub, heaps: l.heaps, writing: src.Live}
	sub.begin(src.Open, sub.around())
	if src.Changed != nil {
		// Before anybody can open it: what comes from now on is news.
		sub.seen, sub.writing = src.Changed()
	}
	l.all = append(l.all, sub)
	return sub
}

// find returns the source that has an id.
func (l *shelf) find(id string) (*subject, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sub := range l.all {
		if sub.id == id {
			return sub, nil
		}
	}
	if l.named != nil && id != "" {
		return l.name(id)
	}
	return nil, &refusal{http.StatusNotFound, fmt.Sprintf("there is no source %q; loupe may have been restarted", id)}
}

// name makes the source of an id, and lets go of the oldest that was made so. Who reads
// that one goes on. The caller holds l.mu.
func (l *shelf) name(id string) (*subject, error) {
	src, err := l.named(id)
	if err != nil {
		return nil, err
	}
	made := 0
	for i := len(l.all) - 1; i >= 0; i-- {
		if !l.all[i].named {
			continue
		}
		if made++; made == maxNamed {
			l.all[i].changed() // closes what nobody reads
			l.all = slices.Delete(slices.Clone(l.all), i, i+1)
		}
	}
	sub := l.put(l.ctx, src, id)
	sub.named = true
	return sub, nil
}

// states are notices of all sources that have changed since the start.
func (l *shelf) states() (all []notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sub := range l.all {
		if version := sub.version(); version > 1 {
			all = append(all, notice{Kind: "changed", Source: sub.id, Version: version})
		}
	}
	return all
}

// lookAt looks at the sources that may have changed, and tells of those that
// have as soon as that is due; true when one has begun or ceased to be written.
func (l *shelf) lookAt(rest bool, due func() bool) (turned bool) {
	l.mu.Lock()
	subjects := l.all
	l.mu.Unlock()
	asked, ready := false, false
	for _, sub := range subjects {
		if sub.Changed == nil || !sub.live() && !rest {
			continue
		}
		state, live := sub.Changed()
		if sub.seen == state && sub.live() == live {
			continue
		}
		if !asked {
			asked, ready = true, due()
		}
		if !ready {
			continue
		}
		sub.seen = state
		turned = sub.setLive(live) || turned
		l.hub.send(notice{Kind: "changed", Source: sub.id, Version: sub.changed()})
	}
	return turned
}

// relist adds the sources that were not there before, and leaves out those that
// are there no more: a recording that has become a zip file. Who looks at one of
// them still can. A list that is nil says nothing: the folder itself cannot be read.
func (l *shelf) relist(ctx context.Context, list []Source) (news bool) {
	if list == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	known, there := map[string]bool{}, map[string]bool{}
	for _, sub := range l.all {
		known[sub.Name] = true
	}
	for _, src := range list {
		there[src.Name] = true
		if !known[src.Name] {
			l.add(ctx, src)
			known[src.Name], news = true, true
		}
	}
	for _, sub := range l.all {
		if sub.gone == there[sub.Name] {
			sub.gone, news = !sub.gone, true
		}
	}
	return news
}

// there are the sources that are there now.
func (l *shelf) there() []*subject {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.all), func(sub *subject) bool { return sub.gone })
}

// close releases what is open.
func (l *shelf) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []error
	for _, sub := range l.all {
		all = append(all, sub.close())
	}
	return errors.Join(all...)
}
