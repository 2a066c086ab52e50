package repeats

import (
	"hash/maphash"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"
)

// hasher hashes values by what they hold. It calls no method of the program.
type hasher struct {
	h       uint64
	nodes   int
	bytes   int
	fresh   bool  // a map may be read, but for those in what it leads to
	places  bool  // where what cannot be hashed lies counts
	all     bool  // much more is looked at, and what sync/atomic holds
	near    bool  // where pointers and maps lead to counts, and not what is there
	lists   bool  // where slices lie counts, but of numbers and texts what they hold
	partial bool  // something could not be hashed, or might not be
	large   bool  // there was more than is looked at, other than behind a pointer, of which it counts where it leads to
	refers  bool  // there were pointers, slices or maps
	maps    bool  // there were maps
	long    bool  // the first of several arguments took long to look at
	handles bool  // there was what is the system's, a channel or a function
	unknown bool  // it is given what leads to something that nothing here shows: a reflect.Value, a function with what it has caught, an unsafe pointer
	size    int64 // of texts, slices and maps together, as many elements as they have
}

// Limits of what is looked at of one argument or result; allNodes and allDeep are those of hasher.all.
const (
	mostNodes = 600
	mostBytes = 1 << 20
	mostDeep  = 8
	mostOfEnd = 4 << 10 // bytes at each end of memory that is too large
	allNodes  = 5_000
	allDeep   = 64
)

// limits are those of the hasher.
func (h *hasher) limits() (nodes, deep int) {
	if h.all {
		return allNodes, allDeep
	}
	return mostNodes, mostDeep
}

var seed = maphash.MakeSeed()

// sum is the hash.
func (h *hasher) sum() uint64 {
	x := h.h
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return x
}

// text hashes a text, or notes that there is too much.
func (h *hasher) text(s string) {
	h.size += int64(len(s))
	h.word(uint64(len(s)) + 11)
	if h.bytes += len(s); h.bytes > mostBytes {
		h.large = true
		h.place(uintptr(unsafe.Pointer(unsafe.StringData(s))))
		return
	}
	h.word(maphash.String(seed, s))
}

func (h *hasher) word(w uint64) {
	h.h = (h.h ^ w) * 0x9e3779b97f4a7c15
	h.h ^= h.h >> 29
}

// place notes something that cannot be hashed.
func (h *hasher) place(p uintptr) {
	h.partial = true
	if h.places {
		h.word(uint64(p))
	}
}

// memory hashes bytes, or notes that there are too many.
func (h *hasher) memory(p unsafe.Pointer, n uintptr) {
	h.word(uint64(n))
	if n == 0 {
		return
	}
	if h.bytes += int(n); h.bytes > mostBytes {
		h.large = true
		h.place(uintptr(p))
		ends := min(n, mostOfEnd)
		h.word(maphash.Bytes(seed, unsafe.Slice((*byte)(p), ends)))
		h.word(maphash.Bytes(seed, unsafe.Slice((*byte)(unsafe.Add(p, n-ends)), ends)))
		return
	}
	h.word(maphash.Bytes(seed, unsafe.Slice((*byte)(p), n)))
}

// safely has what cannot be read make a panic, which any recovers from, and no crash: what the program changes under a lock of its own
// is read without that, and memory may have been unmapped. Call what it returns behind the hashing.
func safely() func() {
	was := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(was) }
}

// each hashes an argument or a result by what it holds alone: however large those before it are, as a receiver with a long list, it is looked at as
// far as if there were no other one. It returns how many values that were.
func (h *hasher) each(a any) (nodes int) {
	partial := h.partial
	h.partial, h.nodes, h.bytes = false, 0, 0
	h.any(a)
	h.partial = h.partial || partial
	return h.nodes
}

// any hashes a value.
func (h *hasher) any(a any) {
	defer func() {
		if recover() != nil {
			h.partial = true
		}
	}()
	switch a := a.(type) {
	case nil:
		h.word(1)
	case string:
		h.text(a)
	case int:
		h.word(uint64(a))
	case bool:
		if a {
			h.word(3)
		} else {
			h.word(2)
		}
	default:
		h.value(reflect.ValueOf(a), 0)
	}
}

