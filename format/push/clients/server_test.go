// Package clients_test lets the clients themselves talk to what reads them: Pyroscope's
// for Go, its API as connect-go speaks it, and the messages of OpenTelemetry.
package clients_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"loupe/format/connect"
	"loupe/format/push"
)

// store is a server that keeps what is pushed to it.
type store struct {
	*httptest.Server
	mu      sync.Mutex
	pushed  []push.Pushed
	refused []error
	fail    error // the answer to everything, if it is not nil
	asked   int
}

func newStore(t *testing.T) *store {
	s := &store{}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true) // gRPC
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	p, ok := push.Paths[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	in := push.Request{ContentType: r.Header.Get("Content-Type"), ContentEncoding: r.Header.Get("Content-Encoding"), Query: r.URL.Query(), Body: body}
	if e, err := connect.EncodingOf(in.ContentType); err == nil && e == connect.GRPC {
		in.ContentEncoding = r.Header.Get("Grpc-Encoding")
	}
	all, err := push.Decode(p, in, push.Limits{})
	if s.fail != nil {
		err = s.fail
	}
	a := push.Accepted(p, in)
	if err != nil {
		s.refused = append(s.refused, err)
		a = push.Refused(p, in, err)
	}
	s.pushed = append(s.pushed, all...)
	w.Header().Set("Content-Type", a.ContentType)
	w.WriteHeader(a.Status)
	w.Write(a.Body)
	for name, value := range a.Trailer {
		w.Header().Set(http.TrailerPrefix+name, value)
	}
}

// labels are those of a profile, by name.
func labels(p push.Pushed) map[string]string {
	m := map[string]string{}
	for _, l := range p.Labels {
		m[l.Name] = l.Value
	}
	return m
}
