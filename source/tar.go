package source

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"loupe/recording"
	"loupe/source/bounded"
)

// member is a file of a tar file, and where its copy lies.
type member struct{ name, path string }

// openTar opens a recording, or the files in a tar file that is none.
func openTar(d *Door, in *Input, size int64, depth int) ([]*Input, error) {
	if depth == layers {
		return nil, fmt.Errorf("%s is packed more than %d times: unpack it", in.Name, layers)
	}
	root, files, err := d.copies.untar(in, size)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		base := path.Base(f.name)
		if (base == recording.ManifestName || base == recording.JournalName) && strings.Count(f.name, "/") <= 1 {
			in.Path, in.Recording = filepath.Join(root, filepath.FromSlash(path.Dir(f.name))), true
			d.copies.names[in.Path] = in.Name
			return []*Input{in}, nil
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there is no file in %s", in.Name)
	}
	slices.SortFunc(files, func(a, b member) int { return strings.Compare(a.name, b.name) })
	var all []*Input
	for _, f := range files {
		some, err := d.regular(in.Name+"/"+f.name, f.path, depth+1)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// untar copies the files of a tar file into a folder, which keeps how they lie to each
// other. Links, devices and files whose names begin with a dot are left out. Together they
// are as long as what comes out of a packed file may be: of a file with holes, a tar file
// has no more than where they are.
func (c *copies) untar(in *Input, size int64) (root string, files []member, err error) {
	f, err := os.Open(in.Path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	if root, err = c.folder(in.Name); err != nil {
		return "", nil, err
	}
	left := bounded.Unpacked(size)
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		switch {
		case err == io.EOF:
			return root, files, nil
		case err != nil:
			return "", nil, fmt.Errorf("cannot unpack %s: %w (was it truncated?)", in.Name, err)
		case h.Typeflag != tar.TypeReg || strings.HasPrefix(path.Base(h.Name), "."):
			continue
		case len(files) == maxInside:
			return "", nil, fmt.Errorf("%s holds more than %d files: unpack it and name the file to look at", in.Name, maxInside)
		}
		m := member{name: inFolder(h.Name)}
		m.path = filepath.Join(root, filepath.FromSlash(m.name))
		if err := os.MkdirAll(filepath.Dir(m.path), 0o700); err != nil {
			return "", nil, fmt.Errorf("cannot unpack %s/%s: %w: %w", in.Name, m.name, errNoRoom, err)
		}
		limited := bounded.Limit(r, in.Name+"/"+m.name, left)
		if _, err := c.putAt(m.path, limited, in.Name+"/"+m.name); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return "", nil, fmt.Errorf("cannot unpack %s/%s: %w (was it truncated?)", in.Name, m.name, err)
			}
			return "", nil, fmt.Errorf("cannot unpack %s/%s: %w", in.Name, m.name, err)
		}
		left -= h.Size
		// What was appended takes the place of what has the same name.
		files = slices.DeleteFunc(files, func(o member) bool { return o.name == m.name })
		files = append(files, m)
	}
}

// inFolder makes of the name of a file in a tar file one that lies in the folder that it
// is unpacked into.
func inFolder(name string) string {
	parts := strings.Split(strings.TrimPrefix(path.Clean("/"+name), "/"), "/")
	for i := range parts {
		parts[i] = fileName(parts[i])
	}
	return path.Join(parts...)
}

// tarEntry opens what lies in a tar file, packed or not: rec.tar.gz/cpu.pb.gz. ok tells
// whether the file is one.
func tarEntry(d *Door, tarName, inner string) (all []*Input, ok bool, err error) {
	if !slices.ContainsFunc([]string{".tar", ".tgz", ".tar.gz", ".tar.zst"}, func(end string) bool { return strings.HasSuffix(tarName, end) }) {
		return nil, false, nil
	}
	if all, err = d.regular(tarName, tarName, 0); err != nil {
		return nil, true, err
	}
	for _, in := range all {
		if in.Recording {
			// It may lie in a folder of its tar file, which the name may have.
			at := filepath.Join(in.Path, filepath.FromSlash(strings.TrimPrefix(inFolder(inner), filepath.Base(in.Path)+"/")))
			if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
				all, err = d.regular(tarName+"/"+inner, at, 0)
				return all, true, err
			}
		}
		if rest, ok := strings.CutPrefix(in.Name, tarName+"/"); ok && (rest == inner || strings.HasSuffix(rest, "/"+inner) && strings.Count(rest, "/") == strings.Count(inner, "/")+1) {
			return []*Input{in}, true, nil
		}
	}
	return nil, true, nothing{fmt.Errorf("%s holds no file %s", tarName, inner)}
}
