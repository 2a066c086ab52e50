package insight

import (
	"fmt"
	"strings"

	"loupe/value/stack"
)

// What to do about statements that are each a transaction of their own, and on which conditions one transaction does the same.

// advise says what to do, and what speaks against it.
func (o *ownTransactions) advise(c *code, f *Finding) {
	f.Doubts = append(f.Doubts, "a crash or an error before the commit loses all that the transaction holds, and other writers wait while it is open")
	if !o.commit {
		f.Doubts = append(f.Doubts, "what the database does within the call is not seen: by the source, the statement is in no transaction")
	}
	on, chosen := o.handleChosen(c)
	onward, goesOn := o.goesOnFailing(c)
	if o.rollsBack(c, f, goesOn) {
		return
	}
	loop := fileLine(o.at.File, o.begins)
	if e, next, follows := statementTold(c, o.way); follows {
		o.adviseTold(f, e, next)
	} else {
		f.Advice = o.oneTransaction(loop, chosen, on)
	}
	if chosen && on.prepared {
		f.Advice += fmt.Sprintf(" Each turn may choose another statement (%s at %s): if they are not all of one database, each database needs a transaction of its own.", on.text, on.at.text())
	}
	if len(o.way) > 1 && o.at != o.way[0] {
		f.Advice += fmt.Sprintf(" The loop is not in the function of the statement: hand the transaction to %s.", stack.Short(o.way[0].Func))
	}
	if o.open {
		f.Advice += " The source does not show what the statements are: commit before each that cannot run in a transaction (VACUUM, ATTACH, BEGIN and COMMIT) or does nothing in one (PRAGMA foreign_keys, PRAGMA journal_mode), and begin another behind it."
	}
	if goesOn {
		f.Advice += fmt.Sprintf(" The loop goes on when a statement has failed (%s): in a transaction that is safe only if an error undoes no more than its own statement. Set a savepoint before each (SAVEPOINT, RELEASE behind it, ROLLBACK TO if it fails), or execute each by itself, as now; a savepoint does not help against what rolls back the whole transaction (a conflict clause or a trigger with ROLLBACK, a full disk): stop there.", onward.text())
	}
	if at, told := o.storedSoFar(c); told {
		f.Advice += fmt.Sprintf(" What is returned at %s may tell the caller how far the loop has come: commit what is there before that, or return that nothing is stored if the transaction is rolled back.", at.text())
	}
}

// throughOne is what holds for all that is done while a transaction is open.
const throughOne = " All that the loop asks of the database has to go through the transaction: with one connection (SetMaxOpenConns(1)), a call of db within it would wait forever."

// oneTransaction is what to do where nothing is told of each statement.
func (o *ownTransactions) oneTransaction(loop string, chosen bool, on chosenHandle) string {
	statement := "execute the statements of the loop on it"
	if strings.Contains(o.called, ".(*Stmt).") {
		statement = "prepare the statement on it (tx.Prepare, or tx.Stmt of the one that there is)"
	}
	switch {
	case chosen && !on.prepared:
		return fmt.Sprintf("Each turn may choose another database (%s at %s), and a transaction is of one: group what the loop at %s goes through by its database, and for each group begin a transaction (db.Begin or db.BeginTx), %s, and commit it before the next group (tx.Commit; tx.Rollback if something fails). "+
			"If the order of changes in different databases matters, leave it so.", on.text, on.at.text(), loop, statement) + throughOne
	case o.comes:
		return "Gather what has come: begin a transaction for the first one (db.Begin or db.BeginTx), execute on it the statements of all that wait in the channel by then, up to some hundreds and without waiting for more, commit (tx.Commit), and go on with the next ones (group commit)."
	}
	return fmt.Sprintf("Begin one transaction before the loop at %s (db.Begin or db.BeginTx), %s, and commit it behind the loop (tx.Commit; tx.Rollback if something fails). Where there are very many, commit after some thousands each.", loop, statement) + throughOne
}

// adviseTold says what to do where somebody may be told of each statement that it is stored.
func (o *ownTransactions) adviseTold(f *Finding, e effect, next bool) {
	f.Severity = Info
	f.Advice = fmt.Sprintf("If what follows each of them (%s) can wait for it, gather several: begin a transaction (one for each database), execute them on it, commit once, and only then do that for each (group commit). Otherwise leave it so.", e) + throughOne
	where := ""
	if next {
		where = ", at the top of the next turn"
	}
	f.Doubts = append(f.Doubts, fmt.Sprintf("%s follows each statement%s: if it tells somebody that what was written is safe, it may not happen before the commit", e, where))
}

// rollsBack says that one transaction is no gain, where an error may roll back all of it: by the text of the statement, or of a table or a trigger if the loop
// goes on after an error.
func (o *ownTransactions) rollsBack(c *code, f *Finding, goesOn bool) bool {
	at, found := codeLine{o.way[0].File, o.way[0].Line}, rollsBack.MatchString(o.text)
	if !found && goesOn {
		at, found = rollbackText(derivationsOf(c))
	}
	if !found {
		return false
	}
	f.Severity = Info
	f.Advice = fmt.Sprintf("Leave each a transaction of its own while an error rolls back (ROLLBACK at %s): in a transaction for all of them, the first that fails undoes what was stored before it, and those behind it are no longer in a transaction.", at.text())
	return true
}
