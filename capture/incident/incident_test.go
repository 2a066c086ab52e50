package incident

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loupe/capture/scrape"
	"loupe/recording"
)

// fleet is a list of targets, which counts who holds them.
type fleet struct {
	targets []*scrape.Target
	held    atomic.Int32
	holds   atomic.Int32
}

func (f *fleet) Targets() []*scrape.Target { return f.targets }

func (f *fleet) Hold(context.Context, *scrape.Target) func() {
	f.held.Add(1)
	f.holds.Add(1)
	return func() { f.held.Add(-1) }
}

// service is a stock net/http/pprof, and how often it is asked to count its goroutines.
func service(t *testing.T, looks *atomic.Int64) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/debug/pprof/" {
			looks.Add(1)
		}
		pprof.Index(w, r)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// target is one of a service.
func target(t *testing.T, address, name string) *scrape.Target {
	u, err := url.Parse(address + "/debug/pprof")
	if err != nil {
		t.Fatal(err)
	}
	return &scrape.Target{URL: u, Labels: scrape.Labels{scrape.ServiceLabel: name, "instance": u.Host}, Job: &scrape.Job{}}
}

// run watches a fleet by the text of a file until done holds, and returns what was told.
func run(t *testing.T, f Fleet, dir, text string, done func(*Monitor) bool) (*Monitor, string) {
	t.Helper()
	c, err := parse("alerts.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var told strings.Builder
	m, err := New(f, Options{Dir: dir, Tool: "test", Tell: func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(&told, format+"\n", args...)
	}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx, c) })
	for !done(m) {
		if t.Context().Err() != nil {
			mu.Lock()
			defer mu.Unlock()
			t.Fatalf("it does not come to what is waited for:\n%s", &told)
		}
		time.Sleep(time.Millisecond)
	}
	stop()
	running.Wait()
	return m, told.String()
}

// settled tells that there are so many incidents and none is being recorded.
func settled(n int) func(*Monitor) bool {
	return func(m *Monitor) bool {
		all := m.List()
		for _, in := range all {
			if in.Note == underWay {
				return false
			}
		}
		return len(all) >= n
	}
}

