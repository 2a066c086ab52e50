package benchmark

import (
	"strings"
	"testing"
)

func TestFigures(t *testing.T) {
	const text = `goos: linux
pkg: example.com/a
commit: 0123456789abcdef
Unit widgets/op better=higher
BenchmarkX-2 	 10	 100 ns/op	 3 widgets/op	 16 B/op
BenchmarkX-2 	 10	 110 ns/op	 4 widgets/op	 16 B/op
what a test prints
BenchmarkBroken 10 ten ns/op
pkg: example.com/b
BenchmarkX-2 	 10	 7 MB/s
`
	all, problems, failed := Figures(File{Name: "f", Data: []byte(text)})
	if failed != "" || len(problems) != 1 || !strings.Contains(problems[0], "line 8") {
		t.Errorf("problems %q, failed %q", problems, failed)
	}
	if len(all) != 4 {
		t.Fatalf("%d figures", len(all))
	}
	x := all[0]
	if x.Name != "BenchmarkX-2" || x.Unit != "ns/op" || x.Better != -1 || len(x.Values) != 2 || x.Values[1] != 110 || x.Config["pkg"] != "example.com/a" || x.Config[CommitKey] != "0123456789abcdef" {
		t.Errorf("%+v", x)
	}
	if w := all[1]; w.Unit != "widgets/op" || w.Better != 1 {
		t.Errorf("%+v", w)
	}
	if m := all[3]; m.Unit != "MB/s" || m.Values[0] != 7 || m.Better != 1 || m.Config["pkg"] != "example.com/b" {
		t.Errorf("%+v", m)
	}
	// As go test -json has it, and of a program that failed.
	const events = `{"Action":"output","Package":"m","Output":"BenchmarkY \t 5\t 2 ns/op\n"}
{"Action":"output","Package":"m","Output":"FAIL\n"}
`
	all, _, failed = Figures(File{Name: "g", Data: []byte(events)})
	if len(all) != 1 || all[0].Name != "BenchmarkY" || failed != "FAIL" {
		t.Errorf("%+v, failed %q", all, failed)
	}
}

func FuzzFigures(f *testing.F) {
	f.Add([]byte("goos: linux\nBenchmarkX-2 \t 10\t 100 ns/op\t 16 B/op\nUnit ns/op better=higher\n"))
	f.Add([]byte("commit: 1\nBenchmark \t1\t NaN ns/op\ncommit:\nBenchmarkX 1 1 1"))
	f.Add([]byte(`{"Action":"output","Package":"m","Output":"BenchmarkY \t 5\t 2 ns/op\n"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, _, _ := Figures(File{Name: "f", Data: data})
		for _, one := range all {
			if len(one.Values) == 0 || one.Unit == "" || one.Config == nil || !strings.HasPrefix(one.Name, "Benchmark") {
				t.Errorf("%+v", one)
			}
		}
	})
}
