package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// cp25 reads a table from a file for each step; the other form reads it once.
func cp25() {
	dir, err := os.MkdirTemp("", "lab")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "table")
	writeTable(name)
	table := readTable(name)
	spend(func() {
		if !fixed {
			table = readTable(name)
		}
		counted += len(table)
		counted += int(count(100_000))
	})
}

// writeTable makes the file under another name: nobody sees the one that is read open for writing, which on a busy machine a look at the open files may.
func writeTable(name string) {
	var text bytes.Buffer
	for i := range 2_000 {
		fmt.Fprintf(&text, "key%d %d\n", i, i)
	}
	if err := os.WriteFile(name+".new", text.Bytes(), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		panic(err)
	}
}

// readTable is what a file has by its first word.
func readTable(name string) map[string]string {
	f, err := os.Open(name)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	out := map[string]string{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), " ")
		out[key] = value
	}
	return out
}
