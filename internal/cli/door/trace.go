package door

import (
	"io"
	"os"

	"loupe/analysis/facts"
	"loupe/format/kind"
	"loupe/internal/cli/command"
	"loupe/recording"
	"loupe/session"
	"loupe/source"
	"loupe/source/bounded"
	"loupe/value/stack"
)

// TraceBytes opens a trace file, or finds the trace of a recording; done closes it.
//
// Note: It is not mapped. Who runs go test -trace again makes the file shorter, and to
// read a mapping beyond the end of its file kills the program. Reading a generation
// at a time takes 1% more CPU time.
func TraceBytes(in *source.Input) (data io.ReaderAt, size int64, done func() error, err error) {
	if in.Recording {
		return recordedTrace(in)
	}
	if in.Kind != kind.Trace && in.Kind != kind.Unknown { // what is broken from its begin is told by its decoder
		return nil, 0, nil, WrongKind(in, "an execution trace or a recording with one")
	}
	f, err := os.Open(in.Path)
	if err != nil {
		return nil, 0, nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, nil, err
	}
	return f, info.Size(), f.Close, nil
}

// ScopeOf tells the user's code in what a recording holds; of a file that stands alone,
// all that is not of the standard library is the user's.
func ScopeOf(in *source.Input) stack.Scope {
	if !in.Recording {
		return stack.Scope{}
	}
	rec, err := recording.OpenFile(in.Path)
	if err != nil {
		return stack.Scope{} // who reads the trace is told
	}
	defer rec.Close()
	return session.New(rec).Scope()
}

// ServesOf tells of the functions that the sources of a recording start for accepted
// connections, see [facts.Serves]; nil where there is no recording.
func ServesOf(in *source.Input) func(function string) bool {
	if !in.Recording {
		return nil
	}
	rec, err := recording.OpenFile(in.Path)
	if err != nil {
		return nil // who reads the trace is told
	}
	defer rec.Close()
	serves := facts.Serves(session.New(rec))
	serves("") // reads the sources, while the recording is open
	return serves
}

// recordedTrace finds the trace of a recording.
func recordedTrace(in *source.Input) (io.ReaderAt, int64, func() error, error) {
	rec, err := recording.OpenFile(in.Path)
	if err != nil {
		return nil, 0, nil, err
	}
	main, ok := rec.Main(recording.ExecTrace)
	if !ok {
		rec.Close()
		return nil, 0, nil, command.Nothingf("%s has no execution trace (record one: loupe run -phases bare,trace …)", in.Name)
	}
	data, size, err := rec.ReaderAt(main.Path, bounded.MaxStream)
	if err != nil {
		rec.Close()
		return nil, 0, nil, err
	}
	return data, size, rec.Close, nil
}
