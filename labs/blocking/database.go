package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"time"
)

// database is a driver of package sql without a database: the price of an
// order is computed from its number, after the time that a query takes.
type database struct {
	// query is the time that a query takes.
	query time.Duration
}

// Connect and Driver make it a driver.Connector.
func (d *database) Connect(context.Context) (driver.Conn, error) { return &conn{d}, nil }

func (d *database) Driver() driver.Driver { return nil }

// conn is a connection. It does one query at a time, which package sql sees
// to.
type conn struct{ *database }

func (c *conn) Close() error              { return nil }
func (c *conn) Begin() (driver.Tx, error) { return nil, errors.ErrUnsupported }
func (c *conn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.ErrUnsupported
}

// QueryContext answers every query with the price of the order in its only
// argument.
func (c *conn) QueryContext(ctx context.Context, _ string, args []driver.NamedValue) (driver.Rows, error) {
	if len(args) != 1 {
		return nil, errors.New("a query wants the number of one order")
	}
	order, ok := args[0].Value.(int64)
	if !ok {
		return nil, errors.New("an order has a number")
	}
	if c.query > 0 {
		time.Sleep(c.query)
	}
	return &price{value: priceOf(order)}, nil
}

// priceOf is what an order costs.
func priceOf(order int64) int64 { return 100 + order*7919%900 }

// price is the only row of an answer.
type price struct {
	value int64
	told  bool
}

func (p *price) Columns() []string { return []string{"price"} }
func (p *price) Close() error      { return nil }
func (p *price) Next(row []driver.Value) error {
	if p.told {
		return io.EOF
	}
	row[0], p.told = p.value, true
	return nil
}
