package scrape

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"loupe/format/profile"
)

// childEnv makes the test's program a service.
const childEnv = "LOUPE_TEST_SERVICE"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString(l.Addr().String() + "\n")
		http.Serve(l, service()) // until it is killed
	}
	os.Exit(m.Run())
}

// service is a stock net/http/pprof.
func service() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	return mux
}

// quick is a job of targets that are asked all the time, without profiles of the CPU, which
// take a second.
func quick(addresses ...string) *Job {
	j := Static(addresses...)
	j.Interval, j.Profiles = time.Millisecond, []Kind{{"heap", "heap"}, {"goroutine", "goroutine"}, {"nothing", "nothing"}}
	return j
}

// without is a budget that nothing reaches.
var without = Options{Budget: 1e9}

// TestScrape: what comes is a profile of the kind that was asked for; one that the program
// does not have is asked for once.
func TestScrape(t *testing.T) {
	var asked, missing atomic.Int64
	var together atomic.Int32
	h := service()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if together.Add(1) > 1 {
			t.Error("two profiles at once")
		}
		defer together.Add(-1)
		asked.Add(1)
		if strings.HasSuffix(r.URL.Path, "/nothing") {
			missing.Add(1)
		}
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	got := map[string]int{}
	s := New(func(_ context.Context, one *Scrape) (int64, error) {
		p, err := profile.Decode(one.Data, profile.Options{})
		if err != nil {
			t.Error(err)
			return 0, err
		}
		mu.Lock()
		defer mu.Unlock()
		got[one.Kind.Name+" "+p.SampleTypes[0].Type]++
		if got["heap alloc_objects"] >= 3 && got["goroutine goroutine"] >= 3 {
			stop()
		}
		return 0, nil
	}, without)
	s.Run(ctx, []*Job{quick(strings.TrimPrefix(server.URL, "http://"))})
	if missing.Load() != 1 {
		t.Errorf("a profile that is not there was asked for %d times", missing.Load())
	}
	if len(got) != 2 {
		t.Errorf("got %v", got)
	}
}

// TestCPU: a profile of the CPU, whose samples count for its cost.
func TestCPU(t *testing.T) {
	server := httptest.NewServer(service())
	defer server.Close()
	j := Static(strings.TrimPrefix(server.URL, "http://"))
	j.Interval, j.Length, j.Profiles = time.Millisecond, time.Second, []Kind{{"cpu", "profile"}}
	s := New(func(_ context.Context, one *Scrape) (int64, error) {
		if p, err := profile.Decode(one.Data, profile.Options{}); err != nil || p.SampleTypes[1].Type != "cpu" || one.End.Sub(one.Begin) < time.Second {
			t.Errorf("%v", err)
		}
		return 1000, nil
	}, Options{Budget: 1e-6})
	if state := firstRound(t, s, j); state.Cost < 10*time.Millisecond || state.Taken != 1 {
		t.Errorf("%+v", state)
	}
}

