package remote

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loupe/capture/collect"
	"loupe/format/connect"
	"loupe/format/push"
	"loupe/format/querier"
)

// answering is a server that answers each call with a message, or an error.
func answering(t *testing.T, answers map[string]any) *Server {
	t.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch a := answers[strings.TrimPrefix(r.URL.Path, "/sub"+querier.Service)].(type) {
		case *connect.Error:
			w.WriteHeader(a.Status())
			w.Write(a.Body())
		case string:
			w.WriteHeader(http.StatusBadGateway)
			w.Write([]byte(a))
		case nil:
			http.NotFound(w, r)
		default:
			w.Write(connect.Marshal(connect.Proto, a))
		}
	}))
	t.Cleanup(web.Close)
	s, err := New(web.URL+"/sub/?x=y", collect.Access{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var hour = Range{time.Unix(1000, 0), time.Unix(4600, 0)}

func TestResolve(t *testing.T) {
	kept := func(ids ...string) *querier.ProfileTypesResponse {
		var a querier.ProfileTypesResponse
		for _, id := range ids {
			typ, err := querier.ParseProfileType(id)
			if err != nil {
				t.Fatal(err)
			}
			a.Types = append(a.Types, typ)
		}
		return &a
	}
	s := answering(t, map[string]any{"ProfileTypes": kept(
		"process_cpu:cpu:nanoseconds:cpu:nanoseconds", "process_cpu:samples:count:cpu:nanoseconds",
		"memory:alloc_space:bytes:space:bytes", "memory:inuse_space:bytes:space:bytes",
		"mutex:contentions:count:contentions:count", "mutex:delay:nanoseconds:contentions:count", "block:delay:nanoseconds:contentions:count",
		"wall:cpu:count:wall:nanoseconds",
	)})
	for name, want := range map[string]string{
		"":                  "process_cpu:cpu:nanoseconds:cpu:nanoseconds", // of two that count cpu the one by time
		"process_cpu":       "process_cpu:cpu:nanoseconds:cpu:nanoseconds",
		"inuse_space":       "memory:inuse_space:bytes:space:bytes",
		"mutex":             "mutex:delay:nanoseconds:contentions:count",
		"mutex:contentions": "mutex:contentions:count:contentions:count",
		"a:b:c:d:e":         "a:b:c:d:e", // is not looked for
		"memory":            "!stands for several types: memory:alloc_space, memory:inuse_space",
		"delay":             "!stands for several types: block:delay, mutex:delay",
		"heap":              `!no profiles of the type "heap", but of block:delay`,
	} {
		sel, err := s.Resolve(context.Background(), Question{Type: name}, time.Unix(5000, 0))
		if bad, ok := strings.CutPrefix(want, "!"); ok {
			if err == nil || !strings.Contains(err.Error(), bad) {
				t.Errorf("%q is %s, %v, want the error %s", name, sel.Type.ID, err, bad)
			}
		} else if err != nil || sel.Type.ID != want {
			t.Errorf("%q is %s, %v, want %s", name, sel.Type.ID, err, want)
		}
	}
}

func TestParseTime(t *testing.T) {
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"now": "2026-11-24T12:00:00Z", "now-90m": "2026-11-24T10:30:00Z", "2d": "2026-11-22T12:00:00Z", "now-1w": "2026-11-17T12:00:00Z",
		"2026-11-24": "2026-11-24T00:00:00Z", "2026-11-24 08:00": "2026-11-24T08:00:00Z", "2026-11-24T08:00:00+02:00": "2026-11-24T06:00:00Z",
		"1700000000": "2023-11-14T22:13:20Z", "1700000000000": "2023-11-14T22:13:20Z",
		"": "", "tomorrow": "", "now+1h": "", "-1h": "", "0d": "", "NaNd": "", "1e99d": "",
	} {
		got, err := parseTime(text, now)
		if want == "" && err == nil || want != "" && (err != nil || got.UTC().Format(time.RFC3339) != want) {
			t.Errorf("%q is %v, %v, want %s", text, got, err, want)
		}
	}
	if _, err := (&Question{From: "1h", Until: "2h"}).Range(now); err == nil {
		t.Error("a range that ends before it begins is taken")
	}
}

func TestAddresses(t *testing.T) {
	for name, want := range map[string]string{
		"pyroscope://host:4040/shop":                                  `http://host:4040 {"" "{service_name=\"shop\"}" "" ""}`,
		"pyroscopes://a:b@host?type=cpu&last=1d":                      `https://a:b@host {"cpu" "" "1d" ""}`,
		"pyroscope://:4040?query={pod=%22a%22}&from=now-2h&until=now": `http://127.0.0.1:4040 {"" "{pod=\"a\"}" "now-2h" "now"}`,
	} {
		base, q, err := ParseAddress(name)
		if got := base + " " + strings.ReplaceAll(strings.TrimPrefix(sprint(q), "remote.Question"), ", ", " "); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", name, got, err, want)
		}
		s, err := New(base, collect.Access{})
		if err != nil {
			t.Fatal(err)
		}
		if _, again, err := ParseAddress(s.Address(q)); err != nil || again != q {
			t.Errorf("%s comes back as %v, %v", s.Address(q), again, err)
		}
	}
	for _, bad := range []string{"pyroscope://host/shop?query={}", "pyroscope://host?since=1h", "pyroscope://host?type=a&type=b", "pyroscope://host?last=1h&from=2h", "pyroscope://h%zz"} {
		if _, _, err := ParseAddress(bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
	for address, want := range map[string]string{"host": "http://host:4040", ":1": "http://127.0.0.1:1", "https://u:p@host/x/": "https://xxxxx@host:443/x", "[::1]:5": "http://[::1]:5"} {
		s, err := New(address, collect.Access{})
		if err != nil || !strings.HasPrefix(strings.ReplaceAll(s.String(), "u:p@", "xxxxx@"), strings.SplitN(want, "xxxxx", 2)[0]) {
			t.Errorf("%s is %v, %v, want %s", address, s, err, want)
		}
	}
	for _, bad := range []string{"ftp://host", "http://h%zz"} {
		if _, err := New(bad, collect.Access{}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func sprint(q Question) string {
	return "{" + quote(q.Type) + " " + quote(q.Labels) + " " + quote(q.From) + " " + quote(q.Until) + "}"
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// What a server says that refuses is told, whatever it speaks.
func TestRefusals(t *testing.T) {
	s := answering(t, map[string]any{
		"LabelNames":         connect.Errorf(connect.InvalidArgument, "no such label"),
		"LabelValues":        "<html>\x1b[31mbad gateway",
		"SelectSeries":       &querier.Names{Names: []string{"not a series"}},
		"SelectMergeProfile": &querier.Names{},
	})
	ctx := context.Background()
	if _, err := s.LabelNames(ctx, "", hour); err == nil || !strings.Contains(err.Error(), "refuses: no such label") {
		t.Error(err)
	}
	if _, err := s.LabelValues(ctx, "a", "{}", hour); err == nil || strings.Contains(err.Error(), "\x1b") || !strings.Contains(err.Error(), "502") {
		t.Error(err)
	}
	if _, err := s.Types(ctx, hour); err == nil || !strings.Contains(err.Error(), "404") {
		t.Error(err)
	}
	if _, err := s.Series(ctx, Selection{Range: hour}, nil, time.Minute); err == nil {
		t.Error("the answer to another question is taken")
	}
	if _, err := s.Profile(ctx, Selection{Range: hour}); !errors.Is(err, ErrNothing) {
		t.Error(err)
	}
	if err := s.Push(ctx, push.Item{Labels: []push.Label{{Name: "a", Value: "b"}}}); err == nil {
		t.Error("a server that has no such call has accepted a profile")
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	s, _ = New(gone.URL, collect.Access{})
	if _, err := s.Types(ctx, hour); !errors.Is(err, ErrNothing) || strings.Count(err.Error(), gone.Listener.Addr().String()) > 2 {
		t.Error(err)
	}
}

// TestTop asks for functions: a server without the call is told from one that refuses, and from
// one that has nothing.
func TestTop(t *testing.T) {
	const path = "/sub" + querier.FunctionService + "Top"
	top := func(answer any) (*querier.TopResponse, error) {
		return answering(t, map[string]any{path: answer}).Top(t.Context(), Selection{Range: hour}, 5)
	}
	if _, err := top(nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a Pyroscope: %v", err)
	}
	if _, err := top(connect.Errorf(connect.Unimplemented, "no such call")); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an older loupe serve: %v", err)
	}
	if _, err := top(connect.Errorf(connect.Unavailable, "busy")); err == nil || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a busy server: %v", err)
	}
	if _, err := top(&querier.TopResponse{}); !errors.Is(err, ErrNothing) {
		t.Errorf("an empty store: %v", err)
	}
	got, err := top(&querier.TopResponse{Functions: []querier.Function{{Name: "main.main", Total: 7}}, Total: 7, Others: 2})
	if err != nil || got.Total != 7 || got.Others != 2 || len(got.Functions) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}
