// Newssearch is a web service that searches the news: it fetches three RSS
// feeds, keeps the parsed documents for 15 minutes, and shows the items whose
// text contains a term.
//
// # What to look for
//
// The slow form lower-cases every description, and the term, inside the loop
// of every request. Under load more than half of all allocated bytes come from
// that one line in search/rss.go, and the collector runs all the time. The
// fixed form (-fixed) lower-cases each description once, when its feed goes
// into the cache, and the term once per request. Collections do not come less
// often per second: each of them simply serves more requests.
//
// The forms common and common-fixed do the same with a term that a quarter of the
// items contain, in feeds without letters beyond ASCII: building the page takes as
// much as the search, and lower-casing is two fifths of the bytes. The same fix gains
// less, and what is left is html/template and net/http: the place to stop.
//
//	loupe demo                                        # both forms, compared
//	loupe run -load 'http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on' ./labs/newssearch
//
// The program works without a network: it serves three feeds of its own on a
// loopback port and fetches them through the same code that would fetch real
// ones (-feeds cnn=URL,bbc=URL,nyt=URL).
package main
