//go:build linux && (amd64 || arm64)

package heap

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"loupe/format/core"
	"loupe/format/symbol"
)

// plain is a program without maps whose objects have no header: what viewcore
// types as well. It does not find the types of objects of more than 512 bytes with
// pointers, nor what they lead to, and calls that garbage.
const plain = `package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"
)

type node struct {
	next *node
	leaf *leaf
	pad  [4]int64
}

type leaf struct{ key, value, more [1]int64 }

type tree struct {
	left, right *tree
	key         uint64
	name        string
}

type row struct {
	cells []int64
	leaf  *leaf
}

var (
	list *node
	root *tree
	rows [60]*row
	many []float64
	blob []byte
)

func insert(t **tree, key uint64) {
	for *t != nil {
		if key < (*t).key {
			t = &(*t).left
		} else {
			t = &(*t).right
		}
	}
	*t = &tree{key: key, name: fmt.Sprintf("the name of the tree at %d", key)}
}

func main() {
	key := uint64(1)
	for i := 0; i < 5000; i++ {
		list = &node{next: list, leaf: &leaf{}}
		key = key*6364136223846793005 + 1442695040888963407
		insert(&root, key)
	}
	for i := range rows {
		rows[i] = &row{cells: make([]int64, 100), leaf: &leaf{}}
	}
	many, blob = make([]float64, 100000), make([]byte, 300000)
	runtime.GC()
	runtime.GC()
	debug.SetGCPercent(-1)
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
`

// TestViewcore compares with viewcore of golang.org/x/debug, a program that
// LOUPE_VIEWCORE names: what is allocated in all, in every program, and the types
// of a program that it understands. It needs gcore of gdb, and reads programs of
// Go 1.23 and later; LOUPE_TOOLCHAINS says of which versions.
func TestViewcore(t *testing.T) {
	peer := os.Getenv("LOUPE_VIEWCORE")
	if peer == "" {
		t.Skip("LOUPE_VIEWCORE is not set")
	}
	list := os.Getenv("LOUPE_TOOLCHAINS")
	if list == "" {
		list = "local"
	}
	known, err := os.ReadFile("heaptest/known/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range strings.Split(list, ",") {
		t.Run(version, func(t *testing.T) {
			t.Setenv("GOTOOLCHAIN", version)
			compareAll(t, peer, buildSource(t, "go", string(known)), nil)
			compareAll(t, peer, buildSource(t, "go", plain), []string{"main.node", "main.leaf", "main.tree", "main.row", "[N]int64", "[N]float64"})
		})
	}
}

var (
	statLine  = regexp.MustCompile(`(?m)^( *)(\S.*?) +(\d+) +[\d.]+%`)
	typeLine  = regexp.MustCompile(`(?m)^ *(\d+) +\d+ +(\d+) (.+)$`)
	arrayName = regexp.MustCompile(`^\[\d+(\+\d+\?)?\]`)
)

// allocated is what a breakdown says of the objects in spans. The stacks have a
// line of the same name, and the order of the lines is that of a map: it differs
// from run to run.
func allocated(breakdown string) (bytes int64, ok bool) {
	within := ""
	for _, m := range statLine.FindAllStringSubmatch(breakdown, -1) {
		switch name := m[2]; name {
		case "in use spans", "manual spans", "free spans":
			within = name
		case "alloc":
			if within == "in use spans" {
				bytes, err := strconv.ParseInt(m[3], 10, 64)
				return bytes, err == nil
			}
		}
	}
	return 0, false
}

// coreOf starts a program, takes its core by gcore and opens the heap in it.
func coreOf(t *testing.T, exe string) (file string, bin *symbol.Binary, h *Heap) {
	t.Helper()
	_, bin, bias, pid := child(t, exe)
	file = filepath.Join(t.TempDir(), "core")
	if out, err := exec.Command("gcore", "-o", file, strconv.Itoa(pid)).CombinedOutput(); err != nil {
		t.Fatalf("gcore: %v\n%s", err, out)
	}
	file = fmt.Sprintf("%s.%d", file, pid)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	image, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { image.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	c, err := core.Open(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	mem := c.Memory()
	for _, s := range bin.Segments {
		mem.Back(core.Backing{Addr: s.Addr + bias, Size: s.FileSize, From: image, Offset: int64(s.Offset)})
	}
	return file, bin, openUnwound(t, mem, bin, bias)
}

// compareAll compares the sums of a program, and some types of it.
func compareAll(t *testing.T, peer, exe string, types []string) {
	t.Helper()
	file, _, h := coreOf(t, exe)
	ask := func(what string) string {
		out, err := exec.Command(peer, file, "--exe", exe, what).CombinedOutput()
		if err != nil {
			// It panics over the heaps of some versions.
			t.Logf("viewcore %s: %v: %.200s", what, err, out)
			return ""
		}
		return string(out)
	}
	total := h.Totals()
	if text := ask("breakdown"); text != "" {
		ours := total.Reached.Bytes + total.Garbage.Bytes
		if theirs, ok := allocated(text); !ok || theirs != ours {
			t.Errorf("%d bytes are allocated, viewcore says %d:\n%s", ours, theirs, text)
		}
	}
	if types == nil {
		return
	}
	theirs := map[string]Total{}
	text := ask("histogram")
	if text == "" {
		return
	}
	for _, m := range typeLine.FindAllStringSubmatch(text, -1) {
		name := arrayName.ReplaceAllString(m[3], "[N]")
		count, _ := strconv.ParseInt(m[1], 10, 64)
		bytes, _ := strconv.ParseInt(m[2], 10, 64)
		x := theirs[name]
		theirs[name] = Total{x.Count + count, x.Bytes + bytes}
	}
	ours := rows(h)
	for _, name := range types {
		r := ours[name]
		t.Logf("%-12s %6d objects %8d bytes, viewcore %6d and %8d", name, r.Count, r.Bytes, theirs[name].Count, theirs[name].Bytes)
		if (Total{r.Count, r.Bytes}) != theirs[name] {
			t.Errorf("%s: %d objects of %d bytes, viewcore says %+v", name, r.Count, r.Bytes, theirs[name])
		}
	}
}