// TestIncident: the moment is an ordinary recording, taken while nobody else takes profiles;
// it is listed, also after a restart, and told to the hook.
func TestIncident(t *testing.T) {
	var looks atomic.Int64
	f := &fleet{targets: []*scrape.Target{target(t, service(t, &looks), "shop"), target(t, service(t, &looks), "other")}}
	dir, said := t.TempDir(), filepath.Join(t.TempDir(), "said")
	t.Setenv("SAID", said)
	text := `
interval: 100ms
hooks: {exec: 'echo "$LOUPE_ALERT $LOUPE_SERVICE $LOUPE_RECORDING" >>"$SAID"'}
alerts:
- rule: goroutines>=1
  only: {service_name: sh.p}
  capture: goroutine,heap
- rule: files>1000000000
`
	m, told := run(t, f, dir, text, func(m *Monitor) bool {
		info, err := os.Stat(said)
		return settled(1)(m) && err == nil && info.Size() > 0
	})
	all := m.List()
	if len(all) != 1 {
		t.Fatalf("%d incidents, want one: %+v", len(all), all)
	}
	in := all[0]
	if in.Service != "shop" || in.Rule != "goroutines>=1" || !strings.HasPrefix(in.Why, "goroutines is ") || !in.Recorded || in.Note != "" || in.Bytes == 0 {
		t.Errorf("%+v", in)
	}
	if f.holds.Load() != 1 || f.held.Load() != 0 {
		t.Errorf("held %d times, and %d still", f.holds.Load(), f.held.Load())
	}
	if !strings.Contains(told, "ALERT goroutines>=1 at http://127.0.0.1:") || !strings.Contains(told, "(shop): goroutines is") {
		t.Errorf("told:\n%s", told)
	}
	rec, err := recording.OpenFile(m.Place(in.ID))
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	kinds := map[recording.Kind]bool{}
	for _, e := range rec.Manifest.Entries {
		kinds[e.Kind] = true
	}
	if !kinds["pprof.goroutine"] || !kinds["pprof.heap"] || !strings.HasPrefix(rec.Manifest.Title, "shop: goroutines is ") {
		t.Errorf("the recording %q has %v", rec.Manifest.Title, kinds)
	}
	if got, err := os.ReadFile(said); string(got) != "goroutines>=1 shop "+m.Place(in.ID)+"\n" {
		t.Errorf("the hook was told %q (%v)", got, err)
	}
	rules := m.Rules()
	if rules[0] != (Rule{"goroutines>=1", 1, 1}) || rules[1].Targets != 2 {
		t.Errorf("rules %+v", rules)
	}

	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := New(f, Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if back := again.List(); len(back) != 1 || !back[0].At.Equal(in.At) || back[0].Why != in.Why || again.Place(in.ID) == "" {
		t.Errorf("after a restart %+v", back)
	}
	if again.Place("../"+filepath.Base(dir)) != "" {
		t.Error("a place outside of the folder")
	}
}

// TestStorm: many targets at once are bounded, and that is told once.
func TestStorm(t *testing.T) {
	var looks atomic.Int64
	f := &fleet{}
	for i := range 6 {
		f.targets = append(f.targets, target(t, service(t, &looks), fmt.Sprint("shop-", i)))
	}
	said := filepath.Join(t.TempDir(), "said")
	t.Setenv("SAID", said)
	m, _ := run(t, f, t.TempDir(), `
interval: 100ms
hourly: 2
hooks: {exec: 'echo "$LOUPE_ALERT" >>"$SAID"'}
alerts: [{rule: goroutines>=1, capture: goroutine}]
`, func(m *Monitor) bool {
		got, _ := os.ReadFile(said)
		return settled(6)(m) && strings.Count(string(got), "\n") >= 3
	})
	recorded, left := 0, 0
	for _, in := range m.List() {
		switch {
		case in.Recorded:
			recorded++
		case strings.Contains(in.Note, "limit of 2 recordings an hour"):
			left++
		}
	}
	got, _ := os.ReadFile(said)
	if recorded != 2 || left != 4 || strings.Count(string(got), "goroutines>=1\n") != 2 || strings.Count(string(got), "storm\n") != 1 {
		t.Errorf("%d recorded, %d left out, and the hook was told:\n%s", recorded, left, got)
	}
}

// TestAdmit: within the pause an incident of a rule and target is the same one; what an hour has
// counts, and counts no longer when it is over.
func TestAdmit(t *testing.T) {
	m, err := New(&fleet{}, Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	m.storms.bound(10*time.Minute, 2)
	start := time.Unix(1e9, 0)
	f := func(minute int, rule, target string, again, within bool) {
		t.Helper()
		before, ok := m.storms.admit(&Incident{At: start.Add(time.Duration(minute) * time.Minute), Rule: rule}, target)
		if (before != nil) != again || ok != within {
			t.Errorf("minute %d: again %v, within %v", minute, before != nil, ok)
		}
	}
	f(0, "a", "x", false, true)
	f(9, "a", "x", true, false)
	f(9, "b", "x", false, true)
	f(9, "a", "y", false, false)
	f(10, "a", "x", false, false)
	f(61, "a", "x", false, true)
	f(69, "b", "x", false, true)
	f(69, "b", "y", false, false)
}

// TestBounds: the folder keeps to its count and bytes, the oldest go first, and what is gone
// says why.
func TestBounds(t *testing.T) {
	dir := t.TempDir()
	f, err := openFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	put := func(bytes int) *Incident {
		in := &Incident{At: time.Unix(1e9, 0), Service: "../a b/..", Recorded: true, Bytes: int64(bytes)}
		if err := f.add(in); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(f.place(in), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(f.place(in), "file"), make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
		return in
	}
	first, second, third := put(10), put(20), put(30)
	if first.ID != "a-b-20010909-014640" || second.ID != "a-b-20010909-014640-2" {
		t.Errorf("names %q, %q", first.ID, second.ID)
	}
	if size(f.place(third)) != 30 {
		t.Errorf("%d bytes", size(f.place(third)))
	}
	f.count, f.bytes = 3, 45
	if err := f.bound(); err != nil {
		t.Fatal(err)
	}
	if first.Recorded || second.Recorded || !third.Recorded || !strings.Contains(second.Note, "keep.bytes") || recorded(f.place(second)) {
		t.Errorf("%+v %+v %+v", first, second, third)
	}
	fourth := put(1)
	if err := f.bound(); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "[^.]*"))
	if list := f.list(); len(list) != 3 || list[0].ID != fourth.ID || len(names) != 5 {
		t.Errorf("%d incidents in %q", len(list), names)
	}
	// One that was under way when the process ended, and a file of somebody else.
	if err := f.change(fourth, func(in *Incident) { in.Note = underWay }); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"mine.json": "{}", "torn.json": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.held.Close(); err != nil {
		t.Fatal(err)
	}
	f, err = openFolder(dir)
	if err != nil || len(f.all) != 3 || f.list()[0].Note != "the capture did not end: loupe serve was stopped, or could not write" {
		t.Errorf("%v %+v", err, f.list())
	}
	// One that is larger than everything may be is not kept, and says so.
	f.count, f.bytes = 3, 30
	large := func() *Incident {
		in := &Incident{At: time.Unix(2e9, 0), Recorded: true, Bytes: 100}
		if err := errorsOf(f.add(in), os.MkdirAll(f.place(in), 0o700), f.bound()); err != nil {
			t.Fatal(err)
		}
		return in
	}()
	if large.Recorded || recorded(f.place(large)) || large.Note == "" {
		t.Errorf("%+v", large)
	}
}

func errorsOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestConfig: what is wrong is told with its line.
func TestConfig(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if _, err := parse("alerts.yml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	f("", "want alerts")
	f("interval: 10s\n", "there are no alerts")
	f("alerts: []\n", "alerts has no rule")
	f("alerts:\n- {}\n", "should be like rss>50%")
	f("alerts:\n- rule: colour>5\n", "alerts.yml:2")
	f("alerts:\n- rule: heap>1GB\n  capture: everything\n", `unknown phase "everything"`)
	f("alerts:\n- rule: heap>1GB\n  only: {service_name: \"(\"}\n", "only: service_name")
	f("alerts:\n- rule: heap>1GB\n  onyl: {}\n", "unknown key")
	f("interval: 1ms\nalerts: [{rule: heap>1GB}]\n", "at least 100ms")
	f("keep: {bytes: much}\nalerts: [{rule: heap>1GB}]\n", "an amount such as 2GB")
	f("hourly: 0\nalerts: [{rule: heap>1GB}]\n", "alerts.yml:1: want a number of at least 1")
	c, err := parse("alerts.yml", []byte("limit: 4GB\npause: 1h\ncapture: goroutine\nkeep: {count: 7, bytes: 1MB}\nalerts: [{rule: rss>80%}, {rule: goroutines>5 for 30s, capture: 'trace:5s'}]\n"))
	if err != nil || c.Limit != 4<<30 || c.Pause != time.Hour || c.Count != 7 || c.Bytes != 1<<20 || c.Hourly != 12 ||
		c.Alerts[0].Phases[0].Name != "goroutine" || c.Alerts[1].Phases[0].Name != "trace" || c.Alerts[1].Phases[0].For != 5*time.Second {
		t.Errorf("%v %+v", err, c)
	}
}
