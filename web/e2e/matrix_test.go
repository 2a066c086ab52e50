package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// views are all views of a source.
var views = []string{"overview", "timeline", "profile", "gc", "scheduler", "requests", "load", "goroutines", "benchmarks", "compare"}

// short are the flags that record a lab in a few seconds.
var short = []string{"-quiet", "-diagnostics=false", "-for", "1s", "-interval", "200ms", "-phases", "bare,heap,goroutine,cpu:1s,block:500ms,mutex:500ms,trace:500ms"}

// shape is what one set of files is, and what of it is looked at closely.
type shape struct {
	name string
	// close lets axe look at every view of it, in all themes and widths.
	close bool
	files func(t *testing.T) []string
}

// lab records one in a few seconds.
func lab(name string, flags ...string) func(t *testing.T) []string {
	return func(t *testing.T) []string { return []string{record(t, name, append(flags, short...)...)} }
}

// file is one that is in the repository.
func file(names ...string) func(t *testing.T) []string {
	return func(*testing.T) (all []string) {
		for _, n := range names {
			all = append(all, filepath.Join("..", "..", filepath.FromSlash(n)))
		}
		return all
	}
}

// cut is the first part of a file.
func cut(name string, size int) func(t *testing.T) []string {
	return func(t *testing.T) []string {
		data, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "cut.trace")
		if err := os.WriteFile(to, data[:min(size, len(data))], 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{to}
	}
}

// shapes are what people open: recordings of all sorts of programs, and files
// of other tools and other times.
var shapes = []shape{
	{"newssearch", true, lab("newssearch", "-load", "http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on", "-c", "4")},
	{"mandelweb", false, lab("mandelweb", "-load", "http://localhost:8080/mandelbrot", "-c", "2")},
	{"pingpong", false, lab("pingpong")},
	{"sieve", false, lab("sieve")},
	{"daisy", false, lab("daisy")},
	{"mutex", false, lab("mutex")},
	{"blocking", false, lab("blocking")},
	{"stream", false, lab("stream")},
	{"trace of 2017", true, file("format/exectrace/testdata/old/go1.9.trace")},
	{"trace of 2015", false, file("format/exectrace/testdata/old/go1.5.trace")},
	{"cut trace", false, cut("format/exectrace/testdata/recorded/medium.trace", 100_000)},
	{"profile of pprof's tests", false, file("internal/cli/testdata/goldens/cpu.pb.gz")},
	{"unknown profile", false, file("internal/cli/testdata/goldens/unknown.pb.gz")},
	{"dump", false, file("format/dump/testdata/go1.26.deadlock.txt")},
	{"hostile", true, hostile},
}

// TestMatrix shows every view of everything, in both themes and on a wide and a
// narrow page: nothing throws, nothing is refused by the policy, something is
// said, and nothing is wider than the page.
func TestMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("records many labs")
	}
	began := time.Now()
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			address := serve(t, s.files(t)...)
			for i, scheme := range []string{"light", "dark", "light", "dark"} {
				width := []int64{1280, 360, 360, 1280}[i]
				// Closely in two forms, else in one; in all of them with
				// LOUPE_MATRIX=all, which is more than CI has the time for. The
				// tests of each view have both themes and widths.
				if most := map[bool]int{true: 2, false: 1}[s.close]; i >= most && os.Getenv("LOUPE_MATRIX") != "all" {
					break
				}
				b := open(t, "about:blank", width, 900, scheme)
				for _, view := range views {
					t.Run(fmt.Sprintf("%s %s %d", view, scheme, width), func(t *testing.T) {
						b := &tab{t: t, ctx: b.ctx}
						// Each view begins on a page of its own: what has gone
						// wrong in one is told of that one.
						b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#/1/"+view))
						b.shown(view)
						b.fits()
						if s.close {
							b.accessible()
						}
						b.picture(fmt.Sprintf("%s-%s-%s-%d", strings.ReplaceAll(s.name, " ", "-"), view, scheme, width))
					})
				}
			}
		})
	}
	t.Logf("all of it took %v", time.Since(began).Round(time.Second))
}

// shown waits until a view says something, and has nothing more to fetch.
func (b *tab) shown(view string) {
	b.t.Helper()
	b.until(fmt.Sprintf("location.hash.startsWith('#/1/%s') && document.querySelector('main')", view))
	b.settled()
	for began := time.Now(); !eval[bool](b, "document.querySelector('main').innerText.trim().length > 20"); {
		if time.Since(began) > patience/3 {
			b.t.Errorf("the view %s says nothing", view)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	if hacked := eval[bool](b, "document.title === 'hacked' || !!document.querySelector('main img[src=x], main script')"); hacked {
		b.t.Errorf("%s: a name was read as HTML", view)
	}
	if wrong := eval[string](b, "document.querySelector('main .trouble')?.innerText ?? ''"); wrong != "" {
		b.t.Errorf("%s: %s", view, wrong)
	}
}

// hostile is a recording whose title, folder, tasks, regions, labels and
// environment are attempts to be more than text, and a profile whose names of
// functions are.
func hostile(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), `<img src=x onerror=document.title='hacked'>`)
	loupe(t, append([]string{"run", "-o", dir, "-title", "<script>document.title='hacked'</script>\u202egnp.\x01" + strings.Repeat("long ", 200)},
		append(short, "./web/e2e/testdata/hostile")...)...)
	return []string{dir}
}

// TestHostileProfile: names of functions and files are text, whatever they
// hold.
func TestHostileProfile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "hostile.folded")
	text := "<script>document.title='hacked'</script>;<img src=x onerror=document.title='hacked'>;main.\u202egnp.exe 50\n" +
		"<script>document.title='hacked'</script>;" + strings.Repeat("x", 3000) + " 30\n" + `"quoted" onclick=x;javascript:alert(1);{{.}};%s%n 10` + "\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loupe(t, "pprof", "-proto", "-output", name+".pb.gz", name)
	address := serve(t, name+".pb.gz")
	b := open(t, "about:blank", 1280, 900, "light")
	for _, view := range []string{"profile", "overview", "compare"} {
		b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#/1/"+view))
		b.shown(view)
		b.fits()
		b.accessible()
		b.picture("hostile-" + view)
	}
}

// TestBomb: a file that claims to be very large is refused, and the page says
// so.
func TestBomb(t *testing.T) {
	name := filepath.Join(t.TempDir(), "cut.pb.gz")
	data, err := os.ReadFile(filepath.Join("..", "..", "internal", "cli", "testdata", "goldens", "cpu.pb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	copy(data[len(data)-4:], "\xff\xff\xff\x7f") // the size that it claims
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, serve(t, name)+"#/1/profile", 1280, 900, "light")
	b.until("document.querySelector('main')?.innerText.trim().length > 20")
	b.settled()
}
