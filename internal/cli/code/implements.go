package code

import (
	"fmt"
	"io"
	"strings"

	"loupe/capture/static"
	"loupe/internal/cli/command"
	"loupe/value/unit"
)

// implementsSchema names the JSON of loupe implements.
const implementsSchema = "loupe.implements/1"

// Implements is loupe implements.
var Implements = &command.Command{
	Name:  "implements",
	Short: "which types implement an interface",
	Args:  "[flags] IFACE [PACKAGES]",
	Example: []string{
		"loupe implements io.Reader ./...",
		"loupe implements Store                   an interface of the packages below this folder",
		"loupe implements -all net.Conn ./cmd/server   also the types of all imported packages",
		"loupe implements -json error | jq -r '.types[].name'",
	},
	About: `
IFACE is io.Reader, example.com/p.Store, p.Store, or Store where one type has that name. The
types are those declared in PACKAGES (default ./...), including those inside functions; -all
adds those of all imported packages. *T means that only a pointer to T has the methods. A
generic type is checked against the interface with its own type parameters. Unnamed types,
such as a struct that embeds another, are not listed.

The answer is cached in the user's cache folder until a source file changes.`,
	Setup: func(fs *command.FlagSet) func(*command.Env, []string) error {
		f := &flags{}
		f.declare(fs, implementsSchema)
		all := fs.Bool("all", false, "also list types of the packages that PACKAGES import")
		return func(e *command.Env, args []string) error {
			if len(args) == 0 || args[0] == "" {
				return command.Usagef("the interface is missing")
			}
			return f.implements(e, args[0], args[1:], *all)
		}
	},
}

// implementsAnswer is what loupe implements prints, in both forms.
type implementsAnswer struct {
	Schema    string     `json:"schema"`
	Interface typeJSON   `json:"interface"`
	Methods   []string   `json:"methods"`
	Packages  []string   `json:"packages"`
	All       bool       `json:"all"`
	Cached    bool       `json:"cached"`
	Types     []typeJSON `json:"types"`

	constraint bool
}

type typeJSON struct {
	Name      string `json:"name"`
	Package   string `json:"package,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Pointer   bool   `json:"pointer,omitempty"`   // only a pointer to it implements the interface
	Interface bool   `json:"interface,omitempty"` // it is an interface that includes the other
	Local     bool   `json:"local,omitempty"`     // declared within a function
}

func (f *flags) implements(e *command.Env, name string, patterns []string, all bool) error {
	opt := f.options(e, patterns)
	a, cached, err := static.Implements(e.Ctx, opt, name, all)
	if err != nil {
		return failed(e, err)
	}
	if err := refused(a, name, opt.Patterns); err != nil {
		return err
	}
	out := &implementsAnswer{
		Schema: implementsSchema, Interface: typeOf(a.Interface), Methods: append([]string{}, a.Methods...),
		Packages: opt.Patterns, All: all, Cached: cached, Types: []typeJSON{}, constraint: a.Terms,
	}
	for _, t := range a.Types {
		out.Types = append(out.Types, typeOf(t))
	}
	if f.json {
		return command.WriteJSON(e.Stdout, out)
	}
	return command.Buffered(e.Stdout, out.write)
}

// refused says why there is no answer.
func refused(a *static.Implemented, name string, patterns []string) error {
	where := strings.Join(patterns, " ")
	switch {
	case len(a.Candidates) > 0:
		var lines []string
		for i, t := range a.Candidates {
			if i == maxCandidates {
				lines = append(lines, fmt.Sprintf("\t(%d more)", len(a.Candidates)-i))
				break
			}
			lines = append(lines, fmt.Sprintf("\t%s  %s:%d", t.Name, here(t.File), t.Line))
		}
		return command.Usagef("%s may mean any of %d types:\n%s", name, len(a.Candidates), strings.Join(lines, "\n"))
	case a.Interface.Name == "" && len(a.Near) > 0:
		return command.Nothingf("no interface %s in %s and what they import; there is %s", name, where, strings.Join(a.Near, ", "))
	case a.Interface.Name == "":
		return command.Nothingf("no interface %s in %s and what they import", name, where)
	case a.Kind != "":
		return command.Usagef("%s is a %s, not an interface (%s:%d)", a.Interface.Name, a.Kind, here(a.Interface.File), a.Interface.Line)
	case a.Generic:
		return command.Usagef("%s has type parameters: which types implement it depends on their arguments, which cannot be given here", a.Interface.Name)
	case len(a.Methods) == 0 && !a.Terms:
		return command.Nothingf("%s has no methods: every type implements it", a.Interface.Name)
	}
	return nil
}

func typeOf(t static.Type) typeJSON {
	return typeJSON{t.Name, t.Package, here(t.File), t.Line, t.Pointer, t.Interface, t.Local}
}

func (a *implementsAnswer) write(w io.Writer) error {
	fmt.Fprint(w, a.Interface.Name)
	if a.Interface.File != "" {
		fmt.Fprintf(w, "  %s:%d", a.Interface.File, a.Interface.Line)
	}
	fmt.Fprintln(w)
	for _, m := range a.Methods {
		fmt.Fprintf(w, "    %s\n", m)
	}
	if a.constraint {
		fmt.Fprintln(w, "    (a constraint: listed is what it permits as a type argument)")
	}
	fmt.Fprintln(w)
	for _, t := range a.Types {
		star, what := "", ""
		if t.Pointer {
			star = "*"
		}
		if t.Interface {
			what = "  interface"
		}
		if t.Local {
			what += "  within a function"
		}
		fmt.Fprintf(w, "%s%s  %s:%d%s\n", star, t.Name, t.File, t.Line, what)
	}
	where := strings.Join(a.Packages, " ")
	if a.All {
		where += " and what they import"
	}
	if len(a.Types) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s of %s", unit.Plural(len(a.Types), "type"), where)
	if !a.All {
		fmt.Fprint(w, " (-all adds what they import)")
	}
	fmt.Fprintln(w, ".")
	return nil
}
