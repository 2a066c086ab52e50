package e2e

import (
	"encoding/xml"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// calm waits until the timeline has all that it shows.
const calm = "window.__loupe?.snapshot().rows.length > 2 && __loupe.snapshot().settled"

// rowOf is the middle of the first row whose key begins with a text, in the
// window.
func (b *tab) rowOf(prefix string, share float64) (x, y float64) {
	b.t.Helper()
	at := eval[[]float64](b, fmt.Sprintf(`(() => {
		const r = __loupe.snapshot().rows.find(r => r.key.startsWith(%q)), f = document.querySelector('.tl-picture').getBoundingClientRect();
		return r ? [f.left + f.width * %g, f.top + r.y + r.height / 2] : [];
	})()`, prefix, share))
	if len(at) != 2 {
		b.t.Fatalf("no row begins with %q: %s", prefix, eval[string](b, "JSON.stringify(__loupe.snapshot().rows)"))
	}
	return at[0], at[1]
}

// length is how many ms of the trace are seen.
func (b *tab) length() float64 {
	return eval[float64](b, "(__loupe.snapshot().seen.end - __loupe.snapshot().seen.start) / 1e6")
}

// TestTimeline goes through the timeline by pointer and by keyboard.
func TestTimeline(t *testing.T) {
	address := serve(t, record(t, "mutex", "-phases", "bare,trace"))
	b := open(t, address+"#/1/timeline", 1280, 800, "light")
	b.until(calm)
	if text := b.text("main"); !strings.Contains(text, "P 0") || !strings.Contains(text, "Goroutines") {
		t.Errorf("the page does not name its lanes: %.300s", text)
	}
	whole := b.length()

	// Pixels are there, and of more than one colour.
	if n := eval[int](b, `(() => {
		const c = document.querySelector('.tl-picture canvas'), d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);
		return new Set(d).size;
	})()`); n < 4 {
		t.Errorf("the picture has %d colours", n)
	}

	// The same as a file shows nearly the same, and needs nothing else.
	if told := eval[string](b, `(async () => {
		const text = __loupe.svg();
		const image = new Image();
		image.src = URL.createObjectURL(new Blob([text], {type: "image/svg+xml"}));
		await image.decode();
		const c = document.querySelector(".tl-picture canvas"), other = document.createElement("canvas");
		other.width = c.width; other.height = c.height;
		const left = image.width - c.width, top = image.height - c.height, pen = other.getContext("2d");
		pen.drawImage(image, -left, -top);
		const a = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, b = pen.getImageData(0, 0, c.width, c.height).data;
		let off = 0, n = 0;
		for (let i = 0; i < a.length; i += 4) if (a[i + 3]) { n++; if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 90) off++; }
		return off * 8 < n ? "" : off + " of " + n + " pixels are others";
	})()`); told != "" {
		t.Error("the picture as SVG: " + told)
	}
	svg := eval[string](b, "__loupe.svg()")
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil || !strings.Contains(svg, ">P 0</text>") || strings.Contains(svg, "href") {
		t.Errorf("the picture as SVG is no XML, has no P 0 or needs something: %v %.300s", err, svg)
	}

	// A click chooses, and tells; a drag is the range.
	var x, y float64
	for n := 0; n < 10 && !eval[bool](b, "location.hash.includes('sel=p0@')"); n++ {
		x, y = b.rowOf("p0", 0.5)
		b.do(chromedp.MouseClickXY(x, y), chromedp.Sleep(300*time.Millisecond))
	}
	b.until("location.hash.includes('sel=p0@') && document.querySelector('.drawer .tl-facts')")
	b.do(chromedp.MouseEvent(chromedp.MousePressed, x-100, y, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseMoved, x, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, x+60, y, chromedp.ButtonLeft), chromedp.MouseEvent(chromedp.MouseReleased, x+60, y, chromedp.ButtonLeft))
	b.until("/[?&]t=/.test(location.hash)")
	b.until(calm)

	// Keys: fit the chosen one, the whole, zoom, move, pin, mark.
	b.do(chromedp.Focus(".tl-picture"))
	b.press("0")
	b.until("Math.abs(__loupe.snapshot().seen.end - __loupe.snapshot().seen.start - (__loupe.snapshot().all.end - __loupe.snapshot().all.start)) < 10")
	b.press("w")
	b.until(fmt.Sprintf("(__loupe.snapshot().seen.end - __loupe.snapshot().seen.start) / 1e6 < %g", whole*0.999))
	from := eval[float64](b, "__loupe.snapshot().seen.start")
	b.press("d")
	b.until(fmt.Sprintf("__loupe.snapshot().seen.start > %f", from))
	b.until("/[?&]v=/.test(location.hash)") // what is seen is in the address
	b.press("p")
	b.until("__loupe.snapshot().rows.some(r => r.pinned && r.key === 'p0')")
	b.press("m")
	b.until("location.hash.includes('mark=')")
	b.press("f")
	b.until(fmt.Sprintf("(__loupe.snapshot().seen.end - __loupe.snapshot().seen.start) / 1e6 < %g", whole/2))

	// Arrows go through lanes and spans, and say what is there.
	b.press(kb.ArrowDown) // down
	b.until("document.getElementById('said').textContent.length > 3")
	said := b.text("#said")
	b.press(".")
	b.press(kb.ArrowDown)
	b.until(fmt.Sprintf("document.getElementById('said').textContent !== %q", said))
	b.press("\x1b")
	b.until("!location.hash.includes('sel=')")
	b.press("\x1b")
	b.until("!/[?&]t=/.test(location.hash)")

	// A group opens, and its goroutines are lanes.
	b.do(chromedp.Click(".tl-head.group .tl-open"))
	b.until("__loupe.snapshot().rows.some(r => /^g\\d/.test(r.key))")
	if n := eval[int](b, "document.querySelectorAll('.tl-heads > *').length"); n > 80 {
		t.Errorf("%d heads of lanes are in the page", n)
	}

	// What is looked for is chosen and seen.
	b.do(chromedp.Focus(".tl-find input"), chromedp.SendKeys(".tl-find input", "state:sync>1us"))
	b.press("\r")
	b.until("/1 of|\\d of/.test(document.querySelector('.tl-find [role=status]').textContent) && /sel=g\\d/.test(location.hash)")
	b.until("document.querySelector('.drawer .tl-stack')")
	b.accessible()
	b.picture("timeline-chosen")

	// The table says the same.
	b.do(chromedp.Focus(".tl-picture"))
	b.press("t")
	b.until("document.querySelector('.tl-table [role=grid]')")
	if text := b.text(".tl-table"); !strings.Contains(text, "P 0") {
		t.Errorf("the table has no P 0: %.300s", text)
	}

	// The strip of the whole trace: drag out what is seen, take an end of it,
	// by pointer and by key; twice is all, and Shift a range.
	strip := func(from, to float64, shift chromedp.Modifier) {
		at := eval[[]float64](b, "(() => { const f = document.querySelector('.tl-mini').getBoundingClientRect(); return [f.left, f.width, f.top + f.height / 2]; })()")
		a, c := at[0]+from*at[1], at[0]+to*at[1]
		b.do(chromedp.MouseEvent(chromedp.MousePressed, a, at[2], chromedp.ButtonLeft, chromedp.ButtonModifiers(shift)), chromedp.MouseEvent(chromedp.MouseMoved, (a+c)/2, at[2], chromedp.ButtonLeft, chromedp.ButtonModifiers(shift)),
			chromedp.MouseEvent(chromedp.MouseMoved, c, at[2], chromedp.ButtonLeft, chromedp.ButtonModifiers(shift)), chromedp.MouseEvent(chromedp.MouseReleased, c, at[2], chromedp.ButtonLeft, chromedp.ButtonModifiers(shift)))
	}
	share := func(from, to float64) {
		t.Helper()
		b.until(fmt.Sprintf(`(() => { const s = __loupe.snapshot(), n = s.all.end - s.all.start, near = (t, x) => Math.abs((t - s.all.start) / n - x) < 0.02; return near(s.seen.start, %g) && near(s.seen.end, %g); })()`, from, to))
	}
	b.do(chromedp.Focus(".tl-picture"))
	b.press("0")
	share(0, 1)
	strip(0.2, 0.6, 0)
	share(0.2, 0.6)
	strip(0.6, 0.8, 0)
	share(0.2, 0.8)
	strip(0.5, 0.55, 0)
	share(0.25, 0.85)
	b.do(chromedp.Focus(".tl-grip"))
	b.press(kb.Home)
	share(0, 0.85)
	b.press(kb.ArrowRight)
	b.until("document.querySelector('.tl-grip').getAttribute('aria-valuenow') > 0")
	strip(0.3, 0.4, chromedp.ModifierShift)
	b.until("/[?&]t=/.test(location.hash)")
	share(0.01, 0.85)

	// The range restricts the figures.
	b.do(chromedp.Navigate(address + "#/1/timeline?panel=range"))
	b.until("document.querySelector('.drawer .facts')")
	all := b.text(".drawer .facts")
	b.do(chromedp.Evaluate[chromedp.Void](`(() => { const a = __loupe.snapshot().all, m = (a.start + a.end) / 2; location.hash = '#/1/timeline?panel=range&t=' + Math.round(m) + 'ns-' + Math.round(m + 1e6) + 'ns'; })()`))
	b.until(fmt.Sprintf("document.querySelector('.drawer .facts') && document.querySelector('.drawer .facts').innerText !== %q", all))
}

// TestTimelineLooks keeps pictures of the timeline and lets axe look, in both
// themes and two widths; an address shows what it names.
func TestTimelineLooks(t *testing.T) {
	address := serve(t, record(t, "mutex", "-phases", "bare,trace"))
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 360} {
			b := open(t, address+"#/1/timeline?open=thread,counter&panel=range", width, 800, scheme)
			b.until(calm)
			b.until("document.querySelector('.drawer .facts')")
			b.do(chromedp.Click(".tl-legend summary"))
			b.accessible()
			b.picture(fmt.Sprintf("timeline-%s-%d", scheme, width))
			if over := eval[int](b, "document.documentElement.scrollWidth - innerWidth"); over > 0 {
				t.Errorf("at %d px the page is %d px too wide", width, over)
			}
		}
	}
	b := open(t, address+"#/1/timeline", 1280, 800, "light")
	b.until(calm)
	start := eval[float64](b, "__loupe.snapshot().all.start")
	b.do(chromedp.Navigate(address + fmt.Sprintf("#/1/timeline?v=%.0fns-%.0fns&pin=p0", start+1e6, start+3e6)))
	b.until(fmt.Sprintf("Math.abs(__loupe.snapshot().seen.start - %.0f) < 1e5 && __loupe.snapshot().rows[0]?.key === 'p0'", start+1e6))
}

