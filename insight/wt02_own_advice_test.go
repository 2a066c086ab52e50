package insight

import (
	"strings"
	"testing"
)

// TestOwnConditions: one transaction is advised without a condition only where the source shows none: the database is another one in each turn, the statement
// may be any, an error is passed over or rolls everything back, somebody is told of each, or of how many there are.
func TestOwnConditions(t *testing.T) {
	const (
		handle = "Each turn may choose another database"
		open   = "The source does not show what the statements are"
		goesOn = "The loop goes on when a statement has failed"
		told   = "If what follows each of them"
		count  = "may tell the caller how far the loop has come"
		rolled = "Leave each a transaction of its own"
		insert = "`INSERT INTO a VALUES (?)`, it"
		stops  = "if _, err := db.Exec(" + insert + "); err != nil { /*1*/\nreturn err\n}\n"
	)
	each := func(body string) string {
		return "func f(db *sql.DB, its []item) error {\nfor i, it := range its {\n" + body + "}\nreturn nil\n}\n"
	}
	on := func(x string) string {
		return "if _, err := " + x + ".Exec(" + insert + "); err != nil { /*1*/\nreturn err\n}\n"
	}
	fails := func(then string) string {
		return each("if _, err := db.Exec(" + insert + "); err != nil { /*1*/\n" + then + "}\n")
	}
	for _, c := range []struct {
		name, body string
		want       []string
	}{
		{"nothing", each(stops), nil},
		{"a field of what has the loop", "func (s *store) f(its []item) error {\nfor _, it := range its {\n" + on("s.db") + "}\nreturn nil\n}\n", nil},
		{"a handle that a function gives", each("db := open()\n" + on("db")), nil},
		{"a handle by a context of the turn", each("ctx := context.WithValue(nil, 1, it)\n" + on("handle(ctx)")), nil},

		{"a handle by a key", each(on("dbs[it.tenant]")), []string{handle}},
		{"a handle by a number", each(on("shards[i%4]")), []string{handle}},
		{"a handle of the item", each(on("it.db")), []string{handle}},
		{"a handle by a function of the item", each(on("pick(it.tenant)")), []string{handle}},
		{"a handle in a variable of the turn", each("db := dbs[it.tenant]\n" + on("db")), []string{handle}},
		{"a handle in a variable that the turn sets", each("db = dbs[it.tenant]\n" + on("db")), []string{handle}},
		{"a handle that the loop goes through", "func f(dbs map[string]*sql.DB) error {\nfor it, db := range dbs {\n" + on("db") + "}\nreturn nil\n}\n", []string{handle}},
		{"a handle of what came", "func f(c chan item) error {\nfor {\nit := <-c\n" + on("it.db") + "}\n}\n", []string{handle}},
		{"a handle by what was read", "func f(sc *bufio.Scanner) error {\nfor sc.Scan() {\nit := sc.Text()\n" + on("dbs[it]") + "}\nreturn nil\n}\n", []string{handle}},
		{"a handle that a helper chooses", "func save(it item) error {\n" + on("dbs[it.tenant]") + "return nil\n}\nfunc f(its []item) error {\nfor _, it := range its {\nif err := save(it); err != nil { /*2*/\nreturn err\n}\n}\nreturn nil\n}\n", []string{handle}},
		{"a helper of the handle", "func (s *store) save(it item) error {\n" + on("s.db") + "return nil\n}\nfunc f(s *store, its []item) error {\nfor _, it := range its {\nif err := s.save(it); err != nil { /*2*/\nreturn err\n}\n}\nreturn nil\n}\n", nil},
		{"a helper of the item's handle", "func (s *store) save(it item) error {\n" + on("s.db") + "return nil\n}\nfunc f(s map[string]*store, its []item) error {\nfor _, it := range its {\nif err := s[it.tenant].save(it); err != nil { /*2*/\nreturn err\n}\n}\nreturn nil\n}\n", []string{handle}},
		{"a database for an outer loop", "func f(dbs []*sql.DB, its []item) error {\nfor _, db := range dbs {\nfor _, it := range its {\n" + stops + "}\n}\nreturn nil\n}\n", nil},

		{"it ends the program", fails("log.Fatal(err)\n"), nil},
		{"it logs and goes on", fails("log.Print(err)\ncontinue\n"), []string{goesOn}},
		{"it counts", fails("i++\n"), []string{goesOn}},
		{"it leaves but for some errors", fails("if dup(err) {\ncontinue\n}\nreturn err\n"), []string{goesOn}},
		{"it leaves for some errors alone", each("_, err := db.Exec(" + insert + ") /*1*/\nif err != nil && !dup(err) {\nreturn err\n}\n"), []string{goesOn}},
		{"it goes on for some errors", each("_, err := db.Exec(" + insert + ") /*1*/\nif dup(err) {\ncontinue\n}\nif err != nil {\nreturn err\n}\n"), []string{goesOn}},
		{"it leaves for all, one of them first", each("_, err := db.Exec(" + insert + ") /*1*/\nif closed(err) {\nreturn nil\n}\nif err != nil {\nreturn err\n}\n"), nil},
		{"nobody asks", each("db.Exec(" + insert + ") /*1*/\n"), []string{goesOn}},
		{"nobody asks by name", each("_, _ = db.Exec(" + insert + ") /*1*/\n"), []string{goesOn}},
		{"only that it worked", each("if _, err := db.Exec(" + insert + "); err == nil { /*1*/\nstored = i\n}\n"), []string{goesOn}},
		{"it is kept for later", each("_, err := db.Exec(" + insert + ") /*1*/\nall = errors.Join(all, err)\n"), []string{goesOn}},
		{"a helper that returns it", "func save(it item) error {\n_, err := db.Exec(" + insert + ") /*1*/\nreturn err\n}\nfunc f(its []item) error {\nfor _, it := range its {\nif err := save(it); err != nil { /*2*/\nlog.Print(err)\n}\n}\nreturn nil\n}\n", []string{goesOn}},
		{"a helper that keeps it", "func save(it item) {\nif _, err := db.Exec(" + insert + "); err != nil { /*1*/\nlog.Print(err)\nreturn\n}\n}\nfunc f(its []item) {\nfor _, it := range its {\nsave(it) /*2*/\n}\n}\n", []string{goesOn}},
		{"a conflict that rolls back, and goes on", each("db.Exec(`INSERT OR ROLLBACK INTO a VALUES (?)`, it) /*1*/\n"), []string{rolled}},
		{"a conflict that rolls back", each("if _, err := db.Exec(`INSERT OR ROLLBACK INTO a VALUES (?)`, it); err != nil { /*1*/\nreturn err\n}\n"), []string{rolled}},
		{"a table that rolls back, and goes on", "const table = `CREATE TABLE a (k TEXT UNIQUE ON CONFLICT ROLLBACK)`\n" + each("db.Exec("+insert+") /*1*/\n"), []string{rolled}},
		{"a trigger that rolls back", "const trigger = `SELECT RAISE(ROLLBACK, 'no')`\n" + each(stops), nil},

		{"any statement", each("if _, err := db.Exec(it.sql); err != nil { /*1*/\nreturn err\n}\n"), []string{open}},
		{"an answer", each(stops + "fmt.Println(`ACK`, i)\n"), []string{told}},
		{"how far it came", "func f(db *sql.DB, its []item) (int, error) {\nfor i, it := range its {\nif _, err := db.Exec(" + insert + "); err != nil { /*1*/\nreturn i, err\n}\n}\nreturn len(its), nil\n}\n", []string{count}},
		{"how far it came, as a number of another type", "func f(db *sql.DB, its []item) (int64, error) {\nfor i, it := range its {\nif _, err := db.Exec(" + insert + "); err != nil { /*1*/\nreturn int64(i), err\n}\n}\nreturn 0, nil\n}\n", []string{count}},
		{"how many, by a name", "func f(db *sql.DB, its []item) (n int, err error) {\nfor _, it := range its {\nif _, err = db.Exec(" + insert + "); err != nil { /*1*/\nreturn\n}\nn++\n}\nreturn\n}\n", []string{count}},
		{"how many, behind the loop", "func f(db *sql.DB, its []item) (int, error) {\nn := 0\nvar err error\nfor _, it := range its {\nif _, err = db.Exec(" + insert + "); err != nil { /*1*/\nbreak\n}\nn++\n}\nreturn n, err\n}\n", []string{count}},
		{"how many there were, if all went well", "func f(db *sql.DB, its []item) (int, error) {\nn := 0\nfor _, it := range its {\nif _, err := db.Exec(" + insert + "); err != nil { /*1*/\nreturn 0, err\n}\nn++\n}\nreturn n, nil\n}\n", nil},
		{"an error that names it", "func f(db *sql.DB, its []item) error {\nfor i, it := range its {\nif _, err := db.Exec(" + insert + "); err != nil { /*1*/\nreturn fmt.Errorf(`item %d: %w`, i, err)\n}\n}\nreturn nil\n}\n", nil},
	} {
		text := "package main\n\nimport (`bufio`; `context`; `database/sql`; `fmt`; `log`)\n\nvar ( db *sql.DB; dbs map[string]*sql.DB; shards []*sql.DB; stored int )\n\ntype item struct{ tenant, sql string; db *sql.DB }\ntype store struct{ db *sql.DB }\n\n" + c.body
		code := sourceOf(text)
		o := &ownTransactions{executed: executed{of: "modernc.org/sqlite", called: "database/sql.(*DB).Exec", commit: true}}
		for _, f := range numbered(text) {
			f.Func = "main." + code.function(f).Name.Name
			o.way = append(o.way, f)
		}
		made, ok := ofLoop(code, o.executed)
		if !ok {
			t.Errorf("%s: no loop", c.name)
			continue
		}
		f := Finding{Severity: Warning}
		made.advise(code, &f)
		for _, part := range []string{handle, open, goesOn, told, count, rolled} {
			want := false
			for _, w := range c.want {
				want = want || w == part
			}
			if strings.Contains(f.Advice, part) != want {
				t.Errorf("%s: %q is %v: %s", c.name, part, !want, f.Advice)
			}
		}
	}
}
