// Package wire is a driver of database/sql that sends each query as a line over TCP. It is
// vendored, as the drivers are that programs use.
package wire

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

func init() { sql.Register("wire", wireDriver{}) }

type wireDriver struct{}

type wireConn struct {
	net net.Conn
	in  *bufio.Reader
}

type wireRows struct {
	value string
	done  bool
}

func (wireDriver) Open(dsn string) (driver.Conn, error) {
	c, err := net.Dial("tcp", dsn)
	if err != nil {
		return nil, err
	}
	w := &wireConn{net: c, in: bufio.NewReader(c)}
	for _, step := range []string{"STARTUP", "AUTH", "SET client_encoding"} {
		if _, err := w.ask(step); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (c *wireConn) ask(line string) (string, error) {
	if _, err := io.WriteString(c.net, line+"\n"); err != nil {
		return "", driver.ErrBadConn
	}
	answer, err := c.in.ReadString('\n')
	return strings.TrimSpace(answer), err
}

func (c *wireConn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	answer, err := c.ask(fmt.Sprint("QUERY ", query, " ", args[0].Value))
	return &wireRows{value: answer}, err
}

func (c *wireConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c *wireConn) Begin() (driver.Tx, error)           { return nil, errors.ErrUnsupported }
func (c *wireConn) Close() error                        { return c.net.Close() }

func (r *wireRows) Columns() []string { return []string{"value"} }
func (r *wireRows) Close() error      { return nil }
func (r *wireRows) Next(dest []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done, dest[0] = true, r.value
	return nil
}
