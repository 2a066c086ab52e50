package profile

import (
	"bytes"
	"regexp"
)

var (
	threadsTitle = regexp.MustCompile(`--- threadz \d+ ---`)
	threadTitle  = regexp.MustCompile(`--- Thread ([[:xdigit:]]+) \(name: (.*)/(\d+)\) stack: ---`)
)

// decodeThreads reads threadz of C++: the stacks of all threads.
func decodeThreads(data []byte, opt Options) (*Profile, error) {
	l := lines{rest: data}
	for l.next() && isRemark(l.line) {
	}
	if threadsTitle.Match(l.line) {
		for l.next() && !isMapTitle(l.line) && !bytes.HasPrefix(l.line, []byte("-")) {
		}
	} else if !threadTitle.Match(l.line) {
		return nil, errOther
	}
	b := newBuilder(ValueType{"thread", "count"})
	b.periodType = b.types[0]
	var addrs []uint64
	var stack []uint32
	for l.line != nil && !isMapTitle(l.line) && !bytes.HasPrefix(l.line, []byte("---- no stack trace for")) {
		if !threadTitle.Match(l.line) {
			return nil, l.bad(`want "--- Thread 1 (name: main/2) stack: ---"`)
		}
		same := false
		var err error
		if addrs, same, err = threadStack(&l, addrs[:0]); err != nil {
			return nil, err
		}
		if same || len(addrs) == 0 {
			if n := b.rows.len(); n > 0 {
				b.rows.values[n-1]++ // it has the stack of the thread before it
			}
			continue
		}
		stack = stack[:0]
		for i, a := range addrs {
			if i > 0 {
				a-- // in the call, not after it
			}
			stack = append(stack, b.at(a))
		}
		b.sample(stack, nil, 1)
	}
	for !isMapTitle(l.line) && l.next() {
	}
	if err := b.mappings.read(&l); err != nil {
		return nil, err
	}
	b.numberLocations()
	if err := b.placeLocations(); err != nil {
		return nil, err
	}
	b.dropDoubles()
	b.interesting(false)
	return b.profile()
}

// threadStack reads the addresses of one thread, up to the title of the next.
func threadStack(l *lines, addrs []uint64) (_ []uint64, same bool, err error) {
	for l.next() {
		l.line = bytes.TrimSpace(l.line)
		switch {
		case bytes.HasPrefix(l.line, []byte("---")):
			return addrs, same, nil
		case bytes.Contains(l.line, []byte("same as previous thread")):
			same = true
		default:
			if addrs, err = hexNumbers(addrs, l.line); err != nil {
				return nil, false, l.bad("%w", err)
			}
		}
	}
	return addrs, same, nil
}
