package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"time"
)

// peek looks at the beginning of a page, which is all that the client wants.
func peek(body io.Reader) error {
	var head [512]byte
	_, err := io.ReadFull(body, head[:])
	return err
}

// readAll looks at the beginning as well, and reads on to the end.
func readAll(body io.Reader) error {
	if err := peek(body); err != nil {
		return err
	}
	_, err := io.Copy(io.Discard, body)
	return err
}

// visit starts the service, asks it n times for its page, and returns the
// phases of all requests.
func visit(n int, read func(io.Reader) error) (*phases, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := newService()
	var done sync.WaitGroup
	done.Go(func() { s.serve(l) }) // ends when l is closed
	defer done.Wait()
	defer l.Close()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.roots()}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	all := &phases{times: map[string][]time.Duration{}}
	for range n {
		if err := all.request(client, "https://"+l.Addr().String()+"/page", read); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// phases holds how long the phases of requests took. The hooks of httptrace
// run in goroutines of the connection, some of them after the answer.
type phases struct {
	mu     sync.Mutex
	times  map[string][]time.Duration
	reused int
	total  []time.Duration
}

// phaseNames lists them in the order in which they follow.
var phaseNames = []string{"connect", "handshake", "request", "wait", "answer"}

// stretch returns two functions for the beginning and the end of a phase.
func (p *phases) stretch(name string) (begin, end func()) {
	var mu sync.Mutex
	var at time.Time
	begin = func() {
		mu.Lock()
		defer mu.Unlock()
		at = time.Now()
	}
	end = func() {
		mu.Lock()
		from := at
		at = time.Time{} // the first end counts
		mu.Unlock()
		if from.IsZero() {
			return
		}
		took := time.Since(from)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.times[name] = append(p.times[name], took)
	}
	return begin, end
}

// request asks for one page.
func (p *phases) request(client *http.Client, url string, read func(io.Reader) error) error {
	connect, connected := p.stretch("connect")
	shake, shaken := p.stretch("handshake")
	send, sent := p.stretch("request")
	wait, answered := p.stretch("wait")
	receive, received := p.stretch("answer")
	trace := &httptrace.ClientTrace{
		ConnectStart:      func(string, string) { connect() },
		ConnectDone:       func(string, string, error) { connected() },
		TLSHandshakeStart: shake,
		TLSHandshakeDone:  func(tls.ConnectionState, error) { shaken() },
		GotConn: func(info httptrace.GotConnInfo) {
			p.mu.Lock()
			if info.Reused {
				p.reused++
			}
			p.mu.Unlock()
			send()
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			sent()
			wait()
		},
		GotFirstResponseByte: func() {
			answered()
			receive()
		},
	}
	begun := time.Now()
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := read(resp.Body); err != nil {
		return err
	}
	received()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total = append(p.total, time.Since(begun))
	return nil
}

// String lays the medians of the phases out, one to a line.
func (p *phases) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%d requests, %d on a connection that was there; half of them took less than %v\n", len(p.total), p.reused, median(p.total))
	for _, name := range phaseNames {
		if times := p.times[name]; len(times) > 0 {
			fmt.Fprintf(&b, "  %-10s %6d times, median %v\n", name, len(times), median(times))
		}
	}
	return b.String()
}

func median(times []time.Duration) time.Duration {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return sorted[len(sorted)/2].Round(time.Microsecond)
}
