package connect_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/klauspost/compress/gzip"

	"loupe/format/connect"
)

func TestErrors(t *testing.T) {
	f := func(err error, status, grpc int, body string) {
		t.Helper()
		e := connect.As(err)
		if e.Status() != status || e.GRPC() != grpc || string(e.Body()) != body {
			t.Errorf("%d %d %s", e.Status(), e.GRPC(), e.Body())
		}
	}
	f(connect.Errorf(connect.NotFound, "no %q", "x"), 404, 5, `{"code":"not_found","message":"no \"x\""}`)
	f(fmt.Errorf("series 3: %w", connect.Errorf(connect.Unavailable, "full")), 503, 14, `{"code":"unavailable","message":"series 3: full"}`)
	f(errors.New("boom"), 500, 13, `{"code":"internal","message":"boom"}`)
	f(connect.TooLarge(7), 413, 3, `{"code":"invalid_argument","message":"the request has more than 7 bytes (send fewer or smaller profiles)"}`)
	f(&connect.Error{Code: "odd"}, 500, 2, `{"code":"odd"}`)
}

func TestEncodingOf(t *testing.T) {
	for s, want := range map[string]connect.Encoding{
		"application/proto": connect.Proto, "application/x-protobuf": connect.Proto,
		"application/json; charset=utf-8": connect.JSON, "application/grpc": connect.GRPC, "application/grpc+proto": connect.GRPC,
	} {
		if e, err := connect.EncodingOf(s); e != want || err != nil {
			t.Errorf("%s: %v %v", s, e, err)
		}
	}
	for _, s := range []string{"", "text/plain", "application/connect+proto"} {
		if _, err := connect.EncodingOf(s); err == nil || connect.As(err).Status() != 415 {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestUnpack(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(bytes.Repeat([]byte("a"), 100))
	z.Close()
	f := func(body []byte, encoding string, limit int64, n, status int) {
		t.Helper()
		b, err := connect.Unpack(body, encoding, limit)
		if len(b) != n || (err != nil) != (status != 0) || err != nil && connect.As(err).Status() != status {
			t.Errorf("%d bytes, %v, want %d, %d", len(b), err, n, status)
		}
	}
	f(packed.Bytes(), "gzip", 100, 100, 0)
	f(packed.Bytes(), "GZIP", 99, 0, 413)
	f(packed.Bytes()[:packed.Len()-4], "gzip", 100, 0, 400)
	f([]byte("abc"), "gzip", 100, 0, 400)
	f([]byte("abc"), "identity", 3, 3, 0)
	f([]byte("abc"), "", 2, 0, 413)
	f([]byte("abc"), "zstd", 3, 0, 415)
}

func TestFraming(t *testing.T) {
	b, err := connect.Unframe(connect.Frame([]byte("abc")), "gzip", 10) // the flag counts, not the header
	if string(b) != "abc" || err != nil {
		t.Error(b, err)
	}
	for _, bad := range []string{"", "\x00\x00\x00\x00", "\x00\x00\x00\x00\x05ab", "\x00\x00\x00\x00\x01ab", "\x02\x00\x00\x00\x01a"} {
		if _, err := connect.Unframe([]byte(bad), "", 10); err == nil || connect.As(err).Code != connect.InvalidArgument {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestFromQuery(t *testing.T) {
	f := func(message, encoding, isBase64, want string, e connect.Encoding) {
		t.Helper()
		if b, got, err := connect.FromQuery(message, encoding, isBase64); err != nil || string(b) != want || got != e {
			t.Errorf("%q %v %v", b, got, err)
		}
	}
	f(`{"a":1}`, "json", "", `{"a":1}`, connect.JSON)
	f("_-8", "proto", "1", "\xff\xef", connect.Proto)
	f("YQ==", "proto", "1", "a", connect.Proto)
	for _, bad := range [][3]string{{"", "xml", ""}, {"*", "json", "1"}} {
		if _, _, err := connect.FromQuery(bad[0], bad[1], bad[2]); err == nil {
			t.Error(bad)
		}
	}
}

func FuzzUnframe(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x01a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := connect.Unframe(b, "gzip", 1<<16); err == nil && b[0] == 0 && !bytes.Equal(connect.Frame(m), b) {
			t.Errorf("%x is not %x", connect.Frame(m), b)
		}
		if m, err := connect.Unpack(b, "gzip", 1<<16); err == nil && len(m) > 1<<16 {
			t.Error(len(m))
		}
	})
}
