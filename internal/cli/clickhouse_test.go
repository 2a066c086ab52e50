//go:build linux

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/block"
	"loupe/store/clickhouse"
	"loupe/store/clickhouse/clickhousetest"
)

// served is a loupe serve of the test.
type served struct {
	args    []string
	address string
	cmd     *exec.Cmd
}

func (s *served) start(t *testing.T) {
	t.Helper()
	s.cmd = exec.Command("loupe", s.args...)
	var said bytes.Buffer
	s.cmd.Stdout, s.cmd.Stderr = &said, &said
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	until(t, "loupe serve is ready", func() bool { return strings.HasPrefix(fetch(s.address+"/ready"), "200") })
}

// fetch returns the status and the body of an answer.
func fetch(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(text))
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after two minutes not yet: %s", what)
		}
	}
}

// TestServeBeside runs two loupe serve beside each other on two shards of ClickHouse. They
// divide the targets; what is pushed to both is there once; one that is killed resumes.
func TestServeBeside(t *testing.T) {
	_, address := clickhousetest.Shards(t, "loupe:only%20for%20tests@")
	db := address(clickhousetest.Name(t))
	var targets []string
	for range 8 {
		mux := http.NewServeMux()
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		s := httptest.NewServer(mux)
		defer s.Close()
		targets = append(targets, strings.TrimPrefix(s.URL, "http://"))
	}
	file := filepath.Join(t.TempDir(), "targets.yml")
	text := "scrape_configs:\n- job_name: shop\n  scrape_interval: 200ms\n  profiling_config: {cpu_seconds: 0.05, profiles: [goroutine]}\n  static_configs: [{targets: ['" + strings.Join(targets, "', '") + "']}]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var both []*served
	for i := range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listen := l.Addr().String()
		l.Close()
		s := &served{address: "http://" + listen, args: []string{"serve", "-listen", listen, "-store", db, "-targets", file, "-shard", fmt.Sprintf("%d/2", i+1), "-budget", "100"}}
		s.start(t)
		both = append(both, s)
	}
	at, err := clickhouse.ParseAddress(db)
	if err != nil {
		t.Fatal(err)
	}
	e, err := clickhouse.Open(t.Context(), at, clickhouse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	ctx := context.Background()
	instances := func(from time.Time) []string {
		list, err := e.LabelValues(ctx, "instance", store.Selection{Range: store.Range{Start: from}})
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	slices.Sort(targets)
	until(t, "all targets have profiles", func() bool { return slices.Equal(instances(time.Time{}), targets) })
	ours := func(s *served) (list []string) {
		page := fetch(s.address + "/")
		for _, one := range targets {
			if strings.Contains(page, "http://"+one) {
				list = append(list, one)
			}
		}
		return list
	}
	first, second := ours(both[0]), ours(both[1])
	if all := slices.Sorted(slices.Values(slices.Concat(first, second))); !slices.Equal(all, targets) {
		t.Errorf("the targets are divided into %v and %v", first, second)
	}

	// The same profile comes to both.
	pushed := "../../analysis/compare/testdata/regexp/" + firstProfile(t)
	for _, s := range both {
		if out, err := exec.Command("loupe", "push", "-to", s.address, "-service", "tool", pushed).CombinedOutput(); err != nil {
			t.Errorf("loupe push: %v\n%s", err, out)
		}
	}
	ms, err := store.ParseMatchers(`{service_name="tool"}`)
	if err != nil {
		t.Fatal(err)
	}
	typ := store.Type{Name: "process_cpu", Sample: "samples", Unit: "count", Period: "cpu", PeriodUnit: "nanoseconds"}
	got, err := e.Stacks(ctx, store.StacksQuery{Selection: store.Selection{Type: typ, Matchers: ms}})
	if err != nil || got.Profiles[0] != 1 {
		t.Errorf("what was pushed to both is there %d times, %v", got.Profiles[0], err)
	}

	// One is killed: the other goes on with its own, and both answer for all afterwards.
	both[0].cmd.Process.Kill()
	both[0].cmd.Wait()
	killed := time.Now()
	until(t, "the other goes on", func() bool { return slices.Equal(instances(killed), slices.Sorted(slices.Values(second))) })
	both[0].start(t)
	until(t, "the killed one resumes", func() bool { return slices.Equal(instances(killed), targets) })
}

// TestCopyDatabase copies a folder into a database of two shards, and back into another folder:
// all three have the same totals, and no password is printed.
func TestCopyDatabase(t *testing.T) {
	_, address := clickhousetest.Shards(t, "loupe:only%20for%20tests@")
	db, none := address(clickhousetest.Name(t)), address(clickhousetest.Name(t)+"_none")
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	kept, err := block.Open(first, block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../analysis/compare/testdata/regexp/" + firstProfile(t))
	if err != nil {
		t.Fatal(err)
	}
	p, err := profile.Decode(data, profile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	types := []store.Type{{Name: "process_cpu", Sample: "samples", Unit: "count", Period: "cpu", PeriodUnit: "nanoseconds"}, {Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"}}
	begin := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for i := range 5 {
		one := &store.Profile{Labels: store.MakeLabels([]store.Label{{Name: store.ServiceLabel, Value: "tool"}}), Types: types, Time: begin.Add(time.Duration(i) * 7 * time.Hour), Duration: time.Second, Samples: p}
		if err := kept.Write(t.Context(), []*store.Profile{one}); err != nil {
			t.Fatal(err)
		}
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]string{{first, db}, {db, second}} {
		out, err := exec.Command("loupe", "serve", "-copy", pair[0], pair[1]).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "5 profiles on 2 days, 5 copied now") {
			t.Fatalf("loupe serve -copy: %v\n%s", err, out)
		}
		if strings.Contains(string(out), "tests") {
			t.Errorf("the password is printed:\n%s", out)
		}
	}
	copied, err := block.Open(second, block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	want := int64(0)
	for _, v := range p.Values[1] {
		want += 5 * v
	}
	got, err := copied.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: types[1]}})
	if err != nil || got.Profiles[0] != 5 || got.Top(0, 1).Total != want {
		t.Errorf("the second folder has %d profiles with %d ns, want 5 with %d: %v", got.Profiles[0], got.Top(0, 1).Total, want, err)
	}
	out, err := exec.Command("loupe", "serve", "-copy", none, filepath.Join(dir, "third")).CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(string(out), "there is no store of loupe") {
		t.Errorf("a database without a store: %v\n%s", err, out)
	}
}

// firstProfile is the name of a CPU profile of the repository.
func firstProfile(t *testing.T) string {
	list, err := filepath.Glob("../../analysis/compare/testdata/regexp/*.pb.gz")
	if err != nil || len(list) == 0 {
		t.Fatal("there are no profiles: ", err)
	}
	return filepath.Base(list[0])
}
