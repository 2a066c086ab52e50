package main

import (
	"cmp"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// inputs are the profiles that are measured. They are made when they are asked
// for and not there yet.
type inputs struct {
	dir  string
	seed *seed
}

// compile builds a package with profiles of the compiler, one for each
// package, and returns them, the largest first.
func (in *inputs) compile(name, flags string, packages ...string) ([]string, error) {
	dir := filepath.Join(in.dir, name)
	list, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(list) == 0 {
		fmt.Fprintln(os.Stderr, "compiling", strings.Join(packages, " "), "for profiles of the compiler")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		args := append([]string{"build", "-a", "-o", os.DevNull, "-gcflags=" + strings.ReplaceAll(flags, "DIR", dir+string(filepath.Separator))}, packages...)
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("cannot compile %s: %w:\n%s", packages, err, out)
		}
		list, _ = filepath.Glob(filepath.Join(dir, "*"))
	}
	type file struct {
		name string
		size int64
	}
	var files []file
	for _, name := range list {
		// The compiler starts an execution of its own for some packages, which
		// leaves an empty file.
		if info, err := os.Stat(name); err == nil && info.Size() > 0 {
			files = append(files, file{name, info.Size()})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("the compiler has written no profiles into %s", dir)
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.name, b.name)) })
	list = list[:0]
	for _, f := range files {
		list = append(list, f.name)
	}
	return list, nil
}

// small is S: the largest of the CPU profiles that the compiler has written.
func (in *inputs) small() ([]string, error) {
	list, err := in.cpus()
	if err != nil {
		return nil, err
	}
	return list[:1], nil
}

// cpus are the CPU profiles of the compiler on the packages of the go command.
func (in *inputs) cpus() ([]string, error) {
	return in.compile("cpu", "all=-cpuprofile=DIR", "cmd/go")
}

// real is R: a heap profile of the compiler that knows almost every allocation.
func (in *inputs) real() ([]string, error) {
	list, err := in.compile("heap", "-memprofile=DIR -memprofilerate=512", "cmd/compile/internal/ssa")
	if err != nil {
		return nil, err
	}
	return list[:1], nil
}

// The sample types of generated profiles.
var (
	heapTypes = [][2]string{{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}}
	cpuTypes  = [][2]string{{"samples", "count"}, {"cpu", "nanoseconds"}}
	space     = [2]string{"space", "bytes"}
	cpu       = [2]string{"cpu", "nanoseconds"}
)

// generated returns a file, and makes it if it is not there.
func (in *inputs) generated(name string, types [][2]string, period [2]string, rows func(*seed) iter.Seq[row]) (string, error) {
	file := filepath.Join(in.dir, name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	if in.seed == nil {
		list, err := in.real()
		if err != nil {
			return "", err
		}
		data, err := os.ReadFile(list[0])
		if err != nil {
			return "", err
		}
		if in.seed, err = newSeed(data); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, in.seed.encode(types, period, rows(in.seed)), 0o644)
}

// large is L: a heap profile of 840,000 samples.
func (in *inputs) large() ([]string, error) {
	file, err := in.generated("L.pb.gz", heapTypes, space, func(s *seed) iter.Seq[row] { return s.heap(840_000) })
	return []string{file}, err
}

// tagged is T: a CPU profile of 800,000 samples, each with labels of its own.
func (in *inputs) tagged() ([]string, error) {
	file, err := in.generated("T.pb.gz", cpuTypes, cpu, func(s *seed) iter.Seq[row] { return s.labelled(800_000) })
	return []string{file}, err
}

// tagged100 is t: as many samples of that kind as pprof gets through.
func (in *inputs) tagged100() ([]string, error) {
	file, err := in.generated("t.pb.gz", cpuTypes, cpu, func(s *seed) iter.Seq[row] { return s.labelled(100_000) })
	return []string{file}, err
}

// sources is how many profiles are merged.
const sources = 1000

// shards are small heap profiles.
func (in *inputs) shards() (list []string, err error) {
	for i := range sources {
		file, err := in.generated(fmt.Sprintf("shards/%04d.pb.gz", i), heapTypes, space, func(s *seed) iter.Seq[row] { return s.shard(500) })
		if err != nil {
			return nil, err
		}
		list = append(list, file)
	}
	return list, nil
}

// manyCPUs are the CPU profiles of the compiler, over and over.
func (in *inputs) manyCPUs() ([]string, error) {
	files, err := in.cpus()
	if err != nil {
		return nil, err
	}
	var list []string
	for i := range sources {
		list = append(list, files[i%len(files)])
	}
	return list, nil
}
