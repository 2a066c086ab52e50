package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// The codes of JSON-RPC 2.0 for what is no request (section 5.1 of its specification).
const (
	notJSON   = -32700
	noRequest = -32600
)

// framed stands before the SDK, whose connection ends at the first line that is no message: what is
// none is answered here, and not handed on. The last line is handed on as it is, when it does not
// end.
type framed struct {
	*io.PipeReader
	mu  sync.Mutex
	out io.Writer
}

// newFramed begins to read.
func newFramed(in io.Reader, out io.Writer) *framed {
	r, w := io.Pipe()
	f := &framed{PipeReader: r, out: out}
	go func() { w.CloseWithError(f.pass(bufio.NewReaderSize(in, 64<<10), w)) }()
	return f
}

// Write writes an answer of the SDK, or one of its own.
func (f *framed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.out.Write(b)
}

// pass hands messages on, line by line, until there are no more.
func (f *framed) pass(in *bufio.Reader, to io.Writer) error {
	for {
		line, long, err := readLine(in)
		switch {
		case err != nil && len(line) == 0:
			return err
		case long:
			f.refuse(noRequest, fmt.Sprintf("the message has more than %d bytes", maxLine))
		case err == nil && len(bytes.TrimSpace(line)) == 0:
		case err == nil && !json.Valid(line):
			f.refuse(notJSON, "the line is not JSON")
		case err == nil && !isMessage(line):
			f.refuse(noRequest, "the line is not a message of JSON-RPC 2.0 (one to a line; batches are not supported)")
		default:
			if _, failed := to.Write(line); failed != nil {
				return failed
			}
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads a line with its end. Of one that is too long all is read, and nothing returned.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// isMessage tells whether a line is one message.
func isMessage(line []byte) bool {
	if bytes.TrimSpace(line)[0] != '{' {
		return false
	}
	_, err := jsonrpc.DecodeMessage(line)
	return err == nil
}

// refuse answers what has no id that could be read.
func (f *framed) refuse(code int, why string) {
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}})
	_, _ = f.Write(append(text, '\n')) // a client that is gone is noticed by the SDK
}
