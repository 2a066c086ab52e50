package main

import (
	"encoding/json"
	"strconv"
)

type node struct {
	parent *node
	name   *string
	size   int64
	mode   uint32
}

type flat struct {
	parent int32
	size   int64
	mode   uint32
}

type tree struct {
	nodes map[int]*node
	flat  []flat
	count int
}

func newTree(n int, packed bool) *tree {
	t := &tree{count: n}
	if packed {
		t.flat = make([]flat, n)
		for i := range t.flat {
			t.flat[i] = flat{parent: int32(i / 8), size: int64(i), mode: 0o644}
		}
		return t
	}
	t.nodes = make(map[int]*node, n)
	for path := range n {
		name := strconv.Itoa(path)
		n := &node{parent: t.nodes[path/8], name: &name, size: int64(path), mode: 0o644}
		t.nodes[path] = n
	}
	return t
}

type entry struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Mode uint32 `json:"mode"`
}

func (t *tree) stat(i int) (size int64, mode uint32, parent int) {
	if t.flat != nil {
		n := t.flat[i]
		return n.size, n.mode, int(n.parent)
	}
	n := t.nodes[i]
	return n.size, n.mode, i / 8
}

func (t *tree) resolve(first int) ([]byte, error) {
	var entries []entry
	for i := first; i < min(first+80, t.count); i++ {
		path := ""
		for n := i; n > 0; {
			path = "/" + strconv.Itoa(n) + path
			_, _, n = t.stat(n)
		}
		size, mode, _ := t.stat(i)
		entries = append(entries, entry{Path: path, Size: size, Mode: mode})
	}
	return json.Marshal(entries)
}
