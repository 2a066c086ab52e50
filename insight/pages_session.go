package insight

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// sessionPagesAdvice is what to do about pages that are of a session of the peer.
const sessionPagesAdvice = "The pages go by numbers, and each call names a session of the peer (a scroll, a cursor, a token): most of these answer one page after the other, and refuse one that is asked for out of order. If the peer's documentation says that the pages of a session may be asked for in any order, ask for several at a time, with a limit. Otherwise make them fewer: larger pages, as far as the peer allows them, or several sessions that each read a part (slices, ranges of keys); and fetch the next page while this one is processed."

// sessionKeys are the keys of a query, or of a header, that name a session in which the peer keeps a place; those of a login are none.
var (
	sessionKeys = lazily(`(?i)(^|[?&"_-])(session|session_?-?id|sid|scroll|scroll_?-?id|cursor|cursor_?id|snapshot|snapshot_?id|token|page_?token|continuation|continuation_?token|search_?id|query_?id|pit|export_?id|iterator)(=|$)`)
	loginKeys   = lazily(`(?i)(access|auth|api|csrf|bearer|user|login)_?-?(session|token)`)
)

// sendsSession tells of the calls of a loop that they, or functions of the sources that they call, send the name of a session.
func sendsSession(l loop, c *code, called func(*ast.CallExpr) bool) bool {
	names := func(n ast.Node) bool {
		return hasNode(n, func(n ast.Node) bool {
			b, ok := n.(*ast.BasicLit)
			if !ok || b.Kind != token.STRING {
				return false
			}
			text := strings.Trim(b.Value, "\"`")
			if loginKeys.MatchString(text) || strings.Contains(text, " ") {
				return false
			}
			return slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '?' || r == '&' }), func(part string) bool {
				key, _, _ := strings.Cut(part, "=")
				return sessionKeys.MatchString(key)
			})
		})
	}
	return hasCall(l.body, func(call *ast.CallExpr) bool {
		if !called(call) {
			return false
		}
		if names(call) {
			return true
		}
		var below []declaration
		reachedFrom(c, call, &below, 0)
		return slices.ContainsFunc(below, func(d declaration) bool { return names(d.Body) })
	})
}
