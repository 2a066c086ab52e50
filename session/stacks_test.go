package session_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"loupe/recording"
	"loupe/session"
)

const panicked = `panic: no more

goroutine 7 [running]:
main.sell()
	/src/shop/sell.go:7 +0x1d
created by main.main in goroutine 1
	/src/shop/main.go:3 +0x2f

goroutine 8 [chan receive, 12 minutes]:
main.wait()
	/src/shop/wait.go:9 +0x1d
created by main.main in goroutine 1
	/src/shop/main.go:4 +0x2f
exit status 2
`

// TestStacks: a dump is an entry like any other, and a goroutine profile too.
func TestStacks(t *testing.T) {
	fsys := fstest.MapFS{"crash.log": {Data: []byte(panicked)}, "log": {Data: []byte(looseLog + panicked)}, "quiet": {Data: []byte(looseLog)}}
	s, files, err := session.Loose(fsys, []string{"crash.log"})
	if err != nil {
		t.Fatal(err)
	}
	if f := files[0]; f.Kind != recording.Stacks || f.Dumps != 1 || f.Goroutines != 2 {
		t.Errorf("the file is %+v", f)
	}
	all, err := s.Stacks()
	if err != nil || len(all) != 1 || all[0].Goroutines() != 2 || all[0].Entry.Path != "crash.log" {
		t.Errorf("Stacks = %v, %v", all, err)
	}
	p, _, err := s.Profile(recording.Goroutine)
	if err != nil || p.Len() != 2 || p.Total(0) != 2 {
		t.Errorf("Profile = %v, %v", p, err)
	}

	// The log of a program that has panicked is a log, with a dump.
	s, files, err = session.Loose(fsys, []string{"log"})
	if err != nil || files[0].Kind != recording.Stderr || files[0].Cycles != 2 {
		t.Fatalf("the log is %+v, %v", files, err)
	}
	if all, err = s.Stacks(); err != nil || len(all) != 1 || all[0].Goroutines() != 2 {
		t.Errorf("Stacks of a log = %v, %v", all, err)
	}
	if f := files[0]; f.Dumps != 1 || f.Goroutines != 2 {
		t.Errorf("the log has %d dumps, %d goroutines", f.Dumps, f.Goroutines)
	}
	if p, e, err := s.Profile(recording.Goroutine); err != nil || p.Total(0) != 2 || e.Path != "log" {
		t.Errorf("Profile of a log = %v, %+v, %v", p, e, err)
	}
	if s, _, err = session.Loose(fsys, []string{"quiet"}); err != nil {
		t.Fatal(err)
	}
	if _, err = s.Stacks(); !errors.Is(err, session.ErrNone) {
		t.Errorf("Stacks of a quiet log: %v, want none", err)
	}
}
