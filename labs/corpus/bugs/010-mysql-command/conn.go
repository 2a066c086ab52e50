package main

import (
	"encoding/binary"
	"io"
	"net"
	"sync"
)

type conn struct {
	tcp *net.TCPConn
	seq uint32
}

type pool struct {
	addr    string
	noDelay bool
	mu      sync.Mutex
	idle    []*conn
}

func dial(addr string, noDelay bool) (*conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	tcp := c.(*net.TCPConn)
	if err := tcp.SetNoDelay(noDelay); err != nil {
		return nil, err
	}
	return &conn{tcp: tcp}, nil
}

func (c *conn) query(command string) (string, error) {
	var head [8]byte
	c.seq++
	binary.BigEndian.PutUint32(head[:], uint32(len(command)))
	binary.BigEndian.PutUint32(head[4:], c.seq)
	if _, err := c.tcp.Write(head[:]); err != nil {
		return "", err
	}
	if _, err := io.WriteString(c.tcp, command); err != nil {
		return "", err
	}
	if _, err := io.ReadFull(c.tcp, head[:]); err != nil {
		return "", err
	}
	row := make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err := io.ReadFull(c.tcp, row)
	return string(row), err
}

func (p *pool) get() (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return c, nil
	}
	return dial(p.addr, p.noDelay)
}

func (p *pool) put(c *conn) {
	p.mu.Lock()
	p.idle = append(p.idle, c)
	p.mu.Unlock()
}
