package main

import "strconv"

type buffer struct {
	bs []byte
}

type pool struct {
	limit int
	free  chan *buffer
}

func newPool(limit int) *pool {
	return &pool{limit: limit, free: make(chan *buffer, 64)}
}

func (p *pool) get() *buffer {
	select {
	case b := <-p.free:
		b.bs = b.bs[:0]
		return b
	default:
		return &buffer{bs: make([]byte, 0, 1024)}
	}
}

func (p *pool) put(b *buffer) {
	if p.limit > 0 && cap(b.bs) > p.limit {
		return
	}
	select {
	case p.free <- b:
	default:
	}
}

func (b *buffer) appendString(key, value string) {
	b.bs = strconv.AppendQuote(b.bs, key)
	b.bs = append(b.bs, ':', '"')
	b.bs = append(b.bs, value...)
	b.bs = append(b.bs, '"', ',')
}
