package facts

import (
	"testing"

	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
)

// TestServes: what a go statement behind Accept is given the connection serves it; what is
// started before, without it, or elsewhere does not.
func TestServes(t *testing.T) {
	r := recordingtest.New("title x\ntarget package ./cmd/chat module=example.org/chat")
	r.Put(recording.Entry{Path: "source/server.go", Kind: recording.Source, Source: "/src/room/server.go"}, []byte(`package room

func (s *server) listen(l net.Listener) error {
	go s.sweep(l)
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go s.talk(c)
		go count()
	}
}

func dial() { go read(c) }
`))
	serves := Serves(session.New(r.Open()))
	for function, want := range map[string]bool{
		"example.org/chat/room.(*server).talk":  true,
		"example.org/chat/room.(*server).sweep": false,
		"example.org/chat/room.count":           false,
		"example.org/chat/room.read":            false,
		"main.talk":                             false,
		"":                                      false,
	} {
		if got := serves(function); got != want {
			t.Errorf("%s serves: %v", function, got)
		}
	}
}
