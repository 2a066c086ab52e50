package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestLive looks at a recording while it is being written, and after.
func TestLive(t *testing.T) {
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, "about:blank", 1280, 800, "light") // the browser takes a while to start, and the recording does not wait
	dir := filepath.Join(folder, "live")
	run := exec.Command(name, "run", "-quiet", "-phases", "bare:8s,heap", "-interval", "200ms", "-o", dir, "./labs/leak", "-mode", "map")
	run.Dir = "../.."
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	// It is built first; then there is a journal, with a process in it.
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "metrics.ndjson")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			run.Process.Kill()
			t.Fatal("loupe run does not begin")
		}
	}
	b.do(chromedp.Navigate(serve(t, dir)))
	b.until("document.querySelector('header')?.innerText.includes('being written')")
	// News come while it grows, and what is shown grows with it.
	eval[bool](b, `(() => { window.news = 0; new EventSource("api/events").onmessage = (m) => { if (JSON.parse(m.data).kind === "changed") window.news++; }; return true; })()`)
	end := "fetch('api/source?s=1').then(r => r.json()).then(s => s.axis.end_ns)"
	before := eval[float64](b, end)
	b.until("window.news >= 5")
	b.until("document.querySelectorAll('main canvas').length > 0")
	if after := eval[float64](b, end); after <= before {
		t.Errorf("the axis ends at %v ns, and after news at %v", before, after)
	}
	b.picture("live")
	select {
	case err := <-ended:
		if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 3) {
			t.Fatal(err)
		}
	case <-time.After(2 * time.Minute):
		run.Process.Kill()
		t.Fatal("loupe run does not end")
	}
	b.until("!document.querySelector('header').innerText.includes('being written')")
	b.settled()
	b.until("document.querySelector('main').innerText.includes('Possible memory leak: the live heap keeps growing')")
	b.picture("live-complete")
}

// TestCutOff: a recording whose writer was killed is shown as far as it came.
func TestCutOff(t *testing.T) {
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(folder, "killed")
	run := exec.Command(name, "run", "-quiet", "-phases", "bare:60s", "-interval", "100ms", "-o", dir, "./labs/leak", "-mode", "fixed")
	run.Dir = "../.."
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if info, err := os.Stat(filepath.Join(dir, "metrics.ndjson")); err == nil && info.Size() > 20000 {
			break
		}
	}
	run.Process.Kill()
	run.Wait()
	b := open(t, serve(t, dir), 1280, 800, "dark")
	b.until("document.querySelector('main canvas')")
	b.settled()
	b.picture("killed")
}
