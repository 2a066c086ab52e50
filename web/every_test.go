package web

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/recording"
	"loupe/recording/recordingtest"
)

// TestEveryAnswer asks every question about recordings of every kind, of all time and
// of parts of it: none answers what cannot be (pages.ask looks), and none has a
// mistake.
func TestEveryAnswer(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]*pages{"trace": pagesOf(t, recordingOf(busy())), "gc": pagesOf(t, collecting()), "dump": dumpPages(t)} {
		for question, e := range endpoints {
			if e.acts || e.reply == nil || waits(question) {
				continue
			}
			for _, part := range []string{"", "&t0=0&t1=2000000", "&t0=1000000&t1=9000000", "&filter=state=runnable"} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				w := p.ask(ctx, question+"?s=1"+part, nil)
				cancel()
				if w.Code == http.StatusInternalServerError || strings.Contains(w.Body.String(), "has a mistake") {
					t.Errorf("%s: %s%s: %d %s", name, question, part, w.Code, w.Body)
				}
			}
		}
	}
}

// waits tells of questions that are answered when something happens.
func waits(question string) bool { return question == "watch" || strings.Contains(question, "events") }

// collecting is a recording with collections, samples of the scheduler and both of
// them in two rounds.
func collecting() *recordingtest.Recording {
	r := recordingtest.New("title x\nphase bare 0s..10s\nphase trace 10s..20s profiler=trace")
	text := recordingtest.Cycles(200, 10*time.Millisecond, 40*time.Millisecond, nil) + recordingtest.Scheds(2, 2, 1, 2, 0)
	r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr, Phase: "bare"}, []byte(text))
	return r
}

// dumpPages has the goroutines of a dump.
func dumpPages(t *testing.T) *pages {
	t.Helper()
	names, err := filepath.Glob("../format/dump/testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no dumps: %v", err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	r := recordingtest.New("title x\nphase bare 0s..10s")
	r.Put(recording.Entry{Path: "stderr.log", Kind: recording.Stderr, Phase: "bare"}, data)
	return pagesOf(t, r)
}
