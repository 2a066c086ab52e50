//go:build ignore

// Command units prints quantities and how package unit writes them, for
// TestUnits.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"loupe/value/unit"
)

func main() {
	var xs []float64
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		xs = append(xs, math.Exp(r.Float64()*60-20), math.Round(math.Exp(r.Float64()*40)))
	}
	// Where the form changes, halves that are rounded, and their neighbours.
	for e := -6; e <= 15; e++ {
		for _, m := range []float64{1, 0.9994, 0.9995, 0.99951, 0.99949, 1.005, 1.015, 1.025, 1.125, 9.995, 9.985, 2.5, 3.5, 1.0235, 1.0225, 6, 5.9995} {
			x := m * math.Pow10(e)
			xs = append(xs, x, math.Nextafter(x, 0), math.Nextafter(x, math.Inf(1)))
		}
	}
	for e := range 62 {
		x := math.Ldexp(1, e)
		xs = append(xs, x, x-1, x+1, x*1.5, x*1023.5/1024)
	}
	for x := 0.0; x < 130; x += 0.125 {
		xs = append(xs, x, x/100, x*60e9, x*1e9+0.5e9)
	}
	var all []string
	add := func(form string, x float64, text string) {
		v, err := json.Marshal([]any{form, x, text})
		if err != nil {
			panic(err)
		}
		all = append(all, string(v))
	}
	for _, x := range append(xs, 0) {
		for _, x := range []float64{x, -x} {
			if math.Abs(x) < 9e18 {
				add("duration", x, unit.Nanoseconds(x))
			}
			add("bytes", x, unit.BytesOf(x))
			if math.Abs(x) < 1<<53 {
				add("count", math.Round(x), unit.Count(int64(math.Round(x))))
				add("number", x, unit.Number(x))
			}
			add("percent", x, unit.Percent(x))
			if x >= 0 {
				add("change", x, unit.Change(x))
			}
		}
	}
	fmt.Println("[" + strings.Join(all, ",\n") + "]")
}
