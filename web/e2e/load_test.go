package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// loaded records a server under load, once for all tests.
func loaded(t *testing.T) string { return record(t, loadedRun[0], loadedRun[1:]...) }

var loadedRun = []string{"newssearch", "-load", "http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on", "-c", "4", "-for", "3s", "-phases", "bare,trace:2s"}

// TestLoad goes through the view of a load: the heat map, a cell of it, a range, a
// request and its goroutine in the timeline.
func TestLoad(t *testing.T) {
	address := serve(t, loaded(t))
	for _, look := range []struct {
		scheme string
		width  int64
	}{{"light", 1280}, {"dark", 1280}, {"light", 360}} {
		b := open(t, address+"#/1/load?phase=trace", look.width, 900, look.scheme)
		b.settled()
		b.until("document.querySelectorAll('.plot svg').length === 3 && document.querySelectorAll('.plot canvas').length === 1")
		b.until("document.querySelectorAll('main [role=row]').length > 10")
		b.accessible()
		b.picture(fmt.Sprintf("load-%s-%d", look.scheme, look.width))
		if eval[bool](b, "document.documentElement.scrollWidth > innerWidth + 1") {
			t.Errorf("%d pixels: the page is wider than the window", look.width)
		}
	}
	b := open(t, address+"#/1/load?phase=trace", 1280, 900, "light")
	b.settled()
	all := eval[string](b, "document.querySelector('.facts dd').innerText")
	// By keyboard: most of the columns become the range.
	eval[string](b, "document.querySelector('.plot').focus();''")
	eval[string](b, "document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));''")
	for range 200 {
		eval[string](b, "document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', shiftKey: true, bubbles: true}));''")
	}
	eval[string](b, "document.querySelector('.plot').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));''")
	b.until("/[?&]t=/.test(location.hash)")
	b.settled()
	b.until(fmt.Sprintf("document.querySelector('.facts').innerText.length > 0 && [...document.querySelectorAll('.facts dd')].length > 3 && location.hash.includes('t=') && document.querySelector('.facts').innerText !== %q", all))
	b.picture("load-range")
	// A request leads to the timeline.
	b.until("document.querySelectorAll('main tbody [role=row]').length > 0")
	eval[string](b, "document.querySelector('main tbody [role=gridcell]').click();''")
	b.until("location.hash.includes('req=') && document.querySelector('aside.drawer')")
	b.picture("load-request")
	b.accessible()
	b.until("[...document.querySelectorAll('aside.drawer a')].some(a => a.hash.includes('/timeline?') && a.hash.includes('v='))")
	for _, tab := range []string{"met", "spread", "figures", "runs"} {
		// In one tab: each holds a connection for what the server tells, of which
		// a browser has six to one host.
		eval[string](b, "location.hash = '#/1/load?phase=trace&tab="+tab+"'")
		b.until("document.querySelector('[role=tab][aria-selected=true]')?.dataset.id === '" + tab + "'")
		b.settled()
		b.until("document.querySelector('[role=tabpanel]').innerText.length > 40")
		b.accessible()
		b.picture("load-" + tab)
	}
}

// TestLoadFile opens a load run that was saved.
func TestLoadFile(t *testing.T) {
	found, _ := filepath.Glob(filepath.Join(loaded(t), "*bare*.requests"))
	if len(found) == 0 {
		t.Fatal("no requests were recorded")
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	file, cut := filepath.Join(folder, "run.load"), filepath.Join(folder, "cut.load")
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cut, data[:len(data)*2/3], 0o666); err != nil {
		t.Fatal(err)
	}
	b := open(t, serve(t, file, cut)+"#/1/load", 1280, 900, "light")
	b.settled()
	b.until("document.querySelectorAll('.plot svg').length === 3 && document.querySelectorAll('select option').length >= 2")
	b.accessible()
}
