package e2e

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	pprofile "runtime/pprof"
	"strings"
	"testing"
	"time"
)

// keep starts loupe serve with an empty store and returns its address.
func keep(t *testing.T, more ...string) string {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", "-listen", "127.0.0.1:0", "-data", t.TempDir()}
	if len(more) == 0 {
		more = []string{"-targets", "127.0.0.1:9"}
	}
	cmd := exec.Command(name, append(args, more...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("loupe serve says nothing: %v", err)
	}
	_, rest, _ := strings.Cut(line, "http://")
	address, _, _ := strings.Cut(rest, ",")
	return "http://" + address
}

// push sends folded stacks of CPU time of ten seconds.
func push(t *testing.T, address, name string, at time.Time, body []byte) {
	t.Helper()
	q := url.Values{"name": {name}, "format": {"folded"}, "from": {fmt.Sprint(at.Unix())}, "until": {fmt.Sprint(at.Add(10 * time.Second).Unix())}}
	resp, err := http.Post(address+"/ingest?"+q.Encode(), "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("the profile of %s is refused: %s %s", name, resp.Status, text)
	}
}

// stacks are so many samples, at a hundred a second, of two functions.
func stacks(encode, write int) []byte {
	return fmt.Appendf(nil, "main.main;main.serve;main.encode %d\nmain.main;main.serve;main.write %d\n", encode, write)
}

// spans is a profile of goroutines of three spans: one of each has one, two and four.
func spans(t *testing.T) []byte {
	t.Helper()
	end := make(chan struct{})
	defer close(end)
	for i := range 3 {
		for range 1 << i {
			go pprofile.Do(t.Context(), pprofile.Labels("span_id", fmt.Sprint("span<b>", i), "trace_id", "trace"), func(context.Context) { <-end })
		}
	}
	var b bytes.Buffer
	for {
		b.Reset()
		if err := pprofile.Lookup("goroutine").WriteTo(&b, 1); err != nil {
			t.Fatal(err)
		}
		if strings.Count(b.String(), "span_id") == 3 { // all have begun
			break
		}
		time.Sleep(time.Millisecond)
	}
	b.Reset()
	if err := pprofile.Lookup("goroutine").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFleetSpans wants the heat map of spans, the largest of them, and the samples of one.
func TestFleetSpans(t *testing.T) {
	address := keep(t)
	at := time.Now().Add(-5 * time.Minute)
	q := url.Values{"name": {"traced"}, "format": {"pprof"}, "from": {fmt.Sprint(at.Unix())}, "until": {fmt.Sprint(at.Add(10 * time.Second).Unix())}}
	resp, err := http.Post(address+"/ingest?"+q.Encode(), "application/octet-stream", bytes.NewReader(spans(t)))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	for _, width := range []int64{1400, 390} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprint(width, " ", scheme), func(t *testing.T) {
				b := open(t, address+`/ui/#//fleet?select={service_name="traced"}`, width, 900, scheme)
				b.until("!!document.querySelector('.fleet-spread button')")
				eval[bool](b, "(document.querySelector('.fleet-spread button').click(), true)")
				b.until("document.querySelectorAll('.fleet-largest tbody tr').length === 3 && location.hash.includes('spread=1')")
				if got := eval[string](b, "[...document.querySelectorAll('.fleet-largest tbody code')].map(e => e.innerText).join(' ')"); got != "span<b>2 trace span<b>1 trace span<b>0 trace" {
					t.Errorf("the largest are %s", got)
				}
				eval[bool](b, "(document.querySelector('.fleet-spread').scrollIntoView(), true)")
				b.settled()
				b.fits()
				b.accessible()
				b.picture(fmt.Sprintf("fleet-spans-%d-%s", width, scheme))
				eval[bool](b, "(document.querySelector('.fleet-largest a').click(), true)")
				b.until("location.hash.includes('/profile') && document.querySelector('main canvas')")
				b.until("document.querySelector('header').innerText.includes('span<b>2') || document.title.includes('span<b>2')")
			})
		}
	}
}

