// Command counted allocates in some stretches, collects at the end of each and
// prints what the runtime has counted until then: one line of JSON a stretch. It
// builds with Go 1.18.
package main

import (
	"encoding/json"
	"os"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// counted is in seconds of all Ps; Fraction is of all time since the start. The
// classes are 0 before Go 1.20.
type counted struct {
	GC, Idle, Total, Fraction float64
}

var kept [64][]byte

func main() {
	out := json.NewEncoder(os.Stdout)
	samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"}}
	for stretch := 0; stretch < 4; stretch++ {
		var wg sync.WaitGroup
		for worker := 0; worker < 4; worker++ {
			wg.Add(1)
			go func(worker int) {
				defer wg.Done()
				for end := time.Now().Add(400 * time.Millisecond); time.Now().Before(end); {
					for i := worker; i < len(kept); i += 4 {
						kept[i] = make([]byte, 1<<(10+i%8))
					}
				}
			}(worker)
		}
		wg.Wait()
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		metrics.Read(samples)
		c := counted{Fraction: mem.GCCPUFraction}
		for i, to := range []*float64{&c.GC, &c.Idle, &c.Total} {
			if samples[i].Value.Kind() == metrics.KindFloat64 {
				*to = samples[i].Value.Float64()
			}
		}
		if err := out.Encode(c); err != nil {
			panic(err)
		}
	}
}
