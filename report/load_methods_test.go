package report

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/template"
	"time"

	"loupe/format/loadlog"
	"loupe/format/loadlog/loadlogtest"
)

// heyTemplate is hey's own form, as its print.go has it.
const heyTemplate = `
Summary:
  Total:	{{ formatNumber .Total.Seconds }} secs
  Slowest:	{{ formatNumber .Slowest }} secs
  Fastest:	{{ formatNumber .Fastest }} secs
  Average:	{{ formatNumber .Average }} secs
  Requests/sec:	{{ formatNumber .Rps }}
  {{ if gt .SizeTotal 0 }}
  Total data:	{{ .SizeTotal }} bytes
  Size/request:	{{ .SizeReq }} bytes{{ end }}

Response time histogram:
{{ histogram .Histogram }}

Latency distribution:{{ range .LatencyDistribution }}
  {{ .Percentage }}%% in {{ formatNumber .Latency }} secs{{ end }}

Details (average, fastest, slowest):
  DNS+dialup:	{{ formatNumber .AvgConn }} secs, {{ formatNumber .ConnMax }} secs, {{ formatNumber .ConnMin }} secs
  resp read:	{{ formatNumber .AvgRes }} secs, {{ formatNumber .ResMax }} secs, {{ formatNumber .ResMin }} secs

Status code distribution:{{ range $code, $num := .StatusCodeDist }}
  [{{ $code }}]	{{ $num }} responses{{ end }}

{{ if gt (len .ErrorDist) 0 }}Error distribution:{{ range $err, $num := .ErrorDist }}
  [{{ $num }}]	{{ $err }}{{ end }}{{ end }}
`

func templateLog() *loadlog.Log {
	l := loadlogtest.Log("begin service status bytes\n100× 0s 20ms 200 13\n0s 1s - 0 EOF")
	l.Header.Start = time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC)
	l.Header.Targets = []loadlog.Target{{Method: "GET", URL: "http://one/"}, {Method: "POST", URL: "http://two/"}}
	l.Header.Wanted = "p50<30ms"
	delay := 3 * time.Millisecond
	l.Header.RunDelay = &delay
	return l
}

// TestTemplateMethods holds templates against text/template, which calls any method: what
// it prints is printed, and what it refuses is refused.
func TestTemplateMethods(t *testing.T) {
	l := templateLog()
	data := newLoadReport(l)
	for _, text := range []string{
		heyTemplate,
		"{{ .Total }} {{ .Total.Seconds }} {{ .Total.Milliseconds }} {{ .Total.String }} {{ $.Total.Minutes }}",
		`{{ printf "%v %d %s %.3f %08.2f" .Total .Total .Total .Total.Seconds .Total.Hours }}`,
		`{{ .Total.Seconds | printf "%.2f" }}`,
		"{{ .Total.Round 1000000 }} {{ .Latency.P50 | .Total.Truncate }} {{ .Total.Abs.Seconds }} {{ (.Total.Round .Latency.P50).Milliseconds }}",
		"{{ .Latency.P50.Milliseconds }} ms, {{ .Latency.P50.Microseconds }} µs, {{ .Summary.Latency.Max.Nanoseconds }} ns",
		"{{ .Seconds }} {{ .Summary.Seconds }} {{ (.Summary).Seconds }}",
		"{{ with .Total }}{{ .Seconds }} {{ .String | len }}{{ else }}none{{ end }}",
		"{{ $t := .Total }}{{ $t.Seconds }} {{ with $t.Minutes }}{{ . }}{{ end }}",
		"{{ if gt .Latency.P50.Seconds 0.01 }}slow{{ else if lt .Latency.P50 10000000 }}fast{{ end }}",
		"{{ if and (gt .Total 0) (le .Latency.P50 .Latency.Max) (eq .Total.Milliseconds 1000) }}yes{{ end }}",
		"{{ range .Targets }}{{ . }} {{ .String }} {{ .Latency.P50.Seconds }}; {{ end }}",
		"{{ range .Header.Targets }}{{ .String }} {{ . }}; {{ end }}",
		"{{ range .Conditions }}{{ .Condition }} {{ .Condition.String }} {{ .String }} {{ .Got }}{{ end }}",
		"{{ .Due }} {{ .Unanswered }} {{ .BadStatus }} {{ .GivenUp }} {{ .CommonError }} {{ .Line }} {{ .Summary.Due }}",
		"{{ .Header.Start.Format \"15:04:05.000\" }} {{ .Header.Start.Unix }} {{ .Header.Start.Year }} {{ .Header.Start.Month.String }} {{ .Header.Start.Weekday }}",
		"{{ (.Header.Start.Add .Total).UnixMilli }} {{ (.Header.Start.Add 5).Sub .Header.Start }} {{ .Header.Start.UTC }} {{ .Header.Start.After .Header.Start }}",
		"{{ .Header.ErrorText 1 }} {{ .Header.RunDelay.Seconds }} {{ .Header.RunDelay }}",
		`{{ define "one" }}{{ .Seconds }}s{{ end }}{{ template "one" .Total }} {{ block "two" .Latency.P50 }}{{ .Milliseconds }}{{ end }}`,
		`{{ define "one" }}{{ . }}{{ end }}{{ template "one" .Total.Seconds }}`,
		"{{ jsonify .Total.Seconds }} {{ duration .Total }} {{ (index .Header.Targets 1).String }} {{ not .Total.Seconds }}",
		"{{ range $i, $t := .Targets }}{{ if $i }}{{ $t.String }}{{ $t.Latency.P50.String }}{{ else }}{{ continue }}{{ end }}{{ end }}",
		"{{ (index .StatusCodeDist 200) }} {{ .ErrorDist.EOF }} {{ .ErrorDist.String }}",
		"{{ len .Lats }} {{ slice .StatusCodes 0 2 }} {{ html .URL }} {{ js .URL }} {{ urlquery .URL }}",
		// What is refused.
		"{{ .Nothing }}", "{{ .Total.Nothing }}", "{{ .Total.Seconds 5 }}", "{{ .Total.Round }}", `{{ .Total.Round "ms" }}`, "{{ .Total.Seconds.More }}",
		"{{ .Nothing.Seconds }}", "{{ .URL.Seconds }}", "{{ .Seconds 1 }}", "{{ .Header.Start.Format }}", "{{ .Failed.Max.Nothing }}", "{{ .Lats.String }}",
	} {
		var want strings.Builder
		std, err := template.New("load").Funcs(template.FuncMap(loadFunctions())).Parse(text)
		if err == nil {
			err = std.Execute(&want, data)
		}
		var got strings.Builder
		switch failed := WriteLoadTemplate(&got, text, l); {
		case (err == nil) != (failed == nil):
			t.Errorf("%s: text/template says %v, loupe %v", text, err, failed)
		case err == nil && got.String() != want.String():
			t.Errorf("%s:\n%q, text/template prints\n%q", text, &got, &want)
		}
	}
}

