package service_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"loupe/labs/newssearch/feeds"
	"loupe/labs/newssearch/search"
	"loupe/labs/newssearch/service"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// serve starts the service over the lab's own feeds; a URL replaces one.
func serve(t *testing.T, fixed bool, replaced map[string]string) *httptest.Server {
	t.Helper()
	source := httptest.NewServer(feeds.Handler())
	t.Cleanup(source.Close)
	urls := map[string]string{}
	for _, name := range feeds.Names {
		urls[name] = source.URL + "/" + name + ".xml"
		if u, ok := replaced[name]; ok {
			urls[name] = u
		}
	}
	mux := http.NewServeMux()
	service.Register(mux, search.New(urls, fixed))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func body(t *testing.T, resp *http.Response, err error) (int, string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

var link = regexp.MustCompile(`https://news\.example/\S+?/\d+/\d+`)

// TestForms: the two forms show the same items, by GET, by POST with a query
// as hey sends it, and by POST of the form.
func TestForms(t *testing.T) {
	slow, fixed := serve(t, false, nil), serve(t, true, nil)
	for _, term := range []string{"topic", "covid-19", "president"} {
		query := url.Values{"term": {term}, "cnn": {"on"}, "bbc": {"on"}, "nyt": {"on"}}
		var first []string
		for _, base := range []string{slow.URL + "/search", fixed.URL + "/search"} {
			for how, send := range map[string]func() (*http.Response, error){
				"GET":            func() (*http.Response, error) { return http.Get(base + "?" + query.Encode()) },
				"POST, query":    func() (*http.Response, error) { return http.Post(base+"?"+query.Encode(), "text/html", nil) },
				"POST, the form": func() (*http.Response, error) { return http.PostForm(base, query) },
			} {
				resp, err := send()
				status, text := body(t, resp, err)
				found := link.FindAllString(text, -1)
				if status != http.StatusOK || len(found) == 0 {
					t.Errorf("%s %s: status %d, %d items", how, term, status, len(found))
				}
				if first == nil {
					first = found
				}
				if strings.Join(found, " ") != strings.Join(first, " ") {
					t.Errorf("%s %s: other items than before: %d, %d", how, term, len(found), len(first))
				}
			}
		}
	}
}

func TestPages(t *testing.T) {
	server := serve(t, false, nil)
	f := func(method, path string, want int, words ...string) {
		t.Helper()
		req, err := http.NewRequest(method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		status, text := body(t, resp, err)
		if status != want {
			t.Errorf("%s %s: status %d, want %d", method, path, status, want)
		}
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%s %s lacks %q:\n%s", method, path, w, text)
			}
		}
	}
	f("GET", "/", 200, "<form")
	f("GET", "/search", 200, "<form")
	f("GET", "/search?term=topic", 200, "<form")
	f("GET", "/search?term=%3Cscript%3E&cnn=on", 200, "&lt;script&gt;")
	f("GET", "/static/style.css", 200)
	f("GET", "/none", 404)
	f("DELETE", "/search", 405)
	f("GET", "/search?term=%zz", 400)
}

// TestBrokenFeed shows what the other feeds have and says that one is missing.
func TestBrokenFeed(t *testing.T) {
	server := serve(t, false, map[string]string{"bbc": "http://127.0.0.1:1/none.xml"})
	resp, err := http.Get(server.URL + "/search?term=topic&cnn=on&bbc=on&nyt=on")
	status, text := body(t, resp, err)
	if status != http.StatusOK || !strings.Contains(text, "Not every source could be searched.") || !link.MatchString(text) {
		t.Errorf("status %d:\n%s", status, text)
	}
}
