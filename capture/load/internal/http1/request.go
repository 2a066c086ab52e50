// Package http1 writes HTTP/1.1 requests and reads the answers to them. It sees
// bytes and no connections: any kind of shell can feed it, and any split of
// the bytes gives the same answer.
//
// It is made for load: of an answer it keeps the status, the lengths, and
// whether the connection can go on, and it allocates nothing per answer. It
// takes what net/http takes, which the tests check side by side, and some more:
// header fields that it does not need are not looked at.
package http1

import "strconv"

// Field is one line of a header.
type Field struct{ Name, Value string }

// AppendRequest appends a whole request. uri is what stands behind the method:
// a path with its query, or a URL with scheme and host for a proxy. A body
// that is not nil gets a Content-Length, and so does its absence where the
// method means one.
func AppendRequest(dst []byte, method, uri, host string, header []Field, body []byte) []byte {
	dst = append(dst, method...)
	dst = append(dst, ' ')
	dst = append(dst, uri...)
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = append(dst, host...)
	dst = append(dst, "\r\n"...)
	for _, f := range header {
		dst = append(dst, f.Name...)
		dst = append(dst, ": "...)
		dst = append(dst, f.Value...)
		dst = append(dst, "\r\n"...)
	}
	if body != nil || Bodied(method) {
		dst = AppendLength(dst, len(body))
	}
	dst = append(dst, "\r\n"...)
	return append(dst, body...)
}

// AppendLength appends the line that says how long the body is.
func AppendLength(dst []byte, n int) []byte {
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(n), 10)
	return append(dst, "\r\n"...)
}

// Bodied tells whether a request of this method says how long its body is
// even when it has none (RFC 9110, section 8.6).
func Bodied(method string) bool { return method == "POST" || method == "PUT" || method == "PATCH" }
