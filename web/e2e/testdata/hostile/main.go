// Command hostile gives everything that a program may name a name that tries to
// be more than text.
package main

import (
	"context"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"
)

var names = []string{
	"<script>document.title='hacked'</script>", "<img src=x onerror=\"document.title='hacked'\">", "\u202egnp.exe", "nul\x00nul\x1b[31m", "\xff\xfe", "{{.}} %s %n ${x}", "",
}

func main() {
	var wg sync.WaitGroup
	for _, name := range names {
		wg.Add(1)
		go pprof.Do(context.Background(), pprof.Labels("key"+name, name), func(ctx context.Context) {
			defer wg.Done()
			x := 0
			for end := time.Now().Add(700 * time.Millisecond); time.Now().Before(end); {
				in, task := trace.NewTask(ctx, name)
				trace.WithRegion(in, name, func() {
					trace.Log(in, name, name)
					for i := range 1_000_000 {
						x += i
					}
					time.Sleep(time.Millisecond)
				})
				task.End()
			}
		})
	}
	wg.Wait()
}
