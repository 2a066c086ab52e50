//go:build unix

package main

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/block"
	"loupe/store/storetest/corpus"
)

func base(t *testing.T) *profile.Profile {
	t.Helper()
	t.Chdir("../../..")
	from, err := corpus.Base("")
	if err != nil {
		t.Fatal(err)
	}
	return from
}

// TestRun passes a day and more for four targets, and asks everything.
func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := run(&out, base(t), 4, 2, 2*time.Hour, 26*time.Hour, 2*time.Hour, ""); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		`4 targets of 2 services, 26h0m0s, a profile every 2h0m0s: 52 profiles`, `CPU +[0-9.]+ ms a profile`, `disk +[0-9.]+ MB, `,
		`flame graph of the last hour +[0-9.]+ ms`, `of one service, everything +[0-9.]+ ms`, `series by service, everything `,
		`values of a label `, `top functions, everything `, `top functions of one service `,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s is missing in\n%s", want, &out)
		}
	}
}

// TestMinute holds that each target sends once in its interval, at the same moment of it, and that
// a total that is not what was written is told.
func TestMinute(t *testing.T) {
	f := &fleet{targets: 30, every: 10 * time.Minute, pools: drawn(base(t), 1), r: rand.New(rand.NewPCG(5, 6))}
	for range f.targets {
		f.labels = append(f.labels, store.LabelsOf(store.ServiceLabel, "service-0", "pod", string(rune('a'+len(f.labels)))))
		f.at = append(f.at, time.Duration(f.r.Int64N(int64(f.every))))
	}
	e, err := block.Open(t.TempDir(), block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	end := begin.Add(time.Hour)
	for now := begin; now.Before(end); now = now.Add(time.Minute) {
		f.minute(e, now)
	}
	typ, err := store.ParseType("process_cpu:cpu:nanoseconds:cpu:nanoseconds")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := e.Totals(t.Context(), store.TotalsQuery{Selection: store.Selection{Type: typ}, By: []string{"pod"}})
	if err != nil || len(lines) != f.targets {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for _, l := range lines {
		if len(l.Points) != 6 {
			t.Fatalf("%s: %d profiles in an hour", l.Labels, len(l.Points))
		}
		for i, p := range l.Points[1:] {
			if p.Time.Sub(l.Points[i].Time) != f.every {
				t.Errorf("%s: %v after %v", l.Labels, p.Time, l.Points[i].Time)
			}
		}
	}
	var out bytes.Buffer
	if err := f.questions(&out, e, end); err != nil {
		t.Error(err)
	}
	f.total++
	if err := f.questions(&out, e, end); err == nil || !strings.Contains(err.Error(), "the total is") {
		t.Errorf("a total that is wrong: %v", err)
	}
}

// TestIntake passes minutes of a fleet with all kinds through the intake and ages the store: each profile
// comes once in each round, and the total stays.
func TestIntake(t *testing.T) {
	l := &live{targets: 6, services: 2, every: 15 * time.Second, span: 2 * time.Minute, kinds: []string{"cpu", "heap", "goroutine"}, writers: 4, pool: 5}
	var out bytes.Buffer
	if err := l.run(&out, base(t)); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, want := range []string{
		`6 targets of 2 services, 2m0s, cpu, heap, goroutine every 15s: 144 profiles`, `CPU +[0-9.]+ ms a profile`, `took +[0-9.]+m?s, `,
		`disk +[0-9.]+ MB`, `sealed and merged `, `as sums of 5 minutes `, `as sums of an hour `,
	} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s is missing in\n%s", want, &out)
		}
	}
	wrong := &live{targets: 1, services: 1, every: time.Minute, span: time.Minute, kinds: []string{"colour"}, writers: 1, pool: 1}
	if err := wrong.run(&out, nil); err == nil || !strings.Contains(err.Error(), `no kind "colour"`) {
		t.Errorf("a kind that is none: %v", err)
	}
}
