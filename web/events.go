package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// notice is what the pages are told without asking.
type notice struct {
	// Kind is "changed" for a source with more in it, "sources" for a list
	// with more sources, "job" for work that goes on, "timeline" for more of a
	// timeline: Version is that of timeline/lanes.
	Kind string `json:"kind"`
	// Source is the id of the source.
	Source  string `json:"source,omitempty"`
	Version int    `json:"version,omitempty"`
	// Job names the work, Done is how much of it is done, from 0 to 1; 1 is
	// the end of it.
	Job  string  `json:"job,omitempty"`
	Done float64 `json:"done,omitempty"`
}

// hub passes events to all pages that listen.
type hub struct {
	mu        sync.Mutex
	listeners map[chan notice]bool
}

// send tells everybody. Who does not keep up misses events: each of them
// only says that there is something to ask for.
func (h *hub) send(e notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for c := range h.listeners {
		select {
		case c <- e:
		default:
		}
	}
}

// serve streams events to one page: first those that it may have missed.
func (h *hub) serve(w http.ResponseWriter, r *http.Request, missed []notice) {
	c := make(chan notice, 64+len(missed))
	for _, e := range missed {
		c <- e
	}
	h.mu.Lock()
	if h.listeners == nil {
		h.listeners = map[chan notice]bool{}
	}
	h.listeners[c] = true
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.listeners, c)
		h.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	fmt.Fprint(w, ": hello\n\n")
	_ = out.Flush()
	beat := time.NewTicker(15 * time.Second) // tells that the connection is alive, and finds out
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			fmt.Fprint(w, ": still here\n\n")
		case e := <-c:
			data, err := json.Marshal(e)
			if err != nil {
				return
			}
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
		if out.Flush() != nil {
			return
		}
	}
}

// soon is what needs no news.
const soon = 300 * time.Millisecond

// job tells the pages how far some work of a source is. The function that it
// returns takes how much is done, from 0 to 1.
func (s *subject) job(name string) func(done float64) {
	began, last := time.Now(), time.Time{}
	return func(done float64) {
		now := time.Now()
		if now.Sub(began) < soon || done < 1 && now.Sub(last) < 100*time.Millisecond {
			return
		}
		last = now
		s.hub.send(notice{Kind: "job", Source: s.id, Job: name, Done: done})
	}
}
