package insight

import "testing"

// TestSyncMapHolds: the line that puts something into a sync.Map is what keeps it, by any of its methods, where the map is a variable, a
// field, embedded, or in a type around it. What takes entries out is found by the types; one of the same name that is another map is none.
func TestSyncMapHolds(t *testing.T) {
	const (
		kept    = "which keeps it until it is deleted: nothing in the source deletes from it. If its entries can be made again"
		deleted = "check whether that happens for each key"
	)
	for _, c := range []heldCase{
		{"the line itself stores", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.Store(k, v) }", "It goes into hashes, a sync.Map or similar, " + kept, 4, nil},
		{"by LoadOrStore", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) any { x, _ := hashes.LoadOrStore(k, v); return x }", kept, 4, nil},
		{"by Swap", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.Swap(k, v) }", kept, 4, nil},
		{"by CompareAndSwap", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.CompareAndSwap(k, nil, v) }", kept, 4, nil},
		{"a line earlier", "import \"sync\"\nvar hashes sync.Map; func f(k string, b []byte) { v := string(b)\nhashes.Store(k, v)\n}", kept, 5, nil},
		{"a line earlier, by Swap", "import \"sync\"\nvar hashes sync.Map; func f(k string, b []byte) { v := string(b)\nhashes.Swap(k, v)\n}", kept, 5, nil},
		{"a function earlier", "import \"sync\"\nfunc f(b []byte) string { return string(b) }\nvar hashes sync.Map\nfunc g(k string, b []byte) {\nv := f(b)\nhashes.Store(k, v)\n}", kept, 8, []int{7}},
		{"in a type around it", "import \"sync\"\nfunc f(b []byte, m *table[string]) { v := string(b)\nm.Put(v, v)\n}\ntype table[K comparable] struct { m sync.Map }\nfunc (t *table[K]) Put(k K, v string) { t.m.Store(k, v) }", kept, 8, nil},
		{"the line of a type around it", "import \"sync\"; type table[K comparable] struct { m sync.Map }\nfunc (t *table[K]) Put(k K, v string) { t.m.Store(k, v) }\nfunc g(o *other, k string) { o.m.Delete(k) }\ntype other struct { m sync.Map }", kept, 4, nil},
		// What takes entries out.
		{"deleted", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.Store(k, v) }\nfunc drop(k string) { hashes.Delete(k) }", deleted, 5, nil},
		{"loaded and deleted", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.Store(k, v) }\nfunc drop(k string) { hashes.LoadAndDelete(k) }", deleted, 5, nil},
		{"compared and deleted", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.Store(k, v) }\nfunc drop(k string) { hashes.CompareAndDelete(k, 1) }", deleted, 5, nil},
		{"cleared", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.Store(k, v) }\nfunc drop() { hashes.Clear() }", deleted, 5, nil},
		{"walked and deleted", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.Store(k, v) }\nfunc drop() { hashes.Range(func(k, v any) bool { hashes.Delete(k)\nreturn true }) }", deleted, 5, nil},
		{"deleted by another name", "import \"sync\"\nvar hashes sync.Map; func f(k, v string) { hashes.Store(k, v) }\nfunc drop(k string) { m := &hashes\nm.Delete(k) }", deleted, 6, nil},
		{"deleted through the type around it", "import \"sync\"; type table[K comparable] struct { m sync.Map }\nfunc (t *table[K]) Put(k K, v string) { t.m.Store(k, v) }\nfunc (t *table[K]) Drop(k K) { t.m.Delete(k) }", deleted, 5, nil},
		{"deleted, embedded", "type table struct { sync.Map }\nfunc (t *table) Put(k, v string) { t.Store(k, v) }\nfunc (t *table) Drop(k string) { t.Delete(k) }", "", 0, nil},
		// What only looks like one.
		{"an atomic value", "import \"sync/atomic\"\nvar now atomic.Value; func f(v string) { now.Store(v) }", "", 0, nil},
		{"a store of its own, which writes it", "import \"os\"\nfunc f(s *files, k, v string) { s.Store(k, v) }\ntype files struct{}\nfunc (s *files) Store(k, v string) { os.WriteFile(k, []byte(v), 0o600) }", "", 0, nil},
		{"it is only read", "import \"sync\"\nvar hashes sync.Map; func f(k string) any { v, _ := hashes.Load(k); return v }", "", 0, nil},
	} {
		c.check(t)
	}
}

// TestOfSyncMap: a path into a sync.Map is told by the variable; another stays as it is.
func TestOfSyncMap(t *testing.T) {
	for _, c := range [][3]string{
		{"hub.hashes.m.root.v", "sync.indirect[interface {},interface {}]", "hub.hashes"},
		{"s.m.root.v", "sync.node[interface {},interface {}]", "s"},
		{"hub.dirty", "map[string]int", "hub.dirty"},
		{"tree.m.root.v", "tree.node", "tree.m.root.v"},
	} {
		if got := ofSyncMap(c[0], c[1]); got != c[2] {
			t.Errorf("%s (%s): %s, want %s", c[0], c[1], got, c[2])
		}
	}
}
