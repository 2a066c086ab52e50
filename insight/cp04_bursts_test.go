package insight

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"loupe/analysis/account/accounttest"
	"loupe/format/exectrace/fixture"
	"loupe/format/metrics"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/value/timeline"
)

// TestBursts: many small writes of a goroutine to its connection, with nothing read in between, are pieces of what could be one; large ones,
// one for each read, and those to a connection for each turn are not.
func TestBursts(t *testing.T) {
	const source = `package main

import "net"

type conn struct {
	out net.Conn
}

func (c *conn) packet(b []byte) {
	c.out.Write(b)
}

func (c *conn) rows(all [][]byte) {
	for _, b := range all {
		c.packet(b)
	}
}

func all(conns []*conn, b []byte) {
	for _, c := range conns {
		c.packet(b)
	}
}

func each(h *hub, b []byte) { for i := range h.conns { h.conns[i].packet(b) } }

func some(conns []*conn, b []byte) {
	for i := range conns {
		c := conns[i]
		c.packet(b)
	}
}
`
	const write = "syscall.write@z.go:1;internal/poll.(*FD).Write@fd.go:1;net.(*conn).Write@net.go:1;main.(*conn).packet@main.go:10;main.serve@serve.go:3"
	const read = "syscall.read@z.go:1;internal/poll.(*FD).Read@fd.go:1;net.(*conn).Read@net.go:1;main.serve@serve.go:2"
	for _, c := range []struct {
		name  string
		way   string // from the write on
		reads int    // after how many writes it reads
		rests int    // after how many it waits for something else; 0 is never
		files int    // that are open
		bytes int64  // of a write; 0 where the system does not count
		burst bool
	}{
		{"rows of an answer", "main.(*conn).rows:main.go:15", 20, 0, 400, 60, true},
		{"of two pieces", "main.(*conn).rows:main.go:15", 2, 0, 400, 60, false},
		{"one for each read", "main.(*conn).rows:main.go:15", 1, 0, 400, 60, false},
		{"large ones", "main.(*conn).rows:main.go:15", 20, 0, 400, 32 << 10, false},
		{"nobody counts bytes", "main.(*conn).rows:main.go:15", 20, 0, 400, 0, false},
		{"by a hub to many", "main.(*conn).rows:main.go:15", 1000, 30, 400, 60, false},
		{"by a tool to one", "main.(*conn).rows:main.go:15", 1000, 30, 9, 60, true},
		{"to all that listen", "main.all:main.go:21", 20, 0, 400, 60, false},
		{"to each of a hub, by its number", "main.each:main.go:25", 20, 0, 400, 60, false},
		{"to all that listen, by their number", "main.some:main.go:30", 20, 0, 400, 60, false},
	} {
		r := recordingtest.New("title x\ntarget package . module=main go=go1.26.1\nhost cpus=2\nphase bare 0s..5s\nphase cpu 5s..9s profiler=cpu\nphase trace 9s..11s profiler=trace\n")
		r.Put(recording.Entry{Path: "source/main.go", Kind: recording.Source, Source: "main.go"}, []byte(source))
		withProfile(r, recording.CPU, "cpu", column{c.way + " main.(*conn).packet:main.go:10 net.(*conn).Write net.(*netFD).Write internal/poll.(*FD).Write syscall.write syscall.Syscall internal/runtime/syscall/linux.Syscall6", []int64{280}},
			column{"main.serve:serve.go:3 main.other:other.go:3", []int64{120}})
		var samples strings.Builder
		for i := range 5 {
			n := int64(i) * 1000
			if c.bytes == 0 {
				n = 0
			}
			line, err := json.Marshal(metrics.OSSample{At: timeline.Time(i) * timeline.Time(time.Second), PID: 7, WriteCalls: n, WriteBytes: n * c.bytes, FDs: c.files})
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&samples, "%s\n", line)
		}
		r.Put(recording.Entry{Path: "os.ndjson", Kind: recording.OS}, []byte(samples.String()))
		p := accounttest.New()
		for n := range 300 {
			p.Pass(time.Millisecond)
			p.Call(10*time.Microsecond, write)
			if c.rests > 0 && n%c.rests == c.rests-1 {
				p.Block("sleep", "time.Sleep@sleep.go:1;main.serve@serve.go:4")
				p.Pass(time.Millisecond)
				p.Wake(1, "")
				p.Start(1)
			}
			if n%c.reads == c.reads-1 {
				p.Call(10*time.Microsecond, read)
			}
		}
		r.Put(recording.Entry{Path: "trace.out", Kind: recording.ExecTrace, Phase: "trace"}, fixture.Trace(t, p.Text()))
		if f := answers(t, r, "CP04")[0]; f.State != Found || strings.HasPrefix(f.Title, "Small writes one after") != c.burst || c.burst != (f.Severity == Warning) {
			t.Errorf("%s: %s %s: %s: %s", c.name, f.State, f.Severity, f.Title, f.Summary)
		}
	}
}

// TestKeptRecords: names of what keeps records are told from names that only have such letters.
func TestKeptRecords(t *testing.T) {
	for name, want := range map[string]bool{
		"status.(*Display).draw status.go": false, "pack.(*Writer).add pack.go": false, "track.Feedback track.go": false, "walk.Files walk.go": false,
		"wal.(*Log).append wal.go": true, "store.(*Journal).Write x.go": true, "queue.(*Conn).sendAck conn.go": true, "queue.Ack x.go": true, "db.(*WALFile).put x.go": true,
	} {
		if got := keptRecords.MatchString(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
