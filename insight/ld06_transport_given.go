package insight

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
)

// Where the settings of a Transport come from: one for all requests has one value of each. What differs from one request to the next needs
// a Transport for each value, or is set in another way.

// orPackage says that a Transport may be one for all, unless each value that makes requests may want its own.
func orPackage(field string, from settingFrom) string {
	if from == settingOwner {
		return ": its " + field + " comes from that, so that one in a package variable would serve all alike"
	}
	return ", or in a package variable"
}

var (
	// transportFields are the fields of a Transport.
	transportFields = lazily(`^(Proxy|OnProxyConnectResponse|Dial\w*|TLSClientConfig|TLSHandshakeTimeout|TLSNextProto|Disable(KeepAlives|Compression)|MaxIdleConns|Max(Idle)?ConnsPerHost|IdleConnTimeout|` +
		`ResponseHeaderTimeout|ExpectContinueTimeout|(Get)?ProxyConnectHeader|MaxResponseHeaderBytes|(Write|Read)BufferSize|ForceAttemptHTTP2|HTTP2|Protocols)$`)
	// transportOwns are those that decide as whom, and over what, requests are sent.
	transportOwns = lazily(`^(TLSClientConfig|Proxy|Dial\w*|GetProxyConnectHeader|ProxyConnectHeader|OnProxyConnectResponse)$`)
	// transportKeeps are those that say how connections are kept: one value may do for all requests.
	transportKeeps = lazily(`^(DisableKeepAlives|MaxIdleConns|Max(Idle)?ConnsPerHost|IdleConnTimeout|(Write|Read)BufferSize)$`)
	// transportSwitches are those with two values.
	transportSwitches = lazily(`^(DisableCompression|ForceAttemptHTTP2)$`)
)

// settingFrom is where a setting of a Transport comes from.
type settingFrom int

const (
	settingFixed settingFrom = iota
	// settingOwner: from the value that makes the requests: each such value may have its own.
	settingOwner
	// settingGiven: from what a function is given, so that each request may have its own.
	settingGiven
)

// transportOwn is a field of a Transport that decides as whom, and over what, requests are sent, with where it comes from;
// empty where all are the same.
func transportOwn(d *derivations, x ownTransport) (field string, from settingFrom) {
	for _, s := range transportSettings(d, x) {
		if of := s.from(d, x); transportOwns.MatchString(s.field) && of > from {
			field, from = s.field, of
		}
	}
	return field, from
}

// transportDiffers is another field of a Transport that comes from what a function is given, and that changes what a request does.
func transportDiffers(d *derivations, x ownTransport) (s transportSetting, ok bool) {
	for _, s := range transportSettings(d, x) {
		if !transportOwns.MatchString(s.field) && !transportKeeps.MatchString(s.field) && s.from(d, x) == settingGiven {
			return s, true
		}
	}
	return s, false
}

// tell gives the advice where a field differs from one request to the next.
func (s transportSetting) tell(f *Finding, d *derivations) {
	f.Severity = Info
	at := d.placeOf(s.x)
	f.Advice = fmt.Sprintf("Its %s comes from what the function is given (%s at %s), and one Transport for all requests would have that of the first one. ", s.field, s.text(), at.text())
	switch {
	case transportSwitches.MatchString(s.field):
		f.Advice += "Keep two Transports, one with it and one without, each made once, and take the right one for each request."
	default:
		f.Advice += "If the same values come again and again, keep one Transport for each of them, in a map with a limit."
	}
	switch s.field {
	case "DisableCompression":
		f.Advice += " Or make one without it, and set the header Accept-Encoding to identity in the requests that want no compression."
	case "ResponseHeaderTimeout":
		f.Advice += " Or make one without it, and give each request a context that ends in time (http.NewRequestWithContext); that one includes reading the body."
	}
}

// text is what it is set to; a long one says less than its place.
func (s transportSetting) text() string {
	if text := types.ExprString(s.x); len(text) <= 40 {
		return text
	}
	return "set"
}

