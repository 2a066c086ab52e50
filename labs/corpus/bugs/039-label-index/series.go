package main

import (
	"fmt"
	"strings"
)

func body(tenant string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "pod=%s-%d;", tenant, n)
	for i := range 150 {
		fmt.Fprintf(&b, "label_%d=value of label %d;", i, i)
	}
	return b.String()
}

func parse(text string, label func(name, value string)) {
	for len(text) > 0 {
		end := strings.IndexByte(text, ';')
		if end < 0 {
			return
		}
		pair := text[:end]
		text = text[end+1:]
		if name, value, ok := strings.Cut(pair, "="); ok {
			label(name, value)
		}
	}
}
