// Package server_test holds the bucket of S3, the archive in it, and the recordings of incidents, against a real
// server: versitygw, over a folder.
package server_test

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
	"testing"
	"time"

	"loupe/capture/incident"
	"loupe/capture/scrape"
	"loupe/recording"
	"loupe/store"
	"loupe/store/blob/blobtest"
	"loupe/store/blob/s3"
	"loupe/store/block"
	"loupe/store/storetest"
	"loupe/store/transfer"
)

// gateway starts a server with the bucket "profiles", and returns its address.
func gateway(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program, err := exec.LookPath("versitygw")
	if err != nil { // it is a tool of this module
		program = filepath.Join(dir, "versitygw")
		if out, err := exec.Command("go", "build", "-o", program, "github.com/versity/versitygw/cmd/versitygw").CombinedOutput(); err != nil {
			t.Fatalf("cannot build versitygw: %v\n%s", err, out)
		}
	}
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(filepath.Join(data, "profiles"), 0o700); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "never-to-be-printed")
	c := exec.Command(program, "--port", address, "posix", "--sidecar", t.TempDir(), data)
	c.Env = append(os.Environ(), "ROOT_ACCESS_KEY=someone", "ROOT_SECRET_KEY=never-to-be-printed")
	var said strings.Builder
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() { c.Process.Kill(); <-ended })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.Get("http://" + address + "/")
		if err == nil {
			r.Body.Close()
			return "http://" + address
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("versitygw ends: %v\n%s", err, said.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("versitygw does not answer: %v", err)
		}
	}
}

// TestServer keeps a store's archive on the server: what is restored is what was written.
func TestServer(t *testing.T) {
	endpoint := gateway(t)
	open := func(prefix string) *s3.Bucket {
		t.Helper()
		b, err := s3.Open(fmt.Sprintf("s3://profiles/%s?endpoint=%s", prefix, endpoint))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := open("suite")
	if conditional, err := b.Conditional(t.Context()); err != nil || !conditional {
		t.Fatalf("If-None-Match: %v, %v", conditional, err)
	}
	blobtest.Run(t, b)

	bucket, oracle := open("archive"), storetest.NewMemory()
	e, err := block.Open(t.TempDir(), block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Archive(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	list, now := storetest.Aged(31)
	for i, p := range list {
		for _, to := range []store.Engine{e, oracle} {
			if err := to.Write(t.Context(), []*store.Profile{p}); err != nil {
				t.Fatal(err)
			}
		}
		if i%20 != 19 {
			continue
		}
		for k := range 2 {
			if err := e.Maintain(t.Context(), store.Policy{Raw: 48 * time.Hour, Bytes: -1}, p.Time.Add(time.Duration(k)*11*time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := e.Upload(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 3 {
		if err := e.Maintain(t.Context(), store.Policy{Raw: 48 * time.Hour, Bytes: -1}, now.Add(48*time.Hour)); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Upload(t.Context()); err != nil {
			t.Fatal(err)
		}
		now = now.Add(11 * time.Minute)
	}
	a, err := block.OpenArchive(t.Context(), bucket, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	to, err := block.Open(t.TempDir(), block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	report, err := transfer.Copy(t.Context(), a, to, transfer.Options{})
	if err := errors.Join(err, a.Close()); err != nil || len(a.Damage()) > 0 || report.Profiles != int64(len(list)) {
		t.Fatalf("%v, %v, damage %v", report, err, a.Damage())
	}
	storetest.Same(t, to, oracle)

	// Wrong keys are told as such, and no key is shown.
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another-never-to-be-printed")
	_, err = block.OpenArchive(t.Context(), open("archive"), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "AWS_SECRET_ACCESS_KEY") || strings.Contains(err.Error(), "never-to-be-printed") {
		t.Errorf("with a wrong key: %v", err)
	}
}

// fleet is a target.
type fleet struct{ one *scrape.Target }

func (f fleet) Targets() []*scrape.Target { return []*scrape.Target{f.one} }

func (f fleet) Hold(context.Context, *scrape.Target) func() { return func() {} }

// nobody is a fleet without targets.
type nobody struct{ fleet }

func (nobody) Targets() []*scrape.Target { return nil }

// TestIncidents keeps the recording of an incident on the server, and opens it from there when the folder is lost.
func TestIncidents(t *testing.T) {
	b, err := s3.Open("s3://profiles/incidents?endpoint=" + gateway(t))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	service := httptest.NewServer(mux)
	defer service.Close()
	u, err := url.Parse(service.URL + "/debug/pprof")
	if err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(t.TempDir(), "alerts.yml")
	if err := os.WriteFile(rules, []byte("interval: 100ms\nalerts: [{rule: goroutines>=1, capture: 'goroutine,heap'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(of incident.Fleet, done func(incident.Incident) bool) *incident.Monitor {
		t.Helper()
		m, err := incident.New(of, incident.Options{Dir: t.TempDir(), Tool: "test", Bucket: b})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			if err := m.RunFile(ctx, rules); err != nil {
				t.Error(err)
			}
		})
		for all := m.List(); len(all) == 0 || !done(all[0]); all = m.List() {
			if t.Context().Err() != nil || t.Failed() {
				t.Fatalf("%+v", all)
			}
			time.Sleep(10 * time.Millisecond)
		}
		stop()
		running.Wait()
		return m
	}
	target := &scrape.Target{URL: u, Labels: scrape.Labels{scrape.ServiceLabel: "shop"}, Job: &scrape.Job{}}
	in := run(fleet{target}, func(in incident.Incident) bool { return in.Stored != nil && !in.Pending }).List()[0]
	again := run(nobody{}, func(incident.Incident) bool { return true })
	where, err := again.Fetch(t.Context(), in.ID)
	if err != nil {
		t.Fatal(err)
	}
	r, err := recording.OpenFile(where)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	checks, err := r.Verify(t.Context())
	kinds := map[recording.Kind]bool{}
	for _, c := range checks {
		if c.State != recording.Whole {
			t.Errorf("%+v", c)
		}
	}
	for _, e := range r.Manifest.Entries {
		kinds[e.Kind] = true
	}
	if err != nil || !kinds["pprof.goroutine"] || !kinds["pprof.heap"] || !strings.HasPrefix(r.Manifest.Title, "shop: goroutines is ") {
		t.Errorf("%v: the recording %q has %v", err, r.Manifest.Title, kinds)
	}
}
