package pprof

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/internal/cli/command"
)

// TestRemoteNames fetches a profile of addresses and asks the server for the
// names, as pprof does with the servers of gperftools.
func TestRemoteNames(t *testing.T) {
	asked := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/pprof/heap":
			io.WriteString(w, "heap profile: 1: 64 [2: 128] @ heap/1\n1: 64 [2: 128] @ 0x1001 0x2001\n\nMAPPED_LIBRARIES:\n1000-3000 r-xp 00000000 00:00 0 /bin/server\n")
		case "/pprof/symbol":
			body, _ := io.ReadAll(r.Body)
			asked = r.Method + " " + string(body)
			for a := range strings.SplitSeq(string(body), "+") {
				io.WriteString(w, a+"\tf_"+strings.TrimPrefix(a, "0x")+"\n")
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	var warnings strings.Builder
	s := newSession(&command.Env{Ctx: context.Background(), Stderr: &warnings}, &pprofFlags{config: pprof.Defaults()})
	fetch := func() string {
		t.Helper()
		p, remote, err := s.load(t.Context(), server.URL+"/pprof/heap")
		if err != nil || !remote {
			t.Fatal(err, remote)
		}
		return names(p)
	}
	if got, want := fetch(), "f_1000 f_2000"; got != want {
		t.Errorf("names %q, want %q (%s)\n%s", got, want, asked, warnings.String())
	}
	if !strings.HasPrefix(asked, "POST 0x1000+0x2000") && !strings.HasPrefix(asked, "POST 0x1001+0x2000") {
		t.Errorf("asked %q", asked)
	}
	s.flags.symbolize = "local"
	if got := fetch(); strings.Contains(got, "f_") {
		t.Errorf("-symbolize=local: names %q", got)
	}
}

func names(p *profile.Profile) string {
	var list []string
	for _, f := range p.Stacks.Frames(p.StackIDs[0]) {
		list = append(list, p.Stacks.Frame(f).Func)
	}
	return strings.Join(list, " ")
}

func TestProfileURL(t *testing.T) {
	f := func(source string, seconds, timeout int, want string, wait time.Duration) {
		t.Helper()
		if got, limit := profileURL(source, seconds, timeout); got != want || limit != wait {
			t.Errorf("%q is %q within %v, want %q within %v", source, got, limit, want, wait)
		}
	}
	f("localhost:6060", -1, -1, "http://localhost:6060/debug/pprof/profile", time.Minute)
	f(":6060", 10, -1, "http://localhost:6060/debug/pprof/profile?seconds=10", 15*time.Second)
	f("http://h/debug/pprof/heap", -1, 7, "http://h/debug/pprof/heap", 7*time.Second)
	f("https+insecure://h/debug/pprof/profile?seconds=20", -1, -1, "https+insecure://h/debug/pprof/profile?seconds=20", 30*time.Second)
	f("nowhere.pb.gz", -1, -1, "", 0)
	f("a/b.pb.gz", -1, -1, "", 0)
}
