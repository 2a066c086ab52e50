package mcp

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// drained is a transport on which the end of the input is not the end of the answers: what was
// asked before is answered first. The SDK gives up what is under way as soon as reading
// ends, so that a client that writes its requests and closes, as a pipe does, got nothing.
type drained struct{ sdk.Transport }

// Connect wraps the connection.
func (d drained) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := d.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &drainedConn{Connection: c, asked: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1), gone: make(chan struct{})}, nil
}

// drainedConn counts what was asked and what was answered.
//
// Note: the SDK tells its own connections which version was agreed on, by a method that no
// other package can have, and they refuse batches from 2025-06-18 on. Here they stay
// permitted.
type drainedConn struct {
	sdk.Connection
	mu       sync.Mutex
	asked    map[jsonrpc.ID]bool
	answered chan struct{} // tells Read that asked has become empty
	leave    sync.Once
	gone     chan struct{} // closed when nobody is there to be answered
}

// Read returns the end of the input, or what is wrong with it, only when everything before is
// answered.
func (c *drainedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if q, ok := m.(*jsonrpc.Request); ok && err == nil && q.IsCall() {
		c.mu.Lock()
		c.asked[q.ID] = true
		c.mu.Unlock()
	}
	for err != nil && c.open() {
		select {
		case <-c.answered:
		case <-c.gone:
			return m, err
		case <-ctx.Done():
			return m, err
		}
	}
	return m, err
}

func (c *drainedConn) open() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.asked) > 0
}

// Write takes answers off the list, after they have been written.
func (c *drainedConn) Write(ctx context.Context, m jsonrpc.Message) error {
	err := c.Connection.Write(ctx, m)
	if err != nil {
		c.leave.Do(func() { close(c.gone) })
		return err
	}
	if a, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.asked, a.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return nil
}

// Close also ends a Read that waits for answers.
func (c *drainedConn) Close() error {
	c.leave.Do(func() { close(c.gone) })
	return c.Connection.Close()
}
