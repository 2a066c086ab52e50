package s3

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"

	"loupe/store/blob"
	"loupe/store/blob/blobtest"
)

// TestBucket holds the client to what a bucket does, on a server that takes conditions and on
// one that ignores them.
func TestBucket(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "never-to-be-printed")
	for name, conditional := range map[string]bool{"conditional": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			h := &blobtest.Handler{Memory: blobtest.NewMemory(), Bucket: "profiles", Conditional: conditional}
			server := httptest.NewServer(h)
			defer server.Close()
			b, err := Open("s3://profiles/some/where?endpoint=" + server.URL)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := b.Conditional(t.Context()); err != nil || got != conditional {
				t.Errorf("the server is thought to take conditions: %v, %v", got, err)
			}
			if names := h.Names(); len(names) > 0 {
				t.Errorf("the probe leaves %v", names)
			}
			blobtest.Run(t, b)
			for _, n := range h.Names() {
				if !strings.HasPrefix(n, "some/where/") {
					t.Errorf("%s is outside of the prefix", n)
				}
			}
		})
	}
}

func TestMemory(t *testing.T) { blobtest.Run(t, blobtest.NewMemory()) }

// TestAddress says what is wrong with an address, and shows no key.
func TestAddress(t *testing.T) {
	for address, want := range map[string]string{
		"s3://":                                "want s3://bucket/prefix",
		"s3://key:never-to-be-printed@bucket":  "keys do not belong into the address",
		"s3://bucket?endpoint=host:9000":       "endpoint: want https://host:port",
		"s3://bucket?endpoint=ftp://host":      "endpoint: want https://host:port",
		"s3://bucket?region=a&secret=x":        `not "secret"`,
		"s3://bucket/%zz-never-to-be-printed@": "it is no address",
	} {
		_, err := Open(address)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "never-to-be-printed") {
			t.Errorf("%s: %v", address, err)
		}
	}
	b, err := Open("s3://bucket/a/b/?endpoint=https://host:9000&region=eu-central-1")
	if err != nil || b.String() != "s3://bucket/a/b at https://host:9000" {
		t.Errorf("it is called %v, %v", b, err)
	}
}

// TestMissingBucket: a bucket that is not there is told from one that is empty, whatever is asked.
func TestMissingBucket(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "someone")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "never-to-be-printed")
	server := httptest.NewServer(&blobtest.Handler{Memory: blobtest.NewMemory(), Bucket: "profiles", Conditional: true})
	defer server.Close()
	open := func(bucket string) *Bucket {
		b, err := Open("s3://" + bucket + "/p?endpoint=" + server.URL)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	asked := map[string]func(b *Bucket) error{
		"get": func(b *Bucket) error {
			_, err := b.Get(t.Context(), "store.json")
			return err
		},
		"list": func(b *Bucket) (err error) {
			for _, err = range b.List(t.Context(), "") {
			}
			return err
		},
		"put": func(b *Bucket) error { return b.Put(t.Context(), "x", strings.NewReader("y"), 1) },
	}
	for what, ask := range asked {
		if err := ask(open("nobucket")); err == nil || errors.Is(err, blob.ErrNotFound) || !strings.Contains(err.Error(), `there is no bucket "nobucket"`) || !strings.Contains(err.Error(), "create it") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := asked["get"](open("profiles")); !errors.Is(err, blob.ErrNotFound) {
		t.Errorf("an empty bucket: %v", err)
	}
}
