package load

import (
	"io"
	"os"
	"strings"

	"loupe/format/loadlog"
	"loupe/internal/cli/command"
	"loupe/report"
)

// writeLoad prints a load run in one form.
type writeLoad func(io.Writer, *loadlog.Log) error

// loadForms is what -o says to its help text.
const loadForms = "csv (every answered request), requests (every request as a line of JSON), hdr\n(an HdrHistogram log), hey (exactly hey's text), json, trace (the phases of\none request, or of -n up to 100), or a template with {{ in it, as in hey; the\ndefault is hey's text plus what it leaves out"

// loadOutput returns what prints the form of -o, or through the template in a
// file. A mistake is told before the load.
func loadOutput(form, templateFile string) (writeLoad, error) {
	text := form
	if templateFile != "" {
		if form != "" {
			return nil, command.Usagef("-o and -template cannot both be given")
		}
		data, err := os.ReadFile(templateFile)
		if err != nil {
			return nil, command.Usagef("-template: %w", err)
		}
		text = string(data)
	}
	if templateFile != "" || strings.Contains(form, "{{") {
		if _, err := report.ParseLoadTemplate(text); err != nil {
			return nil, command.Usage(err)
		}
		return func(w io.Writer, l *loadlog.Log) error { return report.WriteLoadTemplate(w, text, l) }, nil
	}
	write, ok := map[string]writeLoad{
		"": report.WriteLoad, "hey": report.WriteHey, "csv": report.WriteHeyCSV, "json": report.WriteLoadJSON,
		"requests": report.WriteRequests, "hdr": report.WriteHdr,
	}[form]
	if !ok {
		return nil, command.Usagef("-o: unknown format %q: there are csv, requests, hdr, hey, json, trace, and templates with {{ in them", form)
	}
	return write, nil
}
