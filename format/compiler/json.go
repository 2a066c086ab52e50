package compiler

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// longestRecord bounds the memory for one JSON record. The longest that the
// standard library gives is a flow of some 300 kB.
const longestRecord = 16 << 20

// Head is what names the packages of a -json file without decoding it. It
// fails when the first line is no header.
func Head(r io.Reader) (Header, error) {
	line, err := bufio.NewReaderSize(io.LimitReader(r, 1<<16), 1<<12).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return Header{}, fmt.Errorf("cannot read compiler output: %w", err)
	}
	h, ok := parseHeader(line)
	if !ok {
		return Header{}, errors.New("cannot read compiler output: the first line is not a header, as -gcflags=-json=0,DIR writes it")
	}
	return h, nil
}

// ParseJSON reads a file that `go build -gcflags=-json=0,DIR` has written, or
// several one after the other; then the header of the output is the last one.
// Damaged records are counted in the output. It fails when there is no header
// in front, or when r does.
//
// The compiler says each escape of an expression twice, and the second time
// without a text. It is one Diagnostic here.
func ParseJSON(r io.Reader, opt Options) (*Output, error) {
	p := jsonParser{opt: opt, out: &Output{}, names: interner{}, files: map[string]string{}, texts: map[string]bool{}}
	br := bufio.NewReaderSize(r, 1<<18)
	first := true
	for {
		line, err := readRecord(br)
		switch {
		case errors.Is(err, errLong):
			p.out.malformed("a record of more than " + strconv.Itoa(longestRecord) + " bytes")
		case err != nil && err != io.EOF:
			return p.out, fmt.Errorf("cannot read compiler output: %w", err)
		case first:
			h, ok := parseHeader(line)
			if !ok {
				return nil, errors.New("cannot read compiler output: the first line is not a header, as -gcflags=-json=0,DIR writes it")
			}
			p.out.Header, first = h, false
		case bytes.HasPrefix(line, []byte(`{"version":`)):
			if h, ok := parseHeader(line); ok {
				p.out.Header = h
			} else {
				p.out.malformed(string(line[:min(len(line), 200)]))
			}
		case len(bytes.TrimSpace(line)) > 0:
			p.record(line)
		}
		if err == io.EOF {
			p.finish()
			return p.out, nil
		}
	}
}

var errLong = errors.New("record too long")

// readRecord returns the next line. It belongs to br or to the caller until
// the next call.
func readRecord(br *bufio.Reader) ([]byte, error) {
	line, err := br.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	long := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = br.ReadSlice('\n')
		if len(long) <= longestRecord {
			long = append(long, line...)
		}
	}
	if len(long) > longestRecord && err == nil {
		return nil, errLong
	}
	return long, err
}

func parseHeader(line []byte) (Header, bool) {
	var h struct {
		Version   *int   `json:"version"`
		Package   string `json:"package"`
		GOOS      string `json:"goos"`
		GOARCH    string `json:"goarch"`
		GoVersion string `json:"gc_version"`
		File      string `json:"file"`
	}
	if json.Unmarshal(line, &h) != nil || h.Version == nil || *h.Version != 0 {
		return Header{}, false
	}
	if h.Package == "\x00" {
		h.Package = ""
	}
	return Header{Package: h.Package, GOOS: h.GOOS, GOARCH: h.GOARCH, GoVersion: h.GoVersion, File: h.File}, true
}

// The records are diagnostics of the Language Server Protocol, but lines and
// columns begin at 1.
type (
	lspPosition struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	}
	lspRange struct {
		Start lspPosition `json:"start"`
		End   lspPosition `json:"end"`
	}
	lspDiagnostic struct {
		Range   lspRange     `json:"range"`
		Code    string       `json:"code"`
		Message string       `json:"message"`
		Related []lspRelated `json:"relatedInformation"`
	}
	lspRelated struct {
		Location struct {
			URI   string   `json:"uri"`
			Range lspRange `json:"range"`
		} `json:"location"`
		Message string `json:"message"`
	}
)

type jsonParser struct {
	opt   Options
	out   *Output
	names interner
	files map[string]string // by URI
	// empty are the escapes without a text, texts the places of those with one.
	empty []Diagnostic
	texts map[string]bool
}

// codes are the kinds by their names in a record.
var codes = map[string]Kind{
	"escape": Escape, "escapes": Escape, "leak": LeakingParam,
	"canInlineFunction": CanInline, "cannotInlineFunction": CannotInline, "cannotInlineCall": CannotInlineCall,
	"nilcheck": NilCheck, "isInBounds": BoundsCheck, "isSliceInBounds": SliceCheck, "copy": Copy,
	"iteration-variable-to-heap": LoopVariable, "iteration-variable-to-stack": LoopVariable,
	"loop-modified-for": LoopVariable, "loop-modified-range": LoopVariable,
	": should not PGO devirtualize function": NotDevirtualized,
}

