package fleet_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"loupe/store/intake"
	"loupe/store/storetest"
	"loupe/web/fleet"
)

// TestTokens asks for everything that a server answers with every kind of token: what may
// be read and what may be written are apart, and nothing else lets anybody in.
func TestTokens(t *testing.T) {
	reader, line1, err := fleet.NewToken("ada", []fleet.Role{fleet.Read})
	if err != nil {
		t.Fatal(err)
	}
	writer, line2, err := fleet.NewToken("ci", []fleet.Role{fleet.Write})
	if err != nil {
		t.Fatal(err)
	}
	both, line3, err := fleet.NewToken("me", []fleet.Role{fleet.Read, fleet.Write})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(line1+line2+line3, reader) || reader == writer || len(reader) < 26 {
		t.Errorf("the tokens %q and %q, the file %q", reader, writer, line1+line2+line3)
	}
	tokens, err := fleet.ParseTokens("# who may\n\n" + line1 + line2 + line3)
	if err != nil {
		t.Fatal(err)
	}
	engine := storetest.NewMemory()
	server := fleet.New(engine, intake.New(engine), fleet.Options{Tokens: func() *fleet.Tokens { return tokens }, Pages: http.NotFoundHandler()})
	status := func(method, path string, set func(r *http.Request)) int {
		r := httptest.NewRequest(method, path, strings.NewReader("a;b 1\n"))
		set(r)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		return w.Code
	}
	bearer := func(s string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+s) }
	}
	basic := func(s string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth("anybody", s) }
	}
	hash := strings.Fields(line3)[2]
	for _, c := range []struct {
		who         string
		set         func(r *http.Request)
		read, write bool
	}{
		{"nobody", func(*http.Request) {}, false, false},
		{"a reader", bearer(reader), true, false},
		{"a reader by password", basic(reader), true, false},
		{"a writer", bearer(writer), false, true},
		{"both", bearer(both), true, true},
		{"both by password", basic(both), true, true},
		{"the digest", bearer(hash), false, false},
		{"a part", bearer(both[:25]), false, false},
		{"more", bearer(both + "A"), false, false},
		{"lower case", bearer(strings.ToLower(both)), false, false},
		{"nothing", bearer(""), false, false},
		{"another scheme", func(r *http.Request) { r.Header.Set("Authorization", "Token "+both) }, false, false},
		{"the token as the name", func(r *http.Request) { r.SetBasicAuth(both, "") }, false, false},
		{"a parameter", func(r *http.Request) { r.URL.RawQuery = "token=" + both }, false, false},
	} {
		for _, path := range []string{"/", "/ui/", "/ui/api/fleet/services", "/querier.v1.QuerierService/ProfileTypes", "/querier.v1.QuerierService/SelectMergeProfile", "/loupe.v1.PinService/Pins", "/ui/api/fleet/pins", "/nothing"} {
			if got := status("POST", path, c.set) != http.StatusUnauthorized; got != c.read {
				t.Errorf("%s gets an answer from %s: %t", c.who, path, got)
			}
		}
		for _, path := range []string{"/ingest?name=x&format=folded", "/push.v1.PusherService/Push", "/v1development/profiles", "/api/profiles/writeraw",
			"/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", "/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw",
			"/loupe.v1.PinService/Pin", "/loupe.v1.PinService/Unpin", "/ui/api/fleet/pin?name=x", "/ui//api/fleet/./unpin/?name=x"} {
			if got := status("POST", path, c.set) != http.StatusUnauthorized; got != c.write {
				t.Errorf("%s may send to %s: %t", c.who, path, got)
			}
		}
		if got := status("GET", "/ready", c.set); got != http.StatusOK {
			t.Errorf("%s: /ready answers %d", c.who, got)
		}
	}
	// A password that the browser has kept is not for pages of others.
	for _, foreign := range []func(r *http.Request){
		func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
	} {
		if got := status("POST", "/ingest?name=x&format=folded", func(r *http.Request) { basic(both)(r); foreign(r) }); got != http.StatusForbidden {
			t.Errorf("a page of another site may send: %d", got)
		}
	}
}

func TestParseTokens(t *testing.T) {
	good := strings.Repeat("ab", 32)
	for _, wrong := range []string{"read me", "read me secret", "admin me " + good, "read,read me " + good, "read me " + good[2:], "read me " + good + "00", "read me " + good + " more", "read me zz" + good[2:]} {
		if _, err := fleet.ParseTokens(wrong); err == nil {
			t.Errorf("%q is read", wrong)
		}
	}
	if tokens, err := fleet.ParseTokens(""); err != nil || tokens.Allow("", fleet.Read) {
		t.Errorf("a file without tokens: %v", err)
	}
	for _, name := range []string{"", "two words", "a\nread b " + good} {
		if _, _, err := fleet.NewToken(name, []fleet.Role{fleet.Read}); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
}
