package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// cp25 reads a table from a file for each step; the other form reads it once.
func cp25() {
	f, err := os.CreateTemp("", "lab")
	if err != nil {
		panic(err)
	}
	defer os.Remove(f.Name())
	for i := range 2_000 {
		fmt.Fprintf(f, "key%d %d\n", i, i)
	}
	f.Close()
	table := readTable(f.Name())
	spend(func() {
		if !fixed {
			table = readTable(f.Name())
		}
		counted += len(table)
		counted += int(count(100_000))
	})
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
