package feeds_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loupe/labs/newssearch/feeds"
	"loupe/labs/newssearch/search"
)

func parse(t *testing.T, data []byte) search.Document {
	t.Helper()
	var d search.Document
	if err := xml.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestShape holds the feeds to what real ones look like.
func TestShape(t *testing.T) {
	for seed := range uint64(12) {
		data := feeds.Feed("cnn", seed)
		if !bytes.Equal(data, feeds.Feed("cnn", seed)) {
			t.Fatalf("seed %d gives another feed the second time", seed)
		}
		if seed > 0 && bytes.Equal(data, feeds.Feed("cnn", seed-1)) {
			t.Errorf("seeds %d and %d give one feed", seed-1, seed)
		}
		d := parse(t, data)
		if n := len(d.Channel.Items); n < 30 || n > 60 {
			t.Errorf("seed %d has %d items, want 30 to 60", seed, n)
		}
		links := map[string]bool{}
		last := time.Now().AddDate(100, 0, 0)
		for _, item := range d.Channel.Items {
			if n := len(item.Description); n < 1000 || n > 4500 {
				t.Errorf("seed %d: a description has %d bytes, want 1 to about 4 KB", seed, n)
			}
			if item.Description == strings.ToLower(item.Description) || !strings.HasSuffix(item.Description, ".") && !strings.HasSuffix(item.Description, "\u201d") {
				t.Errorf("seed %d: %q does not read like a text", seed, item.Description)
			}
			at, err := time.Parse(time.RFC1123Z, item.PubDate)
			if err != nil || !at.Before(last) || links[item.Link] || item.Title == "" || item.GUID != item.Link {
				t.Errorf("seed %d: item %q of %q, %v", seed, item.Link, item.PubDate, err)
			}
			last, links[item.Link] = at, true
		}
	}
}

func TestHandler(t *testing.T) {
	server := httptest.NewServer(feeds.Handler())
	defer server.Close()
	seen := map[string]string{}
	for _, name := range feeds.Names {
		resp, err := http.Get(server.URL + "/" + name + ".xml")
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/rss+xml") {
			t.Errorf("%s: %s, %v", name, resp.Status, err)
		}
		if title := parse(t, data).Channel.Title; title == "" || seen[title] != "" {
			t.Errorf("%s is called %q like %q", name, title, seen[title])
		} else {
			seen[title] = name
		}
	}
	resp, err := http.Get(server.URL + "/none.xml")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusNotFound {
		t.Errorf("none.xml: %s", resp.Status)
	}
}

// TestASCII: the same feeds, and no letter that needs more than a byte.
func TestASCII(t *testing.T) {
	server := httptest.NewServer(feeds.ASCII())
	defer server.Close()
	for i, name := range feeds.Names {
		resp, err := http.Get(server.URL + "/" + name + ".xml")
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		for at, b := range data {
			if b >= 0x80 {
				t.Fatalf("%s: %q", name, data[max(0, at-20):min(len(data), at+20)])
			}
		}
		items, want := parse(t, data).Channel.Items, parse(t, feeds.Feed(name, uint64(i+1))).Channel.Items
		if len(items) != len(want) {
			t.Errorf("%s: %d items, want %d", name, len(items), len(want))
		}
	}
}
