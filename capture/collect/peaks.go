package collect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"loupe/capture/debuginfo"
	"loupe/format/profile"
	"loupe/recording"
	"loupe/value/timeline"
)

// maxPeak bounds the heap profile of a peak, in bytes as it is written.
const maxPeak = 64 << 20

// followPeaks keeps a heap profile of each new peak of the live heap during a bare phase, where
// the agent can tell, and returns how to end that. A program that ends by itself shows
// otherwise only what is left in the end, and a service what is there after its load.
func followPeaks(r *Recorder, phase string) (end func()) {
	agent, ok := r.src.(agentSource)
	if !ok {
		return func() {}
	}
	run := max(r.run, 0)
	all := inBackground(func(ctx context.Context) error {
		from, to := io.Pipe()
		stream := inBackground(func(context.Context) error {
			err := agent.ask(ctx, "peaks", to)
			to.CloseWithError(err)
			return err
		})
		k := peakKeeper{w: r.w, phase: phase, run: run}
		err := k.read(bufio.NewReader(from))
		from.CloseWithError(errors.Join(err, io.ErrClosedPipe))
		stream.stop()
		return errors.Join(err, k.keep())
	})
	return func() {
		if err := all.stop(); err != nil {
			r.w.Note(fmt.Sprintf("the peaks of the heap are not all here: %v", err))
		}
	}
}

// peakKeeper writes the heap profiles of peaks into the recording. The agent sends each
// twice. The later one has caught up with what was live at the peak, unless several
// collections have passed and all is gone: the one with more in use is kept.
type peakKeeper struct {
	w     *recording.Writer
	phase string
	run   int

	number int // of the peak that is held back; 0 for none
	at     timeline.Time
	data   []byte
	inUse  int64 // by data, in bytes
}

// read takes what the agent sends up to its end.
func (k *peakKeeper) read(r *bufio.Reader) error {
	return readPeaks(r, func(number int, _ int64, data []byte) error {
		if number != k.number {
			if err := k.keep(); err != nil {
				return err
			}
			k.at = k.w.Now()
		}
		if inUse := bytesInUse(data); k.data == nil || inUse >= k.inUse {
			k.data, k.inUse = data, inUse
		}
		k.number = number
		return nil
	})
}

// readPeaks takes what the agent sends up to its end: for each heap profile the number of its
// peak, and how much a collection has found live there, in bytes. A profile that the end of
// the program cut off is left out.
func readPeaks(r *bufio.Reader, each func(number int, live int64, profile []byte) error) error {
	last := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil // the program has ended, or its Go does not tell
		}
		var number, length int
		var live int64
		if n, _ := fmt.Sscanf(line, "%d %d %d\n", &number, &live, &length); n != 3 || length < 0 || length > maxPeak || number < last {
			return fmt.Errorf("the agent sends %q before a heap profile", line)
		}
		data := make([]byte, length)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil
		}
		last = number
		if err := each(number, live, data); err != nil {
			return err
		}
	}
}

// bytesInUse is what a heap profile has in use; 0 where it cannot be read.
func bytesInUse(data []byte) int64 {
	p, err := profile.Decode(data, profile.Options{MaxBytes: debuginfo.MaxProfile})
	if err != nil {
		return 0
	}
	index, err := p.Index("inuse_space")
	if err != nil {
		return 0
	}
	return p.Total(index)
}

// highestPeak is how much was in use at the highest peak that a recording has a heap profile
// of, in bytes; 0 where it has none.
func highestPeak(w *recording.Writer) (most int64) {
	m := w.Manifest()
	for _, e := range m.Of(recording.Heap) {
		if path.Dir(e.Path) != "peak" {
			continue
		}
		if data, err := w.ReadFile(e.Path); err == nil {
			most = max(most, bytesInUse(data))
		}
	}
	return most
}

// keep writes the profile that is held back.
func (k *peakKeeper) keep() error {
	if k.number == 0 || k.data == nil {
		return nil
	}
	data := k.data
	k.data = nil
	return k.w.Put(recording.Entry{
		Path: fmt.Sprintf("peak/%s-%02d.pb.gz", numbered("heap", k.run), k.number), Kind: recording.Heap, Phase: k.phase, Run: k.run,
		Span: timeline.Span{Start: k.at, End: k.at}, Source: "agent",
	}, data)
}
