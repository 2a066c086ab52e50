// Package connect reads requests and writes answers of unary calls as the Connect
// protocol has them: a message in the body, as protobuf or JSON, perhaps packed with
// gzip, and errors as a JSON object with a code. Pyroscope's clients and Grafana speak
// it. The gRPC framing of the same calls is read and written as well ([Unframe],
// [Frame]), for clients that know nothing else.
//
// It does no HTTP: bodies and values of headers in, bodies and statuses out. The facts
// are those of https://connectrpc.com/docs/protocol.
package connect

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/klauspost/compress/gzip"

	"loupe/value/protobuf"
)

// Code is a kind of error, by the name that Connect has for it.
type Code string

// The codes that a server of profiles has use for. A client tries again by itself what
// has failed with Unavailable alone, or with ResourceExhausted where it backs off.
const (
	InvalidArgument   Code = "invalid_argument"
	NotFound          Code = "not_found"
	Unauthenticated   Code = "unauthenticated"
	PermissionDenied  Code = "permission_denied"
	ResourceExhausted Code = "resource_exhausted"
	OutOfRange        Code = "out_of_range"
	Unimplemented     Code = "unimplemented"
	Internal          Code = "internal"
	Unavailable       Code = "unavailable"
	DeadlineExceeded  Code = "deadline_exceeded"
)

// statuses are the HTTP status of each code in Connect, and its number in gRPC.
var statuses = map[Code]struct{ http, grpc int }{
	InvalidArgument:   {400, 3},
	DeadlineExceeded:  {504, 4},
	NotFound:          {404, 5},
	PermissionDenied:  {403, 7},
	ResourceExhausted: {429, 8},
	OutOfRange:        {400, 11},
	Unimplemented:     {501, 12},
	Internal:          {500, 13},
	Unavailable:       {503, 14},
	Unauthenticated:   {401, 16},
}

// Error is an error that has a code.
type Error struct {
	Code    Code
	Message string
	// HTTP is the status where it is not the one of the code: 415 for a content type
	// that nobody knows, 413 for a body that is too large. 0 is the one of the code.
	HTTP int
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf makes an error with a code.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// TooLarge is the error of a body of more than so many bytes. To send it again does not
// help, so it has the code of a wrong argument: of ResourceExhausted clients try again.
func TooLarge(limit int64) *Error {
	return &Error{Code: InvalidArgument, HTTP: 413, Message: fmt.Sprintf("the request has more than %d bytes (send fewer or smaller profiles)", limit)}
}

// As returns the error with its code; one that has none is of the kind Internal.
func As(err error) *Error {
	if e := (*Error)(nil); errors.As(err, &e) {
		if e.Message == err.Error() {
			return e
		}
		return &Error{Code: e.Code, HTTP: e.HTTP, Message: err.Error()}
	}
	return &Error{Code: Internal, Message: err.Error()}
}

// Status returns the HTTP status of the answer.
func (e *Error) Status() int {
	if e.HTTP != 0 {
		return e.HTTP
	}
	if s, ok := statuses[e.Code]; ok {
		return s.http
	}
	return 500
}

// GRPC returns the number of the code in gRPC, for the trailer grpc-status.
func (e *Error) GRPC() int {
	if s, ok := statuses[e.Code]; ok {
		return s.grpc
	}
	return 2
}

// Body returns the body of the answer, which has the type application/json whatever
// the request had.
func (e *Error) Body() []byte {
	b, _ := json.Marshal(struct { // strings have always a form
		Code    Code   `json:"code"`
		Message string `json:"message,omitempty"`
	}{e.Code, e.Message})
	return b
}

// ParseError reads the body of an answer that is an error, which is the other way of
// [Error.Body]; ok is false for what is none.
func ParseError(body []byte) (e *Error, ok bool) {
	e = new(Error)
	err := json.Unmarshal(body, &struct {
		Code    *Code   `json:"code"`
		Message *string `json:"message"`
	}{&e.Code, &e.Message})
	return e, err == nil && e.Code != "" && e.Message != ""
}

// Encoding is how the message of a request or an answer is written.
type Encoding uint8

// The encodings.
const (
	Proto Encoding = iota
	JSON
	GRPC // protobuf in the framing of gRPC
)

// EncodingOf returns the encoding that a Content-Type announces. OTLP says
// application/x-protobuf where Connect says application/proto. The error has the
// status 415.
func EncodingOf(contentType string) (Encoding, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind = strings.TrimSpace(contentType)
	}
	switch kind {
	case "application/proto", "application/x-protobuf", "application/protobuf":
		return Proto, nil
	case "application/json":
		return JSON, nil
	case "application/grpc", "application/grpc+proto":
		return GRPC, nil
	}
	return 0, &Error{Code: Unimplemented, HTTP: 415, Message: fmt.Sprintf("cannot read a request of the content type %q (send application/proto or application/json)", contentType)}
}

