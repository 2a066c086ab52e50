// Command tools builds the pages: it bundles the TypeScript under web/ui into
// web/dist, which package web embeds.
//
//	go -C web/tools run .            builds
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
	alias := map[string]string{}
	for name, file := range vendored {
		alias[name] = filepath.Join(ui, "vendor", filepath.FromSlash(file))
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir: ui,
		EntryPointsAdvanced: []api.EntryPoint{
			{InputPath: "app/main.tsx", OutputPath: "app"},
			{InputPath: "app/theme.css", OutputPath: "theme"},
		},
		Outdir:            filepath.Join(ui, "out"),
		Bundle:            true,
		Alias:             alias,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		JSX:               api.JSXAutomatic,
		JSXImportSource:   "preact",
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
		Charset:           api.CharsetUTF8,
		LogLevel:          api.LogLevelSilent,
		Write:             false,
	})
	if len(result.Errors) > 0 {
		return nil, errors.New(strings.Join(api.FormatMessages(result.Errors, api.FormatMessagesOptions{}), "\n"))
	}
	var files []File
	for _, f := range result.OutputFiles {
		files = append(files, File{filepath.Base(f.Path), f.Contents})
	}
	page, err := os.ReadFile(filepath.Join(ui, "app", "index.html"))
	if err != nil {
		return nil, err
	}
	return append(files, File{"index.html", page}), nil
}

func main() {
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
