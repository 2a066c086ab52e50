package insight

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"loupe/value/stack"
)

// A Transport that a function of another package makes may keep no connections: no line of the program says so.

// perHostDefault is what is known of MaxIdleConnsPerHost where the source does not show what makes the Transport.
const perHostDefault = "(2 unless the program, or a package that makes the Transport for it, sets it)"

// meantNew is when connections are not to be kept.
const meantNew = "Leave it only where each request is meant to use a new connection (to spread calls over the hosts behind one name; a short IdleConnTimeout also does that)."

// tellDependency says which function of another package makes the Transport that the requests of a stack are made with, and what that sets.
func tellDependency(f *Finding, c *code, frames []stack.Frame, user func(stack.Frame) bool) {
	d := derivationsOf(c)
	at, client, _ := requestClient(d, frames, user)
	if client == nil {
		return
	}
	w := newOriginTrail(d, clientPackagesOf(c.session))
	all := w.all(at.decl, client)
	if len(all) == 1 && all[0].call != nil {
		w.tellOnly(f, all[0])
		return
	}
	for _, o := range all {
		if o.call == nil {
			continue
		}
		if t, shown := w.settled(o); shown && t.closes() && w.ofDependency(&t) {
			f.Evidence = append(f.Evidence, w.shown(o, &t)...)
			f.Advice += fmt.Sprintf(" One Transport that may be in use here comes from %s at %s, which %s: if it is that one, ", o.text(), w.d.placeOf(o.at).text(), t.says()) + w.remedy(o, &t)
		}
	}
}

// text is how the source names the function.
func (o httpOrigin) text() string {
	return strings.TrimSuffix(types.ExprString(o.call.Fun), "()")
}

// ofDependency tells that what closes connections is set in another package: what the program sets itself is told as that.
func (w *originTrail) ofDependency(t *madeTransport) bool {
	own := func(l pkgLine) bool {
		return slices.ContainsFunc(w.d.t.files, func(f typedFile) bool { return f.name == l.file })
	}
	return (t.off != setOn || !own(t.offAt)) && (t.idle != setOn || !own(t.idleAt))
}

// says is what a Transport is set to that keeps no connection.
func (t *madeTransport) says() string {
	var all []string
	if t.off == setOn {
		all = append(all, fmt.Sprintf("turns keep-alive off (DisableKeepAlives at %s)", t.offAt.place()))
	}
	if t.idle == setOn {
		all = append(all, fmt.Sprintf("keeps no idle connection (MaxIdleConnsPerHost is %s at %s)", t.perHost, t.idleAt.place()))
	}
	return andList(all)
}

// shown are the lines that make it so.
func (w *originTrail) shown(o httpOrigin, t *madeTransport) []Evidence {
	at := w.d.placeOf(o.at)
	all := []Evidence{w.d.c.shownAt(at.file, at.line, "the Transport of these requests is made by this call")}
	if t.off == setOn {
		all = append(all, Evidence{Text: "which turns keep-alive off", File: t.offAt.file, Line: t.offAt.line, Source: t.offAt.text})
	}
	if t.idle == setOn {
		all = append(all, Evidence{Text: "which keeps no idle connection", File: t.idleAt.file, Line: t.idleAt.line, Source: t.idleAt.text})
	}
	return all
}

// remedy is what to do about a Transport that keeps no connection.
func (w *originTrail) remedy(o httpOrigin, t *madeTransport) string {
	at := w.d.placeOf(o.at).text()
	fn := w.p.function(o.pkg, o.name)
	text := ""
	if line, ok := w.p.asksContext(fn); ok {
		text = fmt.Sprintf("look at %s first, which takes a value out of a context: if a connection is opened for whom that names, it cannot serve another one, and no connections are to be kept. Otherwise: ", line.place())
	}
	var sets []string
	if t.off == setOn {
		sets = append(sets, "DisableKeepAlives to false")
	}
	if t.idle == setOn {
		sets = append(sets, "MaxIdleConnsPerHost to the number of concurrent requests to one host")
	}
	share := w.sharing(o)
	others := w.siblings(fn)
	switch {
	case len(others) == 1:
		other := others[0]
		made, _ := w.p.made(other, 0)
		name := strings.TrimSuffix(o.text(), o.name) + other.decl.Name.Name
		fields, _ := w.p.differs(fn, other)
		text += fmt.Sprintf("use %s at %s in its place (%s), whose Transport keeps connections: by the source, the two differ in %s alone. %s", name, at, other.file.line(other.decl.Name).place(), andList(fields), share)
		if made.perHost != "" {
			text += fmt.Sprintf(" It keeps %s idle connections to each host (MaxIdleConnsPerHost): raise that where more requests to one host run at once.", made.perHost)
		} else {
			text += " It keeps two idle connections to each host, since MaxIdleConnsPerHost is unset: set that to the number of concurrent requests to one host."
		}
		return text + " " + meantNew
	case t.wrapped:
		text += fmt.Sprintf("make a Transport of the program's own with the same other settings (dialer, proxy, TLS) and with %s: the one that %s makes is inside of another RoundTripper, where the program may not see it. What that one does with each request has to be done as before.", andList(sets), o.text())
	case t.shared:
		text += fmt.Sprintf("take a copy of the Transport (Clone of *http.Transport, which has all its other settings) after the call at %s, and set %s on it before its first request: the one that %s returns is a variable of its package, which others may use.", at, andList(sets), o.text())
	default:
		text += fmt.Sprintf("set %s on the Transport %s the call at %s returns, before its first request; leave its other settings as they are.", andList(sets), w.returned(fn), at)
	}
	return text + " " + share + " " + meantNew
}

