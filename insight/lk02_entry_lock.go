package insight

import (
	"go/ast"
	"go/types"
	"strings"

	"loupe/value/stack"
)

// lockOfEntry tells of a lock that it is one of many already, which belong to an entry that was looked up by its key: a lock for each key is nothing new then.
func lockOfEntry(u *underlying, waiter []stack.Frame) bool {
	if u == nil || !u.known {
		return false
	}
	text := lockText(u.held)
	if strings.Contains(text, "[") { // locks[k].Lock
		x := exprOfText(text)
		return x != nil && hasNode(x, func(n ast.Node) bool {
			i, ok := n.(*ast.IndexExpr)
			return ok && !mentionsHash(i.Index) && !partOfKeys.MatchString(types.ExprString(i.X))
		})
	}
	name, field, of := strings.Cut(text, ".")
	return of && !strings.Contains(field, ".") && (lookedUp(u.fn, name) || u.calledOnEntry(waiter, name))
}

// partOfKeys are names of lists each element of which is for a part of the keys.
var partOfKeys = lazily(`(?i)shard|stripe|bucket|part|segment`)

// leftOut leaves a way out of advice where it is there already.
func leftOut(there bool, way string) string {
	if there {
		return ""
	}
	return way
}
