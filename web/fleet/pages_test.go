package fleet_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"loupe/format/profile"
	"loupe/store"
	"loupe/store/intake"
	"loupe/store/storetest"
	"loupe/web"
	"loupe/web/fleet"
)

// filled has CPU profiles of ten seconds in each fifteen, of three pods: two of shop with
// half a CPU and one and a half, and one of cart with two that began at 12:20.
func filled(t *testing.T) (*fleet.Pages, store.Engine) {
	t.Helper()
	engine := storetest.NewMemory()
	in := intake.New(engine)
	add := func(at time.Time, share float64, service, pod, version string) {
		p, err := profile.Decode(cpu(at, int64(share*600), int64(share*400)), profile.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := &intake.Arrival{Labels: store.LabelsOf(store.ServiceLabel, service, "pod", pod, store.VersionLabel, version), Name: "process_cpu", Profile: p, At: at, Difference: true}
		if err := in.Add(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	for at := noon; at.Before(noon.Add(time.Hour)); at = at.Add(15 * time.Second) {
		add(at, 0.5, "shop", "a", "v1")
		add(at.Add(3*time.Second), 1.5, "shop", "b", "v2")
		if !at.Before(noon.Add(20 * time.Minute)) {
			add(at, 2, "cart", `c"/<b>`, "v1")
		}
	}
	return fleet.NewPages(engine, fleet.PageOptions{Now: func() time.Time { return noon.Add(time.Hour) }}), engine
}

// TestServices wants CPUs to be what the processes take, not what was profiled of it, and a
// service to cost that while it is there.
func TestServices(t *testing.T) {
	pages, _ := filled(t)
	for _, last := range []time.Duration{15 * time.Minute, 40 * time.Minute, time.Hour, 6 * time.Hour} {
		got, err := pages.Services(t.Context(), web.FleetQuestion{Last: last})
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Services) != 2 || len(got.Costs) != 1 || got.Costs[0].Head != "CPUs" {
			t.Fatalf("%v: %+v", last, got)
		}
		for _, s := range got.Services {
			f := s.Costs[0]
			if math.Abs(f.Value-2) > 0.05 || f.Shown != "2.00" && last < 6*time.Hour || math.Abs(f.Profiled-2.0/3) > 0.01 {
				t.Errorf("%v: %s takes %v CPUs (%s), profiled %v; want 2, of two thirds", last, s.Name, f.Value, f.Shown, f.Profiled)
			}
		}
	}
}

// TestBefore wants what was before to be there where it was, and not where nothing was.
func TestBefore(t *testing.T) {
	pages, _ := filled(t)
	got, err := pages.Services(t.Context(), web.FleetQuestion{From: noon.Add(20 * time.Minute), Until: noon.Add(40 * time.Minute)})
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	for _, s := range got.Services {
		before[s.Name] = s.Costs[0].Before
	}
	if before["shop"] != "2.00" || before["cart"] != "" {
		t.Errorf("before it was %q, want 2.00 of shop and nothing of cart", before)
	}
}

func TestLines(t *testing.T) {
	pages, _ := filled(t)
	got, err := pages.Lines(t.Context(), web.FleetQuestion{Last: time.Hour, Select: `{service_name="shop"}`, By: "pod"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Lines) != 2 || got.Lines[0].Name != "b" || got.Lines[0].Shown != "1.50" || got.Lines[1].Shown != "0.500" || got.Unit != "CPUs" {
		t.Errorf("got %+v", got.Lines)
	}
	if got.Lines[0].Select != `{service_name="shop",pod="b"}` {
		t.Errorf("a line selects %s", got.Lines[0].Select)
	}
	for _, l := range got.Lines {
		for i, v := range l.Course {
			if math.IsNaN(v) {
				t.Errorf("%s has nothing in step %d of %d", l.Name, i, len(l.Course))
			}
		}
	}
	// What is chosen again takes the place of what was chosen.
	again, err := pages.Lines(t.Context(), web.FleetQuestion{Last: time.Hour, Select: got.Lines[0].Select, By: "pod"})
	if err != nil || len(again.Lines) != 1 || again.Lines[0].Select != got.Lines[0].Select {
		t.Errorf("chosen again: %+v, %v", again, err)
	}
	for _, wrong := range []web.FleetQuestion{{Last: time.Hour, Select: "{"}, {Last: time.Hour, Select: `{a=~"("}`}, {Last: time.Hour, Select: `{service_name="none"}`}} {
		if _, err := pages.Lines(t.Context(), wrong); err == nil {
			t.Errorf("%+v is answered", wrong)
		}
	}
}

// TestSelectedSource wants a selection to be a source whose profiles are their sum, by an
// id that says what it is, also of labels with any signs.
func TestSelectedSource(t *testing.T) {
	pages, engine := filled(t)
	got, err := pages.Services(t.Context(), web.FleetQuestion{Last: time.Hour, Select: ""})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pages.Lines(t.Context(), web.FleetQuestion{Last: time.Hour, Select: `{service_name="cart"}`, By: "pod"})
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{lines.Lines[0].Source: lines.Lines[0].Select}
	for _, s := range got.Services {
		ids[s.Source] = s.Select
	}
	typ := store.Type{Name: "process_cpu", Sample: "cpu", Unit: "nanoseconds", Period: "cpu", PeriodUnit: "nanoseconds"}
	for id, text := range ids {
		if strings.Contains(id, "/") {
			t.Errorf("the id %q has a slash, which the addresses of comparisons split at", id)
		}
		src, err := pages.Source(id)
		if err != nil {
			t.Fatal(err)
		}
		o, err := src.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.Session.ProfileAt(o.Files[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := store.ParseMatchers(text)
		if err != nil {
			t.Fatal(err)
		}
		all, err := engine.Stacks(t.Context(), store.StacksQuery{Selection: store.Selection{Type: typ, Matchers: m, Range: store.Range{Start: noon, End: noon.Add(time.Hour)}}})
		if err != nil {
			t.Fatal(err)
		}
		i, err := p.Index("cpu")
		if err != nil || p.Total(i) != all.Total(0) || p.Total(i) == 0 {
			t.Errorf("%s: the source has %d ns, the store %d (%v)", text, p.Total(i), all.Total(0), err)
		}
	}
	for _, wrong := range []string{"", "1", "from=1&until=2&query={", "from=2&until=1&query={}", "query={}", "%zz"} {
		if _, err := pages.Source(wrong); err == nil {
			t.Errorf("%q is a source", wrong)
		}
	}
}

// TestFunctions: what functions cost adds up to what the service does, whatever part of the time was
// profiled.
func TestFunctions(t *testing.T) {
	pages, _ := filled(t)
	got, err := pages.Functions(t.Context(), web.FleetQuestion{Last: 40 * time.Minute, Select: `{service_name="shop"}`})
	if err != nil {
		t.Fatal(err)
	}
	services, err := pages.Services(t.Context(), web.FleetQuestion{Last: 40 * time.Minute, Select: `{service_name="shop"}`})
	if err != nil {
		t.Fatal(err)
	}
	whole, sum := services.Services[0].Costs[0].Value, 0.0
	if len(got.Costs) != 1 || got.Costs[0].Head != "CPUs" || !got.Exact || got.Others != 0 || len(got.Functions) < 2 {
		t.Fatalf("%+v", got)
	}
	for i, f := range got.Functions {
		s := f.Costs[0]
		sum += s.Self
		if s.Total < s.Self || i > 0 && s.Self > got.Functions[i-1].Costs[0].Self {
			t.Errorf("%s: %+v", f.Name, s)
		}
	}
	if math.Abs(sum-whole) > 1e-9*whole {
		t.Errorf("functions take %v CPUs, the service %v", sum, whole)
	}
	if first := got.Functions[0].Costs[0]; math.Abs(first.Self-0.6*whole) > 0.01*whole || first.SelfShown != "1.20" {
		t.Errorf("the first of them takes %+v of %v", first, whole)
	}
	none, err := pages.Functions(t.Context(), web.FleetQuestion{Last: time.Hour, Select: `{service_name="nobody"}`})
	if err != nil || len(none.Functions) != 0 {
		t.Errorf("%+v, %v", none, err)
	}
}

// TestRecordingPath: the recording of an incident is downloaded by who may read, and by nobody else.
func TestRecordingPath(t *testing.T) {
	reader, line, err := fleet.NewToken("ada", []fleet.Role{fleet.Read})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := fleet.ParseTokens(line)
	if err != nil {
		t.Fatal(err)
	}
	engine := storetest.NewMemory()
	server := fleet.New(engine, intake.New(engine), fleet.Options{Tokens: func() *fleet.Tokens { return tokens },
		Recording: func(w http.ResponseWriter, _ *http.Request, incident string) {
			fmt.Fprintf(w, "recording %s", incident)
		}})
	f := func(method, path, token, want string) {
		t.Helper()
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		if got := fmt.Sprint(w.Code, " ", strings.TrimSpace(w.Body.String())); got != want {
			t.Errorf("%s %s: %q, want %q", method, path, got, want)
		}
	}
	f("GET", fleet.RecordingPath("shop-1"), reader, "200 recording shop-1")
	f("GET", fleet.RecordingPath("shop-1"), "wrong", "401 a token that may read is needed here, as a bearer or as the password of basic authentication")
	f("POST", fleet.RecordingPath("shop-1"), reader, "405 recordings are only read")
	f("GET", "/incidents/shop-1", reader, "404 there is nothing at /incidents/shop-1")
}
