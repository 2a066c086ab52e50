package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestKeyOnly: a text is a key where all that is done with it is to look something up by it or to store
// under it, here or in the callers.
func TestKeyOnly(t *testing.T) {
	const key = "fmt.Sprintf(\"%s-%d\", p.proto, p.port)"
	for _, c := range []struct {
		name, source string // the line that formats is the fourth
		container    string // "" is no key
	}{
		{"looked up", "func (s *set) has(p port) bool {\n\treturn s.seen[" + key + "]\n}", "s.seen"},
		{"a variable", "func (s *set) add(p port) {\n\tk := " + key + "\n\tif s.seen[k] {\n\t\treturn\n\t}\n\ts.seen[k] = true\n\tdelete(s.old, k)\n}", "s.seen"},
		{"a function", "func key(p port) string {\n\treturn " + key + "\n}\nfunc (s *set) add(p port) {\n\tk := key(p)\n\ts.seen[k] = true\n}\nfunc (s *set) has(p port) bool { return s.seen[key(p)] }", "s.seen"},
		{"printed too", "func (s *set) add(p port) {\n\tk := " + key + "\n\ts.seen[k] = true\n\tlog.Print(k)\n}", ""},
		{"a function of which one prints it", "func key(p port) string {\n\treturn " + key + "\n}\nfunc (s *set) add(p port) { s.seen[key(p)] = true }\nfunc show(p port) { log.Print(key(p)) }", ""},
		{"passed on", "func key(p port) string {\n\treturn " + key + "\n}\nfunc (s *set) add(p port) { s.seen[key(p)] = true }\nvar by = index(key)\nfunc f() { index(key) }", ""},
		{"the value", "func (s *set) add(p port) {\n\ts.text[p] = " + key + "\n}", ""},
		{"stored in a field", "func (s *set) add(p port) {\n\ts.last = " + key + "\n}", ""},
		{"one result of several", "func key(p port) string {\n\tk := " + key + "\n\tif p.port == 0 {\n\t\treturn \"\"\n\t}\n\treturn k\n}\nfunc (s *set) add(p port) { s.seen[key(p)] = true }", ""},
		{"two functions of a name", "func (p port) key() string {\n\treturn " + key + "\n}\nfunc (h host) key() string { return h.name }\nfunc (s *set) add(p port) { s.seen[p.key()] = true }", ""},
		{"another variable of the name", "func (s *set) add(p port) {\n\tk := " + key + "\n\ts.seen[k] = true\n\tk = \"\"\n}", ""},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\n"+c.source+"\n"))
		in := NewInput(session.New(r.Open()))
		uses, _ := keyOnly(in.code, stack.Frame{Func: "main.f", File: "a.go", Line: 4}, "fmt.Sprintf")
		if (len(uses) > 0) != (c.container != "") || len(uses) > 0 && uses[0].container != c.container {
			t.Errorf("%s: %+v", c.name, uses)
		}
	}
}

