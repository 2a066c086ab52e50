// Package server_test holds the bucket of S3, and the archive in it, against a real server:
// versitygw, over a folder.
package server_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
