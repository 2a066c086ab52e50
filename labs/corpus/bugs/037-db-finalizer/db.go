package main

import (
	"runtime"
	"sync/atomic"
)

type db struct {
	name    string
	mem     []byte
	closed  *closer
	version *version
}

type version struct {
	db    *db
	files []string
}

type closer struct {
	done atomic.Bool
}

var unclosed atomic.Int64

func open(name string, size int, onPart bool) *db {
	d := &db{
		name:   name,
		closed: &closer{},
	}
	d.mem = make([]byte, size)
	d.version = &version{db: d, files: []string{name + "/000001.sst"}}
	if onPart {
		runtime.SetFinalizer(d.closed, func(c *closer) { c.check() })
	} else {
		runtime.SetFinalizer(d, func(d *db) { d.closed.check() })
	}
	return d
}

func (c *closer) check() {
	if !c.done.Load() {
		unclosed.Add(1)
	}
}

func (d *db) set(key, value string) {
	n := copy(d.mem, key)
	copy(d.mem[n:], value)
}

func (d *db) get(n int) string { return string(d.mem[:n]) }

func (d *db) close() { d.closed.done.Store(true) }
