package main

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// wt11 asks a database twice for each request, over connections that a wrapper stands in for: it hides that they take
// queries, so each is prepared, run and closed. The other form hands queries on.
func wt11() {
	db, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go answerQueries(db)
	pool := sql.OpenDB(database11{db.Addr().String()})
	pool.SetMaxIdleConns(20)
	listen(func(w http.ResponseWriter, r *http.Request) {
		for _, text := range []string{"price", "stock"} {
			var n int64
			if err := pool.QueryRowContext(r.Context(), text, 7).Scan(&n); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}
	})
}

// asked11 is what goes to the database.
type asked11 struct {
	Op   string
	Text string
	Args []driver.Value
}

// answerQueries is a database that takes a millisecond for each message: to a query, the answer is a number.
func answerQueries(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			in, out := json.NewDecoder(c), json.NewEncoder(c)
			for q := (asked11{}); in.Decode(&q) == nil; {
				time.Sleep(time.Millisecond)
				if out.Encode(len(q.Text)) != nil {
					return
				}
			}
		}()
	}
}

// database11 opens connections to it.
type database11 struct{ addr string }

func (d database11) Driver() driver.Driver { return nil }

// Connect opens a connection in a wrapper, in the fixed form one that takes queries.
func (d database11) Connect(context.Context) (driver.Conn, error) {
	c, err := net.Dial("tcp", d.addr)
	if err != nil {
		return nil, err
	}
	inner := &conn11{c, json.NewEncoder(c), json.NewDecoder(bufio.NewReader(c))}
	if fixed {
		return &handsOn11{hides11{inner}, inner}, nil
	}
	return &hides11{inner}, nil
}

// hides11 wraps a connection, as one that measures queries would.
type hides11 struct{ driver.Conn }

func (h *hides11) Prepare(text string) (driver.Stmt, error) { return h.Conn.Prepare(text) }

// handsOn11 hands queries on.
type handsOn11 struct {
	hides11
	driver.QueryerContext
}

// conn11 is a connection to the database.
type conn11 struct {
	c   net.Conn
	out *json.Encoder
	in  *json.Decoder
}

// ask sends a message and waits for the answer.
func (c *conn11) ask(op, text string, args []driver.Value) (n int64, err error) {
	if err := c.out.Encode(asked11{op, text, args}); err != nil {
		return 0, driver.ErrBadConn
	}
	return n, c.in.Decode(&n)
}

func (c *conn11) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }
func (c *conn11) Close() error              { return c.c.Close() }
func (c *conn11) Prepare(text string) (driver.Stmt, error) {
	_, err := c.ask("prepare", text, nil)
	return &stmt11{c, text}, err
}

// QueryContext sends a query with its arguments.
func (c *conn11) QueryContext(_ context.Context, text string, named []driver.NamedValue) (driver.Rows, error) {
	var args []driver.Value
	for _, a := range named {
		args = append(args, a.Value)
	}
	n, err := c.ask("query", text, args)
	return &number11{n: n}, err
}

// stmt11 is a statement that the database has prepared.
type stmt11 struct {
	c    *conn11
	text string
}

func (s *stmt11) NumInput() int                              { return -1 }
func (s *stmt11) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (s *stmt11) Close() error {
	_, err := s.c.ask("close", s.text, nil)
	return err
}

func (s *stmt11) Query(args []driver.Value) (driver.Rows, error) {
	n, err := s.c.ask("run", s.text, args)
	return &number11{n: n}, err
}

// number11 is an answer of one row.
type number11 struct {
	n    int64
	told bool
}

func (r *number11) Columns() []string { return []string{"n"} }
func (r *number11) Close() error      { return nil }
func (r *number11) Next(row []driver.Value) error {
	if r.told {
		return io.EOF
	}
	row[0], r.told = r.n, true
	return nil
}
