package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// heldProgram builds the program that tests of cores know, in a folder.
func heldProgram(t *testing.T, dir string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("cores are those of Linux")
	}
	exe := filepath.Join(dir, "held")
	cmd := exec.Command("go", "build", "-pgo=off", "-gcflags=-N -l", "-o", exe, "./analysis/postmortem/postmortemtest/held")
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// captured copies the program while it runs, before and after it has grown.
func captured(t *testing.T, exe, before, after string) {
	t.Helper()
	cmd := exec.Command(exe)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	r := bufio.NewReader(out)
	for _, step := range []struct{ word, name string }{{"ready\n", before}, {"more\n", after}} {
		if line, err := r.ReadString('\n'); line != step.word {
			t.Fatalf("it says %q: %v", line, err)
		}
		if said, err := runLoupe("core", "capture", "-o", step.name, strconv.Itoa(cmd.Process.Pid)); err != nil {
			t.Skipf("this kernel lets no process look into another: %v %s", err, said)
		}
		cmd.Process.Signal(syscall.SIGUSR1)
	}
}

// crashed is the core that the kernel writes when the program panics; "" where it
// writes none into the folder.
func crashed(t *testing.T, exe string) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", `ulimit -c unlimited; GOTRACEBACK=crash exec "$0" panic`, exe)
	cmd.Dir = dir
	cmd.Run() // it fails, as it is to
	found, _ := filepath.Glob(filepath.Join(dir, "core*"))
	if len(found) == 0 {
		return ""
	}
	return found[0]
}

// TestCores looks at the end of a program, its goroutines with arguments, its threads,
// and its heap.
func TestCores(t *testing.T) {
	dir := t.TempDir()
	exe := heldProgram(t, dir)
	before, after := filepath.Join(dir, "before.core"), filepath.Join(dir, "after.core")
	captured(t, exe, before, after)
	names := []string{exe, before, after}
	end := crashed(t, exe)
	if end != "" {
		names = []string{exe, end, before, after}
	}
	address := serve(t, names...)
	alone := serve(t, cutCore(t, dir, before))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
				look := func(name string) func(b *tab) {
					return func(b *tab) {
						b.t.Helper()
						b.settled()
						b.accessible()
						b.fits()
						if eval[bool](b, "!!document.querySelector('main img, main i > b')") {
							b.t.Error("what a program had in its memory has become HTML")
						}
						b.picture(fmt.Sprintf("cores-%s-%s-%d", name, scheme, width))
					}
				}
				b := open(t, address+"#/1/overview", width, 900, scheme)
				coreOverview(b, end != "", look("overview"))
				coreGoroutines(b, end != "", look)
				coreHeap(b, look)
				b = open(t, alone+"#/1/overview", width, 900, scheme)
				b.until("document.querySelector('.ov-finding .ov-cut')")
				look("alone")(b)
			})
		}
	}
}

// TestCoreHandedOn: the page that people hand on has the types of the heap and no text
// of it, and what can be done in the view is found by name.
func TestCoreHandedOn(t *testing.T) {
	dir := t.TempDir()
	exe := heldProgram(t, dir)
	before, after := filepath.Join(dir, "before.core"), filepath.Join(dir, "after.core")
	captured(t, exe, before, after)
	name := filepath.Join(dir, "report.html")
	if err := os.WriteFile(name, []byte(loupe(t, "report", "-format", "html", exe, after)), 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t, "file://"+name, 1280, 900, "light")
	b.until("document.querySelector('.ov-finding h3').innerText.includes('Copied while it was running')")
	b.press("gh")
	b.until("[...document.querySelectorAll('.heap td')].some(e => e.innerText === 'main.session')")
	b.do(chromedp.KeyEvent("k", chromedp.KeyModifiers(2)))
	b.until("document.querySelector('dialog input')")
	b.do(chromedp.SendKeys(chromedp.CSS("dialog input"), "long strings"))
	b.until("document.querySelector('.chooser li[aria-selected=true]').innerText.includes('Long strings')")
	b.press("\r")
	b.until("document.querySelector('.heap .empty').innerText.includes('they are not put into a file')")
}

