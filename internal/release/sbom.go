package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

// bill is the bill of materials of a program, CycloneDX 1.6: the modules that the linker put
// in, as the program itself says, Go, and what is in the pages.
func (s *source) bill(b binary) (entry, error) {
	info, err := buildinfo.ReadFile(b.file)
	if err != nil {
		return entry{}, err
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{
		Timestamp: s.time.Format("2006-01-02T15:04:05Z"),
		Component: &cyclonedx.Component{
			BOMRef: "loupe", Type: cyclonedx.ComponentTypeApplication, Name: "loupe", Version: s.version,
			Properties: &[]cyclonedx.Property{{Name: "commit", Value: s.commit}, {Name: "platform", Value: b.String()}},
		},
	}
	std := strings.TrimPrefix(info.GoVersion, "go")
	parts := []cyclonedx.Component{s.component("pkg:golang/std@"+std, "std", std, filepath.Join(goroot(), "LICENSE"))}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		dir, err := s.module(m.Path, m.Version)
		if err != nil {
			return entry{}, err
		}
		c := s.component("pkg:golang/"+m.Path+"@"+m.Version, m.Path, m.Version, licences(dir)...)
		c.Properties = &[]cyclonedx.Property{{Name: "go.sum", Value: m.Sum}}
		parts = append(parts, c)
	}
	vendored, err := s.vendored()
	if err != nil {
		return entry{}, err
	}
	parts = append(parts, vendored...)
	bom.Components = &parts
	var out bytes.Buffer
	enc := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true)
	if err := enc.EncodeVersion(bom, cyclonedx.SpecVersion1_6); err != nil {
		return entry{}, err
	}
	return entry{"sbom.cdx.json", 0o644, out.Bytes()}, nil
}

func goroot() string {
	out, _ := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out))
}

// module is the folder of a module in the cache.
func (s *source) module(path, version string) (string, error) {
	c := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path+"@"+version)
	c.Dir = s.root
	out, err := c.Output()
	if err != nil || strings.TrimSpace(string(out)) == "" {
		return "", fmt.Errorf("%s@%s is not in the module cache (%v): go mod download fetches it", path, version, err)
	}
	return strings.TrimSpace(string(out)), nil
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying)([.-].*)?$`)

// licences are the files of a folder that have terms.
func licences(dir string) (files []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if licenceFile.MatchString(e.Name()) && !e.IsDir() {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files
}

// component is a part with the licences that its files hold, by their SPDX names. What is not
// recognised is in THIRD_PARTY_LICENSES, as everything is.
func (s *source) component(purl, name, version string, terms ...string) cyclonedx.Component {
	c := cyclonedx.Component{BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl}
	var found cyclonedx.Licenses
	seen := map[string]bool{}
	for _, file := range terms {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, m := range licensecheck.Scan(text).Match {
			if !m.IsURL && !seen[m.ID] {
				seen[m.ID] = true
				found = append(found, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: m.ID}})
			}
		}
	}
	if len(found) > 0 {
		c.Licenses = &found
	}
	return c
}

// row is one of the table of web/ui/vendor/README.md: folder, package, version.
var row = regexp.MustCompile(`(?m)^\| ([a-z-]+) \| (@?[a-z/-]+)[^|]*\| ([0-9.]+) \|`)

// vendored are the scripts in the pages.
func (s *source) vendored() ([]cyclonedx.Component, error) {
	dir := filepath.Join(s.root, "web", "ui", "vendor")
	table, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		return nil, err
	}
	var parts []cyclonedx.Component
	for _, m := range row.FindAllSubmatch(table, -1) {
		folder, name, version := string(m[1]), string(m[2]), string(m[3])
		purl := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + version
		parts = append(parts, s.component(purl, name, version, filepath.Join(dir, folder, "LICENSE")))
	}
	folders, err := filepath.Glob(filepath.Join(dir, "*", "LICENSE"))
	if err != nil {
		return nil, err
	}
	if len(parts) != len(folders) {
		return nil, fmt.Errorf("%s lists %d packages, and there are %d folders", filepath.Join(dir, "README.md"), len(parts), len(folders))
	}
	return parts, nil
}
