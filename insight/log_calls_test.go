package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestLogsAround: what line 4 calls is made for a log call of which the level may be off, unless
// the source asks for that first or hands over a function.
func TestLogsAround(t *testing.T) {
	for _, c := range []struct {
		source, callee, want string
	}{
		{`s.log.Debug("state", "all", s.JSONString())`, "example.com/s.(*State).JSONString", "s.log.Debug"},
		{`slog.DebugContext(ctx, fmt.Sprintf("state %v", s))`, "fmt.Sprintf", "slog.DebugContext"},
		{`log.Debug("state", zap.String("all", spew.Sdump(s)))`, "github.com/davecgh/go-spew/spew.Sdump", "log.Debug"},
		{`sugar.Debugw("state", "all", string(b))`, "runtime.slicebytetostring", "sugar.Debugw"},
		{`logger.Debugf("state %s", prototext.Format(m))`, "google.golang.org/protobuf/encoding/prototext.Format", "logger.Debugf"},
		{`logrus.WithField("all", dump(s)).Debug("state")`, "main.dump", `logrus.WithField("all", dump(s)).Debug`},
		{`log.Debug().Str("all", dump(s)).Msg("state")`, "main.dump", `log.Debug().Str`},
		{`klog.V(6).Infof("state %s", dump(s))`, "main.dump", "klog.V(6).Infof"},
		{`l.log.V(1).Info("state", "all", dump(s))`, "main.dump", "l.log.V(1).Info"},
		{`logger.Trace("state " + dump(s))`, "main.dump", "logger.Trace"},
		{`logger.Trace("state " + name + at)`, "runtime.concatstring3", "logger.Trace"},
		{`slog.LogAttrs(ctx, slog.LevelDebug, "state", slog.String("all", dump(s)))`, "main.dump", "slog.LogAttrs"},
		{`s.debugf("state %s", dump(s))`, "main.dump", "s.debugf"},
		{`debugLog("state %s", dump(s))`, "main.dump", "debugLog"},
		{`if verbose == 0 { s.log.Debug("state", "all", dump(s)) }`, "main.dump", ""},
		{`if s.log.Enabled(ctx, slog.LevelDebug) { s.log.Debug("state", "all", dump(s)) }`, "main.dump", ""},
		{`if v := klog.V(6); v.Enabled() { v.Infof("state %s", dump(s)) }`, "main.dump", ""},
		{`if ce := log.Check(zap.DebugLevel, "x"); ce != nil { ce.Write(zap.String("all", dump(s))) }`, "main.dump", ""},
		{`log.Debug("state", zap.Inline(zapcore.ObjectMarshalerFunc(func(e zapcore.ObjectEncoder) error { return add(e, dump(s)) })))`, "main.dump", ""},
		{`log.Info("state", "all", dump(s))`, "main.dump", ""},
		{`loggerOf(ctx).Debug("state")`, "main.loggerOf", ""},
		{`db.Debug().Where(dump(s)).Find(&all)`, "main.dump", ""},
		{`tracer.Trace(dump(s))`, "main.dump", ""},
		{`s.log.Debug("state", "n", len(s))`, "main.dump", ""},
		{`x := dump(s); s.send(x)`, "main.dump", ""},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f(s *state) {\n\t"+c.source+"\n}\n"))
		got, ok := logsAround(NewInput(session.New(r.Open())).code, stack.Frame{Func: "main.f", File: "a.go", Line: 4}, c.callee)
		if !ok {
			got.text = ""
		}
		if got.text != c.want {
			t.Errorf("%s: %q, want %q", c.source, got.text, c.want)
		}
	}
	r := recordingtest.New("title x")
	r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\nfunc f(s *state) {\n\tif !debugging {\n\t\treturn\n\t}\n\tlog.Debug(dump(s))\n}\n"))
	if _, ok := logsAround(NewInput(session.New(r.Open())).code, stack.Frame{Func: "main.f", File: "a.go", Line: 7}, "main.dump"); ok {
		t.Error("an if before it that returns: found")
	}
}

// logging is a recording of a program that makes a text for a log call in line 7 and, with
// written, has it written.
func logging(source string, written int64) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n")
	r.Put(recording.Entry{Path: "source/state.go", Kind: recording.Source, Source: "/src/state.go"}, []byte(source))
	columns := []column{
		{"main.main shop/state.publish:/src/state.go:7 shop/state.(*State).JSONString:/src/ir.go:9 encoding/json.MarshalIndent encoding/json.appendIndent", []int64{600}},
		{"main.main shop/state.publish:/src/state.go:7 shop/state.(*State).JSONString:/src/ir.go:9 encoding/json.MarshalIndent encoding/json.Marshal reflect.Value.Field", []int64{100}},
		{"main.main shop/state.publish:/src/state.go:7 log/slog.(*Logger).Debug log/slog.(*Logger).Enabled", []int64{3}},
		{"main.main shop/state.read:/src/state.go:20", []int64{300}},
	}
	if written > 0 {
		columns = append(columns, column{"main.main shop/state.publish:/src/state.go:7 log/slog.(*Logger).Debug log/slog.(*JSONHandler).Handle", []int64{written}})
	}
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture(columns...)))
}

