package insight

import (
	"strings"
	"testing"

	"loupe/analysis/sched"
)

// TestLeakCalledFrom: of goroutines that never finish, the line is told that calls the function which starts most of them.
func TestLeakCalledFrom(t *testing.T) {
	s := newScene(t)
	trailer := s.stack("shop/frame.NewReader:/src/frame/reader.go:44", "shop/object.readTrailer:/src/object/object.go:67", "main.main:/src/main.go:9")
	again := s.stack("shop/frame.NewReader:/src/frame/reader.go:44", "shop/object.readTrailer:/src/object/object.go:67", "main.retry:/src/main.go:12")
	scan := s.stack("shop/frame.NewReader:/src/frame/reader.go:44", "shop/object.Scan:/src/object/object.go:80", "main.main:/src/main.go:9")
	alone := s.stack("main.main:/src/main.go:3")
	tr := s.input().trace()
	for _, x := range []struct {
		name   string
		makers []sched.Maker
		want   string // empty where nothing is told
	}{
		{"one caller", []sched.Maker{{Creator: trailer, Count: 60}}, "frame.NewReader at reader.go:44 starts them, called from object.readTrailer at object.go:67 for all of them"},
		{"by several ways", []sched.Maker{{Creator: trailer, Count: 40}, {Creator: again, Count: 20}}, "at object.go:67 for all of them"},
		{"most of them", []sched.Maker{{Creator: scan, Count: 10}, {Creator: trailer, Count: 50}}, "at object.go:67 for 50 of them"},
		{"no caller has most", []sched.Maker{{Creator: scan, Count: 30}, {Creator: trailer, Count: 30}}, ""},
		{"started in main", []sched.Maker{{Creator: alone, Count: 60}}, ""},
		{"by what a library starts", []sched.Maker{{Origin: trailer, Count: 60}}, "at object.go:67 for all of them"},
		{"unknown", nil, ""},
	} {
		l := &sched.Left{Count: 60, Created: 60, Makers: x.makers}
		c, ok := leakCalledFrom(tr, l)
		if ok != (x.want != "") {
			t.Errorf("%s: %v %+v", x.name, ok, c)
			continue
		}
		f := Finding{Summary: "60 goroutines wait", Evidence: []Evidence{{Text: "select"}}}
		if c.tell(&f); ok && (!strings.Contains(f.Summary, x.want) || !strings.HasSuffix(f.Evidence[0].Text, "come from object.go:67")) {
			t.Errorf("%s: %s %s", x.name, f.Summary, f.Evidence[0].Text)
		}
	}
}
