// Cgo hands strings to C and never frees them.
package main

/*
#include <stdlib.h>
#include <string.h>

static size_t length(const char *s) { return strlen(s); }
*/
import "C"

import (
	"fmt"
	"strings"
	"time"
)

func main() {
	text := strings.Repeat("a line of text. ", 4096)
	calls, sum := 0, 0
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(10 * time.Millisecond) {
		for ; float64(calls) < 100*time.Since(began).Seconds(); calls++ {
			sum += measure(text)
		}
	}
	fmt.Println(calls, sum)
}

func measure(text string) int {
	s := C.CString(text) // LEAK
	return int(C.length(s))
}