// firstRound takes profiles until a round is over.
func firstRound(t *testing.T, s *Scraper, j *Job) State {
	ctx, stop := context.WithCancel(t.Context())
	var state State
	var watching sync.WaitGroup
	watching.Go(func() {
		defer stop()
		for t.Context().Err() == nil {
			if all := s.States(); len(all) == 1 && all[0].Every > 0 {
				state = all[0]
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	s.Run(ctx, []*Job{j})
	watching.Wait()
	return state
}

// TestBudget: what a round costs decides how often it comes.
func TestBudget(t *testing.T) {
	server := httptest.NewServer(service())
	defer server.Close()
	j := quick(strings.TrimPrefix(server.URL, "http://"))
	rounds := 0
	s := New(func(_ context.Context, one *Scrape) (int64, error) {
		if one.Kind.Name == "heap" {
			rounds++
		}
		return 1e8, nil // 1000 s of interruptions, which is far beyond any budget
	}, Options{Budget: 0.01})
	if state := firstRound(t, s, j); state.Every < 100000*time.Second || state.Cost < 2000*time.Second {
		t.Errorf("every %v at a cost of %v", state.Every, state.Cost)
	}
	if rounds != 1 {
		t.Errorf("%d rounds within the time of one", rounds)
	}
}

// TestNone: a port that serves something else is told of.
func TestNone(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var said sync.Map
	s := New(func(context.Context, *Scrape) (int64, error) { return 0, nil }, Options{Budget: 1e9, Tell: func(format string, args ...any) {
		said.Store(fmt.Sprintf(format, args...), true)
	}})
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		defer stop()
		for t.Context().Err() == nil {
			if all := s.States(); len(all) == 1 && errors.Is(all[0].Err, errNone) {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	s.Run(ctx, []*Job{quick(strings.TrimPrefix(server.URL, "http://"))})
	watching.Wait()
	n := 0
	said.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("told of %d things, want one", n)
	}
}

// TestOneRefused: a profile that never comes is what the target's state says, however many
// others come, and is told of once.
func TestOneRefused(t *testing.T) {
	others := service()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/mutex") {
			http.Error(w, "in use", http.StatusInternalServerError)
			return
		}
		others.ServeHTTP(w, r)
	}))
	defer server.Close()
	j := quick(strings.TrimPrefix(server.URL, "http://"))
	j.Profiles = []Kind{{"mutex", "mutex"}, {"heap", "heap"}}
	ctx, stop := context.WithCancel(t.Context())
	var said []string
	taken := 0
	var s *Scraper
	s = New(func(context.Context, *Scrape) (int64, error) {
		if taken++; taken == 3 {
			state := s.States()[0]
			if state.Err == nil || !strings.HasPrefix(state.Err.Error(), "mutex: it answers 500") {
				t.Errorf("the state is %v", state.Err)
			}
			stop()
		}
		return 0, nil
	}, Options{Budget: 1e9, Tell: func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }})
	s.Run(ctx, []*Job{j})
	if len(said) != 1 || !strings.Contains(said[0], "it answers 500") {
		t.Errorf("told %q, want one line", said)
	}
}

// TestDown: a target that does not answer is told of once, and asked again.
func TestDown(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close() // nobody is there now
	var said atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	s := New(func(context.Context, *Scrape) (int64, error) { stop(); return 0, nil }, Options{Budget: 1e9, Tell: func(format string, args ...any) {
		if said.Add(1); said.Load() == 1 {
			if l, err := net.Listen("tcp", address); err == nil {
				server := &httptest.Server{Listener: l, Config: &http.Server{Handler: service()}}
				server.Start()
				t.Cleanup(server.Close)
			}
		}
	}})
	s.Run(ctx, []*Job{quick(address)})
	if said.Load() == 0 {
		t.Error("nothing was told of a target that is down")
	}
}

// TestParts divides targets among several: each has one owner, whatever its labels are, and
// which one it is stays so.
func TestParts(t *testing.T) {
	owners := map[string]int{}
	for part := 1; part <= 3; part++ {
		for i := range 300 {
			address := fmt.Sprintf("10.0.0.%d:6060", i)
			targets, err := Static(address).targets(Group{Addresses: []string{address}, Labels: Labels{"env": fmt.Sprint(part)}})
			if err != nil || len(targets) != 1 {
				t.Fatal(targets, err)
			}
			if (Options{Part: part, Parts: 3}).mine(targets[0]) {
				if owners[address] != 0 {
					t.Errorf("%s belongs to %d and %d", address, owners[address], part)
				}
				owners[address] = part
			}
		}
	}
	sizes := map[int]int{}
	for _, part := range owners {
		sizes[part]++
	}
	if len(owners) != 300 || min(sizes[1], sizes[2], sizes[3]) < 70 {
		t.Errorf("of 300 targets %d have an owner; the parts are %v", len(owners), sizes)
	}
	if owners["10.0.0.7:6060"] != 1 {
		t.Errorf("a target has moved to part %d: after an update two would take its profiles, or nobody", owners["10.0.0.7:6060"])
	}
}

// TestPartRuns holds a Scraper to its part.
func TestPartRuns(t *testing.T) {
	server := httptest.NewServer(service())
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for part := 1; part <= 2; part++ {
		ctx, stop := context.WithCancel(t.Context())
		opt := Options{Budget: 1e9, Part: part, Parts: 2}
		j := quick(address)
		targets, err := j.targets(Group{Addresses: []string{address}})
		if err != nil {
			t.Fatal(err)
		}
		var taken atomic.Int64
		s := New(func(context.Context, *Scrape) (int64, error) {
			taken.Add(1)
			stop()
			return 0, nil
		}, opt)
		if !opt.mine(targets[0]) {
			if err := s.arrange(ctx, j, []Group{{Addresses: []string{address}}}, new(sync.WaitGroup)); err != nil {
				t.Fatal(err)
			}
			if n := len(s.States()); n != 0 {
				t.Errorf("part %d takes profiles of %d targets of the other", part, n)
			}
			stop()
			continue
		}
		s.Run(ctx, []*Job{j})
		if taken.Load() == 0 {
			t.Errorf("part %d takes no profiles of its target", part)
		}
	}
}

