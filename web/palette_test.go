package web

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// colour is one of linear light, its parts from 0 to 1.
type colour [3]float64

// oklab returns a colour in a space where distances are those that people see.
func (c colour) oklab() colour {
	l := math.Cbrt(0.4122214708*c[0] + 0.5363325363*c[1] + 0.0514459929*c[2])
	m := math.Cbrt(0.2119034982*c[0] + 0.6806995451*c[1] + 0.1073969566*c[2])
	s := math.Cbrt(0.0883024619*c[0] + 0.2817188376*c[1] + 0.6299787005*c[2])
	return colour{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// distance is how different two colours look: 1 is hardly seen, 100 black and white.
func distance(a, b colour) float64 {
	a, b = a.oklab(), b.oklab()
	return 100 * math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2])
}

// contrast is that of WCAG 2.2, from 1 to 21.
func contrast(a, b colour) float64 {
	light := func(c colour) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] + 0.05 }
	return max(light(a), light(b)) / min(light(a), light(b))
}

// visions are what people see: everything, and without one of the three kinds
// of cones, by Machado, Oliveira and Fernandes (2009), of full severity.
var visions = map[string][3]colour{
	"all colours": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":  {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {
		{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881},
	},
	"tritanopia": {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func (c colour) seen(vision [3]colour) (out colour) {
	for i, row := range vision {
		out[i] = min(1, max(0, row[0]*c[0]+row[1]*c[1]+row[2]*c[2]))
	}
	return out
}

// themes reads the colours of the style sheet: those of the dark theme add to,
// and replace, those of the light one.
func themes(t *testing.T) map[string]map[string]colour {
	t.Helper()
	text, err := os.ReadFile("ui/app/colours.css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile(`(?ms)^:root(?:\[data-theme="dark"\])? \{(.*?)^\}`).FindAllSubmatch(text, -1)
	if len(blocks) != 2 {
		t.Fatalf("colours.css has %d blocks of colours, want one for each theme", len(blocks))
	}
	out := map[string]map[string]colour{"light": {}, "dark": {}}
	for i, block := range blocks {
		for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllSubmatch(block[1], -1) {
			var c colour
			for k := range c {
				v, err := strconv.ParseUint(string(m[2][2*k:2*k+2]), 16, 8)
				if err != nil {
					t.Fatal(err)
				}
				if c[k] = float64(v) / 255; c[k] <= 0.04045 {
					c[k] /= 12.92
				} else {
					c[k] = math.Pow((c[k]+0.055)/1.055, 2.4)
				}
			}
			for _, theme := range []string{"light", "dark"}[i:] {
				out[theme][string(m[1])] = c
			}
		}
	}
	return out
}

// TestPalette: what is written can be read, and states are told apart by who
// sees no red, no green or no blue.
func TestPalette(t *testing.T) {
	states := []string{"running", "runnable", "sync", "chan", "net", "sleep", "syscall", "assist", "mark", "sweep", "stw"}
	classes := []string{"f-main", "f-org", "f-third", "f-std", "f-runtime", "f-gc", "f-syscall", "f-cgo"}
	for theme, c := range themes(t) {
		wants := func(what, on string, least float64) {
			t.Helper()
			a, ok := c[what]
			b, ok2 := c[on]
			if !ok || !ok2 {
				t.Errorf("%s: colours.css has no --%s or no --%s", theme, what, on)
			} else if got := contrast(a, b); got < least {
				t.Errorf("%s: the contrast of --%s on --%s is %.2f, want %.1f", theme, what, on, got, least)
			}
		}
		for _, on := range []string{"bg", "surface", "raised"} {
			for _, text := range []string{"text", "muted", "accent", "critical", "warn", "ok"} {
				wants(text, on, 4.5)
			}
			wants("control", on, 3)
			wants("ring", on, 3)
		}
		wants("text", "select", 4.5)
		wants("on-accent", "accent", 4.5)
		for _, f := range classes {
			wants("f-text", f, 4.5)
		}
		for _, s := range append(states, "worse", "better") {
			wants(s, "bg", 3)
		}
		for _, set := range [][]string{states, classes, {"worse", "better"}} {
			for vision, see := range visions {
				nearest, pair := math.Inf(1), ""
				for i, a := range set {
					for _, b := range set[:i] {
						if d := distance(c[a].seen(see), c[b].seen(see)); d < nearest {
							nearest, pair = d, fmt.Sprintf("--%s and --%s", a, b)
						}
					}
				}
				if nearest < 9 {
					t.Errorf("%s, %s: %s are %.1f apart, want 9", theme, vision, pair, nearest)
				}
				t.Logf("%s, %s: nearest are %s, %.1f apart", theme, vision, pair, nearest)
			}
		}
	}
}