// TestFleet goes through the pages of loupe serve: from nothing at all to services, a line,
// a range, a flame graph, and two versions side by side.
func TestFleet(t *testing.T) {
	address := keep(t)
	b := open(t, address+"/", 1400, 900, "light")
	b.settled()
	b.until("document.querySelector('main .empty')?.innerText.includes('loupe push -to " + address + "')")
	b.until("document.querySelector('main').innerText.includes('1 target')")
	b.picture("fleet-empty")
	b.fits()

	now := time.Now()
	for i := range 40 {
		at := now.Add(time.Duration(i-41) * time.Minute / 2)
		push(t, address, "shop{pod=a,version=v1.41}", at, stacks(600+i%7, 300))
		if i > 20 {
			push(t, address, "shop{pod=b,version=v1.42}", at, stacks(400+i%7, 300))
		}
		push(t, address, `<img src=x onerror=alert(1)>{pod=a}`, at, stacks(10, 20))
	}
	b = open(t, address+"/ui/#//fleet", 1400, 900, "light")
	b.until("[...document.querySelectorAll('.fleet-services tbody button')].map(e => e.innerText).sort().join('|') === '<img src=x onerror=alert(1)>|shop'")
	if eval[bool](b, "!!document.querySelector('main img')") {
		t.Error("the name of a service is read as HTML")
	}
	b.settled()
	b.accessible()
	b.picture("fleet")

	// A pin of what is shown is listed, leads there, and is taken away; one of nothing is refused.
	eval[bool](b, `(() => { const name = document.querySelector(".fleet-pins input[required]"); name.value = "base <b>"; name.dispatchEvent(new Event("input", {bubbles: true})); return true; })()`)
	b.settled()
	eval[bool](b, `(document.querySelector(".fleet-pins form").requestSubmit(), true)`)
	b.until("document.querySelector('.fleet-pins tbody tr')?.innerText.includes('base <b>')")
	b.settled()
	b.accessible()
	b.picture("fleet-pins")
	eval[bool](b, "(document.querySelector('.fleet-pins tbody button').click(), true)")
	b.until("location.hash.includes('from=') && location.hash.includes('until=')")
	eval[bool](b, "(history.back(), true)")
	b.until("!location.hash.includes('from=')")
	b.until("document.querySelector('.fleet-pins [aria-label=\"Unpin base <b>\"]')")
	eval[bool](b, "(document.querySelector('.fleet-pins [aria-label=\"Unpin base <b>\"]').click(), true)")
	b.until("document.querySelector('.fleet-pins h2')?.innerText === 'Pins'")

	// A service, by version; the address has it.
	eval[bool](b, "([...document.querySelectorAll('.fleet-services tbody button')].find(e => e.innerText === 'shop').click(), true)")
	b.until("document.querySelector('.fleet-services tr.selected') && location.hash.includes('select=')")
	eval[bool](b, `(() => { const s = [...document.querySelectorAll('.fleet-choices select')][1]; s.value = "version"; s.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`)
	b.until("[...document.querySelectorAll('[aria-label=lines] tbody button.link')].map(e => e.innerText).join('|').includes('v1.41|') && document.querySelectorAll('.plot path.fleet-line').length === 2")
	b.until("[...document.querySelectorAll('[aria-label=functions] tbody td.named')].map(e => e.innerText).slice(0, 2).join() === 'main.encode,main.write'")
	b.settled()
	b.accessible()
	b.picture("fleet-versions")

	// A range by keyboard.
	eval[bool](b, `(() => { const plot = document.querySelector(".plot"); plot.focus(); return true; })()`)
	for _, key := range []string{`{key: "End"}`, `{key: "ArrowLeft", shiftKey: true}`, `{key: "ArrowLeft", shiftKey: true}`, `{key: "Enter"}`} {
		eval[bool](b, `new Promise(done => { document.querySelector(".plot").dispatchEvent(new KeyboardEvent("keydown", Object.assign(`+key+`, {bubbles: true, cancelable: true}))); requestAnimationFrame(() => requestAnimationFrame(() => done(true))); })`)
	}
	b.until("location.hash.includes('from=') && location.hash.includes('until=')")
	eval[bool](b, "(history.back(), true)")
	b.until("!location.hash.includes('from=')")

	// One version against the other.
	eval[bool](b, "([...document.querySelectorAll('[aria-label=lines] tbody tr')].find(e => e.innerText.includes('v1.41')).querySelector('td:last-child button').click(), true)")
	b.until("[...document.querySelectorAll('[aria-label=lines] a')].some(e => e.innerText === 'against v1.41')")
	eval[bool](b, "([...document.querySelectorAll('[aria-label=lines] a')].find(e => e.innerText === 'against v1.41').click(), true)")
	b.until("location.hash.includes('/compare?') && document.querySelector('main').innerText.includes('Flame graphs of the difference')")
	b.settled()
	b.picture("fleet-compare")
	compare := eval[string](b, "location.href")
	eval[bool](b, "(document.querySelector('nav a').click(), true)")
	b.until("document.querySelector('main h1').innerText === 'Fleet'")

	// The flame graph of a service.
	b.until("document.querySelector('.fleet-services')")
	eval[bool](b, "([...document.querySelectorAll('.fleet-services a')].find(e => e.innerText === 'flame graph').click(), true)")
	b.until("location.hash.includes('/profile') && document.querySelector('main canvas')")
	b.settled()
	b.picture("fleet-flame")

	// A link is worth the same to somebody else, who has not come here by clicks, and after a
	// restart, when no source has been asked for.
	other := open(t, compare, 1400, 900, "light")
	other.until("document.querySelector('main')?.innerText.includes('Flame graphs of the difference')")

	for _, width := range []int64{1400, 700, 390} {
		for _, scheme := range []string{"light", "dark"} {
			// Tabs are closed between: each that is seen holds one of the browser's six connections.
			t.Run(fmt.Sprint(width, " ", scheme), func(t *testing.T) {
				b := open(t, address+`/ui/#//fleet?by=pod&select={service_name="shop"}`, width, 800, scheme)
				b.until("document.querySelectorAll('.plot path.fleet-line').length === 2")
				b.settled()
				b.fits()
				b.accessible()
				b.picture(fmt.Sprintf("fleet-%d-%s", width, scheme))
			})
		}
	}
}

