//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestResult gives windows whose cost is known: noise that both servers share, and counts of requests
// that differ, change neither the share nor what it is of one CPU.
func TestResult(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var c comparison
	for turn := range 20 {
		busy := 1 + r.Float64() // what else the machine does
		a, b := 590+r.Int64N(20), 590+r.Int64N(20)
		request := 0.010 * busy
		c.add(turn, window{time.Duration(1.02 * request * float64(a) * 1e9), a}, window{time.Duration(request * float64(b) * 1e9), b})
	}
	text := c.result(time.Minute)
	var alone, share, low, high, level float64
	if _, err := fmt.Sscanf(text, "alone a server uses %f %% of one CPU; asked it uses %f %% of that [%f %%, %f %%], %f %% confidence", &alone, &share, &low, &high, &level); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	// Ten requests a second of 10 to 20 ms.
	if math.Abs(share-2) > 0.02 || low > 2.01 || high < 1.99 || high-low > 0.1 || alone < 10 || alone > 20 || level != 95 {
		t.Error(text)
	}
	var of float64
	if _, err := fmt.Sscanf(text[strings.Index(text, "\n")+1:], "which is %f %% of one CPU", &of); err != nil || math.Abs(of-alone*0.02) > 0.01 {
		t.Errorf("%v in:\n%s", err, text)
	}
}

// TestDraw: each server is asked in half of the turns, in an order that is drawn.
func TestDraw(t *testing.T) {
	orders := map[string]bool{}
	for range 50 {
		n := 0
		all := draw(12)
		for _, first := range all {
			if first {
				n++
			}
		}
		if n != 6 {
			t.Fatalf("%v", all)
		}
		orders[fmt.Sprint(all)] = true
	}
	if len(orders) < 10 {
		t.Errorf("%d orders in 50 draws", len(orders))
	}
}

// TestSend: failures and what is left out are counted, and neither counts as answered.
func TestSend(t *testing.T) {
	release := make(chan struct{})
	var asked atomic.Int64
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := asked.Add(1)
		if n == 1 { // one after the other: see inFlight
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		if n == 3 {
			<-release
		}
	}))
	defer h.Close()
	defer close(release)
	o, s := &options{rate: 1000, inFlight: 1}, &server{load: h.URL}
	go o.send(t.Context(), s)
	for s.skipped.Load() < 10 || s.answered.Load() < 1 {
		if t.Context().Err() != nil {
			t.Fatal("nothing is left out")
		}
		time.Sleep(time.Millisecond)
	}
	if s.failed.Load() != 1 || s.answered.Load() != 1 || !strings.Contains(*s.errors.Load(), "503") {
		t.Errorf("%d failed, %d answered", s.failed.Load(), s.answered.Load())
	}
}

// TestClock: the CPU time of a process grows with what it does.
func TestClock(t *testing.T) {
	cmd := &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}
	before, err := clock(cmd)
	if err != nil {
		t.Fatal(err)
	}
	for now := before; now == before; {
		if now, err = clock(cmd); err != nil || now < before {
			t.Fatal(now, err)
		}
	}
}
