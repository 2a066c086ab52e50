package e2e

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// media sets what style sheets are asked.
func (b *tab) media(kind string, features ...*emulation.MediaFeature) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: kind, Features: features})
		return err
	}))
}

// touch puts fingers on the page, moves them, and lifts them where there are none.
func (b *tab) touch(kind input.DispatchTouchEventType, at ...float64) {
	b.t.Helper()
	points := []*input.TouchPoint{}
	for i := 0; i+1 < len(at); i += 2 {
		points = append(points, &input.TouchPoint{X: at[i], Y: at[i+1], ID: new(float64(i))})
	}
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
		return err
	}))
}

// TestTouch: one finger moves the timeline, two zoom, a tap chooses, and one
// that stays first chooses a range.
func TestTouch(t *testing.T) {
	b := open(t, serve(t, record(t, "mutex", "-phases", "bare,trace"))+"#/1/timeline", 1000, 800, "light")
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: true})
		return err
	}))
	b.until(calm)
	x, y := b.rowOf("p0", 0.5)
	whole := b.length()
	b.touch(input.DispatchTouchEventTypeTouchStart, x-40, y)
	b.touch(input.DispatchTouchEventTypeTouchStart, x-40, y, x+40, y)
	for d := 60.0; d <= 200; d += 20 {
		b.touch(input.DispatchTouchEventTypeTouchMove, x-d, y, x+d, y)
	}
	b.touch(input.DispatchTouchEventTypeTouchEnd)
	b.until(fmt.Sprintf("(__loupe.snapshot().seen.end - __loupe.snapshot().seen.start) / 1e6 < %g", whole/2))
	from := eval[float64](b, "__loupe.snapshot().seen.start")
	b.touch(input.DispatchTouchEventTypeTouchStart, x, y)
	for d := 10.0; d <= 80; d += 10 {
		b.touch(input.DispatchTouchEventTypeTouchMove, x-d, y)
	}
	b.touch(input.DispatchTouchEventTypeTouchEnd)
	b.until(fmt.Sprintf("__loupe.snapshot().seen.start > %f", from))
	if strings.Contains(eval[string](b, "location.hash"), "t=") {
		t.Error("a finger that moves has chosen a range")
	}
	b.touch(input.DispatchTouchEventTypeTouchStart, x, y)
	time.Sleep(900 * time.Millisecond) // what is tested is that it stays
	for d := 10.0; d <= 80; d += 10 {
		b.touch(input.DispatchTouchEventTypeTouchMove, x+d, y)
	}
	b.touch(input.DispatchTouchEventTypeTouchEnd)
	b.until("/[?&]t=/.test(location.hash)")
	b.until(calm)
	x, y = b.rowOf("p0", 0.5)
	b.touch(input.DispatchTouchEventTypeTouchStart, x, y)
	b.touch(input.DispatchTouchEventTypeTouchEnd)
	b.until("location.hash.includes('sel=p0@')")
}

// TestForcedColours: where the user's colours replace ours, the view that is
// seen is told from the others, and a swatch keeps what it stands for.
func TestForcedColours(t *testing.T) {
	address := serve(t, record(t, "mutex", "-phases", "bare,trace"))
	for _, scheme := range []string{"light", "dark"} {
		b := open(t, "about:blank", 1280, 800, scheme)
		b.media("", &emulation.MediaFeature{Name: "forced-colors", Value: "active"}, &emulation.MediaFeature{Name: "prefers-color-scheme", Value: scheme})
		b.do(chromedp.Navigate(address + "#/1/timeline"))
		b.until(calm)
		if told := eval[string](b, `(() => {
			const edge = a => getComputedStyle(a).borderLeftColor, links = [...document.querySelectorAll("nav a")];
			const here = links.find(a => a.ariaCurrent), others = new Set(links.filter(a => a !== here).map(edge));
			return others.size === 1 && !others.has(edge(here)) ? "" : [edge(here), ...others].join(" ");
		})()`); told != "" {
			t.Errorf("%s: the views have the edges %s", scheme, told)
		}
		b.picture("forced-" + scheme)
	}
}

// TestPrint: on paper there is what was recorded, without what is to be clicked,
// and tables are whole.
func TestPrint(t *testing.T) {
	address := serve(t, record(t, "mutex", "-phases", "bare,trace"))
	for _, view := range []string{"overview", "scheduler"} {
		b := open(t, address+"#/1/"+view, 800, 1100, "dark")
		b.settled()
		b.until("document.querySelector('main .rows, main dl')")
		b.media("print")
		b.until("getComputedStyle(document.querySelector('header.top')).display === 'none' && getComputedStyle(document.querySelector('.printhead')).display === 'block'")
		if cut := eval[string](b, "[...document.querySelectorAll('.rows')].filter(r => r.scrollHeight > r.clientHeight + 2).map(r => r.scrollHeight + ' in ' + r.clientHeight).join(', ')"); cut != "" {
			t.Errorf("%s: tables are cut: %s", view, cut)
		}
		b.picture("print-" + view)
		b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
			r, err := chromedp.Call(ctx, page.PrintToPDF, page.PrintToPDFParams{})
			if err != nil {
				return err
			}
			data, err := base64.StdEncoding.DecodeString(string(r.Data))
			if err != nil {
				data = []byte(r.Data)
			}
			if !bytes.HasPrefix(data, []byte("%PDF-")) || len(data) < 10_000 {
				t.Errorf("%s: a file of %d bytes that begins with %.8q", view, len(data), data)
			}
			return nil
		}))
	}
}
