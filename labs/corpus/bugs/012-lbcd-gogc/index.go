package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

type claim struct {
	ID     [20]byte
	Name   string
	Amount int64
	next   *claim
}

type index struct {
	byHash map[[20]byte]*claim
	order  []*claim
}

type tx struct {
	Hash   string `json:"hash"`
	Claim  string `json:"claim"`
	Amount int64  `json:"amount"`
	Script []byte `json:"script"`
}

type block struct {
	Height int  `json:"height"`
	Txs    []tx `json:"txs"`
}

func idOf(n int) [20]byte {
	var seed [8]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(n))
	sum := sha256.Sum256(seed[:])
	return [20]byte(sum[:20])
}

func newIndex(n int) *index {
	idx := &index{byHash: make(map[[20]byte]*claim, n)}
	var last *claim
	for i := range n {
		id := idOf(i)
		c := &claim{ID: id, Name: hex.EncodeToString(id[:6]), Amount: int64(i), next: last}
		idx.byHash[id] = c
		idx.order = append(idx.order, c)
		last = c
	}
	return idx
}

func (idx *index) assemble(height, n int) block {
	b := block{Height: height}
	for i := range n {
		c := idx.byHash[idx.order[(height*n+i)%len(idx.order)].ID]
		script := make([]byte, 200)
		copy(script, c.Name)
		b.Txs = append(b.Txs, tx{Hash: hex.EncodeToString(c.ID[:]), Claim: c.Name, Amount: c.Amount, Script: script})
	}
	return b
}