// TestTimelineWho: the tooltip of a P says which goroutine runs there, however far away
// one looks.
func TestTimelineWho(t *testing.T) {
	address := serve(t, record(t, "mutex", "-phases", "bare,trace"))
	b := open(t, address+"#/1/timeline", 1280, 800, "light")
	b.until(calm)
	for i := 1; i < 300; i++ {
		x, y := b.rowOf("p0", float64(i)/300)
		b.do(chromedp.MouseEvent(chromedp.MouseMoved, x, y))
		b.until("document.querySelector('.tl-tip') !== null")
		if !strings.Contains(b.text(".tl-tip"), "runs\n100%") {
			continue
		}
		// Nothing else is in that pixel.
		b.until("/^goroutine [0-9,]+ [a-z]/.test(document.querySelector('.tl-tip .tl-who')?.textContent ?? '')")
		b.picture("timeline-who")
		return
	}
	t.Error("the P runs nothing in any pixel")
}

// TestTimelineMissing says in plain words what to record.
func TestTimelineMissing(t *testing.T) {
	b := open(t, serve(t, record(t, "sieve", "-phases", "bare"))+"#/1/timeline", 1280, 800, "light")
	b.until("document.querySelector('main .empty, main .trouble')")
	if text := b.text("main"); !strings.Contains(text, "trace") {
		t.Errorf("a recording without a trace shows %q", text)
	}
	b.accessible()
}

