package search_test

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"loupe/labs/newssearch/feeds"
	"loupe/labs/newssearch/search"
)

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// terms are what the service is asked for, each in some other case.
var terms = []string{"topic", "Topic", "covid-19", "COVID-19", "president", "PRESIDENT"}

// source serves the lab's feeds and counts how often each is fetched.
func source(t *testing.T) (urls map[string]string, fetched *sync.Map) {
	t.Helper()
	fetched = &sync.Map{}
	handler := feeds.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := fetched.LoadOrStore(r.URL.Path, new(atomic.Int64))
		n.(*atomic.Int64).Add(1)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	urls = map[string]string{}
	for _, name := range feeds.Names {
		urls[name] = server.URL + "/" + name + ".xml"
	}
	return urls, fetched
}

func links(results []search.Result) (out []string) {
	for _, r := range results {
		out = append(out, r.Engine+" "+r.Link)
	}
	return out
}

// TestFormsAgree: the fix changes no result, whatever the case of the term.
func TestFormsAgree(t *testing.T) {
	urls, _ := source(t)
	slow, fixed := search.New(urls, false), search.New(urls, true)
	for _, term := range append(terms, "the", "no such words anywhere") {
		a, err := slow.Search(context.Background(), term, feeds.Names)
		if err != nil {
			t.Fatal(err)
		}
		b, err := fixed.Search(context.Background(), term, feeds.Names)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(links(a), links(b)) {
			t.Errorf("%q: the slow form finds %d items, the fixed one %d", term, len(a), len(b))
		}
		if found := len(a) > 0; found == strings.HasPrefix(term, "no such") {
			t.Errorf("%q: %d items", term, len(a))
		}
		for _, r := range a {
			if !strings.Contains(strings.ToLower(r.Content), strings.ToLower(term)) {
				t.Errorf("%q was found in %q", term, r.Content)
			}
		}
	}
}

// TestOrder: results come in the order of the names, only of those asked for.
func TestOrder(t *testing.T) {
	urls, _ := source(t)
	results, err := search.New(urls, false).Search(context.Background(), "the", []string{"nyt", "bbc"})
	if err != nil {
		t.Fatal(err)
	}
	var engines []string
	for _, r := range results {
		engines = append(engines, r.Engine)
	}
	if got := strings.Join(slices.Compact(engines), " "); got != "nyt bbc" {
		t.Errorf("results of %s, want nyt and then bbc", got)
	}
}

// TestCache: however many search at once, each feed is fetched once.
func TestCache(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		urls, fetched := source(t)
		s := search.New(urls, fixed)
		var wg sync.WaitGroup
		for i := range 64 {
			wg.Go(func() {
				if _, err := s.Search(context.Background(), terms[i%len(terms)], feeds.Names); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, name := range feeds.Names {
			n, ok := fetched.Load("/" + name + ".xml")
			if !ok || n.(*atomic.Int64).Load() != 1 {
				t.Errorf("%s was not fetched exactly once", name)
			}
		}
	}
}

// TestBroken: a feed that fails in whatever way leaves the others, is named,
// and is asked again the next time.
func TestBroken(t *testing.T) {
	urls, _ := source(t)
	asked := 0
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch asked {
		case 1:
			http.Error(w, "no", http.StatusInternalServerError)
		case 2:
			io.WriteString(w, "<rss><channel><item>")
		case 3:
			io.WriteString(w, "<html>not a feed</html>")
		default:
			w.Write(feeds.Feed("bbc", 2))
		}
	}))
	defer broken.Close()
	good, err := search.New(urls, false).Search(context.Background(), "topic", []string{"cnn", "nyt"})
	if err != nil {
		t.Fatal(err)
	}
	urls["bbc"] = broken.URL
	s := search.New(urls, false)
	for range 3 {
		results, err := s.Search(context.Background(), "topic", feeds.Names)
		if err == nil || !strings.Contains(err.Error(), "bbc") || !slices.Equal(links(results), links(good)) {
			t.Errorf("answer %d: %d results, %v; want those of the others and an error that names the feed", asked, len(results), err)
		}
	}
	if _, err := s.Search(context.Background(), "topic", feeds.Names); err != nil || asked != 4 {
		t.Errorf("a feed that works again: %v after %d answers", err, asked)
	}
	if _, err := s.Search(context.Background(), "topic", []string{"cnn", "ard"}); err == nil || !strings.Contains(err.Error(), "ard") {
		t.Errorf("a feed that does not exist: %v", err)
	}
	broken.Close()
	urls["bbc"] = broken.URL
	if results, err := search.New(urls, true).Search(context.Background(), "topic", feeds.Names); err == nil || len(results) != len(good) {
		t.Errorf("nobody listens: %d results, %v", len(results), err)
	}
}

// FuzzFeed searches in whatever a server may send: no feed, half a feed.
func FuzzFeed(f *testing.F) {
	f.Add(feeds.Feed("cnn", 1)[:3000], "topic")
	f.Add([]byte("<rss><channel><item><description>Topic</description></item></channel></rss>"), "TOPIC")
	f.Fuzz(func(t *testing.T, body []byte, term string) {
		transport := roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(body)))}, nil
		})
		defer func(old http.RoundTripper) { http.DefaultTransport = old }(http.DefaultTransport)
		http.DefaultTransport = transport
		var found [2][]string
		for i, fixed := range []bool{false, true} {
			results, _ := search.New(map[string]string{"x": "http://feed.example/"}, fixed).Search(context.Background(), term, []string{"x"})
			found[i] = links(results)
		}
		if !slices.Equal(found[0], found[1]) {
			t.Errorf("the forms differ: %q, %q", found[0], found[1])
		}
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