// TestKeyOfValues: the values can be the key in place of their text where two of the same text are equal,
// and nobody knows the map by its texts. The line that formats is marked.
func TestKeyOfValues(t *testing.T) {
	const (
		types = "type proto string\ntype port struct {\n\tp proto\n\tn int32\n\tf float64\n\tx any\n\tr region\n\tid *port\n\traw []byte\n\tat time.Time\n\tsum [4]byte\n\tbox box\n\tflat flat\n}\ntype region string\n\nfunc (r region) String() string { return strings.ToLower(string(r)) }\n\ntype box struct{ r region }\ntype flat struct {\n\ta string\n\tb int\n}\n"
		set   = "type set struct {\n\tseen map[string]bool\n\tother map[string]bool\n\tAll map[string]bool\n}\n"
		made  = "\nfunc newSet() *set { return &set{seen: map[string]bool{}} }\n"
	)
	key := func(format string, args string) string {
		return types + set + made + "func (s *set) add(p port) {\n\tk := fmt.Sprintf(\"" + format + "\", " + args + ") // A\n\ts.seen[k] = true\n}\n"
	}
	plain := key("%s-%d", "p.p, p.n")
	for _, c := range []struct {
		name, source string
		want         bool
	}{
		{"plain values", plain, true},
		{"a constant format", "const layout = \"%s\" + \"-%d\"\n" + strings.Replace(plain, "\"%s-%d\"", "layout", 1), true},
		{"an array and a struct", key("%x %v", "p.sum, p.flat"), true},
		{"a padded number", key("%s %08x", "p.p, p.n"), true},
		{"without a format", strings.Replace(plain, "fmt.Sprintf(\"%s-%d\", ", "fmt.Sprint(", 1), true},
		{"of a local map", types + "func merge(ps []port) {\n\tvar seen = make(map[string]bool, len(ps))\n\tfor _, p := range ps {\n\t\tk := fmt.Sprint(p.p, p.n) // A\n\t\tif !seen[k] {\n\t\t\tseen[k] = true\n\t\t}\n\t}\n}\n", true},
		{"ranged over to delete", plain + "func (s *set) clean() {\n\tfor k, ok := range s.seen {\n\t\tif !ok {\n\t\t\tdelete(s.seen, k)\n\t\t}\n\t}\n\tif s.seen != nil {\n\t\ts.seen = nil\n\t}\n}\n", true},
		{"its values are read", plain + "func (s *set) count() (n int) {\n\tfor _, ok := range s.seen {\n\t\tif ok {\n\t\t\tn++\n\t\t}\n\t}\n\treturn n + len(s.seen)\n}\n", true},
		{"a variable of the package", types + "var seen = map[string]bool{}\n\nfunc add(p port) {\n\tseen[fmt.Sprintf(\"%s/%d\", p.p, p.n)] = true // A\n}\n", true},

		{"a rounded number", key("%s-%.2f", "p.p, p.f"), false},
		{"a rounded number by an argument", key("%s-%.*f", "p.p, 2, p.f"), false},
		{"a floating-point number", key("%s-%v", "p.p, p.f"), false},
		{"a text that is cut", key("%.3s-%d", "p.p, p.n"), false},
		{"a padded text", key("%8s-%d", "p.p, p.n"), false},
		{"the type", key("%T-%d", "p.p, p.n"), false},
		{"an argument by its number", key("%[1]s-%[2]d", "p.p, p.n"), false},
		{"a type with a text of its own", key("%v-%d", "p.r, p.n"), false},
		{"a field with a text of its own", key("%v-%d", "p.box, p.n"), false},
		{"an interface", key("%v-%d", "p.x, p.n"), false},
		{"a pointer", key("%v-%d", "p.id, p.n"), false},
		{"a slice", key("%x-%d", "p.raw, p.n"), false},
		{"a type from elsewhere", key("%v-%d", "p.at, p.n"), false},
		{"any arguments", "func key(args ...any) string {\n\treturn fmt.Sprint(args...) // A\n}\n" + types + set + "func (s *set) add(p port) { s.seen[key(p.p)] = true }\n", false},
		{"a type parameter", "func add[K comparable](k K) {\n\tseen[fmt.Sprint(k)] = true // A\n}\n\nvar seen = map[string]bool{}\n", false},
		{"a format that is no constant", strings.Replace(plain, "\"%s-%d\"", "layout()", 1), false},

		{"ranged over", plain + "func (s *set) list() (all []string) {\n\tfor k := range s.seen {\n\t\tall = append(all, k)\n\t}\n\treturn all\n}\n", false},
		{"passed on", plain + "func (s *set) list() []string { return slices.Sorted(maps.Keys(s.seen)) }\n", false},
		{"returned", plain + "func (s *set) all() map[string]bool { return s.seen }\n", false},
		{"given from elsewhere", plain + "func load(m map[string]bool) *set { return &set{seen: m} }\n", false},
		{"given from elsewhere without a name", plain + "func load(m map[string]bool) *set { return &set{m, nil, nil} }\n", false},
		{"set from elsewhere", plain + "func (s *set) load(m map[string]bool) { s.seen = m }\n", false},
		{"asked by another text", plain + "func (s *set) has(name string) bool { return s.seen[name] }\n", false},
		{"another name of it", plain + "func (s *set) has(name string) bool {\n\tm := s.seen\n\treturn m[name]\n}\n", false},
		{"a field that an encoder sees", strings.Replace(plain, "s.seen[k]", "s.All[k]", 1), false},
		{"a parameter", types + "func add(m map[string]bool, p port) {\n\tm[fmt.Sprint(p.p, p.n)] = true // A\n}\n", false},
		{"a result", types + "func tally(ps []port) (m map[string]bool) {\n\tm = map[string]bool{}\n\tfor _, p := range ps {\n\t\tm[fmt.Sprint(p.p, p.n)] = true // A\n\t}\n\treturn m\n}\n", false},
		{"a local map that is returned", types + "func tally(ps []port) map[string]bool {\n\tm := map[string]bool{}\n\tfor _, p := range ps {\n\t\tm[fmt.Sprint(p.p, p.n)] = true // A\n\t}\n\treturn m\n}\n", false},
		{"one of two maps is returned", strings.Replace(plain, "s.seen[k] = true", "s.seen[k] = true\n\ts.other[k] = true", 1) + "func (s *set) all() map[string]bool { return s.other }\n", false},
	} {
		text := "package main\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n\t\"time\"\n)\n\n" + c.source
		code := sourceOf(text)
		uses, call := keyOnly(code, stack.Frame{Func: "main.f", File: "a.go", Line: lineOfMark(text, "A")}, "fmt.Sprint"+map[bool]string{true: "f"}[strings.Contains(text, "fmt.Sprintf(")])
		if len(uses) == 0 {
			t.Errorf("%s: no key", c.name)
		} else if got := keyOfValues(code, "a.go", call, uses); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestAL11Keys: the map that is named is the one of the finding's first line.
func TestAL11Keys(t *testing.T) {
	const source = "package main\n\nimport \"fmt\"\n\ntype port struct {\n\tproto string\n\tn int\n\tprice float64\n}\n\nvar byPort, byPrice = map[string]int{}, map[string]int{}\n\nfunc add(p port) {\n\tbyPort[fmt.Sprintf(\"%s-%d\", p.proto, p.n)]++ // A\n\tbyPrice[fmt.Sprintf(\"%.2f\", p.price)]++ // B\n}\n"
	for _, c := range []struct {
		name, says string
		a, b       int64
	}{
		{"the key is first", "a key of the map byPort and for nothing else", 60, 20},
		{"the key is second", "strconv", 38, 42},
		{"the key is a small part", "strconv", 20, 60},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "main.main main.add@A fmt.Sprintf"), []int64{c.a}}, column{stackAt(source, "main.main main.add@B fmt.Sprintf"), []int64{c.b}}, column{"main.main main.other:/src/other.go:3", []int64{20}})
		f := expect(t, c.name, r, "AL11", Found, "")
		if !strings.Contains(f.Advice, c.says) || strings.Contains(f.Advice, "byPort") && !strings.Contains(f.Evidence[0].Source, "byPort") {
			t.Errorf("%s: %s (%q)", c.name, f.Advice, f.Evidence[0].Source)
		}
	}
}
