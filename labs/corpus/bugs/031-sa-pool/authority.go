package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
)

type authority struct {
	db *sql.DB
}

func (a *authority) order(ctx context.Context, id string) (status string, err error) {
	row := a.db.QueryRowContext(ctx, "SELECT status FROM orders WHERE id =", id)
	err = row.Scan(&status)
	return status, err
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	status, err := a.order(r.Context(), r.FormValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, status)
}
