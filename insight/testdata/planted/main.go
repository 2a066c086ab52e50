// Command planted allocates as the rules want it, or not: planted RULE FORM OUT
// writes a profile of the form "slow" or "fixed".
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"
)

// forms are the programs by rule.
var forms = map[string]map[string]func(){
	"AL01": {"slow": allocating, "fixed": computing},
	"AL02": {"slow": pointers, "fixed": values},
	"AL03": {"slow": boxed, "fixed": appended},
	"AL04": {"slow": throughReader, "fixed": concrete},
	"AL05": {"slow": madeAnew, "fixed": constant},
	"AL06": {"slow": grown, "fixed": presized},
	"AL07": {"slow": closures, "fixed": methods},
	"AL08": {"slow": added, "fixed": built},
	"AL10": {"slow": converted, "fixed": asBytes},
	"AL18": {"slow": copied, "fixed": pointed},
	"AL19": {"slow": deferredLate, "fixed": deferredEach},
}

func main() {
	rule, form, out := os.Args[1], os.Args[2], os.Args[3]
	run := forms[rule][form]
	f, err := os.Create(out)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer f.Close()
	if rule == "AL01" || rule == "AL18" {
		pprof.StartCPUProfile(f)
		for begun := time.Now(); time.Since(begun) < 6*time.Second; {
			run()
		}
		pprof.StopCPUProfile()
		return
	}
	runtime.MemProfileRate = 4096
	for range 500 {
		noise()
		run()
	}
	runtime.GC()
	pprof.Lookup("allocs").WriteTo(f, 0)
}

var (
	sink  any
	kept  [24]*[256]byte
	total int
)

// noise allocates on many lines, of which none is large.
func noise() {
	kept[0] = new([256]byte)
	kept[1] = new([256]byte)
	kept[2] = new([256]byte)
	kept[3] = new([256]byte)
	kept[4] = new([256]byte)
	kept[5] = new([256]byte)
	kept[6] = new([256]byte)
	kept[7] = new([256]byte)
	kept[8] = new([256]byte)
	kept[9] = new([256]byte)
	kept[10] = new([256]byte)
	kept[11] = new([256]byte)
	kept[12] = new([256]byte)
	kept[13] = new([256]byte)
	kept[14] = new([256]byte)
	kept[15] = new([256]byte)
	kept[16] = new([256]byte)
	kept[17] = new([256]byte)
	kept[18] = new([256]byte)
	kept[19] = new([256]byte)
	kept[20] = new([256]byte)
	kept[21] = new([256]byte)
	kept[22] = new([256]byte)
	kept[23] = new([256]byte)
}
