package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestOtherSite: a page of another origin that even knows the address reads
// nothing and moves nothing; the pages themselves may open the editor.
func TestOtherSite(t *testing.T) {
	dir := t.TempDir()
	opened := filepath.Join(dir, "opened")
	t.Setenv("LOUPE_EDITOR", "cp {file} "+opened)
	source, err := filepath.Abs("security_test.go")
	if err != nil {
		t.Fatal(err)
	}
	address := serve(t, record(t, "sieve"))
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>another site</title>")
	}))
	t.Cleanup(site.Close)
	// By number it is another origin of the same site, by name another site.
	for _, from := range []string{site.URL, strings.Replace(site.URL, "127.0.0.1", "localhost", 1)} {
		b := open(t, from, 800, 600, "light")
		b.foreign = true
		b.until("document.title === 'another site'")
		got := eval[string](b, fmt.Sprintf(`(async () => {
			const at = %q, done = [];
			const tag = (name, address) => new Promise(r => {
				const e = document.createElement(name);
				e.onload = () => r(name + " loaded");
				e.onerror = () => r("");
				e.src = address;
				document.body.append(e);
			});
			done.push(await fetch(at + "api/sources").then(r => "fetched " + r.status, () => ""));
			done.push(await tag("script", at + "app.js"));
			done.push(await tag("img", at + "api/sources"));
			await fetch(at + "api/edit?file=%s", {method: "POST", mode: "no-cors", body: "x"}).catch(() => 0);
			const form = document.createElement("form");
			form.method = "POST";
			form.action = at + "api/edit?file=%s";
			form.target = "elsewhere";
			const frame = document.createElement("iframe");
			frame.name = "elsewhere";
			document.body.append(frame, form);
			form.submit();
			await new Promise(r => setTimeout(r, 500));
			return done.join("");
		})()`, address, source, source))
		if got != "" {
			t.Errorf("%s: %s", from, got)
		}
		if _, err := os.Stat(opened); err == nil {
			t.Fatalf("%s has opened the editor", from)
		}
	}
	b := open(t, address, 800, 600, "light")
	b.settled()
	if status := eval[int](b, fmt.Sprintf(`fetch("api/edit?file=%s&line=7", {method: "POST"}).then(r => r.status)`, source)); status != 200 {
		t.Errorf("our own page may not open the editor: %d", status)
	}
	for _, no := range []string{"/etc/passwd", "security_test.go", "/etc/../etc/passwd", "/no/such/file.go", filepath.Dir(source)} {
		if status := eval[int](b, fmt.Sprintf(`fetch("api/edit?file=%s&line=7", {method: "POST"}).then(r => r.status)`, no)); status == 200 {
			t.Errorf("the editor opens %s", no)
		}
	}
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(opened); err == nil {
			break
		}
		if time.Since(began) > patience {
			t.Fatal("the editor was not opened")
		}
	}
}
