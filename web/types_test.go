package web

import (
	"cmp"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/analysis/gc"
)

var update = flag.Bool("update", false, "rewrite generated files")

// TestTypes holds the types of the pages against those of the server: a file for
// each package that they come from, and in package web for each view, and one
// that has them all.
func TestTypes(t *testing.T) {
	const dir = "ui/api/types"
	want := types(t)
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join("ui/api", name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	have, err := os.ReadDir(dir)
	if err != nil || len(have) != len(want)-1 {
		t.Errorf("web/%s has %d files, want %d", dir, len(have), len(want)-1)
	}
	for name, text := range want {
		if have, err := os.ReadFile(filepath.Join("ui/api", name)); err != nil || string(have) != text {
			t.Errorf("web/ui/api/%s is stale: go test ./web -run TestTypes -update", name)
		}
	}
}

// spelt are the types with a JSON form of their own.
var spelt = map[reflect.Type]string{
	reflect.TypeFor[time.Time]():       "string",
	reflect.TypeFor[json.RawMessage](): "unknown",
	reflect.TypeFor[gc.Figure]():       "number | null",
	reflect.TypeFor[Numbers]():         "(number | null)[]",
}

// typer writes the types of TypeScript.
type typer struct {
	t    *testing.T
	done map[string]reflect.Type
	text map[string]string
	view map[string]string // whose answers have it, "several" for more than one
}

// names finds the names of interfaces in a text.
var names = regexp.MustCompile(`\b[A-Z]\w+`)

// types returns the files of types, by name: an interface for each struct that
// an endpoint's answer has, and the answer of each endpoint.
func types(t *testing.T) map[string]string {
	y := &typer{t, map[string]reflect.Type{}, map[string]string{}, map[string]string{}}
	var answers strings.Builder
	views := map[string]string{} // what the answers of each view are
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		if r := endpoints[name].reply; r != nil {
			of := y.of(r)
			fmt.Fprintf(&answers, "  %q: %s;\n", name, of)
			view, _, _ := strings.Cut(name, "/")
			views[view] += of + " "
		}
	}
	// What no endpoint answers by itself.
	for _, r := range []reflect.Type{reflect.TypeFor[notice](), reflect.TypeFor[problem](), reflect.TypeFor[facts]()} {
		y.of(r)
	}
	y.place(views)
	const head = "// Generated from the Go structs that package web answers with by its TestTypes. Times are ns.\n\n"
	texts := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(y.text)) {
		texts[y.origin(name)] += "\n" + y.text[name]
	}
	files := map[string]string{}
	all := head + y.imports("", answers.String(), "./types/")
	for _, origin := range slices.Sorted(maps.Keys(texts)) {
		files["types/"+origin+".ts"] = head + y.imports(origin, texts[origin], "./") + strings.TrimPrefix(texts[origin], "\n")
		all += fmt.Sprintf("export type * from \"./types/%s.ts\";\n", origin)
	}
	files["types.ts"] = all + fmt.Sprintf("\n/** Answers is what each endpoint answers. */\nexport interface Answers {\n%s}\n", answers.String())
	return files
}

// place says which interfaces are of one view alone.
func (y *typer) place(views map[string]string) {
	for view, text := range views {
		seen := map[string]bool{}
		for todo := names.FindAllString(text, -1); len(todo) > 0; todo = todo[1:] {
			if name := todo[0]; y.done[name] != nil && !seen[name] {
				seen[name] = true
				todo = append(todo, names.FindAllString(y.text[name], -1)...)
				if y.view[name] == "" {
					y.view[name] = view
				} else if y.view[name] != view {
					y.view[name] = "several"
				}
			}
		}
	}
}

// origin is the package that an interface comes from; of package web itself with
// the view whose answers alone have it.
func (y *typer) origin(name string) string {
	origin := path.Base(y.done[name].PkgPath())
	if v := y.view[name]; origin == "web" && v != "" && v != "several" {
		return origin + "_" + v
	}
	return origin
}

// imports imports what a text of one package names of others.
func (y *typer) imports(own, text, dir string) string {
	from := map[string][]string{}
	for _, name := range names.FindAllString(text, -1) {
		if y.done[name] == nil || y.origin(name) == own {
			continue
		}
		if origin := y.origin(name); !slices.Contains(from[origin], name) {
			from[origin] = append(from[origin], name)
		}
	}
	var b strings.Builder
	for _, origin := range slices.Sorted(maps.Keys(from)) {
		slices.Sort(from[origin])
		fmt.Fprintf(&b, "import type { %s } from \"%s%s.ts\";\n", strings.Join(from[origin], ", "), dir, origin)
	}
	if len(from) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// of returns the type of TypeScript that a value of a Go type is in JSON.
func (y *typer) of(t reflect.Type) string {
	if s, ok := spelt[t]; ok {
		return s
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return y.of(t.Elem()) + " | null"
	case t.Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		y.t.Errorf("%v has a JSON form of its own: say in spelt which", t)
		return "unknown"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return "string"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Interface:
		return "unknown"
	case reflect.Slice, reflect.Array:
		elem := y.of(t.Elem())
		if strings.Contains(elem, " ") {
			elem = "(" + elem + ")"
		}
		if t.Kind() == reflect.Slice {
			if t.Elem().Kind() == reflect.Uint8 {
				return "string | null"
			}
			return elem + "[] | null"
		}
		return elem + "[]"
	case reflect.Map:
		return "Record<string, " + y.of(t.Elem()) + "> | null"
	case reflect.Struct:
		return y.structure(t)
	}
	return "number"
}

// structure writes an interface and returns its name.
func (y *typer) structure(t reflect.Type) string {
	name := strings.ToUpper(t.Name()[:1]) + t.Name()[1:]
	if pkg := t.PkgPath()[strings.LastIndexByte(t.PkgPath(), '/')+1:]; pkg != "web" {
		name = strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
	name = strings.NewReplacer("[", "Of", "]", "", "*", "", ".", "", "/", "").Replace(name)
	if other, ok := y.done[name]; ok {
		if other != t {
			y.t.Errorf("%v and %v would both be %s", other, t, name)
		}
		return name
	}
	y.done[name] = t
	var b strings.Builder
	fmt.Fprintf(&b, "export interface %s {\n", name)
	y.fields(&b, t)
	b.WriteString("}\n")
	y.text[name] = b.String()
	return name
}

func (y *typer) fields(b *strings.Builder, t reflect.Type) {
	for f := range t.Fields() {
		tag, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			y.fields(b, inner)
			continue
		}
		if tag == "-" || !f.IsExported() {
			continue
		}
		mark := ""
		what := y.of(f.Type)
		if strings.Contains(opts, "omit") {
			mark = "?"
			what = strings.TrimSuffix(what, " | null")
		}
		fmt.Fprintf(b, "  %s%s: %s;\n", cmp.Or(tag, f.Name), mark, what)
	}
}
