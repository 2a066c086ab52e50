package fleet_test

import (
	"fmt"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/intake"
	"loupe/store/storetest"
	"loupe/web"
	"loupe/web/fleet"
)

// TestSpread: a span is counted once with all that it took, each of the largest leads to its
// samples alone, and where there are no spans the same is told of profiles.
func TestSpread(t *testing.T) {
	engine := storetest.NewMemory()
	in := intake.New(engine)
	add := func(service string, at time.Time, body []byte) {
		t.Helper()
		p, err := profile.Decode(body, profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := in.Add(t.Context(), &intake.Arrival{Labels: store.LabelsOf(store.ServiceLabel, service, "pod", "a"), Name: "process_cpu", Profile: p, At: at, Difference: true}); err != nil {
			t.Fatal(err)
		}
	}
	add("shop", noon, spanned(noon, "40 s1 t1 main serve encode", "5 s2 t1 main serve", "7 - - idle"))
	add("shop", noon.Add(10*time.Second), spanned(noon.Add(10*time.Second), "2 s1 t1 main serve write", "100 s3 t2 main serve encode"))
	add("cart", noon, cpu(noon, 30, 20))
	add("cart", noon.Add(time.Minute), cpu(noon.Add(time.Minute), 3, 2))
	pages := fleet.NewPages(engine, fleet.PageOptions{Now: func() time.Time { return noon.Add(10 * time.Minute) }})

	ask := func(service string) *web.FleetSpread {
		t.Helper()
		got, err := pages.Spread(t.Context(), web.FleetQuestion{Select: fmt.Sprintf("{service_name=%q}", service), Last: 15 * time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		sum := int32(0)
		for _, n := range got.Cells {
			sum += n
		}
		if int(sum) != got.Count || len(got.Cells) != got.Rows*got.Columns {
			t.Errorf("%s: %d of %d %ss are in %d cells", service, sum, got.Count, got.Of, len(got.Cells))
		}
		return got
	}
	total := func(id string) int64 {
		t.Helper()
		source, err := pages.Source(id)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := source.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := opened.Session.ProfileAt(opened.Files[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		return p.Total(0)
	}
	for service, want := range map[string]struct {
		of      string
		largest []string
	}{
		"shop": {"span", []string{"s3 t2", "s1 t1", "s2 t1"}},
		"cart": {"profile", []string{" ", " "}},
	} {
		got := ask(service)
		var largest []string
		for _, l := range got.Largest {
			largest = append(largest, l.Span+" "+l.Trace)
			if n := total(l.Source); float64(n)*l.Value == 0 || got.Largest[0].Value/l.Value != float64(total(got.Largest[0].Source))/float64(n) {
				t.Errorf("%s: %q leads to %d samples, of value %v", service, l.Span, n, l.Value)
			}
		}
		if got.Of != want.of || fmt.Sprint(largest) != fmt.Sprint(want.largest) {
			t.Errorf("%s: the largest %ss are %q, want %q", service, got.Of, largest, want.largest)
		}
	}
	if _, err := pages.Spread(t.Context(), web.FleetQuestion{Select: `{service_name="none"}`, Last: time.Minute}); err == nil {
		t.Error("there is a spread of nothing")
	}
}
