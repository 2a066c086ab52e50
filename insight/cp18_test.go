package insight

import (
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestCP18Once: what main does at its start is no finding, however long it takes; in a
// loop, in a worker or below a server it is.
func TestCP18Once(t *testing.T) {
	const source = `package main

func main() {
	load() // line 4
	for range 10 {
		load() // line 6
	}
	run(load) // line 8
}

func load() {
	template.Must(template.New("x").Parse(text)) // line 12
}
`
	for _, c := range []struct {
		name, stack string
		state       State
	}{
		{"at the start", "runtime.main\nmain.main:/src/main.go:4\nmain.load:/src/main.go:12", Fine},
		{"in a loop of main's", "runtime.main\nmain.main:/src/main.go:6\nmain.load:/src/main.go:12", Found},
		{"a command line's library calls back once", "runtime.main\nmain.main:/src/main.go:8\ngithub.com/spf13/cobra.(*Command).Execute\nmain.load:/src/main.go:12", Fine},
		{"a server calls back", "net/http.(*conn).serve\nnet/http.HandlerFunc.ServeHTTP\nmain.load:/src/main.go:12", Found},
		{"a goroutine of the program's own, once", "main.load:/src/main.go:12", Fine},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n-- source/main.go source from=/src/main.go --\n" + source)
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"},
			profiletest.Profile(c.stack+"\ntext/template.(*Template).Parse\ntext/template/parse.Parse\n= 100\n"))
		expect(t, c.name, r, "CP18", c.state)
	}
}
