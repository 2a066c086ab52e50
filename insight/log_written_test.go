package insight

import (
	"strings"
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestLogFates: a level is off only where writing would show below the call; a logger that keeps, sends or hands on what it is given, or
// that the source does not settle, leaves that open.
func TestLogFates(t *testing.T) {
	const (
		head  = "package main\n\nimport (\n\"container/list\"\n\"context\"\n\"encoding/json\"\n\"fmt\"\n\"io\"\n\"log/slog\"\n\"sync\"\n\"example.org/other/fastlog\"\n)\n\n"
		check = "if l.level > 0 {\nreturn\n}\n"
		own   = "type logger struct {\nlevel int\nmu sync.Mutex\nw io.Writer\nring []any\nbyName map[string]any\nch chan any\nold *list.List\nout func(string, ...any)\nto sink\nparent *logger\n}\ntype sink interface{ take(string, []any) }\n"
		f     = "func f(l *logger, s any) {\ntext, _ := json.Marshal(s) // A\nl.Debugf(\"state %s\", text)\n}\n"
		debug = own + f + "func (l *logger) Debugf(format string, args ...any) {\n" + check
		slogs = "func f(l *slog.Logger, s any) {\ntext, _ := json.Marshal(s) // A\nl.Debug(\"state\", \"text\", text)\n}\n"
	)
	for _, c := range []struct{ name, source, want string }{
		{"writes", debug + "fmt.Fprintf(l.w, format, args...)\n}\n", "warning"},
		{"formats, then writes", debug + "s := fmt.Sprintf(format, args...)\nl.mu.Lock()\ndefer l.mu.Unlock()\nio.WriteString(l.w, s)\n}\n", "warning"},
		{"writes in another method", debug + "l.put(format, args)\n}\nfunc (l *logger) put(format string, a []any) { fmt.Fprintf(l.w, format, a...) }\n", "warning"},
		{"does nothing", own + f + "func (l *logger) Debugf(string, ...any) {}\n", "warning"},
		{"counts", debug + "l.level -= len(args)\n}\n", "warning"},
		{"of slog", slogs, "warning"},
		{"of slog, and a handler that adds to a record", slogs + "type tagged struct{ slog.Handler }\nfunc (h tagged) Handle(ctx context.Context, r slog.Record) error { r.AddAttrs(slog.Int(\"n\", 1)); return h.Handler.Handle(ctx, r) }\n", "warning"},
		{"kept behind a switch that is off", debug + "const keep = false\nif keep {\nl.ring = append(l.ring, args)\n}\nfmt.Fprintf(l.w, format, args...)\n}\n", "warning"},

		{"kept in another method", debug + "l.put(args)\n}\nfunc (l *logger) put(a []any) { l.ring[3] = a }\n", "info"},
		{"kept in a struct", debug + "e := struct{ a []any }{args}\nl.ring = append(l.ring, e)\n}\n", "info"},
		{"kept by name", debug + "l.byName[format] = args[0]\n}\n", "info"},
		{"formatted, and kept", debug + "s := fmt.Sprintf(format, args...)\nl.ring = append(l.ring, s)\n}\n", "info"},
		{"written to a buffer that is kept", debug + "b := new(strings.Builder)\nfmt.Fprintf(b, format, args...)\nb.WriteString(fmt.Sprint(args...))\nl.ring = append(l.ring, b)\n}\n", "info"},
		{"sent", debug + "select {\ncase l.ch <- args:\ndefault:\n}\n}\n", "info"},
		{"a goroutine for each", debug + "go func() { fmt.Fprintf(l.w, format, args...) }()\n}\n", "info"},
		{"a list of the library", debug + "l.old.PushBack(args)\n}\n", "info"},
		{"a function that somebody sets", debug + "l.out(format, args...)\n}\n", "info"},
		{"an interface that nobody here has", debug + "l.to.take(format, args)\n}\n", "info"},
		{"an interface, one of which keeps", strings.Replace(debug, "func f(l *logger", "type debugger interface{ Debugf(string, ...any) }\nfunc f(l debugger", 1) + "fmt.Fprintf(l.w, format, args...)\n}\ntype ring struct{ last any }\nfunc (r *ring) Debugf(f string, a ...any) { r.last = a }\n", "info"},
		{"another module", strings.ReplaceAll(strings.ReplaceAll(slogs, "*slog.Logger", "*fastlog.Logger"), "Debug", "Debugf"), "info"},
		{"of slog, and a handler that keeps", slogs + "type kept struct{ all []slog.Record }\nfunc (h *kept) Handle(ctx context.Context, r slog.Record) error { h.all = append(h.all, r); return nil }\n", "info"},
		{"of slog, and a handler of another module", slogs + "func g() *slog.Logger { return slog.New(fastlog.Handler(3)) }\n", "info"},
	} {
		source := head + c.source
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		if c.name == "another module" {
			source = strings.Replace(source, "\"log/slog\"\n", "", 1)
		}
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "runtime.main main.main:/src/none.go:1 main.f@A encoding/json.Marshal encoding/json.encode"), []int64{80}}, column{"main.main:/src/main.go:900 main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP13")[0]
		if got := string(f.Severity); f.State != Found || got != c.want || strings.Contains(f.Title, "level is off") != (c.want == "warning") {
			t.Errorf("%s: %q, want %q: %s: %s", c.name, got, c.want, f.Title, f.Summary)
		}
	}
}

// TestChangedLater: to give a logger the value itself is no advice where the function changes the value after its text is made.
func TestChangedLater(t *testing.T) {
	const head = "package main\n\nimport (\n\"encoding/json\"\n\"fmt\"\n\"log/slog\"\n)\n\ntype order struct{ n int; lines []int }\nfunc price(o *order) int { o.lines[0]++; return o.n }\nfunc size(o *order) int { return len(o.lines) }\nfunc (o *order) close() { o.n = 0 }\n\nfunc f(l *slog.Logger, o *order) {\ntext, _ := json.Marshal(o) // A\nl.Debug(\"order\", \"text\", text)\n"
	for _, c := range []struct {
		name, after string
		changed     bool
	}{
		{"nothing", "", false},
		{"read", "fmt.Println(size(o), o.n)", false},
		{"a field", "o.n++", true},
		{"an element", "o.lines[1] = 3", true},
		{"by a function", "price(o)", true},
		{"by a method", "o.close()", true},
		{"by the library", "json.Unmarshal(nil, o)", true},
		{"another one", "p := new(order)\np.n++\nprice(p)", false},
	} {
		source := head + c.after + "\n}\n"
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "/src/main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{stackAt(source, "runtime.main main.main:/src/none.go:1 main.f@A encoding/json.Marshal encoding/json.encode"), []int64{80}}, column{"main.main:/src/main.go:900 main.other:/src/other.go:3", []int64{20}})
		f := answers(t, r, "CP13")[0]
		if strings.Contains(f.Advice, "the value itself") == c.changed || !strings.Contains(f.Advice, "Ask first") {
			t.Errorf("%s: %s", c.name, f.Advice)
		}
	}
}
