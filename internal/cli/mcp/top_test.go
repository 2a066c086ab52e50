package mcp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTopOfMany: where no function has as much as pprof lists, the largest are shown all the same.
func TestTopOfMany(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		n := 10 // a thousandth of the whole; pprof leaves out less than five
		if i == 7 {
			n = 20
		}
		fmt.Fprintf(&text, "shop.f%d %d\n", i, n)
	}
	file := filepath.Join(t.TempDir(), "many.folded")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	c := connect(t)
	for _, sort := range []string{"flat", "cum"} {
		r := c.all("top", map[string]any{"path": file, "sort": sort})
		rows := functionsOf(r)
		if len(rows) != 50 || rows[0][0] != "shop.f7" {
			t.Errorf("%s: %d functions in %s", sort, len(rows), r.text)
		}
	}
	// One function with enough is listed alone.
	if err := os.WriteFile(file, []byte(text.String()+"shop.big 5000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := c.all("top", map[string]any{"path": file})
	if rows := functionsOf(r); len(rows) != 1 || rows[0][0] != "shop.big" {
		t.Errorf("%v", rows)
	}
	// Nothing at all is no answer.
	if err := os.WriteFile(file, []byte("shop.none 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := c.page("top", map[string]any{"path": file}); !r.failed || !strings.Contains(r.text, "no samples") {
		t.Error(r.text)
	}
}

// functionsOf are the rows of the table of functions.
func functionsOf(r *reply) (rows [][]any) {
	for _, table := range r.Data.Tables {
		if table.Name == "functions" {
			rows = append(rows, table.Rows...)
		}
	}
	return rows
}
