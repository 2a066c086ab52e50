package session

import "testing"

func TestPlainName(t *testing.T) {
	for function, want := range map[string]string{
		"main.run":                               "run",
		"example.com/a/b.(*T).M":                 "M",
		"example.com/a/b.T.M":                    "M",
		"main.(*box[go.shape.int]).work":         "work",
		"main.Sort[go.shape.[]int,go.shape.int]": "Sort",
		"main.run.func1":                         "",
		"main.run.func1.2":                       "",
		"main.run.gowrap1":                       "",
		"main.run-range1":                        "",
		"main.T.M-fm":                            "",
		"main.init":                              "",
		"main.init.0":                            "",
		"main.init.0.func1":                      "",
		"main.glob..func1":                       "",
		"main.function":                          "function",
		"main.(*T).func1":                        "",
		"":                                       "",
	} {
		if got := plainName(function); got != want {
			t.Errorf("plainName(%q) = %q, want %q", function, got, want)
		}
	}
}

func TestDeclares(t *testing.T) {
	const text = "package p\n\nfunc a() {}\n\nfunc (t *T[K]) b() {\n}\n\nfunc (\n\tt *T[K]) c() {\n}\n"
	for _, x := range []struct {
		text string
		all  []begins
		want bool
	}{
		{text, nil, true},
		{text, []begins{{"a", 3}, {"b", 5}}, true},
		{text, []begins{{"c", 8}, {"c", 9}}, true},
		{text, []begins{{"a", 3}, {"b", 6}}, false},
		{text, []begins{{"gone", 3}}, false},
		{"//line other.go:7\n" + text, []begins{{"a", 3}}, true},
		{"package p\nfunc {", []begins{{"a", 3}}, true},
	} {
		if got := declares([]byte(x.text), x.all); got != x.want {
			t.Errorf("declares(%q, %v) = %v", x.text, x.all, got)
		}
	}
}
