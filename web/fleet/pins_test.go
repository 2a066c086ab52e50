package fleet_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/store"
	"loupe/web"
)

// TestPagesPin pins what a page shows: the range of the question, which the store then keeps.
func TestPagesPin(t *testing.T) {
	pages, engine := filled(t)
	q := web.FleetQuestion{Select: `{service_name="shop"}`, From: noon.Add(5 * time.Minute), Until: noon.Add(20 * time.Minute)}
	if err := pages.Pin(t.Context(), "base", "before", q); err != nil {
		t.Fatal(err)
	}
	for name, wrong := range map[string]web.FleetQuestion{
		"no name":         {Select: q.Select, From: q.From, Until: q.Until},
		"nobody's series": {Select: `{service_name="nobody"}`, From: q.From, Until: q.Until},
		"a long past":     {Select: q.Select, From: noon.Add(-2 * time.Hour), Until: noon.Add(-time.Hour)},
		"no selector":     {Select: `{`, From: q.From, Until: q.Until},
	} {
		pin := "other"
		if name == "no name" {
			pin = ""
		}
		if err := pages.Pin(t.Context(), pin, "", wrong); err == nil {
			t.Errorf("%s is pinned", name)
		}
	}
	got, err := pages.Pins(t.Context())
	if want := (web.FleetPin{Name: "base", Select: q.Select, From: q.From.UnixMilli(), Until: q.Until.UnixMilli(), Reason: "before"}); err != nil || len(got.Pins) != 1 || got.Pins[0] != want {
		t.Errorf("the pins are %+v, %v; want %+v", got, err, want)
	}
	// All that is old goes, but for the pin.
	if err := engine.Maintain(t.Context(), store.Policy{Raw: time.Hour, FiveMinutes: time.Hour, Hours: time.Hour}, noon.Add(100*24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if all, err := engine.Series(t.Context(), store.Selection{}); err != nil || len(all) != 2 {
		t.Errorf("what is left is %v, %v; want two pods of shop", all, err)
	}
	if err := pages.Unpin(t.Context(), "base"); err != nil {
		t.Error(err)
	}
	if err := pages.Unpin(t.Context(), "base"); err == nil || !strings.Contains(err.Error(), `no pin called "base"`) {
		t.Errorf("it is taken away twice: %v", err)
	}
}

// TestPinService asks as curl does.
func TestPinService(t *testing.T) {
	url := serve(t)
	ingest(t, url, "shop{pod=a}", cpu(noon.Add(time.Minute), 3, 1))
	post := func(call, body string) string {
		return send(t, url+"/loupe.v1.PinService/"+call, "application/json", []byte(body))
	}
	pin := func(name string, start, end time.Time, selector string) string {
		return post("Pin", fmt.Sprintf(`{"pin": {"name": %q, "labelSelector": %q, "start": "%d", "end": "%d"}}`, name, selector, start.UnixMilli(), end.UnixMilli()))
	}
	if got := pin("v1", noon, noon.Add(time.Hour), `{pod="a"}`); got != `200 {"series":"1"}` {
		t.Error(got)
	}
	if got := pin("to come", noon, noon.Add(48*time.Hour), `{pod="b"}`); !strings.HasPrefix(got, "200 ") { // an incident that goes on
		t.Error(got)
	}
	for name, got := range map[string]string{
		"an empty range": pin("x", noon, noon, "{}"), "an open range": pin("x", time.UnixMilli(0), noon, "{}"), "a type": pin("x", noon, noon.Add(time.Hour), `{__profile_type__="`+cpuType+`"}`),
		"a long name": pin(strings.Repeat("x", 101), noon, noon.Add(time.Hour), "{}"), "a line": pin("a\nb", noon, noon.Add(time.Hour), "{}"), "nothing": post("Pin", "{}"),
	} {
		if !strings.HasPrefix(got, `400 {"code":"invalid_argument"`) {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := pin("x", noon, noon.Add(time.Hour), `{pod="b"}`); !strings.HasPrefix(got, `404 {"code":"not_found"`) {
		t.Error(got)
	}
	var pins struct {
		Pins []struct{ Name, LabelSelector string }
	}
	if err := json.Unmarshal([]byte(strings.TrimPrefix(post("Pins", "{}"), "200 ")), &pins); err != nil || len(pins.Pins) != 2 || pins.Pins[1].LabelSelector != `{pod="a"}` {
		t.Errorf("%+v, %v", pins, err)
	}
	if got := post("Unpin", `{"name": "v1"}`); got != "200 {}" {
		t.Error(got)
	}
}
