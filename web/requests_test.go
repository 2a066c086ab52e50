package web

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"loupe/analysis/account"
	figures "loupe/analysis/facts"
	"loupe/analysis/sched"
	"loupe/report/requests"
	"loupe/session"
	"loupe/value/timeline"
)

// TestRequestsPage holds the page, and that of one unit, against what loupe trace requests
// computes of the same time.
func TestRequestsPage(t *testing.T) {
	rec := func() *session.Session {
		return session.New(smallRecording(t, timeline.Clock{Offset: 1e9}).Open())
	}
	p := pagesOf(t, smallRecording(t, timeline.Clock{Offset: 1e9}))
	for question, filter := range map[string]string{"": "", "&t0=1003000000&t1=1005500000": "from=2ms to=4.5ms"} {
		var page requestsPage
		p.get("requests?s=1"+question, &page)
		var parsed *sched.Filter
		if filter != "" {
			var err error
			if parsed, err = sched.ParseFilter(filter); err != nil {
				t.Fatal(err)
			}
		}
		a, err := figures.AccountIn(rec(), parsed, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := factsOf(requests.List(a, false, requestRows))
		if page.Filter != filter || len(page.Page.Tables) != len(want.Tables) {
			t.Fatalf("%q: filter %q and %d tables, want %q and %d", question, page.Filter, len(page.Page.Tables), filter, len(want.Tables))
		}
		for i, table := range want.Tables {
			if !reflect.DeepEqual(page.Page.Tables[i].Shown, table.Shown) {
				t.Errorf("%q: %v, want %v", question, page.Page.Tables[i].Shown, table.Shown)
			}
		}
		checkDivisions(t, page.Divisions, a)
	}
	var one requestPage
	p.get("requests/one?s=1&id=1", &one)
	a, err := figures.AccountWith(rec(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if one.Goroutine != int64(a.One.G) || one.Span.Len() != a.One.Span.Len() {
		t.Errorf("unit 1 is of goroutine %d for %v, want %d for %v", one.Goroutine, one.Span.Len(), a.One.G, a.One.Span.Len())
	}
	p.refused(http.StatusNotFound, "requests/one?s=1&id=1000", nil)
	p.refused(http.StatusNotFound, "requests?s=1&t0=0&t1=1000000", nil)
}

// checkDivisions: the slices of a bar are all of its time.
func checkDivisions(t *testing.T, all []division, a *account.Account) {
	t.Helper()
	if want := a.Divided(3); len(all) != len(want) {
		t.Errorf("%d divisions of %d groups", len(all), len(want))
	}
	for _, d := range all {
		for _, p := range d.Parts {
			var sum time.Duration
			share := 0.0
			for _, s := range p.Slices {
				sum += s.Each
				share += s.Share
			}
			if len(p.Slices) > 0 && ((p.Each-sum).Abs() > time.Duration(len(p.Slices)) || share < 0.999 || share > 1.001) {
				t.Errorf("%s %s: slices of %v and %v of 1, want %v", d.Title, p.Name, sum, share, p.Each)
			}
		}
	}
}
