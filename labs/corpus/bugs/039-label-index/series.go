package main

import (
	"fmt"
	"strconv"
	"strings"
)

func common() string {
	var b strings.Builder
	for i := range 150 {
		fmt.Fprintf(&b, "label_%d=value of label %d;", i, i)
	}
	return b.String()
}

func body(tenant string, n int, rest string) string {
	return "pod=" + tenant + "-" + strconv.Itoa(n) + ";" + rest
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
