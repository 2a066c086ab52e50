package dump

import (
	"bytes"
	"strconv"
	"strings"

	"loupe/stack"
)

// profileStart begins a text profile of goroutines or threads:
//
//	goroutine profile: total 6
//	1 @ 0x4818ae 0x4164dc 0x4882a1
//	# labels: {"route":"/users"}
//	#	0x4e707d	main.leakChan.func1+0x1d	/home/user/app/main.go:18
func (p *parser) profileStart(l []byte) bool {
	name, rest, ok := strings.Cut(string(l[:min(len(l), 64)]), " profile: total ")
	if !ok || name != "goroutine" && name != "goroutineleak" && name != "threadcreate" {
		return false
	}
	total, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return false
	}
	d := p.openDump(Profile)
	d.Message, d.Total = string(l), total
	p.leaks, p.threads = name == "goroutineleak", name == "threadcreate"
	p.mode, p.count = inProfile, 0
	return true
}

// profiled is the state of goroutines in a text profile, which does not tell it.
const profiled = "goroutine"

// recordLine reads a line of a text profile.
func (p *parser) recordLine(l []byte) {
	if len(l) == 0 {
		p.endRecord(p.at())
		return
	}
	if l[0] == '#' {
		p.recordComment(l)
		return
	}
	p.endRecord(p.at())
	if n, rest, ok := bytes.Cut(l, []byte(" @")); ok && (len(rest) == 0 || rest[0] == ' ') {
		if count, err := strconv.ParseInt(string(n), 10, 64); err == nil && count > 0 && count < 1<<40 {
			tail := []byte(profiled)
			if p.leaks {
				tail = []byte(profiled + " (leaked)")
			}
			p.head = p.headerOf(tail)
			p.id, p.start, p.count, p.flags = 0, p.at(), count, 0
			p.stack, p.creator, p.object, p.ancestor = p.stack[:0], 0, 0, false
			return
		}
	}
	p.mode = idle
	p.closeDump()
	p.idle(l)
}

// recordComment reads what is said of the record before it.
func (p *parser) recordComment(l []byte) {
	if p.count == 0 {
		return
	}
	text := bytes.TrimLeft(l[1:], " \t")
	if labels, ok := bytes.CutPrefix(text, []byte("labels: {")); ok {
		tail := append([]byte(p.head.tail), " labels:{"...)
		p.head = p.headerOf(append(tail, labels...))
		return
	}
	if !bytes.HasPrefix(text, []byte("0x")) {
		return
	}
	_, text, _ = bytes.Cut(text, []byte("\t"))
	name, file, _ := bytes.Cut(bytes.TrimLeft(text, "\t "), []byte("\t"))
	if i := bytes.LastIndex(name, []byte("+0x")); i > 0 {
		name = name[:i]
	}
	if len(name) == 0 {
		p.odd(l)
		return
	}
	path, line := fileLine(string(bytes.TrimLeft(file, "\t ")))
	p.f.Frames++
	p.stack = append(p.stack, p.intern(stack.Frame{Func: string(name), File: path, Line: line}))
}

// endRecord adds the record to the columns.
func (p *parser) endRecord(end int64) {
	if p.count > 0 {
		if state := Parked(p.f.Stacks, p.stack); state != "" && !p.threads {
			rest := strings.TrimPrefix(p.head.tail, profiled)
			p.head = p.headerOf([]byte(state + rest))
		}
		p.add(p.head, p.count, end)
		p.count = 0
	}
}
