package loadlog

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// conditionLog has 2,000 requests: service times of 1 to 2,000 µs, each a
// millisecond late; 20 are answered with 500, 10 with 404, and 4 failed.
func conditionLog(t testing.TB) *Log {
	t.Helper()
	var b Builder
	to := b.Recorder()
	fault := b.Fault("timeout")
	for i := range 2000 {
		r := Request{Late: time.Millisecond, Service: time.Duration(i+1) * time.Microsecond, Status: 200}
		switch {
		case i < 20:
			r.Status = 500
		case i < 30:
			r.Status = 404
		case i < 34:
			r.Status, r.Error = 0, fault
		}
		to.Add(&r)
	}
	l, err := b.Log(Header{Open: true, Elapsed: 2 * time.Second, Unsent: 5})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCondition(t *testing.T) {
	l := conditionLog(t)
	s := l.Summary()
	f := func(text string, met bool, want string) {
		t.Helper()
		list, err := ParseConditions(text)
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %v, %v", text, list, err)
			return
		}
		if j := list[0].Judge(l, s); j.Met != met || j.String() != want {
			t.Errorf("%s: met is %v, %q; want %v, %q", text, j.Met, j, met, want)
		}
	}
	f("p50<3ms", true, "p50<3ms: p50 is 2.01 ms (9 of 2,005 were never answered)")
	f("P99 < 2ms", false, "p99<2ms: p99 is 2.99 ms (9 of 2,005 were never answered)")
	f("service-p99<2ms", true, "service-p99<2ms: service-p99 is 1.98 ms (4 of 2,000 were never answered)")
	f("p99.9<4ms", false, "p99.9<4ms: cannot tell, p99.9 needs 10,000 requests; the slowest of 2,005 requests took over 3.00 ms")
	f("p99.9<=1ms", false, "p99.9<=1ms: 2,005 of 2,005 requests took longer")
	f("p12.5>1ms", true, "p12.5>1ms: p12.5 is 1.25 ms (9 of 2,005 were never answered)")
	f("mean<=2.1ms", false, "mean<=2.1ms: mean is over 2.01 ms (9 of 2,005 were never answered)")
	f("max<3s", false, "max<3s: max is over 3.00 ms (9 of 2,005 were never answered)")
	f("service-max<=1ms", false, "service-max<=1ms: service-max is over 2.00 ms (4 of 2,000 were never answered)")
	f("service-max<3s", false, "service-max<3s: cannot tell, 4 timed out, and what they would have taken is not known; service-max is over 2.00 ms (4 of 2,000 were never answered)")
	f("service-max>1ms", true, "service-max>1ms: service-max is over 2.00 ms (4 of 2,000 were never answered)")
	f("min>0", true, "min>0: min is 1.00 ms (9 of 2,005 were never answered)")
	f("errors<1%", false, "errors<1%: errors is 39 of 2,005 (1.95%)")
	f("errors<=39", true, "errors<=39: errors is 39 of 2,005")
	f("failed=9", true, "failed=9: failed is 9 of 2,005")
	f("5xx<1%", true, "5xx<1%: 5xx is 20 of 2,005 (0.998%)")
	f("404==10", true, "404=10: 404 is 10 of 2,005")
	f("2xx>=98%", true, "2xx>=98%: 2xx is 1,966 of 2,005 (98.1%)")
	f("503!=0", false, "503!=0: 503 is 0 of 2,005")
	f("rate>=990", true, "rate>=990: rate is 998/s")
	f("rps>1k/s", false, "rps>1k/s: rps is 998/s")
	f("requests=2k", true, "requests=2k: requests is 2,000")
	f("unsent=0", false, "unsent=0: unsent is 5 of 2,005")

	// One request tells nothing of a percentile, and much of two that are bad is
	// no accident.
	one := Request{Service: time.Millisecond, Status: 200}
	l = New(Header{Elapsed: time.Second}, []Request{one})
	s = l.Summary()
	f("p99.99<1s", false, "p99.99<1s: cannot tell, p99.99 needs 100,000 requests; the slowest of 1 requests took 1.00 ms")
	f("max<1s", true, "max<1s: max is 1.00 ms")
	f("p50<1s", true, "p50<1s: p50 is 1.00 ms")
	l = New(Header{Elapsed: time.Second}, slices.Repeat([]Request{one}, 5))
	s = l.Summary()
	f("p99<1ms", false, "p99<1ms: 5 of 5 requests took longer")
	f("p99<2ms", false, "p99<2ms: cannot tell, p99 needs 1,000 requests; the slowest of 5 requests took 1.00 ms")

	// A quarter timed out after a second.
	var quarter []Request
	for i := range 2000 {
		r := one
		if i%4 == 0 {
			r.Service, r.Status, r.Error = time.Second, 0, 1
		}
		quarter = append(quarter, r)
	}
	l = New(Header{Elapsed: 10 * time.Second, Errors: []string{TimedOut}}, quarter)
	s = l.Summary()
	f("p99<500ms", false, "p99<500ms: p99 is over 1.00 s (500 of 2,000 were never answered)")
	f("p99<2s", false, "p99<2s: cannot tell, 500 timed out, and what they would have taken is not known; p99 is over 1.00 s (500 of 2,000 were never answered)")
	f("p50<2ms", true, "p50<2ms: p50 is 1.00 ms (500 of 2,000 were never answered)")
	f("mean<100ms", false, "mean<100ms: mean is over 251 ms (500 of 2,000 were never answered)")
	f("mean<1s", false, "mean<1s: cannot tell, 500 timed out, and what they would have taken is not known; mean is over 251 ms (500 of 2,000 were never answered)")
	f("2xx>=98%", false, "2xx>=98%: 2xx is 1,500 of 2,000 (75.0%)")

	var b Builder
	empty, err := b.Log(Header{})
	if err != nil {
		t.Fatal(err)
	}
	l, s = empty, empty.Summary()
	f("p99<1s", false, "p99<1s: cannot tell, nothing was sent")
	f("errors<1%", false, "errors<1%: cannot tell, nothing was sent")
	f("errors=0", true, "errors=0: errors is 0 of 0")

	list, err := ParseConditions("p99<50ms,errors<0.1%,rate>=990")
	if err != nil || len(list) != 3 || list[1].String() != "errors<0.1%" {
		t.Errorf("three conditions: %v, %v", list, err)
	}
}

