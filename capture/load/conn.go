package load

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"loupe/capture/load/internal/http1"
	"loupe/format/loadlog"
)

// netConn carries HTTP/1.1 over a net.Conn.
type netConn struct {
	r     *run
	conn  net.Conn
	head  http1.Head
	buf   []byte
	armed int64 // the read deadline that is set; noEnd when none is
	long  bool  // a write deadline is set, too
	idle  int64 // since when nothing is asked
	fact  loadlog.Connection
}

// The first buffer of a connection, and how far it grows when answers fill it.
const (
	smallBuffer = 4 << 10
	largeBuffer = 64 << 10
)

// longWrite is from how many bytes a write can wait for the server to read:
// shorter ones fit into what the system buffers.
const longWrite = 8 << 10

func (b *blocking) dialHTTP1(ctx context.Context, o *origin) (carrier, error) {
	opened := b.r.now()
	conn, took, err := b.r.dialer.dial(ctx, o)
	if err != nil {
		return nil, err
	}
	return &netConn{r: b.r, conn: conn, buf: make([]byte, smallBuffer), armed: noEnd, idle: b.r.now(), fact: b.r.connected(opened, took, localPort(conn))}, nil
}

func (k *netConn) record() *loadlog.Connection { return &k.fact }
func (k *netConn) interrupt()                  { k.conn.SetDeadline(time.Unix(1, 0)) }
func (k *netConn) close()                      { k.conn.Close() }

// idleCheck is from how long on a connection that had nothing to do is looked at
// before it is written to: the server may have closed it meanwhile, as it does with
// connections that are idle for long, and then a request that was written would be
// lost. In a closed loop a connection is hardly ever idle that long.
const idleCheck = 100 * time.Microsecond

// alive tells whether the connection can still be written to, as far as that is
// known.
func (k *netConn) alive() bool {
	if k.r.now()-k.idle < int64(idleCheck) {
		return true
	}
	secured, isTLS := k.conn.(*tls.Conn)
	if !isTLS {
		closed, waiting := peek(k.conn)
		return !closed && !waiting // nothing was asked
	}
	closed, waiting := peek(secured.NetConn())
	if closed || !waiting {
		return !closed
	}
	// What waits is the end of the connection, or a ticket for the next one.
	k.arm(k.r.now() + int64(time.Millisecond))
	_, err := k.conn.Read(k.buf)
	k.arm(noEnd)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

func (k *netConn) roundTrip(ctx context.Context, c *call) (end int64, more bool, err error) {
	// A deadline costs a timer. The one of an earlier request serves as an
	// alarm for this one too: it goes off early, and is then set anew.
	if c.deadline < k.armed {
		k.arm(c.deadline)
	}
	if long := len(c.request) >= longWrite && c.deadline != noEnd; long {
		k.conn.SetWriteDeadline(k.r.at(c.deadline))
		k.long = true
	} else if k.long {
		k.conn.SetWriteDeadline(time.Time{})
		k.long = false
	}
	c.ask(&k.head)
	defer func() { k.idle = k.r.now() }()
	asked := c.sent
	if c.dialled.whole > 0 || c.hops > 0 || c.tries > 0 {
		asked = k.r.now()
	}
	if ctx.Err() != nil { // interrupt may have come before arm
		return asked, false, ctx.Err()
	}
	_, unwritten := k.conn.Write(c.request)
	c.write += k.r.now() - asked
	for {
		n, err := k.conn.Read(k.buf)
		if n > 0 {
			end = k.r.now()
			done, clean, err := c.feed(k.buf[:n], end)
			if err != nil {
				return end, false, err
			}
			if done {
				return end, clean && !c.parser.Close() && unwritten == nil, nil
			}
			if n == len(k.buf) && n < largeBuffer {
				k.buf = make([]byte, 2*n)
			}
		}
		if err == nil {
			continue
		}
		end = k.r.now()
		if errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil && end < c.deadline {
			k.arm(c.deadline)
			continue
		}
		if err == io.EOF {
			var done bool
			if done, err = c.parser.End(); done {
				return end, false, nil
			}
		}
		// A server may answer and hang up before it has read everything;
		// then writing fails, and is not what went wrong.
		if unwritten != nil && !c.parser.Begun() {
			err = unwritten
		}
		return end, false, err
	}
}

// arm sets the deadline for reading.
func (k *netConn) arm(deadline int64) {
	k.armed = deadline
	if deadline == noEnd {
		k.conn.SetReadDeadline(time.Time{})
		return
	}
	k.conn.SetReadDeadline(k.r.at(deadline))
}
