package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nonroot is the user of distroless images that has no rights.
const nonroot = 65532

// image writes the container image of Linux as an archive in OCI's layout, which podman, skopeo
// and containerd load: the program, the roots that TLS trusts, and a folder for data. It has
// what docs/deploy/Dockerfile has, without a base image.
func (s *source) image(out string, built []binary) error {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	n := 0
	for _, b := range built {
		if b.os != "linux" {
			continue
		}
		img, err := s.imageOf(b)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.os, Architecture: b.arch}}})
		n++
	}
	if n == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "loupe-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := l.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": s.version})); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(out, fmt.Sprintf("loupe-%s-image.tar", s.version)))
	if err != nil {
		return err
	}
	return errors.Join(s.folder(f, dir), f.Close())
}

// imageOf is the image of an architecture.
func (s *source) imageOf(b binary) (v1.Image, error) {
	program, err := os.ReadFile(b.file)
	if err != nil {
		return nil, err
	}
	users := fmt.Appendf(nil, "root:x:0:0:root:/:/\nnonroot:x:%d:%[1]d:nonroot:/data:/\n", nonroot)
	system, err := s.layer(
		part{tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o755, Uid: nonroot, Gid: nonroot}, nil},
		part{tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644}, users},
		part{tar.Header{Typeflag: tar.TypeReg, Name: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644}, trusted()},
		part{tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil})
	if err != nil {
		return nil, err
	}
	own, err := s.layer(part{tar.Header{Typeflag: tar.TypeReg, Name: "loupe", Mode: 0o755}, program})
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), system, own)
	if err != nil {
		return nil, err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = b.os, b.arch, v1.Time{Time: s.time}
	for i := range config.History {
		config.History[i].Created = v1.Time{Time: s.time}
	}
	config.Config = v1.Config{
		User:         fmt.Sprintf("%d:%[1]d", nonroot),
		Entrypoint:   []string{"/loupe"},
		Cmd:          served,
		ExposedPorts: map[string]struct{}{"4040/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		Env:          []string{"HOME=/data"},
		Labels: map[string]string{
			"org.opencontainers.image.title": "loupe", "org.opencontainers.image.version": s.version, "org.opencontainers.image.revision": s.commit,
		},
	}
	return mutate.ConfigFile(img, config)
}

// served is the command of docs/deploy/Dockerfile.
var served = []string{"serve", "-listen", "0.0.0.0:4040", "-data", "/data", "-tokens", "/etc/loupe/tokens", "-insecure"}

// trusted are the roots of Mozilla's store, as PEM. Those that are trusted for some names or
// until some day alone are left out: a file of certificates cannot say so.
func trusted() []byte {
	var b bytes.Buffer
	for r := range bundle.Roots() {
		if r.Constraint == nil {
			pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate})
		}
	}
	return b.Bytes()
}

// part is a file or a folder of a layer.
type part struct {
	tar.Header
	data []byte
}

func (s *source) layer(parts ...part) (v1.Layer, error) {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	for _, p := range parts {
		p.Size, p.ModTime, p.Format = int64(len(p.data)), s.time, tar.FormatPAX
		if err := t.WriteHeader(&p.Header); err != nil {
			return nil, err
		}
		if _, err := t.Write(p.data); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil },
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression))
}

// folder writes what is in a folder, in the order of names.
func (s *source) folder(w io.Writer, dir string) error {
	t := tar.NewWriter(w)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		h := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(rel), Mode: 0o644, Size: int64(len(data)), ModTime: s.time, Format: tar.FormatPAX}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		_, err = t.Write(data)
		return err
	})
	return errors.Join(err, t.Close())
}
