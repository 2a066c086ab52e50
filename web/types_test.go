package web

import (
	"cmp"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"loupe/gc"
)

var update = flag.Bool("update", false, "rewrite generated files")

// TestTypes holds the types of the pages against those of the server.
func TestTypes(t *testing.T) {
	const file = "ui/api/types.ts"
	want := types(t)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil || string(have) != want {
		t.Errorf("web/%s is stale: go test ./web -run TestTypes -update", file)
	}
}

// spelt are the types with a JSON form of their own.
var spelt = map[reflect.Type]string{
	reflect.TypeFor[time.Time]():       "string",
	reflect.TypeFor[json.RawMessage](): "unknown",
	reflect.TypeFor[gc.Figure]():       "number | null",
	reflect.TypeFor[numbers]():         "(number | null)[]",
}

// typer writes the types of TypeScript.
type typer struct {
	t    *testing.T
	done map[string]reflect.Type
	text map[string]string
}

// types returns the file of types: an interface for each struct that an
// endpoint's answer has, and the answer of each endpoint.
func types(t *testing.T) string {
	y := &typer{t, map[string]reflect.Type{}, map[string]string{}}
	var answers strings.Builder
	for _, name := range slices.Sorted(maps.Keys(endpoints)) {
		if r := endpoints[name].reply; r != nil {
			fmt.Fprintf(&answers, "  %q: %s;\n", name, y.of(r))
		}
	}
	// What no endpoint answers by itself.
	for _, r := range []reflect.Type{reflect.TypeFor[notice](), reflect.TypeFor[problem](), reflect.TypeFor[facts]()} {
		y.of(r)
	}
	var b strings.Builder
	b.WriteString("// Generated from the Go structs of package web by its TestTypes. Times are ns.\n\n")
	for _, name := range slices.Sorted(maps.Keys(y.text)) {
		b.WriteString(y.text[name] + "\n")
	}
	fmt.Fprintf(&b, "/** Answers is what each endpoint answers. */\nexport interface Answers {\n%s}\n", answers.String())
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
