package insight

import (
	"go/ast"
	"slices"

	"loupe/value/stack"
)

// What makes the requests of a line, followed through fields, parameters and functions to the literals of the program: the settings of those are the ones in use.

// clientOrigins are the origins of what makes the requests of a stack; nil where one of them cannot be followed to a literal of the program.
func clientOrigins(c *code, frames []stack.Frame, user func(stack.Frame) bool) []httpOrigin {
	d := derivationsOf(c)
	at, client, _ := requestClient(d, frames, user)
	if client == nil {
		return nil
	}
	all := newOriginTrail(d, clientPackagesOf(c.session)).all(at.decl, client)
	if slices.ContainsFunc(all, func(o httpOrigin) bool {
		_, lit := unrefer(o.at).(*ast.CompositeLit)
		return !lit || !o.plain || o.given != nil
	}) {
		return nil
	}
	return all
}

// settingsOfOrigins are the settings that stand in one of the literals which make the requests of a stack; nil where none does.
func settingsOfOrigins(c *code, frames []stack.Frame, user func(stack.Frame) bool, all []connSetting) (some []connSetting) {
	d := derivationsOf(c)
	origins := clientOrigins(c, frames, user)
	set := slices.ContainsFunc(newOriginTrail(d, clientPackagesOf(c.session)).settings(origins), func(s transportSetting) bool {
		return s.field == "MaxIdleConnsPerHost" || s.field == "DisableKeepAlives"
	})
	for _, x := range all {
		if x.unset && set { // it is set later
			continue
		}
		if slices.ContainsFunc(origins, func(o httpOrigin) bool {
			lit := unrefer(o.at)
			file, first, _ := d.t.at(lit.Pos())
			_, last, _ := d.t.at(lit.End() - 1)
			return file == x.at.File && first <= x.at.Line && x.at.Line <= last
		}) {
			x.traced = true
			some = append(some, x)
		}
	}
	return some
}
