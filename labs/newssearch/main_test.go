package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseFeeds(t *testing.T) {
	f := func(text, want, fails string) {
		t.Helper()
		urls, err := parseFeeds(text)
		if fails != "" {
			if err == nil || !strings.Contains(err.Error(), fails) {
				t.Errorf("parseFeeds(%q) = %v, want an error with %q", text, err, fails)
			}
			return
		}
		if got := fmt.Sprint(urls); err != nil || got != want {
			t.Errorf("parseFeeds(%q) = %s, %v, want %s", text, got, err, want)
		}
	}
	f("", "map[]", "")
	f("cnn=http://x/a.xml?b=c", "map[cnn:http://x/a.xml?b=c]", "")
	f("cnn=http://x,bbc=http://y", "map[bbc:http://y cnn:http://x]", "")
	f("cnn", "", `"cnn" is not NAME=URL`)
}
