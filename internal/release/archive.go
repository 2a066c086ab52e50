package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// entry is a file of an archive.
type entry struct {
	name string
	mode int64
	data []byte
}

// texts are what every archive has beside the program: man pages and completions, which the
// program of this machine prints, and the terms.
func (s *source) texts(loupe string) ([]entry, error) {
	var all []entry
	for _, name := range []string{"README.md", "LICENSE"} {
		data, err := os.ReadFile(filepath.Join(s.root, name))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name, 0o644, data})
	}
	print := func(name string, args ...string) error {
		out, err := exec.Command(loupe, args...).Output()
		if err != nil {
			return fmt.Errorf("loupe %v: %w", args, err)
		}
		all = append(all, entry{name, 0o644, out})
		return nil
	}
	err := errors.Join(
		print("THIRD_PARTY_LICENSES", "version", "-licenses"),
		print("completions/loupe.bash", "completion", "bash"),
		print("completions/_loupe", "completion", "zsh"),
		print("completions/loupe.fish", "completion", "fish"),
		print("completions/loupe.ps1", "completion", "pwsh"))
	if err != nil {
		return nil, err
	}
	pages, err := s.manual(loupe)
	return append(all, pages...), err
}

// pack writes the archive of a system: a zip for Windows, a tar.gz for the others.
func (s *source) pack(out string, b binary, texts []entry) error {
	program, err := os.ReadFile(b.file)
	if err != nil {
		return err
	}
	dir := fmt.Sprintf("loupe-%s-%s-%s", s.version, b.os, b.arch)
	all := append(slices.Clone(texts), entry{b.name(), 0o755, program})
	slices.SortFunc(all, func(x, y entry) int { return cmp.Compare(x.name, y.name) })
	write, suffix := s.tarball, ".tar.gz"
	if b.os == "windows" {
		write, suffix = s.zipped, ".zip"
	}
	f, err := os.Create(filepath.Join(out, dir+suffix))
	if err != nil {
		return err
	}
	return errors.Join(write(f, dir, all), f.Close())
}

func (s *source) tarball(w io.Writer, dir string, all []entry) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, e := range all {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + e.name, Mode: e.mode, Size: int64(len(e.data)), ModTime: s.time, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func (s *source) zipped(w io.Writer, dir string, all []entry) error {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, e := range all {
		h := &zip.FileHeader{Name: dir + "/" + e.name, Method: zip.Deflate, Modified: s.time}
		h.SetMode(os.FileMode(e.mode))
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.data); err != nil {
			return err
		}
	}
	return z.Close()
}
