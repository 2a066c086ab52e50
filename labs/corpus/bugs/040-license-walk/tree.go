package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func makeTree(root string, dirs, files int) error {
	for d := range dirs {
		dir := filepath.Join(root, fmt.Sprintf("pkg%03d", d))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for f := range files {
			name := filepath.Join(dir, fmt.Sprintf("file%04d.go", f))
			if err := os.WriteFile(name, nil, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func countSources(root string) (n int, err error) {
	err = filepath.Walk(root, func(path string, info fs.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if !info.IsDir() && filepath.Ext(path) == ".go" {
			n++
		}
		return nil
	})
	return n, err
}

func countEntries(root string) (n int, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() && filepath.Ext(path) == ".go" {
			n++
		}
		return nil
	})
	return n, err
}
