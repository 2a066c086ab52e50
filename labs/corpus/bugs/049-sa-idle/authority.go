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

func (a *authority) registration(ctx context.Context, id string) (contact string, err error) {
	err = a.db.QueryRowContext(ctx, "SELECT contact FROM registrations WHERE id =", id).Scan(&contact)
	return contact, err
}

func (a *authority) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	contact, err := a.registration(r.Context(), r.FormValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, contact)
}
