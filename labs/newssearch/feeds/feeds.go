// Package feeds serves three RSS feeds that look like those of news sites:
// invented, readable, and the same on every machine and every day.
package feeds

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// Names lists the feeds.
var Names = []string{"cnn", "bbc", "nyt"}

// titles are what the feeds call themselves.
var titles = map[string]string{"cnn": "Cable news", "bbc": "Broadcast news", "nyt": "Daily newspaper"}

// Handler serves each feed as /NAME.xml.
func Handler() http.Handler { return serve(func(text []byte) []byte { return text }) }

// ASCII serves the same feeds without letters and quotation marks beyond ASCII, which
// package strings converts to lower case several times faster.
func ASCII() http.Handler { return serve(plain) }

// plain replaces what is beyond ASCII.
func plain(text []byte) []byte {
	return []byte(strings.NewReplacer("“", "'", "”", "'", "ö", "o", "ó", "o", "ň", "n").Replace(string(text)))
}

func serve(written func([]byte) []byte) http.Handler {
	mux := http.NewServeMux()
	for i, name := range Names {
		text := written(Feed(name, uint64(i+1)))
		mux.HandleFunc("GET /"+name+".xml", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
			w.Write(text)
		})
	}
	return mux
}

type item struct {
	Title       string `xml:"title"`
	Link        string `xml:"link"`
	Description string `xml:"description"`
	PubDate     string `xml:"pubDate"`
	GUID        string `xml:"guid"`
}

type rss struct {
	XMLName xml.Name `xml:"rss"`
	Version string   `xml:"version,attr"`
	Channel struct {
		Title       string `xml:"title"`
		Link        string `xml:"link"`
		Description string `xml:"description"`
		Language    string `xml:"language"`
		Items       []item `xml:"item"`
	} `xml:"channel"`
}

// Feed writes a feed of 30 to 60 items with descriptions of one to four KB.
// The same name and seed give the same bytes.
func Feed(name string, seed uint64) []byte {
	w := &writer{rand.New(rand.NewPCG(seed, 20200321))}
	var doc rss
	doc.Version = "2.0"
	doc.Channel.Title = titles[name]
	doc.Channel.Link = "https://news.example/" + name
	doc.Channel.Description = "All the headlines of " + titles[name]
	doc.Channel.Language = "en-gb"
	at := time.Date(2020, time.March, 21, 23, 0, 0, 0, time.UTC)
	for n := range 30 + w.IntN(31) {
		at = at.Add(-time.Duration(5+w.IntN(55)) * time.Minute)
		link := fmt.Sprintf("https://news.example/%s/%d/%d", name, at.Year(), 10000+n)
		doc.Channel.Items = append(doc.Channel.Items, item{
			Title:       w.headline(),
			Link:        link,
			Description: w.article(1000 + w.IntN(3000)),
			PubDate:     at.Format(time.RFC1123Z),
			GUID:        link,
		})
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		panic("BUG: cannot encode the feed: " + err.Error())
	}
	return b.Bytes()
}

// writer writes sentences.
type writer struct{ *rand.Rand }

func (w *writer) pick(words []string) string { return words[w.IntN(len(words))] }

// headline writes a title without a full stop.
func (w *writer) headline() string {
	return fmt.Sprintf("%s %s %s", w.pick(actors), w.pick(verbs), w.pick(objects))
}

// article writes sentences until they have size bytes. One article in eight
// is about one of the subjects that people search for.
func (w *writer) article(size int) string {
	var b strings.Builder
	subject := ""
	if w.IntN(8) == 0 {
		subject = w.pick(subjects)
		fmt.Fprintf(&b, "%s was %s on %s. ", subject, w.pick(states), w.pick(days))
	}
	for b.Len() < size {
		switch w.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "On %s %s %s %s, %s. ", w.pick(days), w.pick(actors), w.pick(verbs), w.pick(objects), w.pick(reasons))
		case 1:
			fmt.Fprintf(&b, "%s %s %s in %s, and nobody in %s was surprised. ", w.pick(actors), w.pick(verbs), w.pick(objects), w.pick(places), w.pick(places))
		case 2:
			fmt.Fprintf(&b, "“We %s it for %d years,” said %s of %s. ", w.pick(verbs), 2+w.IntN(30), w.pick(actors), w.pick(places))
		case 3:
			fmt.Fprintf(&b, "Some %d people in %s saw how %s %s %s. ", 10+w.IntN(9990), w.pick(places), w.pick(actors), w.pick(verbs), w.pick(objects))
		}
	}
	return strings.TrimSpace(b.String())
}
