package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

type authority struct {
	db *sql.DB
}

var tables = []string{"registrations", "orders", "authz", "certificates", "serials", "keys"}

func (a *authority) column(ctx context.Context, table, id string) (value string, err error) {
	err = a.db.QueryRowContext(ctx, "SELECT status FROM "+table+" WHERE registration =", id).Scan(&value)
	return value, err
}

func (a *authority) overview(ctx context.Context, id string) ([]string, error) {
	values, errs := make([]string, len(tables)), make([]error, len(tables))
	var wg sync.WaitGroup
	for i, table := range tables {
		wg.Go(func() {
			values[i], errs[i] = a.column(ctx, table, id)
		})
	}
	wg.Wait()
	return values, errors.Join(errs...)
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	values, err := a.overview(r.Context(), r.FormValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, strings.Join(values, "\n"))
}
