package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

const padded = `package store

import (
	"time"
	"net/http"
	"sync"
)

type item struct {
	used bool
	id   int64
	hot  bool
	size int64
	cold bool
	next *other
	at   time.Time
}

type tight struct {
	id   int64
	used bool
}

type foreign struct {
	used bool
	head http.Header
	body http.Request
	hot  bool
}

type spread struct {
	a bool
	_ [7]byte
	b int64
	c bool
	d int64
}

func fill() {
	keep = append(keep, &item{id: 1}) // line 40
	more = append(more, new(tight)) // line 41
	all = make([]item, 1000) // line 42
	far = &foreign{} // line 43
	pad = &spread{} // line 44
	two(&item{}, &tight{}) // line 45
}
`

// keeping is a program that keeps objects made at a line, in counts and bytes, and 1 MB of
// others. item takes 72 bytes, and 56 with its fields in order.
func keeping(line string, objects, bytes string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nhost arch=amd64\nphase bare 0s..10s\nphase heap 10s..11s profiler=heap\n")
	r.Put(recording.Entry{Path: "source/store.go", Kind: recording.Source, Source: "/src/store/store.go"}, []byte(padded))
	picture := "shop/store.fill:/src/store/store.go:" + line + "  shop/page.load:/src/page.go:3\n= " + objects + " 1000\n= " + bytes + " 1024000\n"
	return r.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"},
		profiletest.Encode(picture, profiletest.Options{Types: []string{"inuse_objects/count", "inuse_space/bytes"}, Period: 512 << 10}))
}

func TestAL20(t *testing.T) {
	const n, size = "1000000", "80000000"
	f := expect(t, "padded", keeping("40", n, size), "AL20", Found, "item would take 56 B (64 of the allocator) instead of 72 (80)", "19.7% of the live heap", "store.go:40")
	severity(t, "padded", f, Info)
	if !strings.Contains(f.Advice, "at, id, size, next, used, hot, cold") {
		t.Errorf("advice %q", f.Advice)
	}
	if f.Evidence[1].Line != 9 || !strings.HasPrefix(f.Evidence[1].Source, "type item") {
		t.Errorf("evidence %+v", f.Evidence)
	}
	both := keeping("40", n, size)
	both.Put(recording.Entry{Path: "heap.pb.gz", Kind: recording.Heap, Phase: "heap"}, profiletest.Encode(
		"shop/store.fill:/src/store/store.go:40 shop/store.fill:/src/store/store.go:40\nshop/store.grow:/src/store/grow.go:1\n= 1 1000000\n= 90000000 80000000\n",
		profiletest.Options{Types: []string{"inuse_objects/count", "inuse_space/bytes"}, Period: 512 << 10}))
	both.Manifest.Entries = both.Manifest.Entries[:len(both.Manifest.Entries)-1]
	expect(t, "beside others", both, "AL20", Found, "9.41% of the live heap")
	expect(t, "a slice of them", keeping("42", "1000", size), "AL20", Found, "56 B instead of 72", "21.9%")
	expect(t, "in order", keeping("41", "5000000", size), "AL20", Fine, "1 line")
	expect(t, "other objects of the line", keeping("40", "1000", size), "AL20", Fine)
	expect(t, "a field of an unknown size", keeping("43", n, size), "AL20", Fine, "no struct with known fields")
	expect(t, "padded on purpose", keeping("44", n, size), "AL20", Fine, "no struct")
	expect(t, "two of them", keeping("45", n, size), "AL20", Fine, "no struct")
	expect(t, "a small heap", keeping("40", "10000", "800000"), "AL20", Fine, "little to save")
	written := keeping("40", n, size)
	written.Put(recording.Entry{Path: "source/write.go", Kind: recording.Source, Source: "/src/store/write.go"}, []byte("package store\n\nimport \"encoding/binary\"\n\nfunc (i *item) write(w io.Writer) { binary.Write(w, binary.LittleEndian, i) }\n"))
	expect(t, "written as it is", written, "AL20", Fine, "1 line")
	expect(t, "no profile", recordingtest.New("title x"), "AL20", NotApplicable)
}
