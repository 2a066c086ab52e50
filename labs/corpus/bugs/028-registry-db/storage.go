package main

import (
	"context"
	"database/sql"

	_ "example.org/wire"
)

type storage struct {
	db *sql.DB
}

func openStorage(dsn string) (*storage, error) {
	db, err := sql.Open("wire", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxIdleConns(16)
	return &storage{db: db}, nil
}

func (s *storage) find(ctx context.Context, name string) (spec string, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT spec FROM apis WHERE name =", name).Scan(&spec)
	return spec, err
}

func (s *storage) close() error { return s.db.Close() }
