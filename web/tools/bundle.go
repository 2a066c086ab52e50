// Command tools builds the pages: it bundles the TypeScript under web/ui into
// web/dist, which package web embeds.
//
//	go -C web/tools run .            builds
//	go -C web/tools run . -tests     prints the tests of the TypeScript as one script, which web/e2e runs
//	go -C web/tools test .           fails when web/dist is stale, or the types are wrong
//	go -C web/tools tool tsgo -p ../ui   checks the types alone
//
// It is a module of its own so that the compiler of JavaScript is not part of
// the program. No Node is needed.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// File is one file of the bundle.
type File struct {
	Name string
	Data []byte
}

// vendored says which file of vendor an import means.
var vendored = map[string]string{
	"preact":               "preact/dist/preact.mjs",
	"preact/hooks":         "preact/hooks/dist/hooks.mjs",
	"preact/jsx-runtime":   "preact/jsx-runtime/dist/jsxRuntime.mjs",
	"@preact/signals":      "signals/signals.mjs",
	"@preact/signals-core": "signals-core/signals-core.mjs",
}

// Bundle builds the files of the pages out of the folder of their sources.
func Bundle(ui string) ([]File, error) {
	ui, err := filepath.Abs(ui)
	if err != nil {
		return nil, err
	}
	o := options(ui)
	o.EntryPointsAdvanced = []api.EntryPoint{
		{InputPath: "app/main.tsx", OutputPath: "app"},
		{InputPath: "app/theme.css", OutputPath: "theme"},
	}
	o.Outdir = filepath.Join(ui, "out")
	if o.Banner, err = banner(ui); err != nil {
		return nil, err
	}
	o.MinifyWhitespace, o.MinifyIdentifiers, o.MinifySyntax = true, true, true
	apart := o
	o.Plugins = []api.Plugin{later}
	files, err := build(o)
	if err != nil {
		return nil, err
	}
	apart.EntryPointsAdvanced = []api.EntryPoint{{InputPath: "panels/fleet/index.tsx", OutputPath: "fleet"}}
	apart.Banner = nil
	apart.Plugins = []api.Plugin{fromApp}
	fleet, err := build(apart)
	if err != nil {
		return nil, err
	}
	files = append(files, fleet...)
	page, err := os.ReadFile(filepath.Join(ui, "app", "index.html"))
	if err != nil {
		return nil, err
	}
	return append(files, File{"index.html", page}), nil
}

// later makes what is imported while the page runs a script of its own: the fleet view,
// which only the pages of a store have.
var later = api.Plugin{Name: "later", Setup: func(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `panels/fleet/`}, func(a api.OnResolveArgs) (api.OnResolveResult, error) {
		if a.Kind != api.ResolveJSDynamicImport {
			return api.OnResolveResult{}, nil
		}
		return api.OnResolveResult{Path: "./fleet.js", External: true}, nil
	})
}}

// fromApp takes all that lies outside of the folder of a view from the script that the page
// has begun with, which exports it (app/shared.ts).
var fromApp = api.Plugin{Name: "from app", Setup: func(b api.PluginBuild) {
	b.OnResolve(api.OnResolveOptions{Filter: `^(\.\./|@?preact)`}, func(api.OnResolveArgs) (api.OnResolveResult, error) {
		return api.OnResolveResult{Path: "./app.js", External: true}, nil
	})
}}

// build runs the bundler.
func build(o api.BuildOptions) (files []File, err error) {
	result := api.Build(o)
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	for _, f := range result.OutputFiles {
		files = append(files, File{filepath.Base(f.Path), f.Contents})
	}
	return files, nil
}

// banner is what the script begins with: the licences of all that is in it, which
// travel with it into every page that is exported.
func banner(ui string) (map[string]string, error) {
	own, err := os.ReadFile(filepath.Join(ui, "..", "..", "LICENSE"))
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("/*!\nloupe\n\n" + strings.TrimSpace(string(own)) + "\n")
	folders, err := filepath.Glob(filepath.Join(ui, "vendor", "*", "LICENSE"))
	if err != nil {
		return nil, err
	}
	for _, name := range folders {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if strings.Contains(string(text), "*/") {
			return nil, fmt.Errorf("%s would end the comment that it stands in", name)
		}
		fmt.Fprintf(&b, "\n--\n\n%s\n\n%s\n", filepath.Base(filepath.Dir(name)), strings.TrimSpace(string(text)))
	}
	b.WriteString("*/")
	return map[string]string{"js": b.String()}, nil
}

// options are what all bundles have in common.
func options(ui string) api.BuildOptions {
	alias := map[string]string{}
	for name, file := range vendored {
		alias[name] = filepath.Join(ui, "vendor", filepath.FromSlash(file))
	}
	return api.BuildOptions{
		AbsWorkingDir:   ui,
		Bundle:          true,
		Alias:           alias,
		Format:          api.FormatESModule,
		Target:          api.ES2022,
		JSX:             api.JSXAutomatic,
		JSXImportSource: "preact",
		LegalComments:   api.LegalCommentsNone,
		Charset:         api.CharsetUTF8,
		LogLevel:        api.LogLevelSilent,
	}
}

// Tests bundles every file that ends in _test.ts into a script whose value is
// the results in JSON.
func Tests(ui string) ([]byte, error) {
	ui, err := filepath.Abs(ui)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(ui, "*", "*_test.ts"))
	if err != nil {
		return nil, err
	}
	inner, err := filepath.Glob(filepath.Join(ui, "*", "*", "*_test.ts"))
	if err != nil {
		return nil, err
	}
	var entry strings.Builder
	for _, f := range append(files, inner...) {
		fmt.Fprintf(&entry, "import %q;\n", filepath.ToSlash(f))
	}
	entry.WriteString("import { run } from \"./base/testing.ts\";\nglobalThis.results = run().then(JSON.stringify);\n")
	o := options(ui)
	o.Stdin = &api.StdinOptions{Contents: entry.String(), ResolveDir: ui}
	o.Format = api.FormatIIFE
	result := api.Build(o)
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	return append(result.OutputFiles[0].Contents, "globalThis.results"...), nil
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "-tests" {
		script, err := Tests("../ui")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Stdout.Write(script)
		return
	}
	files, err := Bundle("../ui")
	if err == nil {
		err = write("../dist", files)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// write writes the files of the bundle and removes what is no more among them.
func write(dist string, files []File) error {
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, f := range files {
		keep[f.Name] = true
		if err := os.WriteFile(filepath.Join(dist, f.Name), f.Data, 0o644); err != nil {
			return err
		}
	}
	old, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	for _, e := range old {
		if !keep[e.Name()] {
			if err := os.Remove(filepath.Join(dist, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
