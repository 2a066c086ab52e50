package main

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
)

const partSize = 256 << 10

type object struct {
	key  string
	etag string
	meta map[string]string
}

type uploader struct {
	release bool
	mu      sync.Mutex
	objects map[string]*object
}

func (u *uploader) put(key string, r io.Reader, parts int) (string, error) {
	h := md5.New()
	for n := range parts {
		etag, err := u.putPart(n, r)
		if err != nil {
			return "", err
		}
		io.WriteString(h, etag)
	}
	etag := fmt.Sprintf("%x-%d", h.Sum(nil), parts)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.objects[key] = &object{key: key, etag: etag, meta: map[string]string{"parts": fmt.Sprint(parts)}}
	return etag, nil
}

func (u *uploader) putPart(n int, r io.Reader) (string, error) {
	buf := make([]byte, partSize)
	length, err := io.ReadFull(r, buf)
	if err != nil && err != io.ErrUnexpectedEOF {
		return "", fmt.Errorf("part %d: %w", n, err)
	}
	sum := md5.Sum(buf[:length])
	if u.release {
		debug.FreeOSMemory()
	}
	return hex.EncodeToString(sum[:]), nil
}
