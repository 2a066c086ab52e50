//go:build linux && (amd64 || arm64)

package heap

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loupe/format/symbol"
)

// TestViewcoreObjects compares with viewcore object by object: what is reached, and
// of which type it is. Each difference must have one of the causes that are known,
// which is looked for in the memory. LOUPE_VIEWCORE and LOUPE_TOOLCHAINS are as for
// TestViewcore.
func TestViewcoreObjects(t *testing.T) {
	peer := os.Getenv("LOUPE_VIEWCORE")
	if peer == "" {
		t.Skip("LOUPE_VIEWCORE is not set")
	}
	list := os.Getenv("LOUPE_TOOLCHAINS")
	if list == "" {
		list = "local"
	}
	for _, version := range strings.Split(list, ",") {
		for _, program := range []string{"known", "held", "bench/target"} {
			t.Run(version+" "+program, func(t *testing.T) {
				t.Setenv("GOTOOLCHAIN", version)
				source, err := os.ReadFile("heaptest/" + program + "/main.go")
				if err != nil {
					t.Fatal(err)
				}
				exe := buildSource(t, "go", strings.Replace(string(source), "mb := 900", "mb := 5", 1))
				h, out := listed(t, peer, exe)
				g, err := h.Graph()
				if err != nil {
					t.Fatal(err)
				}
				p, err := g.findPaths()
				if err != nil {
					t.Fatal(err)
				}
				c := comparison{t: t, h: h, g: g, p: p, theirs: peerObjects(t, out), causes: map[string]int{}}
				c.run()
			})
		}
	}
}

// listed has viewcore list the objects of a program. It panics over some cores: of
// an interface on a stack that is no longer used, it takes the first word for the
// address of a table (typeObject in type.go).
func listed(t *testing.T, peer, exe string) (h *Heap, out []byte) {
	t.Helper()
	var err error
	for range 6 {
		var file string
		file, _, h = coreOf(t, exe)
		if out, err = exec.Command(peer, file, "--exe", exe, "objects").CombinedOutput(); err == nil {
			return h, out
		}
	}
	t.Skipf("viewcore: %v: %.300s", err, out)
	return nil, nil
}

// peerObjects reads what viewcore lists.
func peerObjects(t *testing.T, out []byte) map[uint64]string {
	t.Helper()
	objects := map[uint64]string{}
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		addr, name, ok := strings.Cut(strings.TrimSpace(sc.Text()), " ")
		at, err := strconv.ParseUint(addr, 16, 64)
		if !ok || err != nil {
			t.Logf("viewcore says %q", sc.Text())
			continue
		}
		objects[at] = name
	}
	return objects
}

// comparison is one core as both see it.
type comparison struct {
	t      *testing.T
	h      *Heap
	g      *Graph
	p      *paths
	theirs map[uint64]string // by address of the place, the header included
	causes map[string]int
	failed int
}

func (c *comparison) begin(s *span, id uint32) uint64 {
	return s.base + uint64(id-s.first)*s.elemsize
}

func (c *comparison) fail(format string, args ...any) {
	if c.failed++; c.failed <= 20 {
		c.t.Errorf(format, args...)
	}
}

func (c *comparison) run() {
	h := c.h
	seen := map[uint64]bool{}
	same := 0
	h.each(h.marked, func(id uint32, s *span) {
		at := c.begin(s, id)
		seen[at] = true
		theirs, ok := c.theirs[at]
		ours := h.typeName(id, s)
		cause := ""
		switch {
		case !ok:
			cause = c.missing(id)
			if cause == "" {
				way, _ := c.g.Path(at)
				c.fail("%#x, %s, is not there for viewcore: %+v", at, ours, way)
			}
		case equalTypes(ours, theirs, s):
			same++
			return
		default:
			if cause = c.otherType(id, s, theirs); cause == "" {
				way, _ := c.g.Path(at)
				c.fail("%#x is %s, for viewcore %s: %+v", at, ours, theirs, way)
			}
		}
		c.causes[cause]++
	})
	for at, name := range c.theirs {
		if !seen[at] {
			id, s, _ := h.find(at)
			c.fail("%#x, %s, is not reached here (object %d, %+v)", at, name, id, s)
		}
	}
	c.t.Logf("%d objects are the same", same)
	for cause, n := range c.causes {
		c.t.Logf("%7d %s", n, cause)
	}
}

// missing says why viewcore does not reach an object. It looks at the first of the
// objects on the way to it that viewcore does not have, and at what leads there.
func (c *comparison) missing(id uint32) string {
	root, ids := c.p.chain(id)
	for i, at := range ids {
		s := c.h.spanOfObject(at)
		if _, ok := c.theirs[c.begin(s, at)]; ok {
			continue
		}
		if i > 0 {
			return c.behindFirst(ids[i-1], at)
		}
		return c.ofRoot(root, at)
	}
	return ""
}

