package main

import (
	"io"
	"strconv"
)

// metrics are counters with labels, in the text format of Prometheus.
type metrics struct {
	families []family
	text     []byte // reused
}

type family struct {
	name, help, kind string
	labels           []string // of each series: `{code="200"}`
	values           []uint64
}

// newMetrics makes so many families of eight series each.
func newMetrics(families int) *metrics {
	what := []string{"requests", "errors", "bytes_sent", "bytes_received", "retries", "cache_hits", "cache_misses", "queue_length"}
	m := &metrics{}
	for n := range families {
		f := family{name: "shop_" + what[n%len(what)] + "_" + strconv.Itoa(n/len(what)), kind: "counter"}
		f.help = "How many " + what[n%len(what)] + " there were since the start."
		for s := range 8 {
			f.labels = append(f.labels, `{shard="`+strconv.Itoa(s)+`",zone="`+string(rune('a'+s%3))+`"}`)
			f.values = append(f.values, uint64(1000*n+s))
		}
		m.families = append(m.families, f)
	}
	return m
}

// count lets time go by: every series grows by a number of its own.
func (m *metrics) count() {
	for i := range m.families {
		for s := range m.families[i].values {
			m.families[i].values[s] += uint64(1 + (i*7+s*13)%97)
		}
	}
}

// writeTo writes the text, a family at a time.
func (m *metrics) writeTo(w io.Writer) error {
	for _, f := range m.families {
		t := m.text[:0]
		t = append(append(append(append(append(t, "# HELP "...), f.name...), ' '), f.help...), '\n')
		t = append(append(append(append(append(t, "# TYPE "...), f.name...), ' '), f.kind...), '\n')
		for s, v := range f.values {
			t = append(append(append(t, f.name...), f.labels[s]...), ' ')
			t = append(strconv.AppendUint(t, v, 10), '\n')
		}
		m.text = t
		if _, err := w.Write(t); err != nil {
			return err
		}
	}
	return nil
}
