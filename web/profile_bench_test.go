package web

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// BenchmarkProfileRange asks for the flame graph and the table of other ten
// seconds of a trace each time, as a brush does. LOUPE_TRACE names the trace.
func BenchmarkProfileRange(b *testing.B) {
	name := os.Getenv("LOUPE_TRACE")
	if name == "" {
		b.Skip("LOUPE_TRACE names no trace")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		b.Fatal(err)
	}
	p := loosePages(b, map[string][]byte{"trace": data})
	st, err := p.sources.all[0].stays(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	all := int64(st.Span().Len())
	length := min(all, 10e9)
	for _, view := range []string{"flame", "top"} {
		for _, kind := range []string{"offcpu", "running"} {
			b.Run(view+"/"+kind, func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(1, 2))
				size := 0
				for b.Loop() {
					from := rnd.Int64N(all - length + 1)
					w := p.ask(b.Context(), fmt.Sprintf("profile/%s?s=1&p=trace/%s&width=1900&t0=%d&t1=%d", view, kind, from, from+length), nil)
					if w.Code != 200 {
						b.Fatal(w.Body)
					}
					size = w.Body.Len()
				}
				b.ReportMetric(float64(size), "B/answer")
			})
		}
	}
}
