// Delve runs a program until it stops itself, and prints the arguments of all
// frames of the goroutine that has stopped, as a debugger sees them: the oracle of
// the tests of package explain. What the program prints goes to standard error.
//
// With "core BINARY CORE" it prints all goroutines of a core, with "dump PID FILE"
// it writes the core of a process: for the tests of package program.
package main

import (
	"encoding/json"
	"fmt"
	"go/constant"
	"os"
	"reflect"
	"strconv"

	"github.com/go-delve/delve/pkg/logflags"
	"github.com/go-delve/delve/pkg/proc"
	"github.com/go-delve/delve/pkg/proc/core"
	"github.com/go-delve/delve/pkg/proc/native"
)

// Value is a variable.
type Value struct {
	Name, Type, Kind string
	// Addr is where it is, of slices and strings where the contents are.
	Base     uint64
	Len, Cap int64
	Text     string // of numbers, bools and strings
	Children []Value
	Bad      string // why it cannot be read
}

// Frame is one call.
type Frame struct {
	Func    string
	Line    int
	Inlined bool
	Args    []Value `json:",omitempty"`
}

// Goroutine is one of a core.
type Goroutine struct {
	ID     int64
	System bool
	Frames []Frame
}

func openCore(binary, file string) error {
	group, err := core.OpenCore(file, binary, nil)
	if err != nil {
		return err
	}
	defer group.Detach(false)
	t := group.Selected
	all, _, err := proc.GoroutinesInfo(t, 0, 0)
	if err != nil {
		return err
	}
	out := []Goroutine{}
	for _, g := range all {
		stack, err := proc.GoroutineStacktrace(t, g, 200, 0)
		if err != nil {
			return err
		}
		one := Goroutine{ID: g.ID, System: g.System(t)}
		for _, s := range stack {
			f := Frame{Line: s.Call.Line, Inlined: s.Inlined}
			if s.Call.Fn != nil {
				f.Func = s.Call.Fn.Name
			}
			one.Frames = append(one.Frames, f)
		}
		out = append(out, one)
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func dump(pid, file string) error {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return err
	}
	group, err := native.Attach(n, nil, nil)
	if err != nil {
		return err
	}
	defer group.Detach(false)
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	var state proc.DumpState
	group.Selected.Dump(f, 0, &state)
	return state.Err
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "delve:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	logflags.Setup(false, "", "")
	switch {
	case len(args) == 3 && args[0] == "core":
		return openCore(args[1], args[2])
	case len(args) == 3 && args[0] == "dump":
		return dump(args[1], args[2])
	}
	group, err := native.Launch(args, ".", 0, []string{}, "", "", proc.OutputRedirect{}, proc.OutputRedirect{})
	if err != nil {
		return err
	}
	defer group.Detach(true)
	out := json.NewEncoder(os.Stdout)
	for {
		if err := group.Continue(); err != nil {
			if _, ok := err.(proc.ErrProcessExited); ok {
				return nil
			}
			return err
		}
		frames, err := stop(group.Selected)
		if err != nil {
			return err
		}
		if err := out.Encode(frames); err != nil {
			return err
		}
	}
}

func stop(t *proc.Target) ([]Frame, error) {
	g := t.SelectedGoroutine()
	stack, err := proc.GoroutineStacktrace(t, g, 200, 0)
	if err != nil {
		return nil, err
	}
	cfg := proc.LoadConfig{FollowPointers: false, MaxVariableRecurse: 4, MaxStringLen: 4096, MaxArrayValues: 64, MaxStructFields: -1}
	frames := []Frame{}
	for i, s := range stack {
		f := Frame{Line: s.Call.Line, Inlined: s.Inlined}
		if s.Call.Fn != nil {
			f.Func = s.Call.Fn.Name
		}
		scope := proc.FrameToScope(t, t.Memory(), g, 0, stack[i:]...)
		vars, err := scope.FunctionArguments(cfg)
		if err != nil {
			f.Args = append(f.Args, Value{Bad: err.Error()})
		}
		for _, v := range vars {
			if v.Flags&proc.VariableReturnArgument == 0 {
				f.Args = append(f.Args, value(v))
			}
		}
		frames = append(frames, f)
	}
	return frames, nil
}

func value(v *proc.Variable) Value {
	out := Value{Name: v.Name, Kind: v.Kind.String(), Base: uint64(v.Base), Len: v.Len, Cap: v.Cap}
	if v.DwarfType != nil {
		out.Type = v.DwarfType.String()
	}
	if v.Unreadable != nil {
		out.Bad = v.Unreadable.Error()
		return out
	}
	switch v.Kind {
	case reflect.Ptr, reflect.UnsafePointer:
		if len(v.Children) > 0 {
			out.Base = v.Children[0].Addr
		}
	case reflect.Interface:
		if len(v.Children) > 0 && v.Children[0].DwarfType != nil && v.Children[0].Kind != reflect.Invalid {
			out.Text = v.Children[0].DwarfType.String()
			if c := v.Children[0]; c.Kind == reflect.Ptr && len(c.Children) > 0 {
				out.Base = c.Children[0].Addr
			}
		} else {
			out.Text = "nil"
		}
		return out
	}
	if v.Value != nil {
		switch v.Value.Kind() {
		case constant.String:
			out.Text = constant.StringVal(v.Value)
		default:
			out.Text = v.Value.ExactString()
		}
	}
	for i := range v.Children {
		switch v.Kind {
		case reflect.Struct, reflect.Array, reflect.Complex64, reflect.Complex128:
			out.Children = append(out.Children, value(&v.Children[i]))
		}
	}
	return out
}