const publishes = "package state\n\nimport \"log/slog\"\n\nfunc publish(s *State) {\n\ts.n++\n\t%s\n}\n"

// TestLogArguments: what is made for a debug call that writes nothing is the cause, and that it is
// JSON a symptom; with a guard nothing of it is said.
func TestLogArguments(t *testing.T) {
	bare := fmt.Sprintf(publishes, "s.log.Debug(\"state\", \"all\", s.JSONString())")
	f := expect(t, "off", logging(bare, 0), "CP13", Found, "69.8% of the CPU time went into making arguments for s.log.Debug: state.go:7 in state.publish, calling state.(*State).JSONString", "its level is off")
	severity(t, "off", f, Warning)
	if !strings.Contains(f.Advice, "log.Enabled(ctx, slog.LevelDebug)") || !strings.Contains(f.Advice, "slog.LogValuer") || f.Evidence[0].Line != 7 || !shows(&f, "/src/ir.go:9") {
		t.Errorf("off: %s %+v", f.Advice, f.Evidence)
	}
	in := NewInput(session.New(logging(bare, 0).Open()))
	all := Run(in)
	cards := Cards(in, all)
	if got := all[cards[0].Finding].Rule; got != "CP13" {
		t.Errorf("the first card is %s", got)
	}
	for _, c := range cards[1:] {
		if all[c.Finding].Rule == "CP03" {
			t.Error("CP03 has a card of its own")
		}
	}
	f = expect(t, "on", logging(bare, 200), "CP13", Found, "the call passes them on to be written")
	if strings.Contains(f.Summary, "off") {
		t.Errorf("on: %s", f.Summary)
	}
	f = expect(t, "kept", logging(bare+"type State struct { log *ring }\ntype ring struct { last []string }\nfunc (r *ring) Debug(text string, a ...any) {\n\tr.last = append(r.last, text)\n}\n", 0), "CP13", Found, "it keeps or sends what it is given (state.go:12), whatever the level")
	severity(t, "kept", f, Info)
	if strings.Contains(f.Title+f.Summary, "off") || strings.Contains(f.Advice, "Ask first") {
		t.Errorf("kept: %s %s", f.Summary, f.Advice)
	}
	// A chain of calls writes in its last one.
	r := logging(fmt.Sprintf(publishes, "s.log.Debug().Str(\"all\", s.JSONString()).\n\t\tMsg(\"state\")"), 0)
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture(
		column{"main.main shop/state.publish:/src/state.go:7 shop/state.(*State).JSONString:/src/ir.go:9 encoding/json.MarshalIndent encoding/json.appendIndent", []int64{600}},
		column{"main.main shop/state.publish:/src/state.go:8 github.com/rs/zerolog.(*Event).Msg github.com/rs/zerolog.LevelWriterAdapter.WriteLevel os.(*File).Write", []int64{50}})))
	expect(t, "a chain", r, "CP13", Found, "the call passes them on to be written")
	expect(t, "asked first", logging(fmt.Sprintf(publishes, "if s.log.Enabled(ctx, slog.LevelDebug) { s.log.Debug(\"state\", \"all\", s.JSONString()) }"), 0), "CP13", Fine)
}

// TestLoggersOfOwn: a function of the program's own that takes no text is no logger, and one that
// keeps what it is given has no level that is off; a logger of a library is not taken for either
// because of its name.
func TestLoggersOfOwn(t *testing.T) {
	const types = "package main\n\nimport \"log/slog\"\n\ntype ring struct { last [10]string; n int }\nfunc (r *ring) Debug(s string) {\n\tr.last[r.n%10] = s\n}\n" +
		"type peer struct { w io.Writer }\nfunc (p *peer) Debug(frame []byte) {\n\tp.w.Write(frame)\n}\n" +
		"type logger struct { on bool; out chan string }\nfunc (l *logger) Debug(s string) {\n\tif l.debugEnabled {\n\t\tl.out <- s\n\t}\n}\n"
	for _, c := range []struct {
		declares, call string
		logs, keeps    bool
	}{
		{"r := &ring{}", "r.Debug(dump(s))", true, true},
		{"var r ring", "r.Debug(dump(s))", true, true},
		{"p := &peer{w}", "p.Debug([]byte(dump(s)))", false, false},
		{"l := &logger{}", "l.Debug(dump(s))", true, false},
		{"l := slog.New(h)", "l.Debug(dump(s))", true, false},
		{"", "slog.Debug(dump(s))", true, false},
	} {
		text := types + "func f(s *state) {\n\t" + c.declares + "\n\t" + c.call + " // 1\n}\n"
		code := sourceOf(text)
		at := marked(text, "main.f")[0]
		got, ok := logsAround(code, at, "main.dump")
		if ok != c.logs {
			t.Errorf("%s: logs %v", c.declares, ok)
			continue
		}
		if ok {
			if _, keeps := keepsGiven(code, methodsOf(code, code.function(at), got.fun)); keeps != c.keeps {
				t.Errorf("%s: keeps %v", c.declares, keeps)
			}
		}
	}
}
