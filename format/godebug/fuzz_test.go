package godebug

import (
	"bytes"
	"testing"
	"testing/iotest"
)

// FuzzReader checks that no input panics, that positions and counts add up,
// that the way a log arrives does not matter, and that memory is bounded.
func FuzzReader(f *testing.F) {
	for _, name := range sampleNames(f) {
		data := sample(name)
		f.Add(data[:min(len(data), 3000)])
	}
	f.Add([]byte("x " + gcLine + "\r\n" + `{"log":"` + gcLine + `\n"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewBytesReader(data)
		r.KeepText = true
		var text int64
		var records []Kind
		for r.Next() {
			rec := r.Record()
			p := rec.Pos()
			if p.Offset < 0 || p.Offset >= int64(len(data)) || p.Line < 1 || p.Run < 0 {
				t.Fatalf("%v at %+v in %d bytes", rec.Kind(), p, len(data))
			}
			switch rec := rec.(type) {
			case *Text:
				text += int64(len(rec.Bytes))
				if !bytes.HasPrefix(data[p.Offset:], rec.Bytes) {
					t.Fatalf("text at %d is not that of the log", p.Offset)
				}
				continue
			case *Cycle:
				if rec.Procs <= 0 || rec.N <= 0 || rec.Clock() < 0 || rec.CPU() < 0 || rec.HeapLive < 0 || rec.Goal < 0 {
					t.Fatalf("impossible cycle %+v", rec)
				}
			case *SchedSample:
				if len(rec.Local) > maxProcs+len(rec.Ps) || len(rec.Gs)*20 > len(data) {
					t.Fatalf("%d queues and %d goroutines from %d bytes", len(rec.Local), len(rec.Gs), len(data))
				}
			}
			records = append(records, rec.Kind())
		}
		if s := r.Stats(); s.Bytes != int64(len(data)) || s.TextBytes != text {
			t.Fatalf("stats %+v for %d bytes, %d of text", s, len(data), text)
		}
		slow := NewReader(iotest.HalfReader(bytes.NewReader(data)))
		for i := 0; slow.Next(); i++ {
			if i >= len(records) || slow.Record().Kind() != records[i] {
				t.Fatalf("record %d is %v when streamed", i, slow.Record().Kind())
			}
		}
		if cap(slow.in.buf) > 4*MaxLine {
			t.Fatalf("the buffer grew to %d bytes", cap(slow.in.buf))
		}
	})
}

// FuzzAssembler cuts the input into writes at the byte 0xff and checks that
// nothing is lost or invented, and that what is held back is bounded.
func FuzzAssembler(f *testing.F) {
	for _, line := range []string{
		gcLine + "\n",
		"SCHED 210ms: gomaxprocs=2 idleprocs=0 threads=5 spinningthreads=0 idlethreads=2 runqueue=1 [1 0]\n",
		"  M0: p=1 curg=-1 mallocing=0 throwing=0 preemptoff=x locks=0 dying=0 spinning=true blocked=false lockedg=-1\n",
		"scav 9 40680 KiB work, 104728 KiB total, 97% util (forced)\n",
		"pacer: assist ratio=+1.399017e+000 (scan 1 MB in 4->5 MB) workers=0++2.500000e-001\n",
	} {
		var in []byte
		for _, p := range pieces(line) {
			in = append(append(in, p...), 0xff)
		}
		f.Add(in, false)
		f.Add(append(in, in...), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, stream bool) {
		var in, out [256]int
		count := func(n *[256]int, p []byte) {
			for _, b := range p {
				n[b]++
			}
		}
		a := Assembler{Stream: stream}
		a.Program = func(p []byte) { count(&out, p) }
		a.Line = func(line []byte) {
			count(&out, line)
			if l := Parse(line); line[len(line)-1] != '\n' || l.Stats.Malformed != 0 {
				t.Fatalf("a line that is none: %q", line)
			}
		}
		for w := range bytes.SplitSeq(data, []byte{0xff}) {
			count(&in, w)
			a.Feed(w)
			held := len(a.carry)
			for i := range a.making.count {
				held += len(a.making.open[i].buf)
			}
			if held > 2*MaxLine+len(data) {
				t.Fatalf("%d bytes held back", held)
			}
		}
		a.Flush()
		if in != out {
			t.Fatal("bytes were lost or invented")
		}
	})
}
