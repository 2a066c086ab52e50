// Package e2e tests the pages of loupe in a real browser: Chromium, driven by
// chromedp. It is a module of its own, so that none of it is part of the
// program.
//
//	go -C web/e2e test ./...
//
// Pictures of all views go to the folder that LOUPE_SCREENSHOTS names.
package e2e

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed axe/axe.min.js
var axe string

// patience is how long anything in the browser may take before a test gives
// up. The machines are small and shared.
const patience = 2 * time.Minute

// folder holds what the tests of one run share: the program and recordings.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "loupe-e2e"); err != nil {
		panic(err)
	}
	flag.Parse()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if flag.Lookup("test.run").Value.String() == "" {
			ahead()
		}
	}()
	code := m.Run()
	<-done
	os.RemoveAll(folder)
	os.Exit(code)
}

// ahead makes the recordings that tests want while those before them run: most
// of a recording's time is waiting. A test that comes first waits for its own; one
// of which there is an error tells it.
func ahead() {
	for _, r := range [][]string{
		loadedRun, {"sieve"}, {"newssearch", "-phases", "bare,trace,goroutine"}, {"mutex", "-phases", "bare,trace"},
		{"newssearch", "-phases", "bare,cpu,trace,goroutine"}, {"sieve", "-phases", "bare"},
	} {
		_, _ = recorded(r[0], r[1:]...)
	}
}

// program builds loupe once.
var program = sync.OnceValues(func() (string, error) {
	name := filepath.Join(folder, "loupe")
	cmd := exec.Command("go", "build", "-pgo=off", "-o", name, "./cmd/loupe")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build loupe: %v\n%s", err, out)
	}
	return name, nil
})

// loupe runs a command of loupe to its end.
func loupe(t *testing.T, args ...string) string {
	t.Helper()
	out, err := runLoupe(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func runLoupe(args ...string) (string, error) {
	name, err := program()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 3) {
		return "", fmt.Errorf("loupe %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// serve starts loupe open and returns the address that it prints.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	name, err := program()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, append([]string{"open", "-browser", "no"}, args...)...)
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
		t.Fatalf("loupe open %s prints no address: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(line)
}

// recordings remembers what record has made, or is making.
var recordings struct {
	sync.Mutex
	made   map[string]func() (string, error)
	making sync.Mutex // one at a time: labs may listen on the same port
}

// record records a lab once for all tests, and returns where.
func record(t *testing.T, lab string, flags ...string) string {
	t.Helper()
	dir, err := recorded(lab, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func recorded(lab string, flags ...string) (string, error) {
	key := lab + " " + strings.Join(flags, " ")
	recordings.Lock()
	make, ok := recordings.made[key]
	if !ok {
		dir := filepath.Join(folder, fmt.Sprintf("%s-%d", lab, len(recordings.made)))
		make = sync.OnceValues(func() (string, error) {
			recordings.making.Lock()
			defer recordings.making.Unlock()
			_, err := runLoupe(append(append([]string{"run", "-o", dir}, flags...), "./labs/"+lab)...)
			return dir, err
		})
		if recordings.made == nil {
			recordings.made = map[string]func() (string, error){}
		}
		recordings.made[key] = make
	}
	recordings.Unlock()
	return make()
}

// launch starts the browser once.
var launch = sync.OnceValues(func() (context.Context, error) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("force-device-scale-factor", "1"), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-quic", true))
	ctx, _ := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ = chromedp.NewContext(ctx)
	return ctx, chromedp.Do(ctx, chromedp.Navigate("about:blank"))
})

// tab is one tab of the browser.
type tab struct {
	t   *testing.T
	ctx context.Context
	// foreign is set for a page that is not ours: what it is refused is no
	// mistake.
	foreign bool
}

// open opens a page in a new tab of a size, in the light or the dark theme.
func open(t *testing.T, address string, width, height int64, scheme string) *tab {
	t.Helper()
	browser, err := launch()
	if err != nil {
		t.Fatalf("cannot start Chromium: %v (apt-get install chromium)", err)
	}
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	// The tab lives as long as the context that it is first used with.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	// Nothing may go wrong unseen in the page's scripts, and nothing be
	// refused by its policy.
	if err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page: %s %s", e.ExceptionDetails.Text, describe(e.ExceptionDetails))
		case *log.EventEntryAdded:
			if e.Entry.Source == log.EntrySourceSecurity && !b.foreign {
				t.Errorf("the page: %s", e.Entry.Text)
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}), chromedp.EmulateViewport(width, height), chromedp.Navigate(address))
	return b
}

// describe tells an exception.
func describe(e *runtime.ExceptionDetails) string {
	if e.Exception == nil {
		return ""
	}
	return e.Exception.Description
}

// do does things in the tab; they must succeed.
func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("%v\non the page: %.2000s", err, b.text("body"))
	}
}

// eval evaluates an expression, and awaits a promise. A page that is being drawn anew lacks what the expression looks for
// for a moment, or has it at an element that is about to go: what has no properties yet is waited for.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		if err == nil {
			return v
		}
		if ctx.Err() != nil || !absent.MatchString(err.Error()) {
			b.t.Fatalf("%s: %v\non the page: %.2000s", expression, err, b.text("main"))
		}
		select {
		case <-ctx.Done():
			b.t.Fatalf("%s: %v\non the page: %.2000s", expression, err, b.text("main"))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// absent is what the browser says of a property of nothing.
var absent = regexp.MustCompile(`TypeError: Cannot (read|set) properties of (null|undefined)`)

// text is what a place of the page says.
func (b *tab) text(selector string) string {
	ctx, cancel := context.WithTimeout(b.ctx, 5*time.Second)
	defer cancel()
	v, _ := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)))
	return v
}