// TestTemplateMethodErrors: an error names what cannot be.
func TestTemplateMethodErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{{ .Total.Nothing }}":      "can't evaluate field Nothing in type time.Duration",
		"{{ .URL.Seconds }}":        "can't evaluate field Seconds in type string",
		"{{ .Total.Seconds 5 }}":    "wrong number of args for Seconds: want 0 got 1",
		`{{ .Total.Round "ms" }}`:   "Round: argument 1 is of type string; should be time.Duration",
		"{{ .Seconds 1 }}":          "Seconds is not a method but has arguments",
		"{{ .Header.Start.GoString": "cannot read the template",
	} {
		if err := WriteLoadTemplate(&strings.Builder{}, text, templateLog()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestTemplateMethodsComplete looks at every type that a template can get at: each exported
// method is offered, or stands here with what it has no use for in a template.
func TestTemplateMethodsComplete(t *testing.T) {
	without := []string{
		"MarshalJSON", "MarshalText", "MarshalBinary", "AppendText", "AppendBinary", "AppendFormat", "GobEncode", "GoString", "Format", // what encoders call
		"UnmarshalJSON", "UnmarshalText", "UnmarshalBinary", "GobDecode", "Scan", // what changes a value
		"Judge", "TimedOut", "TargetOf", "Join", // take what no template has
		"Clock", "Date", "ISOWeek", "Zone", "ZoneBounds", // return several values
		"In", "Location", "IsDST", // take or return a place
	}
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		if seen[typ] || typ.PkgPath() == "" && typ.Name() != "" {
			return
		}
		seen[typ] = true
		pointer := reflect.New(typ) // has the methods of the value too
		have := methodsOf(pointer.Interface())
		if typ == reflect.TypeFor[LoadReport]() {
			have = methodsOf(&loadlog.Summary{}) // those that it has from its Summary
		}
		if have == nil {
			have = methodsOf(pointer.Elem().Interface())
		}
		for i := range pointer.NumMethod() {
			name := pointer.Type().Method(i).Name
			if _, ok := have[name]; !ok && (!slices.Contains(without, name) || typ == reflect.TypeFor[time.Time]() && name == "Format") {
				t.Errorf("%s.%s: a template cannot call it", typ, name)
			}
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			look(typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				if f := typ.Field(i); f.IsExported() {
					look(f.Type)
				}
			}
		}
	}
	look(reflect.TypeFor[LoadReport]())
	for _, typ := range []reflect.Type{reflect.TypeFor[time.Duration](), reflect.TypeFor[time.Time](), reflect.TypeFor[loadlog.Summary](), reflect.TypeFor[loadlog.Condition]()} {
		if !seen[typ] {
			t.Errorf("%s is not reached: the test looks at nothing", typ)
		}
	}
}