// oneKept names a setting of how connections are kept that comes from what a function is given: one Transport has one of it.
func oneKept(d *derivations, x ownTransport) string {
	for _, s := range transportSettings(d, x) {
		if transportKeeps.MatchString(s.field) && s.from(d, x) == settingGiven {
			return fmt.Sprintf(" Its %s comes from what the function is given (%s): one value has to do for all requests.", s.field, d.placeOf(s.x).text())
		}
	}
	return ""
}

// from tells where a setting comes from.
func (s transportSetting) from(d *derivations, x ownTransport) settingFrom {
	level := slices.Index(x.in, s.in)
	if level < 0 {
		return settingFixed
	}
	w := &settingOrigin{d: d, x: x, seen: map[types.Object]bool{}}
	return w.of(level, s.x)
}

// settingOrigin follows a setting through the functions that lead to a Transport.
type settingOrigin struct {
	d    *derivations
	x    ownTransport
	seen map[types.Object]bool
	// parts are the expressions that were looked at: what they declare themselves comes from nowhere.
	parts []ast.Node
}

// of tells where an expression of one of the functions comes from, of what that is given and of variables that are made of that.
func (w *settingOrigin) of(level int, e ast.Node) (from settingFrom) {
	decl := w.x.in[level]
	w.parts = append(w.parts, e)
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok || from == settingGiven {
			return from < settingGiven
		}
		v := w.d.variable(id)
		if v == nil || w.seen[v] || !isLocal(decl, v) || isResult(decl, v) || w.declares(v) {
			return true
		}
		if v.Pos() < decl.Body.Pos() {
			from = max(from, w.givenBy(level, v))
			return true
		}
		w.seen[v] = true
		if givenToLit(decl, v) {
			from = settingGiven
		}
		for _, def := range w.d.definitions(decl)[v] {
			if def.x != nil {
				from = max(from, w.of(level, def.x))
			}
		}
		return true
	})
	return from
}

// declares tells of a variable that one of the expressions declares it.
func (w *settingOrigin) declares(v types.Object) bool {
	return slices.ContainsFunc(w.parts, func(n ast.Node) bool { return n.Pos() <= v.Pos() && v.Pos() < n.End() })
}

// givenToLit tells of a variable that a function without a name is given it.
func givenToLit(decl *ast.FuncDecl, v types.Object) (given bool) {
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		lit, ok := n.(*ast.FuncLit)
		given = given || ok && lit.Type.Params.Pos() <= v.Pos() && v.Pos() < lit.Type.Params.End()
		return !given
	})
	return given
}

// givenBy tells where a parameter of one of the functions comes from: it is the owner's where the call on the way of the request, or each call of the
// sources where that is not known, gives a part of its receiver.
func (w *settingOrigin) givenBy(level int, v types.Object) (from settingFrom) {
	decl := w.x.in[level]
	receiver := decl.Recv != nil && v.Pos() < decl.Recv.End()
	calls := callersTo(w.d, decl)
	switch {
	case level > 0 && len(w.x.calls) >= level:
		calls = []callBy{{w.x.in[level-1], w.x.calls[level-1]}}
	case receiver:
		return settingOwner
	}
	for _, by := range calls {
		arg := argumentFor(w.d, decl, by.call, v)
		of := givenEach
		if arg != nil {
			of = givenOf(w.d, by.in, arg)
		}
		switch {
		case arg != nil && by.in != nil && partOfReceiver(w.d, by.in, arg), of == givenOwner, receiver && of < givenEach:
			from = max(from, settingOwner)
		case of > givenSame:
			return settingGiven
		}
	}
	if len(calls) == 0 {
		return settingGiven
	}
	return from
}

// partOfReceiver tells of an expression that it is the receiver of a function, or a field of it.
func partOfReceiver(d *derivations, decl *ast.FuncDecl, x ast.Expr) bool {
	switch x := ast.Unparen(x).(type) {
	case *ast.SelectorExpr:
		return d.field(x) != nil && partOfReceiver(d, decl, x.X)
	case *ast.StarExpr:
		return partOfReceiver(d, decl, x.X)
	case *ast.Ident:
		v := d.variable(x)
		return decl.Recv != nil && v != nil && decl.Recv.Pos() <= v.Pos() && v.Pos() < decl.Recv.End()
	}
	return false
}
