package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/format/exectrace"
	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// readers4 is a program on so many CPUs whose CPU time, in samples of 10 ms of a second, goes
// by this picture.
func readers4(cpus int, picture string, samples ...int) *recordingtest.Recording {
	r := recordingtest.New(fmt.Sprintf("title x\ntarget package ./shop module=shop\nhost cpus=%d\nphase bare 0s..10s\nphase cpu 10s..11s profiler=cpu\n", cpus))
	counts, ns, sum := "=", "=", 0
	for _, n := range samples {
		counts += fmt.Sprintf(" %d", n)
		ns += fmt.Sprintf(" %d", n*10_000_000)
		sum += n
	}
	data := profiletest.Encode(strings.TrimSpace(picture)+"\n"+counts+"\n"+ns, profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 1e9})
	return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, data)
}

func TestLK03(t *testing.T) {
	const picture = `
shop/cache.Get:/src/cache.go:20  shop/cache.Get:/src/cache.go:21  shop/a.work
sync.(*RWMutex).RLock            sync.(*RWMutex).RUnlock
sync/atomic.(*Int32).Add         sync/atomic.(*Int32).Add`
	f := expect(t, "bouncing", readers4(8, picture, 60, 40, 300), "LK03", Found, "25.0% of the CPU time", "RWMutex for reading", "cache.go:20")
	severity(t, "bouncing", f, Warning)
	near(t, "bouncing", f, 0.25)
	severity(t, "some", expect(t, "some", readers4(8, picture, 20, 20, 360), "LK03", Found), Info)
	expect(t, "little", readers4(8, picture, 5, 5, 390), "LK03", Fine)
	expect(t, "two Ps", readers4(2, picture, 60, 40, 300), "LK03", NotApplicable, "2 Ps")
	expect(t, "one at a time", readers4(8, picture, 15, 10, 75), "LK03", Fine, "1.00 CPUs")
	const waits = `
shop/cache.Get:/src/cache.go:20  shop/a.work
sync.(*RWMutex).RLock
sync.runtime_SemacquireRWMutexR
runtime.semacquire1`
	expect(t, "it waits for a writer", readers4(8, waits, 100, 300), "LK03", Fine)
}

// blocked is a program with a block profile of these columns: contentions and milliseconds.
func blocked(cpu, picture string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nhost cpus=4\nphase bare 0s..10s user=" + cpu + "\nphase block 10s..15s profiler=block\n")
	data := profiletest.Encode(strings.TrimSpace(picture), profiletest.Options{Types: []string{"contentions/count", "delay/nanoseconds"}})
	return r.Put(recording.Entry{Path: "block.pb.gz", Kind: recording.Block, Phase: "block"}, data)
}

func TestLK07(t *testing.T) {
	const picture = `
net/http.(*conn).serve                net/http.(*conn).serve  main.main
shop.gather:/src/gather.go:12         shop.get:/src/get.go:3  sync.(*WaitGroup).Wait
sync.(*WaitGroup).Wait                sync.(*Mutex).Lock
= %d 100 1
= %d 1000000000 60000000000`
	f := expect(t, "a fan-out", blocked("5s", fmt.Sprintf(picture, 400, 4_000_000_000)), "LK07", Found, "80.0% of the waiting of goroutines other than main", "gather.go:12", "400 waits", "10.0 ms each", "12.5% busy")
	severity(t, "a fan-out", f, Info)
	near(t, "a fan-out", f, 0.8)
	expect(t, "a small part", blocked("5s", fmt.Sprintf(picture, 400, 500_000_000)), "LK07", Fine, "33.3%")
	expect(t, "at work", blocked("30s", fmt.Sprintf(picture, 400, 4_000_000_000)), "LK07", Fine, "75.0% busy")
	expect(t, "few", blocked("5s", fmt.Sprintf(picture, 5, 4_000_000_000)), "LK07", TooLittle, "5 waits")
	expect(t, "main alone", blocked("5s", "main.main\nsync.(*WaitGroup).Wait\n= 500\n= 60000000000"), "LK07", Fine, "no goroutine but main")
	expect(t, "none", recordingtest.New("title x"), "LK07", NotApplicable)
	// Where a trace has the requests, the account says it, and better.
	s := newScene(t)
	s.group("main.serve", 8, 8, 3*ms, 0)
	s.block("main.serve", exectrace.NameSync, 400, 10*ms, s.stack("sync.(*WaitGroup).Wait", "shop.gather:/src/gather.go:12", "main.serve"), 0)
	s.expect("LK07", TooLittle)
}
