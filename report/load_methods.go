package report

import (
	"fmt"
	"reflect"
	"slices"
	"text/template/parse"
	"time"

	"loupe/format/loadlog"

	"github.com/DataDog/datadog-agent/pkg/template/text"
)

// methodName is the function of templates by which methods are called.
const methodName = "method"

// methodsOf returns the methods that a template may call on a value, by name.
//
// Note: text/template finds methods with reflect.Value.MethodByName, and a program
// that can reach that keeps every exported method of every type that it reflects on:
// 3.8 MB of loupe, of which no user has anything. So the engine is one without
// methods, and those that templates have a use for stand here.
func methodsOf(value any) map[string]any {
	switch v := value.(type) {
	case time.Duration:
		return map[string]any{
			"Abs": v.Abs, "Hours": v.Hours, "Microseconds": v.Microseconds, "Milliseconds": v.Milliseconds, "Minutes": v.Minutes,
			"Nanoseconds": v.Nanoseconds, "Round": v.Round, "Seconds": v.Seconds, "String": v.String, "Truncate": v.Truncate,
		}
	case *time.Duration:
		if v != nil {
			return methodsOf(*v)
		}
	case time.Time:
		return map[string]any{
			"Add": v.Add, "AddDate": v.AddDate, "After": v.After, "Before": v.Before, "Compare": v.Compare, "Day": v.Day, "Equal": v.Equal,
			"Format": v.Format, "Hour": v.Hour, "IsZero": v.IsZero, "Local": v.Local, "Minute": v.Minute, "Month": v.Month,
			"Nanosecond": v.Nanosecond, "Round": v.Round, "Second": v.Second, "String": v.String, "Sub": v.Sub, "Truncate": v.Truncate,
			"UTC": v.UTC, "Unix": v.Unix, "UnixMicro": v.UnixMicro, "UnixMilli": v.UnixMilli, "UnixNano": v.UnixNano,
			"Weekday": v.Weekday, "Year": v.Year, "YearDay": v.YearDay,
		}
	case time.Month:
		return map[string]any{"String": v.String}
	case time.Weekday:
		return map[string]any{"String": v.String}
	case *LoadReport:
		return methodsOf(v.Summary)
	case *loadlog.Summary:
		return map[string]any{
			"BadStatus": v.BadStatus, "CommonError": v.CommonError, "Due": v.Due, "GivenUp": v.GivenUp, "Line": v.Line, "Unanswered": v.Unanswered,
		}
	case *loadlog.Header:
		return map[string]any{"ErrorText": v.ErrorText}
	case loadlog.Target:
		return map[string]any{"String": v.String}
	case loadlog.Likeness:
		return map[string]any{"Share": v.Share, "ShareOfFirst": v.ShareOfFirst}
	case loadlog.TargetFacts:
		return map[string]any{"String": v.String}
	case loadlog.Condition:
		return map[string]any{"Answers": v.Answers, "OfTime": v.OfTime, "String": v.String}
	case loadlog.Judgement:
		return map[string]any{"String": v.String}
	}
	return nil
}

// methodNames are the names of all methods of [methodsOf], sorted.
var methodNames = func() (names []string) {
	for _, v := range []any{
		time.Duration(0), time.Time{}, &loadlog.Summary{}, &loadlog.Header{}, loadlog.Condition{},
	} {
		for name := range methodsOf(v) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}()

// callMethod is what a template calls where a name may be that of a method: it calls
// the method, or returns the field of that name where the value has such a field.
func callMethod(value reflect.Value, name string, args ...reflect.Value) (reflect.Value, error) {
	for value.Kind() == reflect.Interface && !value.IsNil() {
		value = value.Elem()
	}
	if !value.IsValid() {
		return reflect.Value{}, fmt.Errorf("nil data; no entry for key %q", name)
	}
	method, ok := methodsOf(value.Interface())[name]
	if !ok && value.CanAddr() {
		method, ok = methodsOf(value.Addr().Interface())[name]
	}
	if ok {
		return callWith(name, reflect.ValueOf(method), args)
	}
	for value.Kind() == reflect.Pointer {
		if value.IsNil() {
			return reflect.Value{}, fmt.Errorf("nil pointer evaluating %s.%s", value.Type(), name)
		}
		value = value.Elem()
	}
	field, known := reflect.Value{}, false
	switch {
	case value.Kind() == reflect.Struct:
		field = value.FieldByName(name)
		known = field.IsValid()
	case value.Kind() == reflect.Map && value.Type().Key().Kind() == reflect.String:
		field, known = value.MapIndex(reflect.ValueOf(name).Convert(value.Type().Key())), true // none is "<no value>"
	}
	switch {
	case !known:
		return field, fmt.Errorf("can't evaluate field %s in type %s", name, value.Type())
	case len(args) > 0:
		return field, fmt.Errorf("%s is not a method but has arguments", name)
	}
	return field, nil
}

// callWith calls a method with the arguments of a template, where a whole number may
// stand for any type of whole numbers, such as a duration in ns.
func callWith(name string, method reflect.Value, args []reflect.Value) (reflect.Value, error) {
	t := method.Type()
	if len(args) != t.NumIn() {
		return reflect.Value{}, fmt.Errorf("wrong number of args for %s: want %d got %d", name, t.NumIn(), len(args))
	}
	for i, arg := range args {
		want := t.In(i)
		for arg.Kind() == reflect.Interface && !arg.IsNil() {
			arg = arg.Elem()
		}
		if arg.Kind() == reflect.Pointer && !arg.IsNil() && arg.Type().Elem().AssignableTo(want) {
			arg = arg.Elem()
		}
		switch {
		case !arg.IsValid():
			return reflect.Value{}, fmt.Errorf("%s: argument %d is nil; should be of type %s", name, i+1, want)
		case arg.Type().AssignableTo(want):
		case whole(arg) && whole(reflect.Zero(want)):
			arg = arg.Convert(want)
		default:
			return reflect.Value{}, fmt.Errorf("%s: argument %d is of type %s; should be %s", name, i+1, arg.Type(), want)
		}
		args[i] = arg
	}
	return method.Call(args)[0], nil
}

func whole(v reflect.Value) bool { return v.CanInt() || v.CanUint() }

// methodCalls rewrites what a template says of methods, .Total.Seconds, as calls of
// [callMethod], method .Total "Seconds".
func methodCalls(t *template.Template) {
	for _, t := range t.Templates() {
		if t.Tree != nil {
			rewriteList(t.Tree.Root)
		}
	}
}

func rewriteList(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			rewritePipe(n.Pipe)
		case *parse.IfNode:
			rewriteBranch(&n.BranchNode)
		case *parse.RangeNode:
			rewriteBranch(&n.BranchNode)
		case *parse.WithNode:
			rewriteBranch(&n.BranchNode)
		case *parse.TemplateNode:
			rewritePipe(n.Pipe)
		}
	}
}

