package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

type remoteFile struct {
	url     string
	client  *http.Client
	pending bytes.Buffer
}

func (f *remoteFile) Write(p []byte) (int, error) { return f.pending.Write(p) }

func (f *remoteFile) Sync() error {
	resp, err := f.client.Post(f.url, "text/plain", bytes.NewReader(bytes.Clone(f.pending.Bytes())))
	if err != nil {
		return err
	}
	f.pending.Reset()
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("sync: %s", resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func fileServer(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	time.Sleep(10 * time.Millisecond)
}
