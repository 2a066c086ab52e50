package insight

import (
	"strings"
	"testing"
)

// TestCP23: a line that calls a function which does much is told with what does less; what may be the purpose of the
// program is a remark up to half of the CPU time, and what a logging library or a failing attempt does is none.
func TestCP23(t *testing.T) {
	at := func(callee, share, rest string) string {
		return "main.main main.main\nshop/search.find:/src/rss.go:5 main.work\n" + strings.ReplaceAll(callee, " ", " .\n") + " .\n= " + share + " " + rest
	}
	for _, c := range []struct {
		name, callee, share, rest string
		state                     State
		severity                  Severity
		title, advice             string
	}{
		{"values of a context", "context.(*valueCtx).Value context.value", "80", "120", Found, Warning, "a value of a context", "Look the value up once"},
		{"the call stack", "runtime.Callers runtime.callers", "80", "120", Found, Warning, "Walking the call stack", "capture the stack only where it will be shown"},
		{"matching is the purpose", "regexp.(*Regexp).MatchString regexp.(*Regexp).doExecute", "80", "120", Found, Info, "Matching regular expressions", "package strings"},
		{"matching is most of it", "regexp.(*Regexp).MatchString regexp.(*Regexp).doExecute", "160", "40", Found, Warning, "Matching regular expressions", "package strings"},
		{"through gzip, which may be the purpose", "compress/gzip.(*Writer).Write compress/flate.(*Writer).Write compress/flate.(*compressor).write", "160", "40", Found, Info, "Compressing", "BestSpeed"},
		{"a logger", "log/slog.(*Logger).Info log/slog.(*Logger).log runtime.Callers", "80", "120", Fine, "", "", ""},
		{"a handshake", "crypto/tls.(*Conn).HandshakeContext crypto/rsa.SignPSS", "160", "40", Fine, "", "", ""},
		{"it fails", "time.Parse time.parse time.newParseError", "160", "40", Fine, "", "", ""},
		{"little", "context.(*valueCtx).Value", "10", "190", Fine, "", "", ""},
	} {
		picture := at(c.callee, c.share, c.rest)
		f := answers(t, computing(picture), "CP23")[0]
		if f.State != c.state || c.state == Found && f.Severity != c.severity || !strings.Contains(f.Title, c.title) || !strings.Contains(f.Advice, c.advice) {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
	}
}
