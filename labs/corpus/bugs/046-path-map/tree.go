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

func (t *tree) resolve(i int) []byte {
	var sizes []int64
	if t.flat != nil {
		for ; i > 0; i = int(t.flat[i].parent) {
			sizes = append(sizes, t.flat[i].size)
		}
	} else {
		for n := t.nodes[i]; n != nil && n != n.parent; n = n.parent {
			sizes = append(sizes, n.size)
		}
	}
	page := make([]byte, 0, 64<<10)
	for range 20 {
		text, _ := json.Marshal(sizes)
		page = append(page, text...)
	}
	return page
}
