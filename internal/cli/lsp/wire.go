package lsp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/exp/jsonrpc2"
)

// The messages of the protocol, as far as the server knows them.
type (
	initializeParams struct {
		RootURI string `json:"rootUri"`
		Folders []struct {
			URI string `json:"uri"`
		} `json:"workspaceFolders"`
		Capabilities struct {
			Workspace struct {
				CodeLens struct {
					Refresh bool `json:"refreshSupport"`
				} `json:"codeLens"`
			} `json:"workspace"`
		} `json:"capabilities"`
	}
	initializeResult struct {
		Capabilities map[string]any    `json:"capabilities"`
		Server       map[string]string `json:"serverInfo"`
	}
	editParams struct {
		Document struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		} `json:"textDocument"`
		Changes []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
	}
	placeParams struct {
		Document struct {
			URI string `json:"uri"`
		} `json:"textDocument"`
		Position position `json:"position"`
	}
	position struct {
		Line      int `json:"line"`
		Character int `json:"character"` // in units of UTF-16
	}
	span struct {
		Start position `json:"start"`
		End   position `json:"end"`
	}
	publishParams struct {
		URI         string       `json:"uri"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}
	diagnostic struct {
		Range    span   `json:"range"`
		Severity int    `json:"severity"`
		Code     string `json:"code"`
		Source   string `json:"source"`
		Message  string `json:"message"`
		Tags     []int  `json:"tags,omitempty"`
	}
	codeLens struct {
		Range   span        `json:"range"`
		Command lensCommand `json:"command"`
	}
	// lensCommand has no command: a lens is there to be read.
	lensCommand struct {
		Title   string `json:"title"`
		Command string `json:"command"`
	}
	hoverResult struct {
		Contents markup `json:"contents"`
		Range    span   `json:"range"`
	}
	markup struct {
		Kind  string `json:"kind"`
		Value string `json:"value"`
	}
)

// Severities and tags of the protocol.
const (
	severityError, severityWarning, severityInformation, severityHint = 1, 2, 3, 4

	tagUnnecessary = 1 // shown dimmed
)

// maxMessage bounds a message: an editor sends whole files.
const maxMessage = 64 << 20

// maxHeader bounds the lines in front of a message.
const maxHeader = 4 << 10

// framer reads and writes messages with a header, as jsonrpc2's own does, but none that are
// larger than they may be, and goes on after one that is no JSON.
type framer struct {
	log func(format string, args ...any)
}

// Reader is what jsonrpc2 asks for.
func (f framer) Reader(r io.Reader) jsonrpc2.Reader { return &reader{bufio.NewReader(r), f.log} }

// Writer is what jsonrpc2 asks for.
func (f framer) Writer(w io.Writer) jsonrpc2.Writer { return jsonrpc2.HeaderFramer().Writer(w) }

type reader struct {
	in  *bufio.Reader
	log func(format string, args ...any)
}

// Read returns the next message.
func (r *reader) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		length, err := r.header()
		if err != nil {
			return nil, 0, err
		}
		if length < 0 {
			r.log("a header is left out: its Content-Length is %d", length)
			continue
		}
		if length > maxMessage {
			r.log("a message of %d bytes is left out: it is larger than %d", length, maxMessage)
			if _, err := io.CopyN(io.Discard, r.in, length); err != nil {
				return nil, 0, err
			}
			continue
		}
		// Memory comes with the bytes: a header promises anything.
		body, err := io.ReadAll(io.LimitReader(r.in, length))
		if err == nil && int64(len(body)) < length {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, 0, err
		}
		if depth(body) > maxDepth {
			r.log("a message is left out: it is nested too deep")
			continue
		}
		m, err := jsonrpc2.DecodeMessage(body)
		if err != nil || !json.Valid(body) {
			r.log("a message is left out: %v", err)
			continue
		}
		return m, length, nil
	}
}

// maxDepth bounds how deep a message may be nested.
const maxDepth = 1000

// depth is how deep brackets are nested, those in strings left out.
func depth(body []byte) (most int) {
	at, quoted := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			at++
			most = max(most, at)
		case c == ']' || c == '}':
			at--
		}
	}
	return most
}

// header reads the lines in front of a message, and returns its length, which a client may say is
// negative.
func (r *reader) header() (length int64, err error) {
	known := false
	for total := 0; ; {
		line, err := r.in.ReadSlice('\n')
		if total += len(line); total > maxHeader || errors.Is(err, bufio.ErrBufferFull) {
			return 0, errors.New("what comes is not the language server protocol: the header has no end")
		}
		if err != nil {
			if err == io.EOF && total > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		text := strings.TrimSpace(string(line))
		if text == "" {
			break
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return 0, fmt.Errorf("what comes is not the language server protocol: a header line is %.40q", text)
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.ParseInt(strings.TrimSpace(value), 10, 64); err != nil {
				return 0, fmt.Errorf("Content-Length is %.40q", value)
			}
			known = true
		}
	}
	if !known {
		return 0, errors.New("a message has no Content-Length")
	}
	return length, nil
}