// TestFleetVersions: what a new version takes more of stands on the page, and leads to the comparison.
func TestFleetVersions(t *testing.T) {
	address := keep(t)
	now := time.Now()
	for i := range 80 {
		at := now.Add(time.Duration(i-81) * time.Minute / 2)
		version, encode := "v1.41", 600
		if i >= 40 {
			version, encode = "v1.42", 900
		}
		push(t, address, "shop{pod=a,version="+version+"}", at, append(stacks(encode+i*5%7, 300+i*3%7), fmt.Appendf(nil, "main.main;main.serve;main.read %d\n", 700+i*2%7)...))
	}
	b := open(t, address+"/ui/#//fleet", 1400, 900, "light")
	b.until("document.querySelector('[aria-label=\"new versions\"]')?.innerText.includes('1 new version')")
	text := eval[string](b, "document.querySelector('[aria-label=\"new versions\"]').innerText")
	for _, want := range []string{"shop since v1.42", "against v1.41 in the period before", "1 regression", "main.encode", "CHANGE, OF ALL CPU", "3 functions tested", "the mix of requests may have changed"} {
		if !strings.Contains(strings.ToUpper(text), strings.ToUpper(want)) {
			t.Errorf("%q does not stand on the page:\n%s", want, text)
		}
	}
	if strings.Contains(text, "main.read") || strings.Contains(text, "main.write") {
		t.Errorf("functions that have not changed are told:\n%s", text)
	}
	b.settled()
	b.accessible()
	b.picture("fleet-regressions")
	for _, width := range []int64{700, 390} {
		narrow := open(t, address+"/ui/#//fleet", width, 900, "dark")
		narrow.until("document.querySelector('[aria-label=\"new versions\"]')")
		narrow.settled()
		narrow.fits()
		narrow.picture(fmt.Sprint("fleet-regressions-", width))
	}
	eval[bool](b, "([...document.querySelectorAll('[aria-label=\"new versions\"] a')].find(e => e.innerText === 'compare').click(), true)")
	b.until("location.hash.includes('/compare?') && document.querySelector('main').innerText.includes('Flame graphs of the difference')")
}

// TestFleetIncidents: when a rule fires, the moment stands on the page with its recording.
func TestFleetIncidents(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	service := httptest.NewServer(mux)
	defer service.Close()
	rules := filepath.Join(t.TempDir(), "alerts.yml")
	if err := os.WriteFile(rules, []byte("interval: 200ms\ncapture: goroutine,heap\nalerts:\n- rule: goroutines>=1\n- rule: gccpu>1000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	address := keep(t, "-targets", service.Listener.Addr().String(), "-alerts", rules)
	b := open(t, address+"/", 1400, 900, "light")
	b.until("document.querySelector('[aria-label=incidents] a')")
	text := eval[string](b, "document.querySelector('main').innerText")
	for _, want := range []string{"1 incident", "goroutines>=1", "goroutines is ", "gccpu>1000 for 1 target (none reports this metric)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q does not stand on the page:\n%s", want, text)
		}
	}
	if status := eval[int](b, "fetch(document.querySelector('[aria-label=incidents] a[download]').href).then((r) => r.status)"); status != 200 {
		t.Errorf("the recording's download answers %d", status)
	}
	b.settled()
	b.accessible()
	b.picture("fleet-incidents")
	for _, width := range []int64{700, 390} {
		narrow := open(t, address+"/ui/#//fleet", width, 900, "dark")
		narrow.until("document.querySelector('[aria-label=incidents]')")
		narrow.settled()
		narrow.fits()
	}
	eval[bool](b, "(document.querySelector('[aria-label=incidents] a').click(), true)")
	b.until("location.hash.includes('/overview') && document.querySelector('main h1') && document.querySelector('main').innerText.includes('goroutines is ')")
	b.settled()
	b.picture("fleet-incident")
}
