package debuginfo

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"unicode"

	"loupe/recording"
	"loupe/source/bounded"
)

// Bounds of the sources of dependencies that a recording keeps. All are chosen: what makes a client or a
// Transport is a small file of a small package.
const (
	maxDependencies     = 20
	maxDependencySize   = 128 << 10
	maxDependencyBytes  = 512 << 10 // of all together
	maxDependencyFolder = 200       // files of one package that are looked at
	maxDependencyLooks  = 2000      // files of all packages
	dependencySteps     = 2         // from the program's own files: a package, and one that it imports
)

// clientWords are what a file has that makes HTTP clients, or sets what decides about their connections.
var clientWords = [][]byte{
	[]byte("http.Client"), []byte("http.Transport"), []byte("http.RoundTripper"), []byte("http.DefaultTransport"), []byte("http.DefaultClient"),
}

// dependencies copies the files of packages outside of the program's module by which it may get an HTTP client
// or a Transport: those that its own files import, and that are compiled into it. The program names its files;
// nothing else is looked for. Neither a package of the Go installation nor one whose files are not there is kept.
func dependencies(w *recording.Writer, root, program string, own []string) error {
	if root == "" || program == "" || len(own) == 0 {
		return nil
	}
	if info, err := os.Stat(program); err != nil || info.Size() > maxProgram {
		return nil
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil // gone: there is nothing to be said
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil || len(info.Deps) == 0 {
		return nil
	}
	k := &dependencyKeeper{w: w, root: root, info: info, folders: compiledFolders(binary), seen: map[string]bool{}}
	return k.all(own)
}

// all copies what the program's own files lead to.
func (k *dependencyKeeper) all(own []string) error {
	next := k.imports(own, bounded.Places{Roots: []string{k.root}})
	for range dependencySteps {
		var files []string
		for _, pkg := range next {
			kept, err := k.keep(pkg)
			if err != nil {
				return err
			}
			files = append(files, kept...)
		}
		next = k.imports(files, bounded.Places{Roots: k.dirs})
	}
	return nil
}

// dependencyKeeper copies them.
type dependencyKeeper struct {
	w       *recording.Writer
	root    string
	info    *debug.BuildInfo
	folders map[string][]string // the files that are compiled into the program, by folder
	seen    map[string]bool     // packages that were looked at
	dirs    []string            // folders of packages of which something was kept
	files   int
	bytes   int
	looked  int
}

// compiledFolders are the Go files that a program's table of functions names by a whole path, by folder.
func compiledFolders(binary []byte) map[string][]string {
	const most = 1024 // bytes of a path
	end := []byte(".go\x00")
	all := map[string][]string{}
	for at := 0; ; {
		i := bytes.Index(binary[at:], end)
		if i < 0 {
			return all
		}
		i += at
		at = i + len(end)
		begin := bytes.LastIndexByte(binary[max(0, i-most):i], 0)
		if begin < 0 {
			continue
		}
		name := string(binary[max(0, i-most)+begin+1 : i+len(end)-1])
		if dir := path.Dir(name); filepath.IsAbs(name) && !slices.Contains(all[dir], name) {
			all[dir] = append(all[dir], name)
		}
	}
}

// imports are the packages of other modules that files import, in their order.
func (k *dependencyKeeper) imports(files []string, places bounded.Places) (all []string) {
	for _, pkg := range importedPaths(places, files) {
		if !k.seen[pkg] && k.module(pkg) != nil {
			k.seen[pkg] = true
			all = append(all, pkg)
		}
	}
	return all
}

// module is the one that a package belongs to; nil of the program's own, and of the Go installation.
func (k *dependencyKeeper) module(pkg string) (of *debug.Module) {
	for _, m := range k.info.Deps {
		if (pkg == m.Path || strings.HasPrefix(pkg, m.Path+"/")) && (of == nil || len(m.Path) > len(of.Path)) {
			of = m
		}
	}
	return of
}

// folder is where the files of a package lie, of those that are compiled into the program: in the module cache, in
// a folder that replaces the module, or among the vendored ones. It is empty where they are nowhere.
func (k *dependencyKeeper) folder(pkg string) string {
	m := k.module(pkg)
	used, rest := cmp.Or(m.Replace, m), strings.TrimPrefix(pkg, m.Path)
	vendored := filepath.ToSlash(filepath.Join(k.root, "vendor", filepath.FromSlash(pkg)))
	local := filepath.FromSlash(used.Path + rest)
	if !filepath.IsAbs(local) {
		local = filepath.Join(k.root, local)
	}
	cached := "/" + escapedModule(used.Path) + "@" + escapedModule(used.Version) + rest
	var found []string
	for dir := range k.folders {
		if dir == vendored || used.Version != "" && strings.HasSuffix(dir, cached) || m.Replace != nil && dir == filepath.ToSlash(local) {
			found = append(found, dir)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// escapedModule is how the module cache writes a path or a version: a capital letter is an exclamation mark and the small one.
func escapedModule(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// keep copies the files of a package that make clients, and returns them.
func (k *dependencyKeeper) keep(pkg string) (kept []string, err error) {
	dir := k.folder(pkg)
	if dir == "" || len(k.folders[dir]) > maxDependencyFolder {
		return nil, nil
	}
	places := bounded.Places{Roots: []string{dir}}
	files := slices.Sorted(slices.Values(k.folders[dir]))
	for _, file := range files {
		if k.looked++; k.files >= maxDependencies || k.looked > maxDependencyLooks {
			break
		}
		text, err := places.Read(file)
		if err != nil || len(text) > maxDependencySize || k.bytes+len(text) > maxDependencyBytes || !makesClients(text) {
			continue
		}
		err = k.w.Put(recording.Entry{Path: recording.DependencyPath(pkg, path.Base(file)), Kind: recording.Dependency, Source: file}, text)
		if err != nil {
			return kept, err
		}
		k.files, k.bytes, kept = k.files+1, k.bytes+len(text), append(kept, file)
	}
	if len(kept) > 0 {
		k.dirs = append(k.dirs, dir)
	}
	return kept, nil
}

// makesClients tells of the text of a file that a function in it returns an HTTP client or a Transport, that a variable of the package
// is one, or that it sets whether one keeps connections.
func makesClients(text []byte) bool {
	if !bytes.Contains(text, []byte("net/http")) || !slices.ContainsFunc(clientWords, func(w []byte) bool { return bytes.Contains(text, w) }) {
		return false
	}
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return false
	}
	if bytes.Contains(text, []byte("DisableKeepAlives")) || bytes.Contains(text, []byte("MaxIdleConnsPerHost")) {
		return true
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Type.Results != nil && slices.ContainsFunc(d.Type.Results.List, func(f *ast.Field) bool { return isClient(f.Type) }) {
				return true
			}
		case *ast.GenDecl:
			if d.Tok == token.VAR && slices.ContainsFunc(d.Specs, declaresClient) {
				return true
			}
		}
	}
	return false
}

// declaresClient tells whether the declaration of a variable of a package makes it a client or a Transport.
func declaresClient(spec ast.Spec) bool {
	v, ok := spec.(*ast.ValueSpec)
	if !ok {
		return false
	}
	if isClient(v.Type) {
		return true
	}
	return slices.ContainsFunc(v.Values, func(x ast.Expr) bool {
		if ref, ok := x.(*ast.UnaryExpr); ok {
			x = ref.X
		}
		lit, ok := x.(*ast.CompositeLit)
		return ok && isClient(lit.Type)
	})
}

// isClient tells whether an expression names the type of an HTTP client, a Transport, or what takes its place.
func isClient(of ast.Expr) bool {
	if of == nil {
		return false
	}
	switch strings.TrimPrefix(types.ExprString(of), "*") {
	case "http.Client", "http.Transport", "http.RoundTripper":
		return true
	}
	return false
}
