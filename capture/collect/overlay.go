package collect

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"loupe/capture/agent"
)

// overlay is what `go build -overlay` lays over the files of others.
type overlay struct {
	dir     string            // for our files
	replace map[string]string // by the path that they are laid over
}

// put lays text over a path.
func (o *overlay) put(path, text string) error {
	name := filepath.Join(o.dir, fmt.Sprintf("%d-%s", len(o.replace), filepath.Base(path)))
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return fmt.Errorf("cannot write what is laid over a package: %w", err)
	}
	o.replace[path] = name
	return nil
}

// writeOverlay writes what an attempt adds, such as the agent's files, and the JSON that lays them over the
// package's folder, and over the standard library where the attempt wants that.
// It returns the name of the JSON, and of the files that the package gets.
func writeOverlay(opt BuildOptions, pkg *goPackage, a attempt) (name string, added []string, err error) {
	o := &overlay{opt.Temp, map[string]string{}}
	for path, text := range a.std {
		if err := o.put(path, text); err != nil {
			return "", nil, err
		}
	}
	if a.agent {
		if added, err = o.putAgent(pkg, a); err != nil {
			return "", nil, err
		}
	}
	if a.opt.Share {
		for _, c := range a.opt.Std() {
			if err := o.change(c, filepath.Join(a.root, "src", filepath.FromSlash(c.Package))); err != nil {
				return "", nil, err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": o.replace})
	if err != nil {
		return "", nil, err
	}
	name = filepath.Join(opt.Temp, overlayFile)
	return name, added, os.WriteFile(name, text, 0o600)
}

// overlayFile is the name of the JSON.
const overlayFile = "overlay.json"

// originals are the paths over which the files of the last attempt in a folder were laid, by their own: the compiler names these.
func originals(temp string) map[string]string {
	var laid struct{ Replace map[string]string }
	text, err := os.ReadFile(filepath.Join(temp, overlayFile))
	if err != nil || json.Unmarshal(text, &laid) != nil {
		return nil
	}
	out := map[string]string{}
	for path, copied := range laid.Replace {
		out[filepath.Clean(copied)] = path
	}
	return out
}

// putAgent lays the agent's files into the package's folder, and returns their names.
func (o *overlay) putAgent(pkg *goPackage, a attempt) (added []string, err error) {
	for _, f := range a.opt.Files() {
		if err := o.put(filepath.Join(pkg.Dir, f.Name), f.Text); err != nil {
			return nil, err
		}
		added = append(added, f.Name)
	}
	return added, nil
}

// change lays a change over the package in dir.
func (o *overlay) change(c agent.Change, dir string) error {
	for file := range c.Rename {
		path := filepath.Join(dir, file)
		old, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("cannot read the standard library: %w", err)
		}
		text, err := c.Apply(file, string(old))
		if err != nil {
			return err
		}
		if err := o.put(path, text); err != nil {
			return err
		}
	}
	for _, f := range c.Add {
		if err := o.put(filepath.Join(dir, f.Name), f.Text); err != nil {
			return err
		}
	}
	return nil
}
