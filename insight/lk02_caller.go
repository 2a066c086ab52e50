package insight

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
)

// What is fetched under a lock is the same for all who wait only where the fetch is given nothing of the goroutine that makes it. What its caller gives (a
// parameter, a value in a context, a receiver that is not what has the lock) may decide what comes, and whether it fails. And where what is kept counts only
// if it is that of the caller, who waits with another key needs another one.

// callerGives is what a call under a lock is given of the caller of the function that takes the lock.
type callerGives struct {
	c *code
	// names are the parameters and the receiver, and variables of the function around; of these, keys decide what is looked up under the lock.
	names, keys []string
	entry       []string // those by which what has the lock itself was looked up
	// contexts are the contexts that may have a value of the caller, and valueAt is where the program sets one in some context.
	contexts []string
	valueAt  codeLine
	// ends tells that a context of the caller's may end the call.
	ends bool
	key  *comparedKey
	// since is a condition by which what is kept serves only those who came before it was fetched, or want no newer state.
	since *sinceCheck
}

// comparedKey is a comparison under the lock, before the call, of something that the lock guards with something of the caller: the key of what is kept.
type comparedKey struct {
	name, cond string
	at         codeLine
	from       []string // the names of the caller's that it is made of
	stores     bool     // behind the call it is stored there: there is one place, which callers with another key take
}

// givenByCaller finds what a call under a lock is given of the caller.
func givenByCaller(u *underlying) *callerGives {
	g := &callerGives{c: u.c}
	if u == nil || u.fn == nil {
		return g
	}
	f := newCallerFlow(u)
	f.walk()
	g.key, g.since = f.comparison(), f.since()
	g.keys, g.entry = f.lookedUpBy()
	on := calledOn(u.s, u.call)
	ast.Inspect(u.fn.body, func(n ast.Node) bool {
		if _, lit := n.(*ast.FuncLit); lit {
			return false
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || !on(call) {
			return true
		}
		for _, x := range append([]ast.Expr{call.Fun}, call.Args...) {
			o := f.of(x)
			g.names = addNames(g.names, o.from)
			g.contexts = addNames(g.contexts, o.contexts)
		}
		return false
	})
	if g.ends = len(g.contexts) > 0; g.ends {
		if g.valueAt = valueInContext(u.c); g.valueAt.line == 0 {
			g.contexts = nil
		}
	}
	return g
}

func addNames(all, more []string) []string {
	for _, name := range more {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// callerOrigin is what an expression has of the caller.
type callerOrigin struct{ from, contexts []string }

func (o callerOrigin) some() bool { return len(o.from)+len(o.contexts) > 0 }

func (o callerOrigin) and(p callerOrigin) callerOrigin {
	return callerOrigin{addNames(o.from, p.from), addNames(o.contexts, p.contexts)}
}

// named joins what is given, but for some names; of a context, what a function says of it.
func (g *callerGives) named(but []string, context func(name string) string) string {
	var parts []string
	for _, name := range g.names {
		if !slices.Contains(but, name) {
			parts = append(parts, name)
		}
	}
	for _, name := range g.contexts {
		if !slices.Contains(but, name) {
			parts = append(parts, context(name))
		}
	}
	return strings.Join(parts, " and ")
}

// text says what is given, but for some names: "the token and ctx, a context (a value is set in one at main.go:80)"; empty where there is nothing else.
func (g *callerGives) text(but []string) string {
	return g.named(but, func(name string) string {
		return fmt.Sprintf("%s, a context (the program sets a value in one at %s)", name, g.valueAt.text())
	})
}

// same says in what callers have to be alike.
func (g *callerGives) same(but []string) string {
	return g.named(but, func(name string) string { return "values in " + name })
}

// ownContext is what to do about the context of a shared call.
const ownContext = " Give the shared call a context of its own (context.WithoutCancel, with a timeout), so that a caller who leaves does not end it for all."

// shareAdvice is what to do where each of those who wait fetches for itself, and what is fetched may depend on who asks.
func (g *callerGives) shareAdvice(fails bool) string {
	advice := fmt.Sprintf("Only callers with the same %s may share a call that is under way: the fetch is given %s, so that its answer, and its error, may depend on who asks. "+
		"Share by a key made of that (golang.org/x/sync/singleflight), with the lock held only to look and to store. Give no caller an error that may be that of another one (a token that is refused, say), and do not keep it for others.", g.same(g.entry), g.text(g.entry))
	if fails {
		advice += " After an error, let the same caller pause before it asks again."
	} else {
		advice += " Let what was fetched be valid for longer, too, where it may be."
	}
	advice += " If what is given decides neither (a deadline, the number of a trace), let all who wait share the call, and its error as well."
	if g.ends {
		advice += ownContext
	}
	return advice
}

// beside is what is said beside advice to share a call by the key that is looked up; empty where the call is given nothing else of the caller.
func (g *callerGives) beside() string {
	if g.text(g.keys) == "" {
		return ""
	}
	return fmt.Sprintf(" The fetch is also given %s: callers may share it only if they have the same %s, where its answer or its error may depend on that. An error that may is not to be given to others.", g.text(g.keys), g.same(g.keys))
}

// needsCaller is what is said beside advice to fetch without being asked.
func (g *callerGives) needsCaller() string {
	if g.text(g.keys) == "" {
		return ""
	}
	return fmt.Sprintf(" Whether that can be done without a caller is to be seen: the fetch is given %s.", g.text(g.keys))
}

// keyed makes what is said of a lock that guards one value tell that it is the value of one key at a time.
func (g *callerGives) keyed(u fetching, place string, p *protected) {
	k := g.key
	p.says = fmt.Sprintf("the lock guards one value, %s, which counts only for callers with the same %s (%s, %s)", place, k.name, k.cond, k.at.text())
	if k.stores {
		p.says += "; who comes with another one replaces it"
	}
	n, counted := u.fetches()
	if counted {
		p.says += fmt.Sprintf("; by the counts, %s", n.fetchedText())
	}
	p.doubt = "if what is fetched may be used only once (a nonce, a one-time token), it cannot be shared"
	p.info = counted && !n.each()
	if k.stores {
		p.advice = fmt.Sprintf("Keep one value for each %[1]s, in a map by it (with a limit, or an age at which entries are dropped): in the one place, callers with another %[1]s evict what the others have fetched. ", k.name)
	}
	p.advice += fmt.Sprintf("Only callers with the same %[1]s may share a call that is under way, and its error: golang.org/x/sync/singleflight by %[1]s (or a channel for each call, closed when it ends), with the lock held only to look and to store.", k.name)
	if more := g.text(k.from); more != "" {
		p.advice += fmt.Sprintf(" The fetch is also given %s: what its answer or its error depends on has to follow from %s, or to be a part of that key.", more, k.name)
	}
	if counted && n.fails() {
		p.advice += fmt.Sprintf(" After an error, do not ask again at once for the same %s: return that error to it for a moment (a second, say), or pause between the calls.", k.name)
	}
	if g.ends {
		p.advice += ownContext
	}
	p.evidence = append(p.evidence, u.c.shownAt(k.at.file, k.at.line, "the key of the value: %s", k.cond))
}
