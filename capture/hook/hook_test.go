package hook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestCall: both are told, and what goes wrong with one keeps the other from nothing and
// names no secret of the address.
func TestCall(t *testing.T) {
	var got map[string]any
	status := http.StatusOK
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = nil
		json.NewDecoder(r.Body).Decode(&got)
		w.WriteHeader(status)
	}))
	defer s.Close()
	var out bytes.Buffer
	line := `echo "$LOUPE_ALERT, $LOUPE_WHY, $LOUPE_PID, $LOUPE_RECORDING, $LOUPE_TARGET, $LOUPE_SERVICE"; exit 3`
	if os.PathSeparator == '\\' {
		line = `echo %LOUPE_ALERT%, %LOUPE_WHY%, %LOUPE_PID%, %LOUPE_RECORDING%, %LOUPE_TARGET%, %LOUPE_SERVICE%& exit 3`
	}
	h := Hooks{Exec: line, Webhook: s.URL + "/secret", Out: &out}
	ev := Event{Alert: "ended", Why: "it is gone", PID: 7, Recording: "dir", Target: "host:1", Service: "shop", Text: "all of it"}
	err := h.Call(t.Context(), ev)
	if err == nil || !strings.Contains(err.Error(), "-exec: exit status 3") || strings.Contains(err.Error(), "webhook") {
		t.Errorf("%v", err)
	}
	if said := strings.TrimSpace(out.String()); said != "ended, it is gone, 7, dir, host:1, shop" {
		t.Errorf("the command was told %q", said)
	}
	for name, want := range map[string]any{"schema": Schema, "kind": "alert", "alert": "ended", "why": "it is gone", "pid": 7.0, "target": "host:1", "service": "shop", "recording": "dir", "text": "all of it"} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if got["at"] == "" {
		t.Error("no time")
	}
	status = http.StatusForbidden
	h.Exec = ""
	if err := h.Call(t.Context(), ev); err == nil || !strings.Contains(err.Error(), "answered 403") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	s.Close()
	if err := h.Call(t.Context(), ev); err == nil || !strings.Contains(err.Error(), "cannot post to 127.0.0.1") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
