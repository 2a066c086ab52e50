package report

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"loupe/insight"
	"loupe/value/terminal"
)

// The objects of SARIF 2.1.0 that findings need
// (https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Baseline     string            `json:"baselineState,omitempty"`
		Properties   map[string]any    `json:"properties,omitempty"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		Line int `json:"startLine"`
	}
)

// SARIF says how findings are written in that format.
type SARIF struct {
	// Version is that of loupe.
	Version string
	// Root is the top of the repository, with slashes: files in it are named from there.
	Root string
	// Whole is the file and the line that stand for a program whose finding has no line of its
	// own, seen from Root; without one such a finding has no location, which GitHub refuses.
	Whole SourceLine
	// Known says of a finding by its place in the list whether the base has it, too; nil
	// where there is no base.
	Known func(i int) bool
}

// SourceLine is a line of a source file.
type SourceLine struct {
	File string
	Line int
}

// WriteSARIF prints what was found, with each rule that there is.
func WriteSARIF(out io.Writer, found []insight.Finding, opt SARIF) error {
	run := sarifRun{Tool: sarifTool{sarifDriver{Name: "loupe", Version: opt.Version, Rules: []sarifRule{}}}, Results: []sarifResult{}}
	index := map[string]int{}
	for i, r := range insight.Rules() {
		index[r.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{ID: r.ID, Short: sarifText{r.Title}, Full: sarifText{r.About}, Help: sarifText{"loupe rules " + r.ID}})
	}
	for i, f := range found {
		if f.State != insight.Found {
			continue
		}
		one := opt.result(&f)
		one.RuleIndex = index[f.Rule]
		if opt.Known != nil {
			one.Baseline = "new"
			if opt.Known(i) {
				one.Baseline = "unchanged"
			}
		}
		run.Results = append(run.Results, one)
	}
	return WriteJSON(out, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// result is a finding. Where it is seen in several lines, the first of them that lies in the
// repository is its location, and the others are related ones.
func (o *SARIF) result(f *insight.Finding) sarifResult {
	text := f.Summary
	for _, more := range []string{f.Advice, f.Verify} {
		if more != "" {
			text += "\n" + more
		}
	}
	r := sarifResult{
		RuleID: f.Rule, Level: map[insight.Severity]string{insight.Critical: "error", insight.Warning: "warning"}[f.Severity],
		Message: messageOf(text), Fingerprints: map[string]string{"loupeFinding/v1": fingerprint(f)},
	}
	if r.Level == "" {
		r.Level = "note"
	}
	if f.Impact != nil {
		r.Properties = map[string]any{"impact": f.Impact}
	}
	var all []sarifLocation
	for _, e := range f.Evidence {
		if e.File != "" {
			all = append(all, o.location(e))
		}
	}
	if i := slices.IndexFunc(all, func(l sarifLocation) bool { return l.Physical.Artifact.Base != "" }); i > 0 {
		all[0], all[i] = all[i], all[0]
	}
	if len(all) == 0 && o.Whole.File != "" {
		all = []sarifLocation{{Physical: sarifPhysical{sarifArtifact{uriOf(o.Whole.File), sourceRoot}, region(o.Whole.Line)}}}
	}
	if len(all) == 0 {
		return r
	}
	r.Locations, r.Related = all[:1], all[1:]
	for i := range r.Related {
		r.Related[i].ID = i + 1
	}
	return r
}

// sourceRoot is what the top of a repository is called by convention.
const sourceRoot = "%SRCROOT%"

// location is a line of evidence.
func (o *SARIF) location(e insight.Evidence) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Region: region(e.Line)}}
	if e.Text != "" {
		l.Message = new(messageOf(e.Text))
	}
	file := strings.ReplaceAll(e.File, "\\", "/")
	within, ok := strings.CutPrefix(file, strings.TrimSuffix(o.Root, "/")+"/")
	switch {
	case ok && o.Root != "":
		l.Physical.Artifact = sarifArtifact{uriOf(within), sourceRoot}
	case !path.IsAbs(file) && !strings.Contains(file, ":"):
		l.Physical.Artifact = sarifArtifact{URI: uriOf(file)}
	default:
		l.Physical.Artifact = sarifArtifact{URI: "file://" + uriOf("/"+strings.TrimPrefix(file, "/"))}
	}
	return l
}

// placeholder is what a reader of SARIF replaces by an argument (§3.11.5).
var placeholder = regexp.MustCompile(`\{(\d+)\}`)

// messageOf is a text as a message. Other braces than those of placeholders would have to be
// written twice, too: viewers that do not know that are many, and none takes them for anything else.
func messageOf(text string) sarifText {
	return sarifText{placeholder.ReplaceAllString(terminal.Text(text), "{{$1}}")}
}

// region is that of a line; nil where it is not known.
func region(line int) *sarifRegion {
	if line < 1 {
		return nil
	}
	return &sarifRegion{line}
}

// uriOf is a path as the path of a URI.
func uriOf(file string) string { return (&url.URL{Path: file}).String() }

// fingerprint tells a finding from others, whatever line it has moved to.
func fingerprint(f *insight.Finding) string {
	parts := []string{f.Rule}
	if file, function := f.Place(); function != "" {
		parts = append(parts, file, function)
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "\x00"))))
}

// SameFinding tells whether two findings, of two versions of a program, are about the same: the
// same rule, in the same function where it has one.
func SameFinding(a, b *insight.Finding) bool { return a.Same(b) }
