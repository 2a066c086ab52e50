package account

import (
	"slices"
	"strings"

	"loupe/value/stack"
)

// Statement is the part that a call has in a query with a statement. Package database/sql makes one of its own where the
// connection of a driver takes no query as it is: it prepares it, runs it and closes it. A program may prepare one itself.
type Statement uint8

// The parts of a query with a statement of package database/sql.
const (
	NoStatement Statement = iota
	Prepares
	Runs
	Closes
	// UserPrepares and the others are the same of a statement that the program prepares: that a kept one is prepared again on
	// another connection is none of them.
	UserPrepares
	UserRuns
	UserCloses
)

// Functions of package database/sql, by what they do with a statement of their own.
var (
	queriesDirectly = []string{"database/sql.(*DB).queryDC", "database/sql.(*DB).execDC"}
	runsStatement   = []string{"database/sql.rowsiFromStatement", "database/sql.resultFromStatement"}
	endsStatement   = append([]string{"database/sql.(*Rows).close"}, queriesDirectly...)
	// The same of statements of the program: for a statement of a DB, the driver's one is closed under the lock of the DB.
	userPrepares = []string{"database/sql.(*DB).prepareDC"}
	userRuns     = []string{"database/sql.(*Stmt).QueryContext", "database/sql.(*Stmt).ExecContext"}
	userCloses   = []string{"database/sql.(*DB).noteUnusedDriverStatement", "database/sql.(*Stmt).Close"}
)

// StatementOf tells by a stack, the leaf first, which part of such a query it is in. Whatever a program does with a
// statement that it has prepared goes through other functions: [database/sql.DB.Prepare] does not come here, nor does
// a statement close its rows with itself.
func StatementOf(frames []stack.Frame) Statement {
	for i, f := range frames[:max(0, len(frames)-1)] {
		if !strings.HasPrefix(f.Func, "database/sql.") {
			continue
		}
		by := enclosing(frames[i+1].Func)
		switch {
		case f.Func == "database/sql.ctxDriverPrepare" && within(by, queriesDirectly):
			return Prepares
		case f.Func == "database/sql.ctxDriverPrepare" && i+2 < len(frames) && within(enclosing(frames[i+2].Func), userPrepares):
			return UserPrepares
		case f.Func == "database/sql.(*driverStmt).Close" && within(by, endsStatement):
			return Closes
		case f.Func == "database/sql.(*driverStmt).Close" && within(by, userCloses):
			return UserCloses
		case slices.Contains(runsStatement, f.Func) && within(by, queriesDirectly):
			return Runs
		case slices.Contains(runsStatement, f.Func) && within(by, userRuns):
			return UserRuns
		}
	}
	return NoStatement
}

// within tells whether a function is one of some, or is written in one, as a closure of it is that was inlined into another
// function.
func within(name string, functions []string) bool {
	return slices.ContainsFunc(functions, func(f string) bool { return name == f || strings.HasPrefix(name, f+".") })
}