// kindOf finds the kind without decoding the record. The code stands behind
// range and severity, in the first 200 bytes.
func kindOf(line []byte) (Kind, bool) {
	_, rest, ok := bytes.Cut(line[:min(len(line), 300)], []byte(`"code":"`))
	if !ok {
		return Other, false
	}
	code, _, ok := bytes.Cut(rest, []byte(`"`))
	return codes[string(code)], ok
}

func (p *jsonParser) record(line []byte) {
	if k, ok := kindOf(line); ok && !p.opt.keep(k) {
		return
	}
	var rec lspDiagnostic
	if err := json.Unmarshal(line, &rec); err != nil || rec.Code == "" {
		p.out.malformed(string(line[:min(len(line), 200)]))
		return
	}
	kind := codes[rec.Code]
	d := Diagnostic{Kind: kind, Pos: p.pos(p.out.Header.File, rec.Range.Start), Package: p.out.Header.Package}
	if !p.related(&d, rec.Related) {
		p.out.malformed(string(line[:min(len(line), 200)]))
		return
	}
	msg := rec.Message
	switch kind {
	case Escape:
		text, ok := strings.CutSuffix(msg, " escapes to heap")
		if !ok && msg != "" {
			p.out.malformed(msg)
			return
		}
		d.Text = text
		if msg == "" {
			p.empty = append(p.empty, d)
			return
		}
		p.texts[place(&d)] = true
		if len(d.Flow) > 0 && d.Flow[0].Src == text {
			d.Kind = MovedToHeap // the flow of an expression begins at its storage
		}
	case LeakingParam:
		if leak, _, ok := parameterLeaks(strings.TrimPrefix(msg, "parameter ")); ok {
			d.Text, d.Dest, d.Derefs = leak.Text, leak.Dest, leak.Derefs
		}
	case CanInline:
		_, cost, _ := strings.Cut(msg, "cost: ")
		d.Cost, _ = number(cost)
	case CannotInline, CannotInlineCall:
		d.Reason = msg
		d.Cost, d.Budget = costs(msg)
	case Copy:
		size, _, _ := strings.Cut(msg, " ")
		d.Size, _ = strconv.ParseInt(size, 10, 64)
	case LoopVariable:
		d.Text, d.Reason = msg, rec.Code
	case NotDevirtualized:
		d.Reason = msg
	case Other:
		d.Text, d.Reason = msg, rec.Code
	}
	d.Text, d.Reason, d.Dest = p.names.string(d.Text), p.names.string(d.Reason), p.names.string(d.Dest)
	if p.opt.keep(d.Kind) || d.Kind == MovedToHeap && p.opt.keep(Escape) {
		p.out.Diagnostics = append(p.out.Diagnostics, d)
	}
}

// related reads the positions of inlined code and the flow.
func (p *jsonParser) related(d *Diagnostic, list []lspRelated) bool {
	inline := &d.Inline
	for i := range list {
		r := &list[i]
		pos := p.pos(p.file(r.Location.URI), r.Location.Range.Start)
		if r.Message == "inlineLoc" {
			if inline != nil {
				*inline = append(*inline, pos)
			}
			continue
		}
		msg := strings.TrimLeft(strings.TrimPrefix(r.Message, "escflow:"), " ")
		if f, ok := parseFlow(msg); ok {
			f.Dst, f.Src = p.names.string(f.Dst), p.names.string(f.Src)
			d.Flow = append(d.Flow, f)
			inline = nil // the position of a flow is that of its first step
			continue
		}
		step, ok := parseStep(msg)
		if !ok || len(d.Flow) == 0 {
			return false
		}
		step.Expr, step.Why, step.Pos = p.names.string(step.Expr), p.names.string(step.Why), pos
		f := &d.Flow[len(d.Flow)-1]
		f.Steps = append(f.Steps, step)
		inline = &f.Steps[len(f.Steps)-1].Inline
	}
	return true
}

func (p *jsonParser) pos(file string, at lspPosition) Pos {
	return Pos{File: p.names.string(file), Line: at.Line, Col: at.Character}
}

// file turns file:///a%20b.go into /a b.go.
func (p *jsonParser) file(uri string) string {
	if f, ok := p.files[uri]; ok {
		return f
	}
	file := uri
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		file = u.Host + u.Path
	}
	p.files[strings.Clone(uri)] = file
	return file
}

// finish keeps the escapes that were never said with a text.
func (p *jsonParser) finish() {
	for _, d := range p.empty {
		if key := place(&d); !p.texts[key] {
			p.texts[key] = true
			p.out.Diagnostics = append(p.out.Diagnostics, d)
		}
	}
}

func place(d *Diagnostic) string {
	b := []byte(d.Pos.String())
	for _, pos := range d.Inline {
		b = append(b, ' ')
		b = append(b, pos.String()...)
	}
	return string(b)
}
