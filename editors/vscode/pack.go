// Command vscode packs the extension for VS Code: it bundles extension.js with what it needs of
// node_modules into one file, and puts that with the description into a .vsix file.
//
//	npm --prefix editors/vscode ci --ignore-scripts    fetches vscode-languageclient
//	go -C editors/vscode run .                         writes loupe.vsix
//	code --install-extension editors/vscode/loupe.vsix
//
// The same files give the same bytes. It is a module of its own, so that the compiler of
// JavaScript is no part of loupe.
package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	out := flag.String("o", "loupe.vsix", "`file` to write")
	flag.Parse()
	data, err := Pack(".", "node_modules")
	if err == nil {
		err = os.WriteFile(*out, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

// Pack makes the .vsix file of the extension in a folder, with modules from another one.
func Pack(dir, modules string) ([]byte, error) {
	about, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		return nil, err
	}
	var p struct {
		Name, DisplayName, Description, Version, Publisher string
		Engines                                            struct{ VSCode string }
		Categories                                         []string
	}
	if err := json.Unmarshal(about, &p); err != nil {
		return nil, fmt.Errorf("package.json: %w", err)
	}
	code, err := bundle(dir, modules)
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return nil, err
	}
	own, err := os.ReadFile(filepath.Join(dir, "..", "..", "LICENSE"))
	if err != nil {
		return nil, err
	}
	others, err := licences(modules)
	if err != nil {
		return nil, err
	}
	escape := func(s string) string {
		var b bytes.Buffer
		xml.EscapeText(&b, []byte(s))
		return b.String()
	}
	manifest := fmt.Sprintf(manifestForm, escape(p.Name), escape(p.Version), escape(p.Publisher), escape(p.DisplayName), escape(p.Description),
		escape(strings.Join(p.Categories, ",")), escape(p.Engines.VSCode))
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, f := range []struct {
		name string
		data []byte
	}{
		{"extension.vsixmanifest", []byte(manifest)},
		{"[Content_Types].xml", []byte(contentTypes)},
		{"extension/package.json", about},
		{"extension/extension.js", code},
		{"extension/README.md", readme},
		{"extension/LICENSE.txt", own},
		{"extension/THIRD_PARTY_LICENSES.txt", others},
	} {
		w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate})
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// bundle makes one file of the extension.
func bundle(dir, modules string) ([]byte, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if modules, err = filepath.Abs(modules); err != nil {
		return nil, err
	}
	r := api.Build(api.BuildOptions{
		AbsWorkingDir: dir, EntryPoints: []string{"extension.js"}, NodePaths: []string{modules}, Bundle: true, Outfile: "out/extension.js",
		Platform: api.PlatformNode, Format: api.FormatCommonJS, Engines: []api.Engine{{Name: api.EngineNode, Version: "20"}}, External: []string{"vscode"},
		MinifySyntax: true, MinifyWhitespace: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone, LogLevel: api.LogLevelSilent,
	})
	var errs []error
	for _, m := range r.Errors {
		errs = append(errs, errors.New(m.Text))
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("%w (npm ci --ignore-scripts fetches what is missing)", errors.Join(errs...))
	}
	return r.OutputFiles[0].Contents, nil
}

// licences are those of all modules, in the order of their names.
func licences(modules string) ([]byte, error) {
	var all bytes.Buffer
	names, err := filepath.Glob(filepath.Join(modules, "*", "package.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		dir := filepath.Dir(name)
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if !strings.HasPrefix(strings.ToLower(e.Name()), "licen") || e.IsDir() {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&all, "%s\n%s\n\n%s\n", strings.Repeat("=", 78), filepath.Base(dir), text)
		}
		if !found {
			return nil, fmt.Errorf("%s has no licence", filepath.Base(dir))
		}
	}
	return all.Bytes(), nil
}

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension=".json" ContentType="application/json"/><Default Extension=".vsixmanifest" ContentType="text/xml"/><Default Extension=".js" ContentType="application/javascript"/><Default Extension=".md" ContentType="text/markdown"/><Default Extension=".txt" ContentType="text/plain"/></Types>
`

const manifestForm = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011" xmlns:d="http://schemas.microsoft.com/developer/vsx-schema-design/2011">
<Metadata>
<Identity Language="en-US" Id="%s" Version="%s" Publisher="%s"/>
<DisplayName>%s</DisplayName>
<Description xml:space="preserve">%s</Description>
<Categories>%s</Categories>
<Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value="%s"/></Properties>
<License>extension/LICENSE.txt</License>
</Metadata>
<Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
<Dependencies/>
<Assets>
<Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
<Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
</Assets>
</PackageManifest>
`
