package push

import (
	"strconv"

	"loupe/format/connect"
	"loupe/value/protobuf"
)

// Answer is what a client is to get.
type Answer struct {
	Status      int
	ContentType string
	Body        []byte
	Trailer     map[string]string // of gRPC
}

// Accepted is the answer to a request all of which has been taken in.
func Accepted(p Protocol, r Request) Answer {
	e, _ := connect.EncodingOf(r.ContentType)
	switch {
	case p == Ingest:
		return Answer{Status: 200, ContentType: "text/plain; charset=utf-8"}
	case e == connect.GRPC:
		return Answer{200, e.ContentType(), connect.Frame(nil), map[string]string{"grpc-status": "0"}}
	case e == connect.JSON:
		return Answer{Status: 200, ContentType: e.ContentType(), Body: []byte("{}")}
	default: // the empty message has no bytes
		return Answer{Status: 200, ContentType: sameProto(p)}
	}
}

// sameProto is what the clients of a protocol call protobuf.
func sameProto(p Protocol) string {
	if p == OTLP {
		return "application/x-protobuf"
	}
	return connect.Proto.ContentType()
}

// Refused is the answer to a request with an error. A client that gets one of a wrong
// request does not send the same again; of [connect.Unavailable] it does, later.
func Refused(p Protocol, r Request, err error) Answer {
	failed := connect.As(err)
	e, unknownEncoding := connect.EncodingOf(r.ContentType)
	if unknownEncoding != nil {
		e = connect.JSON
	}
	state := status{Code: int32(failed.GRPC()), Message: failed.Message}
	switch {
	case p == Ingest:
		return Answer{Status: failed.Status(), ContentType: "text/plain; charset=utf-8", Body: []byte(failed.Message + "\n")}
	case e == connect.GRPC:
		return Answer{200, e.ContentType(), nil, map[string]string{
			"grpc-status": strconv.Itoa(failed.GRPC()), "grpc-message": percent(failed.Message),
		}}
	case p == Pusher:
		return Answer{Status: failed.Status(), ContentType: connect.JSON.ContentType(), Body: failed.Body()}
	case e == connect.JSON:
		return Answer{Status: failed.Status(), ContentType: e.ContentType(), Body: protobuf.MarshalJSON(state)}
	default:
		return Answer{Status: failed.Status(), ContentType: sameProto(p), Body: protobuf.Marshal(state)}
	}
}

// percent encodes a message for the trailer grpc-message, as gRPC wants it: bytes
// outside of printable ASCII, and percent signs, become %XX.
func percent(s string) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c <= '~' && c != '%' {
			out = append(out, c)
		} else {
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(out)
}