func rewriteBranch(n *parse.BranchNode) {
	rewritePipe(n.Pipe)
	rewriteList(n.List)
	rewriteList(n.ElseList)
}

func rewritePipe(pipe *parse.PipeNode) {
	if pipe == nil {
		return
	}
	for _, c := range pipe.Cmds {
		for i, arg := range c.Args[1:] {
			c.Args[i+1] = asArgument(rewriteOperand(arg))
		}
		switch first := rewriteOperand(c.Args[0]).(type) {
		case *parse.CommandNode: // what stands behind the name are the arguments of the method
			c.Args = append(first.Args, c.Args[1:]...)
		default:
			c.Args[0] = first
		}
	}
}

// asArgument puts a call into parentheses.
func asArgument(n parse.Node) parse.Node {
	if c, ok := n.(*parse.CommandNode); ok {
		return &parse.PipeNode{NodeType: parse.NodePipe, Pos: c.Pos, Cmds: []*parse.CommandNode{c}}
	}
	return n
}

// rewriteOperand returns what an operand becomes: itself, or a call when a method ends
// it.
func rewriteOperand(n parse.Node) parse.Node {
	switch n := n.(type) {
	case *parse.PipeNode:
		rewritePipe(n)
	case *parse.FieldNode:
		if before, after, ok := cutMethod(n.Ident, 0); ok {
			var of parse.Node = &parse.DotNode{NodeType: parse.NodeDot, Pos: n.Pos}
			if len(before) > 0 {
				of = &parse.FieldNode{NodeType: parse.NodeField, Pos: n.Pos, Ident: before}
			}
			return chained(of, n.Pos, after)
		}
	case *parse.VariableNode:
		if before, after, ok := cutMethod(n.Ident, 1); ok {
			return chained(&parse.VariableNode{NodeType: parse.NodeVariable, Pos: n.Pos, Ident: before}, n.Pos, after)
		}
	case *parse.ChainNode:
		n.Node = asArgument(rewriteOperand(n.Node))
		if before, after, ok := cutMethod(n.Field, 0); ok {
			of := n.Node
			if len(before) > 0 {
				of = &parse.ChainNode{NodeType: parse.NodeChain, Pos: n.Pos, Node: n.Node, Field: before}
			}
			return chained(of, n.Pos, after)
		}
	}
	return n
}

// cutMethod cuts names where the first of them is, from the one at from on, that a
// method has.
func cutMethod(names []string, from int) (before, after []string, ok bool) {
	for i := from; i < len(names); i++ {
		if _, ok := slices.BinarySearch(methodNames, names[i]); ok {
			return names[:i], names[i:], true
		}
	}
	return nil, nil, false
}

// chained calls the method that is the first of names, and goes on with the others.
func chained(of parse.Node, at parse.Pos, names []string) parse.Node {
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: at, Args: []parse.Node{
		parse.NewIdentifier(methodName).SetPos(at), of,
		&parse.StringNode{NodeType: parse.NodeString, Pos: at, Quoted: fmt.Sprintf("%q", names[0]), Text: names[0]},
	}}
	if len(names) == 1 {
		return call
	}
	return rewriteOperand(&parse.ChainNode{NodeType: parse.NodeChain, Pos: at, Node: asArgument(call), Field: names[1:]})
}