// until waits for an expression to be true.
func (b *tab) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	for {
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("(() => { try { return !!("+expression+") } catch { return false } })()"))
		// A page that is just being left for another one has no answer.
		if err != nil && ctx.Err() == nil && strings.Contains(err.Error(), "context") {
			yes, err = false, nil
		}
		if yes {
			return
		}
		if err != nil {
			b.t.Fatalf("waiting for %s: %v\non the page: %.2000s", expression, err, b.text("main"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// settled waits until nothing is being computed or fetched.
func (b *tab) settled() {
	b.t.Helper()
	b.until("document.querySelector('main') && !document.querySelector('main .waiting') && !document.querySelector('main [aria-busy=true]')")
}

// fits wants nothing of the page to be wider than it: only tables and pictures
// scroll within themselves.
func (b *tab) fits() {
	b.t.Helper()
	if wide := eval[string](b, `(() => {
		const page = document.documentElement;
		if (page.scrollWidth <= page.clientWidth) return "";
		const all = [...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > page.clientWidth + 1);
		return page.scrollWidth + " of " + page.clientWidth + " px: " + all.slice(0, 5).map(e => e.outerHTML.slice(0, 120)).join("\n\t");
	})()`); wide != "" {
		b.t.Errorf("the page scrolls sideways: %s", wide)
	}
}

// press presses keys.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// picture keeps a screenshot of the tab.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("LOUPE_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	data, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// accessible lets axe look at the page.
func (b *tab) accessible() {
	b.t.Helper()
	// What is about to be replaced is pale for a moment.
	b.until("!document.querySelector('main [aria-busy=true]') && document.getAnimations().every(a => a.playState !== 'running')")
	if !eval[bool](b, "typeof axe !== 'undefined'") {
		// The page's policy forbids scripts of others; the browser's own
		// tools may evaluate one.
		eval[string](b, axe+";'loaded'")
	}
	found := eval[string](b, `axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}).then(r => JSON.stringify(
		r.violations.map(v => ({id: v.id, help: v.help, nodes: v.nodes.slice(0, 4).map(n => n.html.slice(0, 200) + ' — ' + (n.failureSummary || ''))}))))`)
	var all []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(found), &all); err != nil {
		b.t.Fatal(err)
	}
	for _, v := range all {
		b.t.Errorf("%s: %s\n\t%s", v.ID, v.Help, strings.Join(v.Nodes, "\n\t"))
	}
}
