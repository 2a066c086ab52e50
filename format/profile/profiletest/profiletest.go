// Package profiletest makes pprof profiles for tests out of pictures that a
// reviewer can read. Every column of the picture is one sample, from the root
// down to the leaf:
//
//	main.main   main.main   main.main
//	main.parse  main.parse  main.write
//	main.alloc
//
// The result is encoded profile.proto, so a test that uses it goes through the
// real decoder.
package profiletest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Options say how the picture becomes a file. The zero value is a plain CPU
// profile as Go would write it.
type Options struct {
	Types    []string // sample types, as "alloc_space/bytes"; the default is "samples/count"
	Default  string   // default sample type
	Binary   string   // path of the main binary; the default is "/bin/test"
	BuildID  string
	Time     time.Time
	Duration time.Duration
	Comments []string
	// Period is the number of bytes between two samples of a heap profile; 0
	// makes it the period of a CPU profile, 10 ms.
	Period int64
	// Starts are the lines on which functions begin, by their names; 0 does not say.
	Starts map[string]int
	// Start is the line on which all others begin.
	Start int

	SamplesFirst bool // the wire order of google/pprof, not that of Go
	Unpacked     bool // one tag per number, even in long lists
	Raw          bool // do not pack with gzip
}

// Profile encodes the picture with the given sample types.
//
// Cells are separated by spaces and belong to the column that they begin in
// (columns are set by the first row); a column may end early. A cell is one of
//
//	main.parse            a frame; its file is "parse.go" below the package, its line 1
//	main.parse:12         with a line
//	main.parse:a/b.go:12  with a file and a line
//	main.parse:12~        inlined into the frame above it
//	?                     a frame without any symbol
//
// Rows that begin with "=" give the values of the next sample type, one for
// each column ("= 10 20"); without such a row every value is 1. Rows that
// begin with "@" give every column one label ("@ tenant=a bytes=64"), which is
// a number when it looks like one; "-" is none. It panics on a picture that it
// cannot read, for that is a mistake in the test.
func Profile(picture string, types ...string) []byte {
	return Encode(picture, Options{Types: types})
}

// Encode is [Profile] with all options.
func Encode(picture string, opt Options) []byte {
	if len(opt.Types) == 0 {
		opt.Types = []string{"samples/count"}
	}
	if opt.Binary == "" {
		opt.Binary = "/bin/test"
	}
	e := &encoder{opt: opt, strings: map[string]uint64{"": 0}, table: []string{""}, locations: map[string]uint64{}, functions: map[string]uint64{}}
	raw := e.encode(parse(picture, len(opt.Types)))
	if opt.Raw {
		return raw
	}
	return Gzip(raw)
}

// Gzip packs data as a Go program packs its profiles.
func Gzip(data []byte) []byte {
	var buf bytes.Buffer
	z, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	z.Write(data)
	z.Close()
	return buf.Bytes()
}

// sample is one column of the picture.
type sample struct {
	cells  []string // root first
	values []int64
	labels []string
}

// picture is the state while rows are read from top to bottom.
type picture struct {
	starts  []int // where the columns begin, set by the first row
	samples []sample
	values  int // rows of values read
}

func parse(text string, types int) []sample {
	var p picture
	for row := range strings.Lines(text) {
		row = strings.ReplaceAll(strings.TrimRight(row, " \n\t"), "\t", "    ")
		switch cells := cellsOf(row); {
		case len(cells) == 0:
		case cells[0].text[0] == '=':
			if p.values == types {
				panic(fmt.Sprintf("row %q: there are only %d sample types", row, types))
			}
			p.eachColumn(row, func(s *sample, field string) {
				v, err := strconv.ParseInt(field, 10, 64)
				if err != nil {
					panic(fmt.Sprintf("row %q: %v", row, err))
				}
				s.values[p.values] = v
			})
			p.values++
		case cells[0].text[0] == '@':
			p.eachColumn(row, func(s *sample, field string) {
				if field != "-" {
					s.labels = append(s.labels, field)
				}
			})
		default:
			p.frames(row, cells, types)
		}
	}
	return p.samples
}

func (p *picture) frames(row string, cells []cell, types int) {
	if p.starts == nil {
		for _, c := range cells {
			s := sample{values: make([]int64, types)}
			for i := range s.values {
				s.values[i] = 1
			}
			p.starts, p.samples = append(p.starts, c.at), append(p.samples, s)
		}
	}
	for _, c := range cells {
		column := -1
		for i, start := range p.starts {
			if c.at >= start {
				column = i
			}
		}
		if column < 0 {
			panic(fmt.Sprintf("cell %q of row %q is left of every column", c.text, row))
		}
		p.samples[column].cells = append(p.samples[column].cells, c.text)
	}
}

// eachColumn hands out the fields after the mark that begins the row.
func (p *picture) eachColumn(row string, set func(*sample, string)) {
	fields := strings.Fields(strings.TrimSpace(row)[1:])
	if len(fields) != len(p.samples) {
		panic(fmt.Sprintf("row %q has %d cells, want one for each of %d columns", row, len(fields), len(p.samples)))
	}
	for i, f := range fields {
		set(&p.samples[i], f)
	}
}

type cell struct {
	at   int
	text string
}

func cellsOf(row string) (cells []cell) {
	at := 0
	for part := range strings.SplitSeq(row, " ") {
		if part != "" {
			cells = append(cells, cell{at, part})
		}
		at += len(part) + 1
	}
	return cells
}
