package block_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"loupe/store"
	"loupe/store/blob/blobtest"
	"loupe/store/block"
	"loupe/store/storetest"
	"loupe/store/transfer"
)

const days = 24 * time.Hour

// thinning is a policy that thins out, and drops in the end.
var thinning = store.Policy{Bytes: -1, Raw: 5 * days, FiveMinutes: 10 * days, Hours: 20 * days}

// restored copies an archive into a new store.
func restored(t *testing.T, from *blobtest.Memory) (store.Engine, *block.Archived) {
	t.Helper()
	a, err := block.OpenArchive(t.Context(), from, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	to, err := block.Open(t.TempDir(), block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { to.Close() })
	if _, err := transfer.Copy(t.Context(), a, to, transfer.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	return to, a
}

func open(t *testing.T, dir string, bucket *blobtest.Memory) *block.Engine {
	t.Helper()
	e, err := block.Open(dir, block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Archive(t.Context(), bucket); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestArchive lets a store merge, thin out and drop for forty days while its bucket fails now
// and then and its process ends in between. In the end the archive has all profiles as they
// came, each once.
func TestArchive(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	bucket, oracle, dir := blobtest.NewMemory(), storetest.NewMemory(), t.TempDir()
	failing := false
	bucket.Fail = func(verb, name string) error {
		if failing && r.IntN(4) == 0 {
			return fmt.Errorf("%s %s: the network is gone", verb, name)
		}
		return nil
	}
	e := open(t, dir, bucket)
	list, _ := storetest.Aged(21)
	failures := 0
	for i, p := range list {
		for _, to := range []store.Engine{e, oracle} {
			if err := to.Write(t.Context(), []*store.Profile{p}); err != nil {
				t.Fatal(err)
			}
		}
		if i%3 != 2 {
			continue
		}
		if r.IntN(6) == 0 {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e = open(t, dir, bucket)
		}
		for k := range 2 {
			failing = true
			if _, err := e.Upload(t.Context()); err != nil {
				failures++
			}
			failing = false
			if err := e.Maintain(t.Context(), thinning, p.Time.Add(time.Duration(k)*11*time.Minute)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := e.Upload(t.Context()); err != nil || failures == 0 {
		t.Fatalf("after %d failures the last upload fails, too: %v", failures, err)
	}
	if err := e.Maintain(t.Context(), thinning, list[len(list)-1].Time.Add(30*time.Minute)); err != nil {
		t.Fatal(err)
	}
	for n := 1; n > 0; {
		var err error
		if n, err = e.Upload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	to, a := restored(t, bucket)
	if damage := a.Damage(); len(damage) > 0 {
		t.Errorf("the archive is damaged: %v", damage)
	}
	storetest.Same(t, to, oracle)
	if n, _ := a.Blocks(); n*2+1 != len(bucket.Names()) {
		t.Errorf("%d blocks count of %v", n, bucket.Names())
	}
}

// TestArchiveVerifies damages what is brought to a bucket: it does not count, and what it was
// merged from stays.
func TestArchiveVerifies(t *testing.T) {
	bucket, dir := blobtest.NewMemory(), t.TempDir()
	e := open(t, dir, bucket)
	defer e.Close()
	list, _ := storetest.Aged(22)
	now := list[2].Time
	flush := func(p *store.Profile) {
		t.Helper()
		if err := e.Write(t.Context(), []*store.Profile{p}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := e.Maintain(t.Context(), store.Policy{Bytes: -1}, now); err != nil {
				t.Fatal(err)
			}
			now = now.Add(11 * time.Minute)
		}
	}
	for _, p := range list[:2] {
		flush(p)
	}
	if n, err := e.Upload(t.Context()); n != 2 || err != nil {
		t.Fatalf("uploaded %d, %v", n, err)
	}
	before := bucket.Names()
	now = now.Add(2 * days) // the day is over
	if err := e.Maintain(t.Context(), store.Policy{Bytes: -1}, now); err != nil {
		t.Fatal(err)
	}
	bucket.Fail = func(verb, name string) error {
		if verb == "get" && strings.HasSuffix(name, ".block") {
			bucket.Change(name, func(b []byte) []byte { b[20] ^= 1; return b })
		}
		return nil
	}
	if n, err := e.Upload(t.Context()); n != 0 || err == nil || !strings.Contains(err.Error(), "it is damaged") {
		t.Errorf("uploaded %d, %v", n, err)
	}
	bucket.Fail = nil
	for _, name := range before {
		if r, err := bucket.Get(t.Context(), name); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		} else {
			r.Close()
		}
	}
	_, a := restored(t, bucket)
	if n, _ := a.Blocks(); n != 2 {
		t.Errorf("%d blocks count of %v", n, bucket.Names())
	}
	// One that was damaged later is told of, and the others are restored.
	bucket.Change(before[0], func(b []byte) []byte { return b[:len(b)/2] })
	to, a := restored(t, bucket)
	if damage := a.Damage(); len(damage) != 1 || !strings.Contains(damage[0], "it is damaged") {
		t.Errorf("of a damaged block it says %v of %v", damage, before)
	}
	if types, err := to.Types(t.Context(), store.Selection{}); err != nil || len(types) == 0 {
		t.Errorf("the others are not there: %v, %v", types, err)
	}
}

// TestArchiveOfAnother refuses the archive of another store.
func TestArchiveOfAnother(t *testing.T) {
	bucket := blobtest.NewMemory()
	if err := open(t, t.TempDir(), bucket).Close(); err != nil {
		t.Fatal(err)
	}
	e, err := block.Open(t.TempDir(), block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Archive(t.Context(), bucket); !errors.Is(err, block.ErrOtherArchive) {
		t.Errorf("the archive of another store is used: %v", err)
	}
	if _, err := block.OpenArchive(t.Context(), blobtest.NewMemory(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "has no archive") {
		t.Errorf("an empty bucket is an archive: %v", err)
	}
}