// TestRunFile: targets follow their file, and one that cannot be read changes nothing.
func TestRunFile(t *testing.T) {
	a, b := httptest.NewServer(service()), httptest.NewServer(service())
	defer a.Close()
	defer b.Close()
	path := filepath.Join(t.TempDir(), "targets.yml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
	of := func(s *httptest.Server) string {
		return "scrape_configs: [{job_name: j, scrape_interval: 1ms, profiling_config: {cpu_seconds: 0.0001, profiles: [heap]}, static_configs: [{targets: ['" + strings.TrimPrefix(s.URL, "http://") + "']}]}]\n"
	}
	ctx, stop := context.WithCancel(t.Context())
	write(of(a))
	var wrong, told sync.Once
	s := New(func(_ context.Context, one *Scrape) (int64, error) {
		switch "http://" + one.Target.URL.Host {
		case a.URL:
			wrong.Do(func() { write("scrape_configs: [{job_nam") })
		case b.URL:
			stop()
		}
		return 0, nil
	}, Options{Budget: 1e9, Tell: func(format string, args ...any) {
		if strings.Contains(format, "go on") {
			told.Do(func() { write(of(b)) })
		}
	}})
	f, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.RunFile(ctx, f, nil)
	if _, err := ReadFile(filepath.Join(t.TempDir(), "nothing.yml")); err == nil {
		t.Error("a file that is not there is no error")
	}
}

// TestLocal: a program of this machine that serves net/http/pprof is found by itself, with
// the name of its main package.
func TestLocal(t *testing.T) {
	if _, err := os.Stat("/proc/self/net/tcp"); err != nil {
		j := Local()
		if groups, err := j.finders[0].find(t.Context()); len(groups) > 0 || err != nil {
			t.Errorf("without /proc: %v, %v", groups, err)
		}
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), exe)
	child.Env = append(os.Environ(), childEnv+"=1")
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	line := make([]byte, 100)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(string(line[:n]))
	groups, err := Local().finders[0].find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range groups {
		if g.Addresses[0] == address {
			if g.Labels[ServiceLabel] != "scrape.test" && g.Labels[ServiceLabel] != "scrape" {
				t.Errorf("it is called %q", g.Labels[ServiceLabel])
			}
			return
		}
	}
	t.Errorf("%s is not among %v", address, groups)
}

// TestHold: who holds a target has it alone, at once, and it is asked again afterwards. That
// a profile was given up is no error of the target.
func TestHold(t *testing.T) {
	var under atomic.Int32 // requests that are being answered
	var asked atomic.Int64
	h := service()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		under.Add(1)
		defer under.Add(-1)
		if strings.HasSuffix(r.URL.Path, "/profile") {
			<-r.Context().Done() // a profile that takes very long
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer server.Close()
	j := quick(strings.TrimPrefix(server.URL, "http://"))
	j.Timeout, j.Profiles = time.Hour, []Kind{{"cpu", "profile"}, {"heap", "heap"}}
	ctx, stop := context.WithCancel(t.Context())
	s := New(func(context.Context, *Scrape) (int64, error) { return 0, nil }, without)
	var running sync.WaitGroup
	running.Go(func() { s.Run(ctx, []*Job{j}) })
	wait := func(what string, ok func() bool) {
		t.Helper()
		for !ok() {
			if t.Context().Err() != nil {
				t.Fatal(what)
			}
			time.Sleep(time.Millisecond)
		}
	}
	wait("nothing comes", func() bool { states := s.States(); return len(states) == 1 })
	for range 3 {
		wait("no profile is taken", func() bool { return under.Load() > 0 })
		release := s.Hold(ctx, s.Targets()[0])
		wait("the profile is not given up", func() bool { return under.Load() == 0 })
		before := asked.Load()
		another := s.Hold(ctx, s.Targets()[0]) // of several who hold it
		release()
		release()
		if asked.Load() != before {
			t.Error("a profile was taken meanwhile")
		}
		another()
		wait("no profile is taken again", func() bool { return asked.Load() > before })
	}
	if state := s.States()[0]; state.Err != nil {
		t.Errorf("%+v", state)
	}
	stop()
	running.Wait()
	s.Hold(t.Context(), &Target{URL: &url.URL{Host: "elsewhere"}, Job: j})() // one that is not asked
}
