package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime/trace"
	"strings"
)

// document is one RSS file on its way through the four steps of a search. Each
// step lets go of what the step before it has made; after an error the steps
// that are left do nothing.
type document struct {
	name  string
	file  fs.File
	data  []byte
	feed  rss
	found int // items that mention the term
	err   error
}

type rss struct {
	XMLName xml.Name `xml:"rss"`
	Items   []struct {
		Title       string `xml:"title"`
		Description string `xml:"description"`
	} `xml:"channel>item"`
}

// open opens the file, unless nobody waits for the answer any more.
func (d *document) open(ctx context.Context, dir fs.FS) {
	if d.err = ctx.Err(); d.err != nil {
		return
	}
	d.file, d.err = dir.Open(d.name)
}

func (d *document) read() {
	if d.err != nil {
		return
	}
	var err error
	d.data, err = io.ReadAll(d.file)
	d.err = errors.Join(err, d.file.Close())
	d.file = nil
}

func (d *document) decode() {
	if d.err != nil {
		return
	}
	if err := xml.Unmarshal(d.data, &d.feed); err != nil {
		d.err = fmt.Errorf("cannot decode %s: %w", d.name, err)
	}
	d.data = nil
}

func (d *document) count(term string) {
	if d.err != nil {
		return
	}
	for _, item := range d.feed.Items {
		if strings.Contains(item.Title, term) || strings.Contains(item.Description, term) {
			d.found++
		}
	}
	d.feed = rss{}
}

// search takes the document through its steps.
func (d *document) search(ctx context.Context, q query) {
	d.open(ctx, q.dir)
	d.read()
	d.decode()
	d.count(q.term)
}

// searchTraced is search for the reader of an execution trace: a task for the
// document, and in it a region for each step.
func (d *document) searchTraced(ctx context.Context, q query) {
	ctx, task := trace.NewTask(ctx, "document")
	defer task.End()
	trace.Log(ctx, "name", d.name)
	trace.WithRegion(ctx, "OpenFile", func() { d.open(ctx, q.dir) })
	trace.WithRegion(ctx, "ReadAll", d.read)
	trace.WithRegion(ctx, "Unmarshal", d.decode)
	trace.WithRegion(ctx, "Contents", func() { d.count(q.term) })
}
