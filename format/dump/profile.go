package dump

import (
	"bytes"
	"strconv"
	"strings"

	"loupe/value/stack"
)

// records are those of a text profile of goroutines or threads:
//
//	goroutine profile: total 6
//	1 @ 0x4818ae 0x4164dc 0x4882a1
//	# labels: {"route":"/users"}
//	#	0x4e707d	main.leakChan.func1+0x1d	/home/user/app/main.go:18
type records struct {
	leaks   bool  // they are of leaked goroutines
	threads bool  // they are of threads, which wait for nothing
	count   int64 // of the record that is being read
}

// cutProfile reads the first line of a text profile.
func cutProfile(l []byte) (name string, total int64, ok bool) {
	name, rest, ok := strings.Cut(string(l[:min(len(l), 64)]), " profile: total ")
	if !ok || name != "goroutine" && name != "goroutineleak" && name != "threadcreate" {
		return "", 0, false
	}
	total, err := strconv.ParseInt(rest, 10, 64)
	return name, total, err == nil
}

// profiled is the state of goroutines in a text profile, which does not tell it.
const profiled = "goroutine"

// cutRecord reads the first line of a record.
func cutRecord(l []byte) (count int64, ok bool) {
	n, rest, ok := bytes.Cut(l, []byte(" @"))
	if !ok || len(rest) > 0 && rest[0] != ' ' {
		return 0, false
	}
	count, err := strconv.ParseInt(string(n), 10, 64)
	return count, err == nil && count > 0 && count < 1<<40
}

// state is what the header of a goroutine would say.
func (r *records) state() []byte {
	if r.leaks {
		return []byte(profiled + " (leaked)")
	}
	return []byte(profiled)
}

// comment reads what is said of the record before it, which has the header h, and
// returns the header that it has now.
func (r *records) comment(l []byte, at int64, x *frames, hs *headers, h *header) *header {
	if r.count == 0 {
		return h
	}
	text := bytes.TrimLeft(l[1:], " \t")
	if labels, ok := bytes.CutPrefix(text, []byte("labels: {")); ok {
		tail := append([]byte(h.tail), " labels:{"...)
		return hs.of(append(tail, labels...), &x.calls)
	}
	if !bytes.HasPrefix(text, []byte("0x")) {
		return h
	}
	_, text, _ = bytes.Cut(text, []byte("\t"))
	name, file, _ := bytes.Cut(bytes.TrimLeft(text, "\t "), []byte("\t"))
	if i := bytes.LastIndex(name, []byte("+0x")); i > 0 {
		name = name[:i]
	}
	if len(name) == 0 {
		odd(x.f, l, at)
		return h
	}
	path, line := fileLine(string(bytes.TrimLeft(file, "\t ")))
	x.f.Frames++
	x.stack = append(x.stack, x.calls.intern(stack.Frame{Func: string(name), File: path, Line: line}))
	return h
}

// parked returns the header of a record with this stack, which tells what its
// goroutines wait for.
func (r *records) parked(x *frames, hs *headers, h *header) *header {
	state := Parked(x.f.Stacks, x.stack)
	if state == "" || r.threads {
		return h
	}
	return hs.of([]byte(state+strings.TrimPrefix(h.tail, profiled)), &x.calls)
}
