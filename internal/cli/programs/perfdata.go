package programs

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"

	"loupe/analysis/pprof"
	"loupe/format/profile"
	"loupe/source/bounded"
)

// isPerfData tells whether a file is one of perf record, which has addresses
// where other profiles have names.
func isPerfData(head []byte) bool { return bytes.HasPrefix(head, []byte("PERFILE2")) }

// DecodeProfile decodes a profile. What perf has recorded gets its names from the
// binaries of this machine, if they are those that ran.
func DecodeProfile(data []byte) (*profile.Profile, error) {
	p, err := profile.Decode(data, profile.Options{})
	if err != nil || !isPerfData(data) {
		return p, err
	}
	find := NewFinder(context.Background(), func(string) {})
	defer find.Close()
	p = pprof.Symbolize(pprof.SymbolizeJIT(p, PerfMap), false, find.Binary, func(string) {})
	return pprof.Demangle(p, "", false), nil
}

// ReadProfile reads a profile from a file, which errors call by its name.
func ReadProfile(path, name string) (*profile.Profile, error) {
	data, err := bounded.ReadNamed(path)
	if err != nil {
		return nil, err
	}
	p, err := DecodeProfile(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read profile %s: %w", name, err)
	}
	return p, nil
}

// named is a file of perf record as profile.proto, with names.
type named struct {
	*bytes.Reader
	info fs.FileInfo
	size int64
}

// Open opens a file; what perf has recorded is turned into a profile.
func Open(name string) (fs.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 8)
	if n, _ := f.ReadAt(head, 0); !isPerfData(head[:n]) {
		return f, nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := bounded.ReadNamed(name)
	if err != nil {
		return nil, err
	}
	p, err := DecodeProfile(data)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := p.Encode(&b); err != nil {
		return nil, err
	}
	return &named{bytes.NewReader(b.Bytes()), info, int64(b.Len())}, nil
}

// Stat says how long the profile is, and else what is known of the file.
func (n *named) Stat() (fs.FileInfo, error) { return namedInfo{n.info, n.size}, nil }

// Close has nothing to do.
func (n *named) Close() error { return nil }

type namedInfo struct {
	fs.FileInfo
	size int64
}

// Size is that of the profile.
func (n namedInfo) Size() int64 { return n.size }
