package why

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loupe/format/compiler"
)

// variadic is what the compiler calls "... argument".
const variadic = "the slice of the variadic arguments"

// words says in words why a candidate allocates.
func words(c *candidate, runtimeFunc string) string {
	d := c.Diagnostic
	if d == nil || !c.escapes {
		return operationWords(c, runtimeFunc)
	}
	subject := d.Text
	if strings.HasPrefix(subject, "~r") { // a name of the compiler's
		subject = "the result of a function that is inlined"
	}
	switch {
	case d.Kind == compiler.MovedToHeap:
		subject = "variable " + d.Text
	case c.Mechanism == Interface:
		subject += " is boxed into an interface and"
	case d.Text == "... argument":
		subject = variadic
	case d.Text == "func literal":
		subject = "the closure"
	}
	b := subject + " escapes"
	if how := FlowWords(d); how != "" {
		b += ": " + how
	}
	for _, other := range c.also {
		if how := FlowWords(other); how != "" && !strings.Contains(b, how) {
			b += "; also: " + how
		}
	}
	if c.Mechanism&Append != 0 {
		b = "append grows the slice, whose memory cannot be on the stack (" + b + ")"
	}
	if c.Alone {
		b += " (so " + "the function says on its own; the call that it is inlined into is not known to the compiler's answers)"
	}
	return b
}

// operationWords are for what the runtime allocates although nothing escapes,
// or without the compiler's asking.
func operationWords(c *candidate, runtimeFunc string) string {
	expr := ""
	if c.Expr != "" {
		expr = ": " + c.Expr
	}
	stays := c.Diagnostic != nil
	switch m := c.Mechanism; {
	case m == Append:
		return "append grows the slice beyond its capacity" + expr
	case m == MapWrite:
		return "writing a map entry makes the map grow if the key is new" + expr
	case m == MakeMap || m == MakeMap|MapWrite:
		return "the map allocates room for its entries" + expr
	case m == MakeChan:
		return "a channel always lives on the heap" + expr
	case m == Slice && stays:
		return "a slice whose size is known only at run time, too large for its stack space" + expr
	case m == Concat && stays:
		return "the string is longer than the 32 bytes that are kept on the stack" + expr
	case m == Concat:
		return "the concatenation allocates a new string" + expr
	case m == Convert && stays:
		return "the copy is longer than its stack space (32 bytes, 32 runes)" + expr
	case m == Convert:
		return "the conversion copies" + expr
	case m == Goroutine:
		return "the go statement creates a goroutine" + expr
	case m == Defer:
		return "the record of a deferred call that is not in its function's frame" + expr
	case m == Wait:
		return "waiting on a channel takes a queue entry, which the runtime keeps for the next wait" + expr
	case m == Assertion:
		return "the assertion to an interface fills the runtime's cache of methods" + expr
	case m&Call != 0:
		return "a runtime function called by its name" + expr
	case c.Expr == "":
		return "memory requested from the runtime by " + runtimeFunc + " (" + m.String() + "); it is not known which expression of the line"
	}
	return c.Mechanism.String() + expr
}

// FlowWords tells the way of a value to the heap in words: "boxed into an
// interface, passed to fmt.Println(... argument...)". It is "" when the
// compiler has not said it.
func FlowWords(d *compiler.Diagnostic) string {
	const most = 6
	var parts []string
	for i := range d.Flow {
		f := &d.Flow[i]
		for j := range f.Steps {
			if w := stepWords(&f.Steps[j]); w != "" && (len(parts) == 0 || parts[len(parts)-1] != w) {
				parts = append(parts, w)
			}
		}
	}
	if len(parts) > most {
		left := len(parts) - most
		parts = append(parts[:most-1:most-1], "… ("+strconv.Itoa(left+1)+" more)", parts[len(parts)-1])
		parts = append(parts[:most-1], parts[most-1], parts[most])
	}
	if n := len(d.Flow); n > 0 {
		switch last := d.Flow[n-1]; {
		case last.Dst == "{heap}" || last.Dst == "{temp}":
		case strings.HasPrefix(last.Dst, "~r"):
		case strings.HasPrefix(last.Dst, "{storage for "):
			parts = append(parts, "which itself is on the heap: "+short(strings.TrimSuffix(strings.TrimPrefix(last.Dst, "{storage for "), "}")))
		default:
			parts = append(parts, "kept in "+short(last.Dst)+", which outlives it")
		}
	}
	if d.Truncated {
		parts = append(parts, "and so on (truncated by the compiler)")
	}
	return strings.Join(parts, ", ")
}

// stepWords says one step. The steps that say nothing are left out.
func stepWords(s *compiler.Step) string {
	expr := short(s.Expr)
	switch s.Why {
	case "spill", "address-of", "dot", "dot of pointer", "indirection", "reference":
		return ""
	case "too large for stack", "too aligned for stack", "non-constant size":
		return s.Why
	case "interface-converted":
		return "converted to an interface"
	case "call parameter":
		return "passed to " + strings.TrimSuffix(expr, "(... argument...)")
	case "receiver in indirect call":
		return "the receiver of a call whose target is not known (" + expr + ")"
	case "return":
		return "returned"
	case "captured by a closure":
		return "captured by a closure"
	case "struct literal element", "slice-literal-element", "array literal element":
		if s.Expr == "... argument" {
			return "put into " + variadic
		}
		return "put into " + expr
	case "map literal key", "map literal value", "key of map put", "value of map put":
		return "put into a map (" + expr + ")"
	case "send":
		return "sent on a channel (" + expr + ")"
	case "panic":
		return "passed to panic"
	case "assign", "assign-pair", "assign-pair-func-call", "assign-pair-dot-type", "assign-pair-receive", "assign-pair-mapr", "range", "range-deref", "slice", "append", "appended slice...", "appendee slice", "copied slice":
		if temporary(s.Expr) {
			return ""
		}
		if left, right, ok := strings.Cut(s.Expr, " := "); ok && strings.HasPrefix(right, "~r") {
			return left + " := …" // the result of a function that is inlined
		}
		return expr
	}
	return expr + " (" + s.Why + ")"
}

// temporary tells of an assignment that the reader has not written: to a result of a function that is inlined, to a
// variable of the compiler, or to variables of another package's function.
func temporary(expr string) bool {
	left, right, defines := strings.Cut(expr, " := ")
	if !defines {
		var ok bool
		if left, right, ok = strings.Cut(expr, " = "); !ok {
			return false
		}
	}
	if strings.HasPrefix(left, "~r") || strings.Contains(right, ".autotmp_") || !defines && strings.HasPrefix(right, "~r") {
		return true
	}
	// What is declared has a dot in its name only where it belongs to another package.
	return defines && !slices.ContainsFunc(strings.Split(left, ", "), func(name string) bool { return !strings.Contains(name, ".") })
}

// inlinedResult is what the compiler calls the result of a function that is inlined.
var inlinedResult = regexp.MustCompile(`~r\d+`)

// short cuts an expression that would fill the line.
func short(expr string) string {
	const most = 70
	expr = inlinedResult.ReplaceAllString(expr, "…")
	if len(expr) <= most {
		return expr
	}
	return strings.ToValidUTF8(expr[:most-1], "") + "…"
}
