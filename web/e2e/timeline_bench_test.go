package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// TestTimelineFrames measures what a frame of the timeline takes while it is
// moved and zoomed, on the trace that LOUPE_BENCH_TRACE names. It asserts
// nothing: see docs/benchmarks.md.
func TestTimelineFrames(t *testing.T) {
	trace := os.Getenv("LOUPE_BENCH_TRACE")
	if trace == "" {
		t.Skip("LOUPE_BENCH_TRACE names no trace")
	}
	b := open(t, serve(t, trace)+"#/1/timeline", 1920, 1080, "light")
	b.until("window.__loupe?.snapshot().rows.length > 2 && __loupe.snapshot().settled")
	eval[bool](b, `void (async () => {
		const next = () => new Promise(requestAnimationFrame);
		const calm = async () => { for (let i = 0; i < 400; i++) { await new Promise(r => setTimeout(r, 50)); if (__loupe.snapshot().settled) return; } };
		const line = (name, list) => {
			list.sort((a, b) => a - b);
			const at = (p) => list[Math.min(list.length - 1, Math.floor(list.length * p))].toFixed(1).padStart(7);
			return name.padEnd(44) + 'least' + at(0) + '  p50' + at(.5) + '  p95' + at(.95) + '  p99' + at(.99) + '  most' + at(1) + ' ms  (' + list.length + ' frames)';
		};
		// own is the work of the page in a frame: from its first callback, which is
		// this one, to behind its last one, the stage's. apart is from frame to frame.
		const run = async (name, n, step) => {
			const own = [], apart = [];
			let before = 0;
			for (let i = 0; i < n; i++) {
				step(i);
				await next(); // the stage's frame was asked for first, and has been drawn now
				const now = performance.now();
				own.push(__loupe.snapshot().took);
				if (before) apart.push(now - before);
				before = now;
			}
			return [line(name + ', work', own), line(name + ', frame to frame', apart)];
		};
		const out = [];
		await calm();
		const s = () => { const x = __loupe.snapshot(); return x.rows.length + ' rows, level ' + x.level + ', ' + x.tiles + ' tiles of ' + (x.bytes / 1e6).toFixed(1) + ' MB'; };
		out.push('all of it: ' + s());
		// What is there is moved to and fro: the tiles of it are fetched first.
		for (const [name, zoom] of [['zoomed 4×', .25], ['zoomed 64×', 1 / 16], ['zoomed 4096×', 1 / 64]]) {
			__loupe.zoom(zoom);
			await calm();
			for (const px of [1500, -3000, 1500]) { __loupe.pan(px); await calm(); }
			out.push(...await run(name + ' pan', 240, (i) => __loupe.pan(i % 120 < 60 ? 13 : -13)));
			out.push(name + ': ' + s());
		}
		out.push(...await run('zoom out, tiles on the way', 200, () => __loupe.zoom(1.06)));
		await calm();
		out.push(...await run('zoom in and out again', 240, (i) => __loupe.zoom(i % 120 < 60 ? .95 : 1 / .95)));
		await calm();
		const scroll = document.querySelector('.tl-scroll');
		out.push(...await run('scroll', 120, (i) => { scroll.scrollTop = i % 60 * 9; }));
		await calm();
		const f = __loupe.snapshot().frames;
		await new Promise(r => setTimeout(r, 1500));
		out.push('frames while nothing changes: ' + (__loupe.snapshot().frames - f));
		out.push(s());
		window.__measured = out.join('\n');
	})() || true`)
	for n := 0; n < 300 && !eval[bool](b, "!!window.__measured"); n++ {
		time.Sleep(time.Second)
	}
	fmt.Println(eval[string](b, "String(window.__measured)"))
	memory(b)
}

// memory tells how much memory the page has taken: its heap, and on Linux its
// whole process.
func memory(b *tab) {
	b.t.Helper()
	fmt.Println("heap of the page:", eval[string](b, `(performance.memory.usedJSHeapSize / 1e6).toFixed(1) + ' MB used, ' + (performance.memory.totalJSHeapSize / 1e6).toFixed(1) + ' MB taken'`))
	var all systeminfo.GetProcessInfoResult
	if err := chromedp.FromContext(b.ctx).Browser.Call(b.ctx, systeminfo.CommandGetProcessInfo, nil, &all); err != nil {
		b.t.Fatal(err)
	}
	for _, p := range all.ProcessInfo {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.ID))
		if p.Type != "renderer" || err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if strings.HasPrefix(line, "RssAnon") {
				fmt.Print("a renderer's own memory: ", strings.TrimPrefix(line, "RssAnon:"))
			}
		}
	}
}
