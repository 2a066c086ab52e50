package session

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"loupe/format/dump"
	"loupe/recording"
)

// coreFS has cores of which it says what it is told to.
type coreFS struct {
	fstest.MapFS
	text  string
	asked int
}

func (c *coreFS) Readable(string) bool { return c.text != "" }

func (c *coreFS) Goroutines(string) (*dump.File, error) {
	c.asked++
	if c.text == "" {
		return nil, errors.New("its program is not there")
	}
	return dump.Parse([]byte(c.text)), nil
}

// TestLooseCores: a core is read when somebody asks and not before; what is wrong with
// it is an error, and without somebody who reads it, it is refused.
func TestLooseCores(t *testing.T) {
	files := fstest.MapFS{"core": {Data: []byte("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x04\x00" + strings.Repeat("\x00", 46))}}
	if _, _, err := Loose(files, []string{"core"}); err == nil || !strings.Contains(err.Error(), "core is a core file") {
		t.Errorf("nobody reads it: %v", err)
	}
	open := func(text string) (*Session, *coreFS) {
		t.Helper()
		c := &coreFS{MapFS: files, text: text}
		s, known, err := Loose(c, []string{"core"})
		if err != nil || len(known) != 1 || known[0].Kind != CoreFile || c.asked != 0 {
			t.Fatalf("%+v, asked %d times, %v", known, c.asked, err)
		}
		return s, c
	}
	s, c := open("panic: no\n\ngoroutine 7 [running]:\nmain.f()\n\t/f.go:3\n")
	all, err := s.Stacks()
	if err != nil || len(all) != 1 || all[0].IDs[0] != 7 || all[0].Entry.Kind != CoreFile {
		t.Errorf("%+v, %v", all, err)
	}
	if p, _, err := s.Profile(recording.Goroutine); err != nil || p.Len() != 1 || c.asked != 1 {
		t.Errorf("as a profile: %v, asked %d times", err, c.asked)
	}
	s, _ = open("")
	if all, err := s.Stacks(); len(all) != 0 || err == nil || len(s.Manifest().Of(recording.Goroutine)) != 0 {
		t.Errorf("without its program: %+v, %v", all, err)
	}
	s, _ = open("nothing of a dump")
	if _, _, err := s.Profile(recording.Goroutine); !errors.Is(err, ErrNone) {
		t.Errorf("without a goroutine: %v", err)
	}
}
