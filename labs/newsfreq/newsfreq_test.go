package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/labs/newssearch/feeds"
)

// feed writes a document with items of these titles and descriptions.
func feed(items ...[2]string) *fstest.MapFile {
	var b strings.Builder
	b.WriteString("<rss><channel><title>President</title>")
	for _, item := range items {
		fmt.Fprintf(&b, "<item><title>%s</title><description>%s</description></item>", item[0], item[1])
	}
	b.WriteString("</channel></rss>")
	return &fstest.MapFile{Data: []byte(b.String())}
}

func named(names ...string) []document {
	docs := make([]document, len(names))
	for i, name := range names {
		docs[i].name = name
	}
	return docs
}

// TestModes: every form finds the same, item by item: in the title, in the
// description, in both but once, and not outside of items.
func TestModes(t *testing.T) {
	dir := fstest.MapFS{
		"title.xml": feed([2]string{"The President speaks", "of nothing"}),
		"text.xml":  feed([2]string{"Weather", "The President was wet"}, [2]string{"Sport", "A president fell"}),
		"both.xml":  feed([2]string{"President", "President"}, [2]string{"President", ""}),
		"none.xml":  feed([2]string{"Weather", "dry"}),
		"empty.xml": feed(),
	}
	want := map[string]int{"title.xml": 1, "text.xml": 1, "both.xml": 2}
	for name, search := range modes {
		docs := named("title.xml", "text.xml", "both.xml", "none.xml", "empty.xml", "both.xml")
		search(context.Background(), query{dir, "President"}, docs)
		for _, d := range docs {
			if d.err != nil || d.found != want[d.name] {
				t.Errorf("%s: %s has %d items, want %d: %v", name, d.name, d.found, want[d.name], d.err)
			}
			if d.file != nil || d.data != nil || d.feed.Items != nil {
				t.Errorf("%s: %s keeps what it needs no more", name, d.name)
			}
		}
		if items, hits, err := total(docs); items != 6 || hits != 4 || err != nil {
			t.Errorf("%s: total = %d, %d, %v", name, items, hits, err)
		}
	}
}

// TestGenerated counts in the lab's own documents in another way: without XML.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	if err := generate(dir); err != nil {
		t.Fatal(err)
	}
	docs := make([]document, distinct+3)
	want := make([]int, len(docs))
	for i := range docs {
		docs[i].name = fileName(i)
		text := string(feeds.Feed(feeds.Names[i%distinct%len(feeds.Names)], uint64(i%distinct)))
		for _, item := range strings.Split(text, "<item>")[1:] {
			if strings.Contains(item, "President") {
				want[i]++
			}
		}
	}
	numCPU(context.Background(), query{os.DirFS(dir), "President"}, docs)
	found := 0
	for i, d := range docs {
		if d.err != nil || d.found != want[i] {
			t.Errorf("%s has %d items, want %d: %v", d.name, d.found, want[i], d.err)
		}
		found += d.found
	}
	if found == 0 {
		t.Error("no document has the word that the lab looks for")
	}
}

// TestBroken: a document that cannot be searched is named, and the others are
// counted.
func TestBroken(t *testing.T) {
	dir := fstest.MapFS{
		"good.xml": feed([2]string{"President", ""}),
		"cut.xml":  {Data: []byte("<rss><channel><item>")},
		"html.xml": {Data: []byte("<html></html>")},
	}
	for name, search := range modes {
		docs := named("cut.xml", "gone.xml", "html.xml", "good.xml")
		search(context.Background(), query{dir, "President"}, docs)
		items, hits, err := total(docs)
		if items != 1 || hits != 1 || !errors.Is(err, fs.ErrNotExist) ||
			!strings.Contains(err.Error(), "cut.xml") || !strings.Contains(err.Error(), "html.xml") {
			t.Errorf("%s: total = %d, %d, %v", name, items, hits, err)
		}
	}
}

// TestInterrupted: every form ends soon, and nothing is left on the disk.
func TestInterrupted(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for name, search := range modes {
		docs := named("a.xml", "b.xml")
		search(ctx, query{fstest.MapFS{"a.xml": feed(), "b.xml": feed()}, "President"}, docs)
		for _, d := range docs {
			if d.err != context.Canceled {
				t.Errorf("%s: %s was searched: %v", name, d.name, d.err)
			}
		}
	}
	if err := run(ctx, "find", "President", 5, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("run = %v", err)
	}
	if err := run(context.Background(), "numcpu", "President", 3, filepath.Join(temp, "trace.out")); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(temp, "newsfreq-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestUsage(t *testing.T) {
	f := func(mode string, documents int, fails string) {
		t.Helper()
		err := run(context.Background(), mode, "President", documents, "")
		if err == nil || !strings.Contains(err.Error(), fails) {
			t.Errorf("run = %v, want an error with %q", err, fails)
		}
	}
	f("search", 1, `unknown -mode "search": there are actor, fanout, find, numcpu, sem, tasks`)
	f("find", 0, "-docs 0")
}