// ContentType is that of an answer of the encoding.
func (e Encoding) ContentType() string {
	return [...]string{"application/proto", "application/json", "application/grpc+proto"}[e]
}

// Unpack inflates a body by its Content-Encoding. More than limit bytes are an error,
// see [TooLarge].
func Unpack(body []byte, contentEncoding string, limit int64) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(contentEncoding)) {
	case "", "identity":
		if int64(len(body)) > limit {
			return nil, TooLarge(limit)
		}
		return body, nil
	case "gzip":
		z, err := gzip.NewReader(strings.NewReader(string(body)))
		if err != nil {
			return nil, Errorf(InvalidArgument, "cannot unpack the request: %v (its Content-Encoding is gzip)", err)
		}
		raw, err := io.ReadAll(io.LimitReader(z, limit+1))
		if err != nil {
			return nil, Errorf(InvalidArgument, "cannot unpack the request: %v (was it cut?)", err)
		}
		if int64(len(raw)) > limit {
			return nil, TooLarge(limit)
		}
		return raw, nil
	default:
		return nil, &Error{Code: Unimplemented, HTTP: 415, Message: fmt.Sprintf("cannot unpack a request of the Content-Encoding %q (send gzip or identity)", contentEncoding)}
	}
}

// Unmarshal reads an unpacked message. It may keep parts of the body, and no more than
// memory bytes beside it.
func Unmarshal(body []byte, e Encoding, into any, memory int64) error {
	var err error
	if e == JSON {
		err = protobuf.UnmarshalJSON(body, into, memory)
	} else {
		err = protobuf.Unmarshal(body, into, memory)
	}
	if err != nil {
		return Errorf(InvalidArgument, "cannot read the request: %v", err)
	}
	return nil
}

// Marshal writes a message.
func Marshal(e Encoding, message any) []byte {
	if e == JSON {
		return protobuf.MarshalJSON(message)
	}
	return protobuf.Marshal(message)
}

// Unframe takes the one message of a unary call out of the framing of gRPC, and unpacks
// it by the header Grpc-Encoding.
func Unframe(body []byte, grpcEncoding string, limit int64) ([]byte, error) {
	if len(body) < 5 {
		return nil, Errorf(InvalidArgument, "cannot read the request: %d bytes are no message in the framing of gRPC", len(body))
	}
	n := int64(binary.BigEndian.Uint32(body[1:]))
	if n != int64(len(body)-5) {
		return nil, Errorf(InvalidArgument, "cannot read the request: one message of %d bytes is announced, and %d follow", n, len(body)-5)
	}
	switch body[0] {
	case 0:
		grpcEncoding = ""
	case 1:
	default:
		return nil, Errorf(InvalidArgument, "cannot read the request: a message with the flags %#x is no message of gRPC", body[0])
	}
	return Unpack(body[5:], grpcEncoding, limit)
}

// Frame puts a message into the framing of gRPC.
func Frame(message []byte) []byte {
	out := binary.BigEndian.AppendUint32(append(make([]byte, 0, len(message)+5), 0), uint32(len(message)))
	return append(out, message...)
}

// FromQuery reads the message that an idempotent call carries in its URL, as Connect
// allows for GET: the values of the parameters message, encoding and base64.
func FromQuery(message, encoding, isBase64 string) ([]byte, Encoding, error) {
	e := JSON
	switch encoding {
	case "json":
	case "proto":
		e = Proto
	default:
		return nil, 0, Errorf(InvalidArgument, "cannot read the request: %q is not an encoding (json or proto)", encoding)
	}
	if isBase64 != "1" {
		return []byte(message), e, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(message, "="))
	if err != nil {
		return nil, 0, Errorf(InvalidArgument, "cannot read the request: %v", err)
	}
	return b, e, nil
}
