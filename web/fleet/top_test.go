package fleet_test

import (
	"strings"
	"testing"

	"loupe/format/querier"
	"loupe/value/protobuf"
)

// TestTop asks for functions: those with most of their own first, as many as are wanted, of the
// series that are selected.
func TestTop(t *testing.T) {
	t.Parallel()
	url := serve(t)
	ingest(t, url, "shop", cpu(noon, 3, 5))
	ingest(t, url, "mail", cpu(noon, 2, 0))
	const path = "/loupe.v1.FunctionService/Top"
	top := func(more string) (got querier.TopResponse) {
		t.Helper()
		answer := send(t, url+path, "application/json", []byte(asked(more)))
		text, ok := strings.CutPrefix(answer, "200 ")
		if !ok {
			t.Fatal(answer)
		}
		if err := protobuf.UnmarshalJSON([]byte(text), &got, 1<<20); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return got
	}
	const ms = 1e7
	f := func(got querier.TopResponse, total, others int64, want ...querier.Function) {
		t.Helper()
		if got.Total != total || got.Others != others || got.Slack != 0 || len(got.Functions) != len(want) {
			t.Fatalf("got %+v", got)
		}
		for i, one := range want {
			if one.File = "main.go"; got.Functions[i] != one {
				t.Errorf("got %+v, want %+v", got.Functions[i], one)
			}
		}
	}
	a, b, main := querier.Function{Name: "main.a", Self: 5 * ms, Total: 5 * ms}, querier.Function{Name: "main.b", Self: 5 * ms, Total: 5 * ms}, querier.Function{Name: "main.main", Total: 10 * ms}
	f(top(`,"labelSelector":"{}"`), 10*ms, 0, a, b, main)
	f(top(`,"labelSelector":"{}","limit":1`), 10*ms, 2, a)
	a.Self, a.Total, main.Total = 2*ms, 2*ms, 2*ms
	f(top(`,"labelSelector":"{service_name=\"mail\"}"`), 2*ms, 0, a, main)
	f(top(`,"labelSelector":"{service_name=\"nobody\"}"`), 0, 0)
	for _, wrong := range []string{`,"limit":-1`, `,"limit":100001`, `,"labelSelector":"{x"`} {
		if got := send(t, url+path, "application/json", []byte(asked(wrong))); !strings.HasPrefix(got, "400") {
			t.Errorf("%s: %s", wrong, got)
		}
	}
	if got := send(t, url+"/loupe.v1.FunctionService/Bottom", "application/json", []byte(`{}`)); !strings.HasPrefix(got, "501") {
		t.Error(got)
	}
}
