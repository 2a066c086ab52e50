// Shapes makes the profiles that the rules' tests read: programs with one
// fault each, and their twins without it.
//
//	go build -trimpath -o shapes ./insight/testdata/shapes
//	./shapes -o insight/testdata/shapes            # all of them, about five minutes
//	./shapes -o insight/testdata/shapes al11 cp17  # some
//
// For each case NAME it writes NAME.cpu.pb.gz and NAME.allocs.pb.gz, of the twin
// NAME.clean.*; only those that a rule of the case reads are kept.
package main

import (
	"bytes"
	"flag"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"
)

// plant is a fault: run does some milliseconds of work, with it or without.
type plant struct {
	name string
	keep string // "cpu", "allocs" or "both"
	run  func(clean bool)
}

func main() {
	out := flag.String("o", ".", "directory for the profiles")
	long := flag.Duration("t", 4*time.Second, "time for each")
	one := flag.Bool("one", false, "run one case in this process")
	clean := flag.Bool("clean", false, "run the twin")
	flag.Parse()
	for _, p := range plants {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), p.name) {
			continue
		}
		if *one {
			record(p, *clean, *out, *long)
			return
		}
		for _, twin := range []string{"-clean=false", "-clean=true"} {
			cmd := exec.Command(os.Args[0], "-one", twin, "-o", *out, "-t", long.String(), p.name)
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				log.Fatalf("%s: %v", p.name, err)
			}
		}
	}
}

// record runs a case and writes its profiles.
func record(p plant, clean bool, dir string, long time.Duration) {
	name := filepath.Join(dir, p.name)
	if clean {
		name += ".clean"
	}
	var cpu bytes.Buffer
	if p.keep != "allocs" {
		if err := pprof.StartCPUProfile(&cpu); err != nil {
			log.Fatal(err)
		}
	}
	for begin := time.Now(); time.Since(begin) < long; {
		p.run(clean)
	}
	if p.keep != "allocs" {
		pprof.StopCPUProfile()
		write(name+".cpu.pb.gz", cpu.Bytes())
	}
	if p.keep != "cpu" {
		runtime.GC()
		var allocs bytes.Buffer
		if err := pprof.Lookup("allocs").WriteTo(&allocs, 0); err != nil {
			log.Fatal(err)
		}
		write(name+".allocs.pb.gz", allocs.Bytes())
	}
}

func write(name string, data []byte) {
	if err := os.WriteFile(name, data, 0o644); err != nil {
		log.Fatal(err)
	}
}
