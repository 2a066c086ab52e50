// Package search finds items in RSS feeds by a term in their text.
package search

import (
	"context"
	"encoding/xml"
	"fmt"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"
)

// expiration is how long a parsed feed is kept.
const expiration = 15 * time.Minute

// Item is one article of a feed.
type Item struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Description string `xml:"description"`
	PubDate     string `xml:"pubDate"`
	GUID        string `xml:"guid"`
}

// Document is a parsed feed.
type Document struct {
	XMLName xml.Name `xml:"rss"`
	Channel struct {
		Title string `xml:"title"`
		Items []Item `xml:"item"`
	} `xml:"channel"`
}

// Result is an item that was found.
type Result struct {
	Engine, Title, Link, Content string
}

// Searcher searches feeds by name. It is safe for concurrent use.
type Searcher struct {
	feeds  map[string]*feed
	fixed  bool
	client *http.Client
}

// feed is one source with its cache and its own lock, so that a slow source
// does not hold up the others.
type feed struct {
	url string

	mu      sync.Mutex
	doc     Document
	expires time.Time
}

// New makes a searcher of feeds by name. The fixed form lower-cases text when
// it is cached instead of on every search.
func New(urls map[string]string, fixed bool) *Searcher {
	s := &Searcher{feeds: map[string]*feed{}, fixed: fixed, client: &http.Client{Timeout: 10 * time.Second}}
	for name, url := range urls {
		s.feeds[name] = &feed{url: url}
	}
	return s
}

// Search looks for term in the named feeds side by side and returns what was
// found, in the order of the names. Sources that fail are left out and named
// in the error; the results of the others are still good.
func (s *Searcher) Search(ctx context.Context, term string, names []string) ([]Result, error) {
	found := make([][]Result, len(names))
	errs := make([]error, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() { found[i], errs[i] = s.rssSearch(ctx, term, name) })
	}
	wg.Wait()
	var results []Result
	var err error
	for i := range names {
		results = append(results, found[i]...)
		if errs[i] != nil {
			err = fmt.Errorf("cannot search %s: %w", names[i], errs[i])
		}
	}
	return results, err
}

// rssSearch looks for term in one feed.
func (s *Searcher) rssSearch(ctx context.Context, term, engine string) ([]Result, error) {
	f, ok := s.feeds[engine]
	if !ok {
		return nil, fmt.Errorf("no feed is called %q", engine)
	}
	d, err := s.document(ctx, f)
	if err != nil {
		return nil, err
	}
	if s.fixed {
		return findLowered(engine, strings.ToLower(term), d), nil
	}
	return find(engine, term, d), nil
}

// document returns the parsed feed, from the cache while it is fresh.
func (s *Searcher) document(ctx context.Context, f *feed) (Document, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Now().Before(f.expires) {
		return f.doc, nil
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, f.url, nil)
	if err != nil {
		return Document{}, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return Document{}, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Document{}, fmt.Errorf("cannot fetch %s: %s", f.url, resp.Status)
	}
	var d Document
	if err := xml.NewDecoder(resp.Body).Decode(&d); err != nil {
		return Document{}, err
	}
	if s.fixed {
		for i := range d.Channel.Items {
			d.Channel.Items[i].Description = strings.ToLower(d.Channel.Items[i].Description)
		}
	}
	f.doc, f.expires = d, time.Now().Add(expiration)
	log.Println("reloaded cache", f.url)
	return d, nil
}

// find is the slow form: it lower-cases everything on every search.
func find(engine, term string, d Document) []Result {
	results := []Result{}
	for _, item := range d.Channel.Items {
		if strings.Contains(strings.ToLower(item.Description), strings.ToLower(term)) {
			results = append(results, Result{
				Engine:  engine,
				Title:   item.Title,
				Link:    item.Link,
				Content: item.Description,
			})
		}
	}
	return results
}

// findLowered is the fixed form: both sides are lower-case already.
func findLowered(engine, term string, d Document) []Result {
	results := []Result{}
	for _, item := range d.Channel.Items {
		if strings.Contains(item.Description, term) {
			results = append(results, Result{
				Engine:  engine,
				Title:   item.Title,
				Link:    item.Link,
				Content: item.Description,
			})
		}
	}
	return results
}
