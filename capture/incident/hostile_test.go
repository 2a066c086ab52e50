package incident

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/store/blob/blobtest"
)

// forms are descriptions that no server writes: what they say of names and sizes decides about what is deleted.
func forms(id string) map[string]any {
	sum := strings.Repeat("ab", 32)
	stored := func(name string, bytes int64, sum string) map[string]any {
		return map[string]any{"id": id, "bytes": 1, "recorded": true, "stored": map[string]any{"name": name, "bytes": bytes, "sha256": sum}}
	}
	right := storedName(id, sum)
	return map[string]any{
		"an ID of a parent":       map[string]any{"id": ".."},
		"an ID of another":        map[string]any{"id": "other"},
		"a huge size":             map[string]any{"id": id, "bytes": int64(4e18), "recorded": true},
		"a negative size":         map[string]any{"id": id, "bytes": -4e18, "recorded": true},
		"a negative version":      map[string]any{"id": id, "version": -1},
		"a huge size there":       stored(right, 4e18, sum),
		"no size there":           stored(right, 0, sum),
		"another recording there": stored("other/recording-"+sum[:16]+packed, 1, sum),
		"a name with a parent":    stored(id+"/../other/recording-"+sum[:16]+packed, 1, sum),
		"no SHA-256":              stored(right, 1, ""),
		"a SHA-256 that is a way": stored(storedName(id, "../../../../../.."), 1, "../../../../../.."),
		"nothing":                 map[string]any{},
		"a list":                  []int{1},
	}
}

func put(t *testing.T, name string, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	good(t, err)
	good(t, os.WriteFile(name, text, 0o600))
}

// TestHostileFolder: a description that lies is not listed and left as it is, and neither it nor its bounds take anything else
// away; it is told of with the recording beside it.
func TestHostileFolder(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "incidents")
	good(t, os.WriteFile(filepath.Join(dir, "precious"), []byte("data"), 0o600))
	var told strings.Builder
	tell := func(format string, args ...any) { fmt.Fprintf(&told, format+"\n", args...) }
	m, err := New(&fleet{}, Options{Dir: kept, Tell: tell})
	good(t, err)
	one := taken(t, m, "shop", time.Unix(1e9, 0))
	two := taken(t, m, "cart", time.Unix(1e9+1, 0))
	good(t, m.Close())
	put(t, filepath.Join(kept, two.ID+".json"), "cut")
	put(t, filepath.Join(kept, "...json"), map[string]any{"id": "..", "recorded": true, "bytes": 1})
	put(t, filepath.Join(kept, "..json"), map[string]any{"id": ".", "recorded": true, "bytes": 1})
	bad := 0
	for _, v := range forms("bad") {
		bad++
		put(t, filepath.Join(kept, fmt.Sprintf("bad%d.json", bad)), v)
		put(t, filepath.Join(kept, "bad.json"), v)
		m, err := New(&fleet{}, Options{Dir: kept, Tell: tell})
		good(t, err)
		m.kept.count, m.kept.bytes = 2, size(m.kept.place(one))
		good(t, m.kept.bound())
		if list := m.List(); len(list) != 1 || list[0].ID != one.ID {
			t.Errorf("%v: %+v", v, list)
		}
		says(t, m, one.ID, "shop")
		if !recorded(m.kept.place(two)) {
			t.Fatalf("%v: the recording of a description that was cut is gone", v)
		}
		good(t, m.Close())
	}
	if text, err := os.ReadFile(filepath.Join(dir, "precious")); string(text) != "data" {
		t.Fatalf("what lies beside the folder is gone: %v", err)
	}
	if text := told.String(); !strings.Contains(text, two.ID+".json is damaged") || !strings.Contains(text, "its recording is in "+filepath.Join(kept, two.ID)) || !strings.Contains(text, "bad.json is damaged") {
		t.Errorf("told:\n%s", text)
	}
	if _, err := os.Stat(filepath.Join(kept, "bad.json")); err != nil {
		t.Error(err)
	}
}

