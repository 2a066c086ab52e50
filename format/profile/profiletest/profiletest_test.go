package profiletest

import (
	"reflect"
	"testing"
)

func TestParse(t *testing.T) {
	got := parse(`
		main.main  main.main   main.main
		main.parse             main.write
		main.alloc
		= 10 20 -30
		@ a=b - n=5`, 2)
	want := []sample{
		{[]string{"main.main", "main.parse", "main.alloc"}, []int64{10, 1}, []string{"a=b"}},
		{[]string{"main.main"}, []int64{20, 1}, nil},
		{[]string{"main.main", "main.write"}, []int64{-30, 1}, []string{"n=5"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("parse = %v, want %v", got, want)
	}
}

func TestFrame(t *testing.T) {
	f := func(cell, name, file string, line int) {
		t.Helper()
		if n, f, l := frame(cell); n != name || f != file || l != line {
			t.Errorf("frame(%q) = %q, %q, %d, want %q, %q, %d", cell, n, f, l, name, file, line)
		}
	}
	f("main.parse", "main.parse", "main/parse.go", 1)
	f("a/b.(*T).M:12~", "a/b.(*T).M", "a/b/M.go", 12)
	f("main.f:x/y.go:7", "main.f", "x/y.go", 7)
}

func TestPanics(t *testing.T) {
	f := func(picture string) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("Profile(%q) did not panic", picture)
			}
		}()
		Profile(picture)
	}
	f("main main\n= 1")
	f("main\n= x")
	f("main\n= 1\n= 2")
	f("   main\nf")
	f("main:x")
}
