package cli

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"

	"loupe/dump"
	"loupe/secret"
	"loupe/source"
)

// parseStacks reads the dumps of a file that may be packed.
func parseStacks(name string, data []byte) (*dump.File, error) {
	switch {
	case bytes.HasPrefix(data, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("cannot unpack %s: %w", name, err)
		}
		head := make([]byte, 256)
		n, _ := io.ReadFull(z, head)
		if head = head[:n]; isProfile(head) {
			return nil, fmt.Errorf("%s is a profile and no text: loupe pprof -top %s shows it", name, name)
		}
		f, err := dump.Read(source.Limit(io.MultiReader(bytes.NewReader(head), z), name, source.Unpacked(int64(len(data)))))
		if err != nil {
			return nil, fmt.Errorf("cannot unpack %s: %w (was it cut?)", name, err)
		}
		return f, nil
	case isProfile(data):
		return nil, fmt.Errorf("%s is a profile and no text: loupe pprof -top %s shows it", name, name)
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}), bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return dump.Parse(fromUTF16(data)), nil // what PowerShell writes
	case bytes.HasPrefix(data, []byte("go 1.")) && bytes.Contains(data[:min(16, len(data))], []byte(" trace\x00")):
		return nil, fmt.Errorf("%s is an execution trace: loupe trace summary %s shows it", name, name)
	case bytes.HasPrefix(data, []byte("\x7fELF")):
		return nil, fmt.Errorf("%s is a binary or a core, and no text of a dump", name)
	}
	return dump.Parse(data), nil
}

// isProfile tells that bytes are no text and begin as a profile.proto does:
// with a sample type, or with the type of the period.
func isProfile(data []byte) bool {
	return len(data) > 1 && (data[0] == 0x0a || data[0] == 0x5a) && bytes.ContainsAny(data[:min(64, len(data))], "\x00\x01\x02\x03\x04\x08\x10\x12")
}

// fromUTF16 turns a text with a byte order mark into UTF-8.
func fromUTF16(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 0xfe {
		order = binary.BigEndian
	}
	words := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		words = append(words, order.Uint16(data[i:]))
	}
	return []byte(string(utf16.Decode(words)))
}

// stacksURL completes an address: :6060, host:6060 and http://host:6060 are the dump
// there.
func stacksURL(name string) (string, error) {
	if strings.HasPrefix(name, ":") {
		name = "localhost" + name
	}
	if !strings.Contains(name, "://") {
		name = "http://" + name
	}
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return "", usagef("cannot understand the address %q: want http://HOST:PORT/debug/pprof/goroutine?debug=2", name)
	}
	switch strings.TrimSuffix(u.Path, "/") {
	case "":
		u.Path = "/debug/pprof/goroutine"
	case "/debug/pprof":
		u.Path = "/debug/pprof/goroutine"
	}
	if q := u.Query(); !q.Has("debug") {
		q.Set("debug", "2")
		u.RawQuery = q.Encode()
	}
	return u.String(), nil
}

// fetchStacks gets a dump from a server. It asks the host that was named and
// nobody else: no proxy, and no other host that it is sent on to.
func fetchStacks(e *env, f *stacksFlags, name string) (*dump.File, error) {
	address, err := stacksURL(name)
	if err != nil {
		return nil, err
	}
	access, err := f.asking.access(address)
	if err != nil {
		return nil, usageError{err}
	}
	ctx, cancel := context.WithTimeout(e.ctx, f.timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, usageError{err}
	}
	access.Show(req)
	address = secret.URL(address)
	late := func(err error) error {
		if errors.Is(err, context.DeadlineExceeded) && e.ctx.Err() == nil {
			err = fmt.Errorf("no answer within %s (debug=2 stops the program while it collects; give it more time with -timeout, or take the profile, which is quick: loupe pprof %s)",
				f.timeout, strings.Replace(address, "debug=2", "debug=0", 1))
		}
		return exitError{exitNothing, fmt.Errorf("cannot get %s: %w", address, err)}
	}
	resp, err := access.Client().Do(req)
	if err != nil {
		return nil, late(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, exitError{exitNothing, fmt.Errorf("cannot get %s: the server says %s (is net/http/pprof imported, is the path right?)", address, resp.Status)}
	}
	data, err := source.ReadAll(resp.Body, address, source.MaxAnswer)
	if errors.Is(err, source.ErrTooLong) {
		return nil, err
	}
	if err != nil {
		return nil, late(err)
	}
	return parseStacks(address, data)
}