// TestHostileBucket: a description in the bucket that lies takes nothing away, here or there; where an older version can be
// read that one holds, and what is nobody's is left alone.
func TestHostileBucket(t *testing.T) {
	bucket := blobtest.NewMemory()
	var told strings.Builder
	m := monitor(t, t.TempDir(), bucket, &told, nil)
	one := taken(t, m, "shop", time.Unix(1e9, 0))
	two := taken(t, m, "cart", time.Unix(1e9+1, 0))
	good(t, m.tier.sync(t.Context()))
	good(t, m.Close())
	before := bucket.Names()
	add := func(name, text string) {
		t.Helper()
		good(t, bucket.Put(t.Context(), name, strings.NewReader(text), int64(len(text))))
	}
	add(one.ID+"/zzz.json", "{}")
	add(two.ID+"/notes.txt", "of somebody")
	add(fmt.Sprintf("%s/recording-%016d%s", one.ID, 7, ".bak"), "of somebody")
	for name, v := range forms(two.ID) {
		text, err := json.Marshal(v)
		good(t, err)
		add(version(two.ID, 7), string(text))
		told.Reset()
		m := monitor(t, t.TempDir(), bucket, &told, nil)
		m.kept.room = 1 << 20
		good(t, m.tier.sync(t.Context()))
		good(t, m.tier.sync(t.Context()))
		list := m.List()
		if len(list) != 2 || list[0].ID != two.ID || !list[0].Recorded || !list[1].Recorded {
			t.Fatalf("%s: %+v\n%s", name, list, &told)
		}
		says(t, m, one.ID, "shop")
		says(t, m, two.ID, "cart")
		// It changes, and the next version comes after the one that was damaged.
		good(t, m.kept.changeID(two.ID, func(in *Incident) { in.Again, in.Pending = in.Again+1, true }))
		good(t, m.tier.sync(t.Context()))
		names := bucket.Names()
		if !slices.Contains(names, version(two.ID, 8)) || slices.Contains(names, version(two.ID, 7)) {
			t.Fatalf("%s: %v", name, names)
		}
		good(t, bucket.Delete(t.Context(), version(two.ID, 8)))
		bucket.Change(version(two.ID, 1), func([]byte) []byte {
			in := *two
			in.Version = 1
			text, _ := json.Marshal(in)
			return text
		})
		good(t, m.Close())
	}
	for _, name := range append(before, two.ID+"/notes.txt") {
		if !slices.Contains(bucket.Names(), name) {
			t.Errorf("%s is gone: %v", name, bucket.Names())
		}
	}

	// One of which no version can be read is told of, and left.
	bucket.Change(version(two.ID, 1), func([]byte) []byte { return []byte("{") })
	told.Reset()
	m = monitor(t, t.TempDir(), bucket, &told, nil)
	good(t, m.tier.sync(t.Context()))
	if list := m.List(); len(list) != 1 || !strings.Contains(told.String(), "of "+two.ID+" is damaged") || !slices.Contains(bucket.Names(), two.Stored.Name) {
		t.Errorf("%+v, %v\n%s", list, bucket.Names(), &told)
	}
}

// TestTwo: a folder belongs to one server.
func TestTwo(t *testing.T) {
	dir := t.TempDir()
	m, err := New(&fleet{}, Options{Dir: dir})
	good(t, err)
	if _, err := New(&fleet{}, Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "another loupe serve uses "+dir) || !strings.Contains(err.Error(), "-incidents") {
		t.Errorf("two in one folder: %v", err)
	}
	good(t, m.Close())
	m, err = New(&fleet{}, Options{Dir: dir})
	good(t, err)
	good(t, m.Close())
}

// TestUnwritten: an incident that could not be written down, on a disk that was full, is when there is room.
func TestUnwritten(t *testing.T) {
	dir := t.TempDir()
	m, err := New(&fleet{}, Options{Dir: dir})
	good(t, err)
	in := &Incident{At: time.Unix(1e9, 0), Service: "shop"}
	block := filepath.Join(dir, "shop-20010909-014640.json.new")
	good(t, os.MkdirAll(filepath.Join(block, "full"), 0o700)) // no file can be made there
	if err := m.kept.add(in); err == nil {
		t.Fatal("it was written")
	}
	m.kept.rewrite()
	if _, err := os.Stat(m.kept.place(in) + ".json"); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	good(t, os.RemoveAll(block))
	m.kept.rewrite()
	good(t, m.Close())
	m, err = New(&fleet{}, Options{Dir: dir})
	good(t, err)
	if list := m.List(); len(list) != 1 || list[0].Service != "shop" {
		t.Errorf("%+v", list)
	}
	good(t, m.Close())
}

// TestEmptyFolder: a folder without a recording in it is none.
func TestEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	m, err := New(&fleet{}, Options{Dir: dir})
	good(t, err)
	in := &Incident{At: time.Unix(1e9, 0), Service: "shop", Note: underWay, Recorded: true}
	good(t, m.kept.add(in))
	good(t, os.MkdirAll(m.kept.place(in), 0o700))
	good(t, m.Close())
	m, err = New(&fleet{}, Options{Dir: dir})
	good(t, err)
	if list := m.List(); len(list) != 1 || list[0].Recorded || !strings.Contains(list[0].Note, "did not end") {
		t.Errorf("%+v", list)
	}
	// And another incident of the second does not take its name.
	next := &Incident{At: time.Unix(1e9, 0), Service: "shop"}
	good(t, m.kept.add(next))
	if next.ID == in.ID {
		t.Errorf("%s twice", in.ID)
	}
	good(t, m.Close())
}
