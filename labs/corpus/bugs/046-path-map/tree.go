package main

import (
	"encoding/json"
	"slices"
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
	flat  map[int]flat
	count int
}

func newTree(n int, packed bool) *tree {
	t := &tree{count: n}
	if packed {
		t.flat = make(map[int]flat, n)
		for i := range n {
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

func (t *tree) path(i int) string {
	var ids [12]int
	n := 0
	for ; i > 0; n++ {
		ids[n] = i
		_, _, i = t.stat(i)
	}
	path := make([]byte, 0, 48)
	for _, id := range slices.Backward(ids[:n]) {
		path = append(path, '/')
		path = strconv.AppendInt(path, int64(id), 10)
	}
	return string(path)
}

func (t *tree) resolve(first int) ([]byte, error) {
	entries := make([]entry, 0, 80)
	for i := first; i < min(first+80, t.count); i++ {
		size, mode, _ := t.stat(i)
		entries = append(entries, entry{Path: t.path(i), Size: size, Mode: mode})
	}
	return json.Marshal(entries)
}