// cutCore is a core that is cut, of a program that is not there.
func cutCore(t *testing.T, dir, whole string) string {
	t.Helper()
	data, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "cut.core")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(string(data[:len(data)/2]), dir, strings.Repeat("x", len(dir)))), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func coreOverview(b *tab, crash bool, look func(*tab)) {
	b.until("document.querySelectorAll('.ov-finding').length >= 2")
	if crash {
		b.until("document.querySelector('.ov-finding.critical h3').innerText.includes('SIGABRT')")
		b.until("document.querySelector('.ov-finding.critical pre').innerText.includes('no session left: <b>pool <i>empty</i></b>')")
		b.until("document.querySelectorAll('.ov-finding.critical .frames li').length > 3")
	}
	look(b)
}

func coreGoroutines(b *tab, crash bool, look func(string) func(*tab)) {
	b.press("gr")
	b.until("location.hash.includes('goroutines') && document.querySelectorAll('.goroutines tbody tr[role=row]').length >= 2")
	if crash {
		b.until("[...document.querySelectorAll('.gopanic .params li')].some(e => e.innerText.includes('{id: 42, name: \"the very last request\"}'))")
	}
	look("goroutines")(b)
	// Those that serve, one of them with its arguments.
	b.do(chromedp.SendKeys(chromedp.CSS(".gofilter input"), "func:main.serve"))
	b.until("document.querySelector('.gototal').innerText.startsWith('7 goroutines')")
	b.do(chromedp.Focus(chromedp.CSS(".goroutines .rows")))
	b.press("\r")
	b.until("document.querySelectorAll('.drawer tbody tr[role=row]').length >= 7")
	b.do(chromedp.Click(chromedp.CSS(".drawer tbody tr.open")))
	b.until("[...document.querySelectorAll('.drawer .params li')].some(e => e.innerText.includes('request <i>'))")
	b.until("document.querySelector('.drawer .params a[href*=heap]')")
	look("goroutine")(b)
	b.do(chromedp.Evaluate[chromedp.Void]("location.hash = '#/1/goroutines?tab=threads'"))
	b.until("document.querySelectorAll('.gothread').length > 2")
	b.do(chromedp.Evaluate[chromedp.Void]("document.querySelector('.gothread').open = true"))
	b.until("document.querySelectorAll('.registers dd').length > 10")
	look("threads")(b)
}

func coreHeap(b *tab, look func(string) func(*tab)) {
	b.press("gh")
	b.until("location.hash.includes('heap') && [...document.querySelectorAll('.heap td')].some(e => e.innerText === 'main.session')")
	look("heap")(b)
	// What a type is held by, by keyboard alone.
	b.do(chromedp.Focus(chromedp.CSS(".gofilter input")))
	b.do(chromedp.SendKeys(chromedp.CSS(".gofilter input"), "main.session\r"))
	b.until("document.querySelector('.heapway') && document.querySelector('.heapway').innerText.includes('global main.sessions')")
	look("holds")(b)
	b.do(chromedp.Click(chromedp.CSS(".drawer tbody tr.open")))
	b.until("location.hash.includes('hold=0x') && document.querySelector('.drawer').innerText.includes('would be free')")
	// What types retain is asked for.
	b.do(chromedp.Evaluate[chromedp.Void]("location.hash = '#/1/heap?retained=1'"))
	b.until("document.querySelectorAll('.heap .table').length >= 3")
	look("retained")(b)
	// Texts come when their tab is opened, as Go would write them.
	b.do(chromedp.Focus(chromedp.CSS(".heap [role=tab][aria-selected=true]")))
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.until(`location.hash.includes('tab=texts') && [...document.querySelectorAll('.heap td')].some(e => e.innerText.includes('<img src=x onerror=alert(1)> \\x1b[31mred'))`)
	look("texts")(b)
	b.do(chromedp.Evaluate[chromedp.Void]("location.hash = '#/1/heap?tab=growth&vs=before.core'"))
	b.until("[...document.querySelectorAll('.heap tr')].some(e => e.innerText.includes('+3,000') && e.innerText.includes('main.session'))")
	b.until("document.querySelector('.heap').innerText.includes('main.sessions')")
	look("growth")(b)
}
