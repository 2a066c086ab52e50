package block

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"

	"loupe/store"
)

// bounded runs a decoder and holds what it allocates: no more than so many bytes for each
// byte of input, and some for the beginning.
func bounded(t *testing.T, data []byte, decode func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	decode()
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(16<<20+len(data)*2000); got > most {
		t.Errorf("%d bytes of input took %d bytes of memory, more than %d", len(data), got, most)
	}
}

// seeds are sound bytes of each kind.
func seeds(t testing.TB) (chunkBytes, dictBytes, indexBytes, rowBytes, log []byte) {
	h := newHead(1, nil)
	r := recorder{h: h, t: &ticket{}}
	log = []byte(walMagic)
	for i := range 8 {
		r.raw = nil
		r.profile(one(i))
		log = append(log, r.done()...)
	}
	for _, p := range r.t.rows {
		h.place(p)
	}
	h.kept = make([]store.ID, 1)
	v := h.snapshot()
	d, _ := renumber(v.dicts[0], []int64{1, 1, 1})
	all := rows{rows: v.rows[0].rows, chunks: []chunkRef{{n: len(v.rows[0].rows), offset: 12, packed: 3, raw: 3}}}
	x := index{number: 3, dicts: make([]chunkRef, 3), series: v.series, rows: make([]chunkRef, len(v.series)), ids: h.kept}
	return v.rows[0].chunks[0].data, appendDict(nil, d), x.append(nil), appendRows(nil, &all, 1), log
}

// TestDecodersRead: what the fuzz targets begin with is read.
func TestDecodersRead(t *testing.T) {
	chunkBytes, dictBytes, indexBytes, rowBytes, log := seeds(t)
	var c chunk
	if err := c.decode(chunkBytes); err != nil {
		t.Error("chunk:", err)
	}
	if _, err := readDict(dictBytes); err != nil {
		t.Error("dictionary:", err)
	}
	if x, err := readIndex(indexBytes); err != nil || len(x.ids) != 1 {
		t.Error("index:", err)
	}
	if _, err := readRows(rowBytes, 1); err != nil {
		t.Error("rows:", err)
	}
	if h, unread := replay(1, log, func(store.ID) bool { return false }); len(unread) > 0 || len(h.kept) != 8 {
		t.Errorf("log: %v, %d profiles", len(unread) == 0, len(h.kept))
	}
}

func FuzzChunk(f *testing.F) {
	b, _, _, _, _ := seeds(f)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, b, func() {
			var c chunk
			if c.decode(b) == nil {
				c.each(0, len(c.counts), func(_ int, s *samples) { s.totals() })
			}
		})
	})
}

func FuzzDict(f *testing.F) {
	_, b, _, _, _ := seeds(f)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, b, func() {
			d, err := readDict(b)
			if err != nil {
				return
			}
			for i := 1; i < len(d.parents); i++ {
				if d.parents[i] >= uint32(i) {
					t.Fatalf("the parent of node %d is %d", i, d.parents[i])
				}
				for _, l := range d.linesOf(d.locations[i]) {
					_ = d.functions[l.Function]
				}
			}
			for _, node := range d.stacks {
				_ = d.parents[node]
			}
		})
	})
}

func FuzzIndex(f *testing.F) {
	_, _, b, _, _ := seeds(f)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, b, func() { _, _ = readIndex(b) })
		_, _ = readFooter(b)
	})
}

func FuzzRows(f *testing.F) {
	_, _, _, b, _ := seeds(f)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) { bounded(t, b, func() { _, _ = readRows(b, 3) }) })
}

func FuzzLog(f *testing.F) {
	_, _, _, _, b := seeds(f)
	f.Add(b)
	e := newEncoder(zstd.SpeedFastest)
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, b, func() { replay(1, b, func(store.ID) bool { return false }) })
		// Behind a sound checksum, too.
		framed := append([]byte(walMagic), frame(&e, b)...)
		h, _ := replay(1, framed, func(store.ID) bool { return false })
		v := h.snapshot()
		for i := range v.rows {
			if _, err := v.dict(v.series[i].dict); err != nil {
				t.Error(err)
			}
		}
	})
}

func FuzzTops(f *testing.F) {
	d := &dict{functions: []store.Function{{Name: "main.a", File: "a.go"}, {Name: "main.b", File: "a.go"}}, lines: []store.Line{{}, {Function: 1}},
		ends: []uint32{1, 2}, parents: []uint32{0, 0, 1}, locations: []uint32{0, 0, 1}, stacks: []uint32{2}}
	s := series{labels: store.LabelsOf(store.ServiceLabel, "shop"), types: []store.Type{
		{Name: "process_cpu", Sample: "samples", Unit: "count", Period: "cpu", PeriodUnit: "nanoseconds"},
		{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"}}}
	var w topsWriter
	w.add(w.group(&s, 1), &samples{stacks: []uint32{0}, values: [][]int64{{7}, {70}}})
	w.samples = rolledFrom * len(d.functions)
	b := w.append(d)
	if t, err := readTops(b, nil); err != nil || len(t.groups) != 1 || t.groups[0].total[1][0] != 70 || t.groups[0].self[1][1] != 70 {
		f.Fatalf("%+v, %v", t, err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		bounded(t, b, func() {
			one, err := readTops(b, nil)
			if err != nil {
				return
			}
			if again, err := readTops(b, one.topNames); err != nil || !reflect.DeepEqual(one, again) {
				t.Errorf("with names that were read before: %+v, %v", again, err)
			}
		})
	})
}
