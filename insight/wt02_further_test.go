package insight

import (
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/recording"
)

// TestWT02Further: a second line with the same fault is named with its loop; not one that does something else, is asked until its answer suits, or takes little.
func TestWT02Further(t *testing.T) {
	const source = "package main\n\nfunc main() {\n\tfor _, m := range messages() {\n\t\tswitch m.kind {\n\t\tcase 1:\n\t\t\tadd(m)\n\t\tcase 2:\n\t\t\tupdate(m)\n\t\t}\n\t}\n\tfor _, m := range late() {\n\t\tadd(m)\n\t}\n\tfor {\n\t\tif poll() {\n\t\t\tbreak\n\t\t}\n\t}\n}\n"
	const sync = "syscall.Fdatasync@z.go:1;os.(*File).Sync@file.go:1;"
	update, add, addLate := sync+"main.update@b.go:5;main.main@a.go:9", sync+"main.add@b.go:9;main.main@a.go:7", sync+"main.add@b.go:9;main.main@a.go:13"
	for name, c := range map[string]struct {
		other string
		each  time.Duration
		says  string
	}{
		"at another line of the loop": {add, time.Millisecond, "; the loop does so at another line, too: 60 times in main.add at b.go:9, called in main.main at a.go:7, "},
		"in another loop":             {addLate, time.Millisecond, "; another loop does so, too: 60 times in main.add at b.go:9, called in main.main at a.go:13, "},
		"little time":                 {addLate, 10 * time.Microsecond, ""},
		"asked until it is there":     {sync + "main.poll@b.go:20;main.main@a.go:16", time.Millisecond, ""},
		"files that are read":         {"syscall.read@z.go:1;os.(*File).Read@file.go:1;main.add@b.go:9;main.main@a.go:7", time.Millisecond, ""},
	} {
		r := mainOf(t, func(p *accounttest.Program) {
			for range 60 {
				p.Pass(time.Microsecond)
				p.Call(2*time.Millisecond, update)
				p.Pass(time.Microsecond)
				p.Call(c.each, c.other)
			}
		})
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte(source))
		f := answers(t, r, "WT02")[0]
		if says := strings.Contains(f.Summary, " does so"); f.State != Found || says != (c.says != "") || !strings.Contains(f.Summary, c.says) || !strings.Contains(f.Summary, "a.go:9") {
			t.Errorf("%s: %s: %s", name, f.State, f.Summary)
		}
	}
}