// Types of these packages change beneath, or are the system's: only where they are counts.
var opaque = []string{
	"context", "net", "net/http", "os", "os/exec", "database/sql", "crypto/tls", "log", "log/slog", "runtime", "testing", "reflect", "io",
	"go/types", "go/ast", "go/token", "syscall", "internal/", "plugin", "runtime/", "net/rpc", "html/template", "text/template",
}

// inputless is the package whose values are no input, by convention.
const inputless = "context"

// absent are the packages whose types are no part of a value: locks and counters.
var absent = []string{"sync", "sync/atomic"}

// how a type is hashed, by its package.
func (h *hasher) how(t reflect.Type) (skip, address bool) {
	pkg := t.PkgPath()
	if pkg == "" {
		return false, false
	}
	if pkg == "sync/atomic" && h.all {
		return false, false
	}
	if pkg == "sync" && (t.Name() == "Map" || t.Name() == "Pool") {
		return false, true // they hold values
	}
	for _, p := range absent {
		if pkg == p {
			return true, false
		}
	}
	for _, p := range opaque {
		if pkg == p || strings.HasSuffix(p, "/") && strings.HasPrefix(pkg, p) {
			return false, true
		}
	}
	return false, false
}

var (
	timeType  = reflect.TypeOf(time.Time{})
	valueType = reflect.TypeOf(reflect.Value{})
)

// mayCatch tells of the code of a function that it may have what it has caught with it: it is a literal, or a method with its receiver.
func mayCatch(code uintptr) bool {
	f := runtime.FuncForPC(code)
	if f == nil {
		return true
	}
	name := f.Name()
	return strings.Contains(name, ".func") || strings.HasSuffix(name, "-fm") || strings.Contains(name, "-range")
}