// returned says how the Transport is got from what a function returns.
func (w *originTrail) returned(fn *pkgFunc) string {
	if fn == nil || fn.decl.Type.Results == nil || len(fn.decl.Type.Results.List) == 0 {
		return "that"
	}
	switch types.ExprString(fn.decl.Type.Results.List[0].Type) {
	case "*" + fn.file.http + ".Client":
		return "of the client (client.Transport.(*http.Transport)) that"
	case fn.file.http + ".RoundTripper":
		return "(a *http.Transport) that"
	}
	return "that"
}

// siblings are those of a function; none where its source is not there.
func (w *originTrail) siblings(fn *pkgFunc) []*pkgFunc {
	if fn == nil {
		return nil
	}
	return w.p.siblings(fn)
}

// tellOnly says what is known of the one function that all requests of a line have their Transport from.
func (w *originTrail) tellOnly(f *Finding, o httpOrigin) {
	t, shown := w.settled(o)
	at := w.d.placeOf(o.at)
	comes := fmt.Sprintf("By the source, the Transport comes from %s at %s", o.text(), at.text())
	if o.given != nil {
		f.Doubts = append(f.Doubts, fmt.Sprintf("the Transport is given to %s at %s, which may use another one", types.ExprString(o.given.Fun), w.d.placeOf(o.given).text()))
	}
	switch {
	case t.closes() && !w.ofDependency(&t): // told as a setting of the program
	case t.closes() && !f.Severity.AtLeast(Warning): // what makes it a remark comes first
		f.Evidence = append(f.Evidence, w.shown(o, &t)...)
		remedy := w.remedy(o, &t)
		f.Advice += " " + comes + ", which " + t.says() + ": no connection is used again with that, whatever else is done. If they are to be, " + remedy
	case t.closes():
		f.Evidence = append(w.shown(o, &t), f.Evidence...)
		f.Doubts = slices.DeleteFunc(f.Doubts, func(s string) bool {
			return s == restDoubt || strings.HasPrefix(s, limitDoubt) || strings.Contains(s, "MaxIdleConns")
		})
		remedy := w.remedy(o, &t)
		f.Advice = comes + ", which " + t.says() + ": each request opens a connection of its own, whatever becomes of the bodies. " + strings.ToUpper(remedy[:1]) + remedy[1:]
	case t.keeps():
		known := fmt.Sprintf("(2: %s leaves it unset)", o.text())
		if t.perHost != "" {
			known = fmt.Sprintf("(%s, set at %s)", t.perHost, t.idleAt.place())
		}
		if t.perHost != "" || shown && t.idleAt.file == "" {
			f.Advice = strings.ReplaceAll(f.Advice, perHostDefault, known)
		}
	case t.off == setOff && t.perHost != "" && t.idleAt.file != "": // to what the source does not show
		f.Advice = strings.ReplaceAll(f.Advice, perHostDefault, fmt.Sprintf("(%s, set at %s)", t.perHost, t.idleAt.place()))
	case shown:
		var depends []string
		if t.off == setUnsure && t.offAt.file != "" {
			depends = append(depends, "DisableKeepAlives at "+t.offAt.place())
		}
		if t.idle == setUnsure && t.idleAt.file != "" {
			depends = append(depends, "MaxIdleConnsPerHost at "+t.idleAt.place())
		}
		w.look(f, o, comes+", and what it sets depends on something else ("+andList(depends)+"): look at that first")
	case len(w.p.files[o.pkg]) > 0:
		w.look(f, o, comes+", and its source does not show all that it sets: look there first")
	default:
		w.look(f, o, comes+", whose source the recording does not have: look there first")
	}
}

// look puts in front of an advice what to look at.
func (w *originTrail) look(f *Finding, o httpOrigin, text string) {
	at := w.d.placeOf(o.at)
	f.Evidence = append(f.Evidence, w.d.c.shownAt(at.file, at.line, "the Transport of these requests comes from this call"))
	f.Advice = text + ". With DisableKeepAlives, or a MaxIdleConnsPerHost below 0, no connection is used again, whatever becomes of the bodies. Otherwise: " + strings.ToLower(f.Advice[:1]) + f.Advice[1:]
}