// TestTimelineTasks shows the user's tasks as lanes: a click on one tells of its
// tree and its critical path, and a step of that goes to its goroutine.
func TestTimelineTasks(t *testing.T) {
	name := filepath.Join(t.TempDir(), "news.trace")
	lab := exec.Command("go", "run", "./labs/newsfreq", "-mode", "tasks", "-docs", "40", "-trace", name)
	lab.Dir = "../.."
	if out, err := lab.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b := open(t, serve(t, name)+"#/1/timeline?open=-proc,task", 1280, 800, "light")
	b.until(calm)
	b.until("__loupe.snapshot().rows.some(r => /^t\\d/.test(r.key))")
	x, y := b.rowOf("t", 0.5)
	b.do(chromedp.MouseClickXY(x, y))
	b.until("/sel=t\\d+@/.test(location.hash)")
	b.until("[...document.querySelectorAll('.drawer h2, .drawer h3, .drawer caption')].some(e => e.textContent.includes('critical path'))")
	b.press("f")
	b.until(calm)
	b.accessible()
	b.picture("timeline-task")
	eval[bool](b, "[...document.querySelectorAll('.drawer [role=grid]')].at(-1).querySelector('[role=row] [role=gridcell]').click(), true")
	b.until("/sel=g\\d+@/.test(location.hash)")
}
