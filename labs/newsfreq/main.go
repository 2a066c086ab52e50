package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"loupe/labs/form"
)

func main() {
	log.SetFlags(0)
	mode := flag.String("mode", "find", "how to search: `one` of "+form.Names(modes))
	term := flag.String("term", "President", "the `word` to look for")
	documents := flag.Int("docs", 600, "`number` of documents to search")
	traceFile := flag.String("trace", "", "write an execution trace of the search to `file`")
	flag.Parse()
	// The folder of documents must go also when the program is interrupted.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *mode, *term, *documents, *traceFile); err != nil {
		log.Fatalln("newsfreq:", err)
	}
}

// run writes the documents, searches them in one of the modes, and removes
// them again.
func run(ctx context.Context, mode, term string, documents int, traceFile string) (err error) {
	search, err := form.Choose(modes, mode)
	if err != nil {
		return err
	}
	if documents < 1 {
		return fmt.Errorf("-docs %d: want at least 1", documents)
	}
	dir, err := os.MkdirTemp("", "newsfreq-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := generate(dir); err != nil {
		return err
	}
	docs := make([]document, documents)
	for i := range docs {
		docs[i].name = fileName(i)
	}
	return form.Traced(traceFile, func() error {
		search(ctx, query{os.DirFS(dir), term}, docs)
		if err := ctx.Err(); err != nil {
			return err // once, and not for every document
		}
		items, hits, err := total(docs)
		if err != nil {
			return err
		}
		fmt.Printf("searched %d documents: %d have %q, in %d items\n", documents, hits, term, items)
		return nil
	})
}