func TestConditionErrors(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if list, err := ParseConditions(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want an error with %q", text, list, err, want)
		}
	}
	f("", "want a form like p99<50ms")
	f("p99", `cannot read condition "p99": want a form like`)
	f("p99<50ms,", `condition ""`)
	f("p99=<50ms", "there is no =<, only <=")
	f("p99<>50ms", "there is no <>")
	f("p99<50", "50 has no unit")
	f("p99<soon", "cannot parse duration")
	f("p100<1s", "is not a percentile")
	f("p0<1s", "is not a percentile")
	f("latency<1s", `unknown quantity "latency"`)
	f("service-errors=0", "unknown quantity")
	f("6xx=0", "unknown quantity")
	f("errors<0.001", "a share is written 0.1%")
	f("errors<101%", "more than everything")
	f("errors<few", "is not a number")
	f("rate>NaN", "is not a number")
}

func FuzzCondition(f *testing.F) {
	for _, s := range []string{"p99<50ms,errors<0.1%,rate>=990", "service-mean<=1s", "5xx!=0", "unsent=0", "p99.99>1us"} {
		f.Add(s)
	}
	l := conditionLog(f)
	s := l.Summary()
	f.Fuzz(func(t *testing.T, text string) {
		list, err := ParseConditions(text)
		if err != nil {
			return
		}
		for _, c := range list {
			if j := c.Judge(l, s); j.String() == "" {
				t.Errorf("%q has no judgement", text)
			}
			again, err := ParseConditions(c.String())
			if err != nil || len(again) != 1 || again[0].String() != c.String() {
				t.Errorf("%q is %q, which reads as %v, %v", text, c, again, err)
			}
		}
	})
}

// TestGivenUp: what a run that was ended gave up is slower than all answers, and
// neither a failure nor none.
func TestGivenUp(t *testing.T) {
	h := Header{Errors: []string{GivenUp, "reset"}, Elapsed: 3 * time.Second}
	var rows []Request
	for range 2000 {
		rows = append(rows, Request{Service: time.Millisecond, Status: 200})
	}
	for range 50 {
		rows = append(rows, Request{Service: 3 * time.Second, Error: 1})
	}
	l := New(h, append(rows, Request{Service: time.Millisecond, Error: 2}))
	s := l.Summary()
	if s.GivenUp() != 50 || s.Unanswered() != 51 || s.Latency.P99 != Never || s.Latency.Max != Never {
		t.Errorf("%+v", s)
	}
	for text, want := range map[string]string{
		"p99<500ms": "p99<500ms: p99 is over 3.00 s (51 of 2,051 were never answered)",
		"p99<1h":    "p99<1h: cannot tell, 50 timed out or were given up, and what they would have taken is not known; p99 is over 3.00 s (51 of 2,051 were never answered)",
		"failed<10": "failed<10: cannot tell, 50 more were given up when the run was ended, and whether they would have failed is not known; failed is 1 of 2,051",
		"errors<1":  "errors<1: errors is 1 of 2,051",
		"failed<99": "failed<99: failed is 1 of 2,051",
	} {
		list, err := ParseConditions(text)
		if err != nil {
			t.Fatal(err)
		}
		if j := list[0].Judge(l, s); j.String() != want || j.Met != (text == "failed<99") {
			t.Errorf("met: %v, %s\nwant %s", j.Met, j, want)
		}
	}
}
