package main

import (
	"hash/fnv"
	"runtime/debug"
	"strconv"
	"sync"
)

type rule struct {
	host    string
	allowed bool
	next    *rule
}

type engine struct {
	buckets []*rule
}

func hash(host string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(host))
	return h.Sum32()
}

func newEngine(blocked []string) *engine {
	e := &engine{buckets: make([]*rule, 1<<16)}
	for _, host := range blocked {
		at := hash(host) % uint32(len(e.buckets))
		e.buckets[at] = &rule{host: host, next: e.buckets[at]}
	}
	return e
}

func (e *engine) match(host string) bool {
	for r := e.buckets[hash(host)%uint32(len(e.buckets))]; r != nil; r = r.next {
		if r.host == host {
			return !r.allowed
		}
	}
	return false
}

type filtering struct {
	release bool
	base    *engine
	mu      sync.RWMutex
	custom  *engine
}

func newFiltering(hosts int, release bool) *filtering {
	blocked := make([]string, hosts)
	for i := range blocked {
		blocked[i] = "ads" + strconv.Itoa(i) + ".example.com"
	}
	return &filtering{release: release, base: newEngine(blocked), custom: newEngine(nil)}
}

func (f *filtering) rebuild(custom []string) {
	e := newEngine(custom)
	f.mu.Lock()
	f.custom = e
	f.mu.Unlock()
	if f.release {
		debug.FreeOSMemory()
	}
}

func (f *filtering) blocks(host string) bool {
	f.mu.RLock()
	custom := f.custom
	f.mu.RUnlock()
	return custom.match(host) || f.base.match(host)
}