// behindFirst: in an object of more than 512 bytes with a header viewcore follows the
// pointers of the first element alone (readHeap0 in process.go: the mask is not
// repeated). Since Go 1.24 some types have no mask, but the address of one that is
// made when it is first used: of those it takes the address for the mask.
func (c *comparison) behindFirst(from, to uint32) string {
	h := c.h
	s := h.spanOfObject(from)
	if s.noscan || s.elemsize <= headerFrom {
		return ""
	}
	header := s.largeType
	if s.class != 0 {
		header = le64(h.cache.bytes(c.begin(s, from), 8, new([]byte)))
	}
	info, ok := h.bin.TypeAt(header - h.bias)
	if !ok || info.Size == 0 {
		return ""
	}
	if flags, ok := h.bin.ReadOnly(header-h.bias+descFlags, 1); ok && h.Version >= 24 && flags[0]&flagOnDemand != 0 {
		return "in an object whose mask is made when it is used"
	}
	addr := h.addr(s, from)
	for off := uint64(0); off+8 <= h.room(s); off += 8 {
		if id, _, _ := h.find(le64(h.cache.bytes(addr+off, 8, new([]byte)))); id == to && off < info.Size {
			return ""
		}
	}
	return "behind the first element of an object of more than 512 bytes"
}

// ofRoot: of a variable that is in parts in memory, viewcore follows the first part
// alone (readRootAt in root.go looks at that once more, at its end, and takes what
// comes then for no address).
func (c *comparison) ofRoot(root, id uint32) string {
	h := c.h
	for _, e := range h.edges {
		if e.root+1 != root || e.target != id {
			continue
		}
		at := h.places[e.place]
		for _, k := range h.frames.kinds {
			for _, x := range k.values {
				if at.name != "" && x.name == at.name && len(x.pieces) > 1 {
					return "in the second part of a variable on a stack"
				}
			}
		}
		if r := h.roots[e.root]; r.Kind == Finalizer && r.Name == "weak pointer" {
			return "a handle of a weak pointer"
		}
	}
	return ""
}

// equalTypes tells whether two names are of one type. viewcore leaves the length of
// an array of one out.
func equalTypes(ours, theirs string, s *span) bool {
	if theirs == fmt.Sprintf("unk%d", s.elemsize) {
		return strings.HasPrefix(ours, "unknown ")
	}
	x := strings.TrimPrefix(ours, "[N]")
	if x == "string (text)" {
		x = "uint8"
	}
	y := goName(arrayName.ReplaceAllString(theirs, ""))
	y = strings.NewReplacer("noalg.map.group", "map.group").Replace(y)
	return x == y || strings.HasPrefix(ours, "chan ") && theirs == "runtime.hchan"
}

// otherType says why the types differ.
func (c *comparison) otherType(id uint32, s *span, theirs string) string {
	h := c.h
	ours := h.typeName(id, s)
	elem := arrayName.ReplaceAllString(theirs, "")
	switch {
	case strings.HasPrefix(theirs, "unk"):
		return "without a type there"
	case strings.HasPrefix(ours, "unknown ") && !h.typedRoots():
		return "without a type here"
	case ours == "tiny values" && s.noscan && s.elemsize == tinySize:
		return "several small values in one block, of which viewcore tells one"
	case strings.HasPrefix(ours, "map[") && strings.HasSuffix(ours, " (group)") && strings.HasPrefix(elem, "*table<"):
		if c.smallMap(c.p.before(id)) {
			return "the one group of a small map, taken for a table of tables"
		}
	case elem == "unsafe.Pointer" || elem == "uintptr":
		return "a type that says nothing"
	}
	return ""
}

// typedRoots tells that variables on stacks are known.
func (h *Heap) typedRoots() bool { return h.opt.Unwind != nil }

// smallMap tells whether a node is a map that leads to one group: dirLen is 0.
func (c *comparison) smallMap(node uint32) bool {
	h := c.h
	id, ok := c.g.nodes.object(node)
	if !ok {
		return false
	}
	s := h.spanOfObject(id)
	d := h.types.at(typeID(h.typeOf[id] & typeMask)).d
	if d == nil || !strings.HasPrefix(d.Name, "map<") {
		return false
	}
	i := slices.IndexFunc(d.Fields, func(f symbol.DataField) bool { return f.Name == "dirLen" })
	return i >= 0 && le64(h.cache.bytes(h.addr(s, id)+uint64(d.Fields[i].Offset), 8, new([]byte))) == 0
}
