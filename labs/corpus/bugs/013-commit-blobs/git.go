package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

type repository struct {
	root    string
	batches chan *batch
}

func (r *repository) blobs(ids []string) (map[string]string, error) {
	out := make(map[string]string, len(ids))
	for _, id := range ids {
		text, err := r.catFile(id)
		if err != nil {
			return nil, fmt.Errorf("blob %s: %w", id, err)
		}
		out[id] = text
	}
	return out, nil
}

func (r *repository) catFile(id string) (string, error) {
	if r.batches != nil {
		b := <-r.batches
		defer func() { r.batches <- b }()
		return b.catFile(id)
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(self, "-cat-file", id)
	cmd.Dir = r.root
	text, err := cmd.Output()
	return strings.TrimSpace(string(text)), err
}

type batch struct {
	in  io.Writer
	out *bufio.Reader
}

func startBatch() (*batch, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-cat-file", "batch")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &batch{in: in, out: bufio.NewReader(out)}, cmd.Start()
}

func (b *batch) catFile(id string) (string, error) {
	if _, err := io.WriteString(b.in, id+"\n"); err != nil {
		return "", err
	}
	line, err := b.out.ReadString('\n')
	return strings.TrimSpace(line), err
}
