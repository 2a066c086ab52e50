package main

import (
	"strconv"
	"strings"
)

type step struct {
	pc   int
	op   string
	gas  uint64
	cost uint64
}

type formatter struct {
	buffered bool
}

func (f *formatter) format(steps []step) string {
	if f.buffered {
		return f.build(steps)
	}
	return f.concat(steps)
}

func (f *formatter) concat(steps []step) string {
	out := ""
	for _, s := range steps {
		out += strconv.Itoa(s.pc) + " " + s.op + " gas " + strconv.FormatUint(s.gas, 10) + "\n"
	}
	return out
}

func (f *formatter) build(steps []step) string {
	var b strings.Builder
	b.Grow(40 * len(steps))
	for _, s := range steps {
		b.WriteString(strconv.Itoa(s.pc))
		b.WriteByte(' ')
		b.WriteString(s.op)
		b.WriteString(" gas ")
		b.WriteString(strconv.FormatUint(s.gas, 10))
		b.WriteByte('\n')
	}
	return b.String()
}