// value hashes a value so many pointers deep.
func (h *hasher) value(v reflect.Value, depth int) {
	h.nodes++
	if nodes, deep := h.limits(); h.nodes > nodes || depth > deep {
		h.partial, h.large = true, true
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			h.word(3)
		} else {
			h.word(2)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		h.word(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		h.word(v.Uint())
	case reflect.Float32, reflect.Float64:
		h.float(v.Float())
	case reflect.Complex64, reflect.Complex128:
		h.float(real(v.Complex()))
		h.float(imag(v.Complex()))
	case reflect.String:
		h.text(v.String())
	case reflect.Slice:
		h.refers = true
		h.list(v, depth)
	case reflect.Array:
		for i := 0; i < v.Len() && !h.full(); i++ {
			h.value(v.Index(i), depth)
		}
	case reflect.Struct:
		h.fields(v, depth)
	case reflect.Pointer:
		h.pointer(v, depth)
	case reflect.Interface:
		if v.IsNil() {
			h.word(1)
			return
		}
		h.word(maphash.String(seed, v.Elem().Type().String()))
		h.value(v.Elem(), depth)
	case reflect.Map:
		h.refers, h.maps = true, true
		h.table(v, depth)
	case reflect.Chan:
		h.handles = true
		h.place(v.Pointer())
		h.word(uint64(v.Len()))
	case reflect.Func:
		if v.IsNil() {
			h.word(1)
			return
		}
		h.handles = true
		h.place(v.Pointer()) // what a closure has caught is not seen
		h.unknown = h.unknown || depth == 0 && mayCatch(v.Pointer())
	default:
		h.unknown = h.unknown || depth == 0
		h.place(v.Pointer())
	}
}

func (h *hasher) full() bool {
	nodes, _ := h.limits()
	if h.nodes > nodes {
		h.partial, h.large = true, true
	}
	return h.nodes > nodes
}

func (h *hasher) float(f float64) { h.memory(unsafe.Pointer(&f), 8) }

func (h *hasher) list(v reflect.Value, depth int) {
	if v.IsNil() {
		h.word(1)
		return
	}
	n := v.Len()
	h.size += int64(n)
	h.word(uint64(n) + 7)
	switch k := v.Type().Elem().Kind(); {
	case n == 0:
	case k >= reflect.Bool && k <= reflect.Float64:
		h.memory(v.UnsafePointer(), uintptr(n)*v.Type().Elem().Size())
	case h.lists && k != reflect.String:
		h.word(uint64(v.Pointer()))
	default:
		for i := 0; i < n && !h.full(); i++ {
			h.value(v.Index(i), depth)
		}
		if h.partial {
			h.place(v.Pointer())
		}
	}
}

func (h *hasher) fields(v reflect.Value, depth int) {
	t := v.Type()
	if t == timeType {
		// The place that the time is shown for is found by its address.
		h.word(v.Field(0).Uint())
		h.word(uint64(v.Field(1).Int()))
		return
	}
	skip, address := h.how(t)
	if skip {
		return
	}
	if address {
		h.partial = h.partial || t.PkgPath() != inputless
		h.handles = h.handles || t.PkgPath() != inputless
		h.unknown = h.unknown || t == valueType && depth == 0
		if h.places && t.PkgPath() != inputless {
			h.beside(v)
		}
		return
	}
	for i := 0; i < v.NumField() && !h.full(); i++ {
		if isSmall(v.Field(i).Kind()) {
			h.value(v.Field(i), depth)
		}
	}
	for i := 0; i < v.NumField() && !h.full(); i++ {
		if !isSmall(v.Field(i).Kind()) {
			h.value(v.Field(i), depth)
		}
	}
}

// beside tells values of such types apart by what lies in them alone: two of which that is not the same are not the same, whatever they lead to.
func (h *hasher) beside(v reflect.Value) {
	for i := 0; i < v.NumField() && !h.full(); i++ {
		h.nodes++
		switch f := v.Field(i); f.Kind() {
		case reflect.Pointer, reflect.UnsafePointer, reflect.Chan, reflect.Map, reflect.Slice, reflect.Func:
			h.word(uint64(f.Pointer()))
		case reflect.Struct:
			if skip, _ := h.how(f.Type()); !skip {
				h.beside(f)
			}
		case reflect.Interface:
			if e := f.Elem(); e.IsValid() {
				h.word(maphash.String(seed, e.Type().String()))
				if e.Kind() == reflect.Pointer {
					h.word(uint64(e.Pointer()))
				}
			}
		case reflect.Array: // as a rule, room that is used for something
		default:
			h.value(f, 0)
		}
	}
}

// isSmall tells of a kind that a value of it is a single one: such fields are looked at before those that may lead to many.
func isSmall(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Complex128 || k == reflect.String
}

func (h *hasher) pointer(v reflect.Value, depth int) {
	if v.IsNil() {
		h.word(1)
		return
	}
	h.refers = true
	if v.Type().Elem().PkgPath() == inputless {
		return
	}
	if h.near {
		h.word(uint64(v.Pointer()))
		return
	}
	skip, address := h.how(v.Type().Elem())
	if skip {
		return
	}
	if _, deep := h.limits(); address || depth >= deep {
		h.handles = h.handles || address
		h.place(v.Pointer())
		return
	}
	partial, large := h.partial, h.large
	h.partial = false
	h.value(v.Elem(), depth+1)
	if h.partial {
		h.place(v.Pointer())
	}
	h.partial, h.large = h.partial || partial, large
}

// table hashes a map: what it holds where nobody else can be using it, else where it is
// and how much it holds.
func (h *hasher) table(v reflect.Value, depth int) {
	if v.IsNil() {
		h.word(1)
		return
	}
	h.size += int64(v.Len())
	h.word(uint64(v.Len()) + 5)
	if !h.fresh || depth > 0 { // what the map holds may be shared
		h.place(v.Pointer())
		return
	}
	var all uint64 // in any order
	for it := v.MapRange(); it.Next() && !h.full(); {
		one := hasher{nodes: h.nodes, bytes: h.bytes, all: h.all}
		one.value(it.Key(), depth+1)
		one.value(it.Value(), depth+1)
		all += one.sum()
		h.nodes, h.bytes, h.partial, h.handles, h.unknown = one.nodes, one.bytes, h.partial || one.partial, h.handles || one.handles, h.unknown || one.unknown
		h.large = h.large || one.large
	}
	h.word(all)
}
