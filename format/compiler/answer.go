package compiler

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Answer is all that the compiler has said about one package, as it was said:
// what a recording and a cache keep. [Answer.AddTo] reads it.
type Answer struct {
	// Package is what the compiler calls the package: "main" for a command.
	Package string
	// Dir is the directory that relative names of the texts start from.
	Dir string
	// JSON are the files of -json, one after the other, Text is what -m
	// prints, Flows is what -m=2 prints where files of -json were lost.
	JSON, Text, Flows []byte
	// Lost are the source files without a file of -json.
	Lost []string
}

// answerHead is the first line of an encoded answer. The sections follow it in
// this order.
type answerHead struct {
	Package           string   `json:"package"`
	Dir               string   `json:"dir"`
	JSON, Text, Flows int      // bytes
	Lost              []string `json:"lost,omitempty"`
}

// Encode writes the answer: gzip of a line of JSON and the three texts.
func (a *Answer) Encode(w io.Writer) error {
	head, err := json.Marshal(answerHead{a.Package, a.Dir, len(a.JSON), len(a.Text), len(a.Flows), a.Lost})
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	for _, part := range [][]byte{head, []byte("\n"), a.JSON, a.Text, a.Flows} {
		if _, err := z.Write(part); err != nil {
			return fmt.Errorf("cannot keep compiler output: %w", err)
		}
	}
	return z.Close()
}

// DecodeAnswer reads an encoded answer of at most so many bytes when it is
// inflated.
func DecodeAnswer(data []byte, most int64) (*Answer, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("cannot read compiler output: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, most+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read compiler output: %w", err)
	}
	if int64(len(text)) > most {
		return nil, fmt.Errorf("cannot read compiler output: it has more than %d bytes", most)
	}
	line, rest, _ := bytes.Cut(text, []byte("\n"))
	var h answerHead
	if err := json.Unmarshal(line, &h); err != nil {
		return nil, fmt.Errorf("cannot read compiler output: %w", err)
	}
	n := len(rest)
	if h.JSON < 0 || h.JSON > n || h.Text < 0 || h.Text > n-h.JSON || h.Flows != n-h.JSON-h.Text {
		return nil, errors.New("cannot read compiler output: the lengths of its parts do not add up")
	}
	return &Answer{
		Package: h.Package, Dir: h.Dir, Lost: h.Lost,
		JSON: rest[:h.JSON], Text: rest[h.JSON : h.JSON+h.Text], Flows: rest[h.JSON+h.Text:],
	}, nil
}

// AddTo decodes the answer into a set. keep says which kinds are wanted, see
// [Options]; nil means all but parameters that leak, which are nearly all that
// there is.
func (a *Answer) AddTo(s *Set, keep func(Kind) bool) error {
	if keep == nil {
		keep = func(k Kind) bool { return k != LeakingParam }
	}
	opt := Options{Dir: a.Dir, Package: a.Package, Keep: keep}
	if len(a.JSON) > 0 {
		out, err := ParseJSON(bytes.NewReader(a.JSON), opt)
		if err != nil {
			return err
		}
		s.Add(out.Diagnostics...)
	}
	out, err := ParseText(bytes.NewReader(a.Flows), opt)
	if err != nil {
		return err
	}
	s.Add(slices.DeleteFunc(out.Diagnostics, func(d Diagnostic) bool { return !slices.Contains(a.Lost, d.Pos.File) })...)
	if out, err = ParseText(bytes.NewReader(a.Text), opt); err != nil {
		return err
	}
	// What -json says of an escape says more: the way, and where in inlined code.
	s.Add(slices.DeleteFunc(out.Diagnostics, func(d Diagnostic) bool {
		return d.Kind == Escape || d.Kind == MovedToHeap || d.Kind == CanInline
	})...)
	return nil
}
