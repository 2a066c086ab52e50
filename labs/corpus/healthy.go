package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Healthy is a public program with nothing wrong that is known: what fires on it is
// false, or is worth a look by its authors.
type Healthy struct {
	Name string
	// Module is what to fetch, module@version; Package what to run of it.
	Module, Package string
	// Load are the flags of loupe load and, last, the path to ask for; none for a
	// program that ends by itself.
	Load []string
	// Args are those of the program. {addr} and {port} stand for where to listen, {dir} for
	// an empty folder, {go} for the sources of the standard library, and {data} for a
	// file of JSON of some 20 MB.
	Args []string
}

// Healthies are the programs of -healthy: eight services and seven tools.
var Healthies = []Healthy{
	{"go-httpbin", "github.com/mccutchen/go-httpbin/v2@v2.18.3", "github.com/mccutchen/go-httpbin/v2/cmd/go-httpbin", words("-c 8 /get"), words("-host 127.0.0.1 -port {port}")},
	{"caddy", "github.com/caddyserver/caddy/v2@v2.10.0", "github.com/caddyserver/caddy/v2/cmd/caddy", words("-c 8 /server.go"), words("file-server --listen {addr} --root {go}/net/http")},
	{"nats-server", "github.com/nats-io/nats-server/v2@v2.11.4", "github.com/nats-io/nats-server/v2", words("-c 8 /varz"), words("-a 127.0.0.1 -p -1 -m {port}")},
	{"node_exporter", "github.com/prometheus/node_exporter@v1.9.1", "github.com/prometheus/node_exporter", words("-c 4 /metrics"), words("--web.listen-address={addr} --log.level=error")},
	{"pushgateway", "github.com/prometheus/pushgateway@v1.11.1", "github.com/prometheus/pushgateway", words("-c 8 /metrics"), words("--web.listen-address={addr}")},
	{"statsd_exporter", "github.com/prometheus/statsd_exporter@v0.28.0", "github.com/prometheus/statsd_exporter", words("-c 8 /metrics"), words("--web.listen-address={addr} --statsd.listen-udp=127.0.0.1:0 --statsd.listen-tcp=")},
	{"present", "golang.org/x/tools@v0.34.0", "golang.org/x/tools/cmd/present", words("-c 8 /"), words("-http={addr} -content={dir}")},
	{"http-echo", "github.com/hashicorp/http-echo@v1.0.0", "github.com/hashicorp/http-echo", words("-c 8 /"), words("-listen={addr} -text=hello")},
	{"staticcheck", "honnef.co/go/tools@v0.6.1", "honnef.co/go/tools/cmd/staticcheck", nil, words("net/http")},
	{"goimports", "golang.org/x/tools@v0.34.0", "golang.org/x/tools/cmd/goimports", nil, words("-l {go}/net {go}/encoding")},
	{"gofumpt", "mvdan.cc/gofumpt@v0.8.0", "mvdan.cc/gofumpt", nil, words("-l {go}/net {go}/go")},
	{"revive", "github.com/mgechev/revive@v1.10.0", "github.com/mgechev/revive", nil, words("{go}/net/http/...")},
	{"s2c", "github.com/klauspost/compress@v1.18.0", "github.com/klauspost/compress/s2/cmd/s2c", nil, words("-slower -o {dir}/out.s2 {data}")},
	{"yq", "github.com/mikefarah/yq/v4@v4.45.4", "github.com/mikefarah/yq/v4", nil, words("-p=json -o=yaml {data}")},
	{"minify", "github.com/tdewolff/minify/v2@v2.23.8", "github.com/tdewolff/minify/v2/cmd/minify", nil, words("--type json -o {dir}/out.json {data}")},
}

func words(s string) []string { return strings.Fields(s) }

// looked is what a report says of a healthy program.
type looked struct {
	Name     string   `json:"name"`
	Module   string   `json:"module"`
	Load     float64  `json:"load"` // of the machine, when the recording began
	Warnings []string `json:"warnings"`
	Cards    int      `json:"cards"` // of those, how many are causes
	Failed   string   `json:"failed,omitempty"`
}

// lookAtHealthy records the programs and prints what warns.
func lookAtHealthy(w io.Writer, o options) error {
	temp, err := os.MkdirTemp("", "healthy")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	r, err := newRecorder("", temp, nil, o)
	if err != nil {
		return err
	}
	var all []looked
	warnings, cards, failed := 0, 0, 0
	for _, h := range Healthies {
		if o.names != "" && !strings.Contains(","+o.names+",", ","+h.Name+",") {
			continue
		}
		l := r.look(h)
		all = append(all, l)
		warnings, cards = warnings+len(l.Warnings), cards+l.Cards
		fmt.Fprintf(w, "%-14s %d warnings on %d cards %s\n", h.Name, len(l.Warnings), l.Cards, l.Failed)
		for _, said := range l.Warnings {
			fmt.Fprintf(w, "      %s\n", said)
		}
		if l.Failed != "" {
			failed++
		}
	}
	if n := len(all) - failed; n > 0 {
		fmt.Fprintf(w, "\n%d warnings on %d programs, %.2f on one; %d cards, %.2f on one\n", warnings, n, float64(warnings)/float64(n), cards, float64(cards)/float64(n))
	}
	if o.out != "" {
		text, err := json.MarshalIndent(all, "", "  ")
		if err == nil {
			err = os.WriteFile(o.out, append(text, '\n'), 0o644)
		}
		if err != nil {
			return err
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d programs were not recorded", failed)
	}
	return nil
}

// look records a program, unless a recording of it is there, and returns what warns.
func (r *recorder) look(h Healthy) looked {
	l := looked{Name: h.Name, Module: h.Module}
	rec := filepath.Join(r.temp, "healthy-"+h.Name)
	if _, err := os.Stat(rec); err != nil {
		if err := r.recordHealthy(h, rec); err != nil {
			l.Failed = err.Error()
			return l
		}
	}
	out, err := exec.Command(r.loupe, "report", "-format", "json", "-fail", "never", rec).Output()
	var s Said
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		l.Failed = err.Error()
		return l
	}
	l.Load = s.Manifest.Host.Load
	l.Warnings, l.Cards = s.left(r.measurement)
	return l
}

// recordHealthy copies the module of a program into a folder, which Go lets the agent be
// built in, and records it as the guide tells a user to.
func (r *recorder) recordHealthy(h Healthy, rec string) error {
	dir, err := os.MkdirTemp(r.scratch, h.Name)
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := copyModule(filepath.Join(dir, "source"), h.Module); err != nil {
		return err
	}
	addr, err := freeAddress()
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "data.json")
	if err := writeData(data); err != nil {
		return err
	}
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o755); err != nil {
		return err
	}
	_, port, _ := strings.Cut(addr, ":")
	fill := strings.NewReplacer("{addr}", addr, "{port}", port, "{dir}", empty, "{go}", filepath.Join(runtime.GOROOT(), "src"), "{data}", data)
	args := []string{"run", "-quiet", "-o", rec}
	if h.Load != nil {
		flags, path := h.Load[:len(h.Load)-1], h.Load[len(h.Load)-1]
		args = append(append(args, flags...), "-load", "http://"+addr+path)
	}
	args = append(args, h.Package)
	for _, a := range h.Args {
		args = append(args, fill.Replace(a))
	}
	cmd := exec.Command(r.loupe, args...)
	cmd.Dir = filepath.Join(dir, "source")
	cmd.Env = append(os.Environ(), "TMPDIR="+r.scratch)
	out, err := cmd.CombinedOutput()
	if _, rerr := os.Stat(filepath.Join(rec, "manifest.json")); rerr != nil {
		return errors.Join(err, fmt.Errorf("%s", out))
	}
	return nil // a tool that finds something ends with an error of its own
}

// copyModule fetches module@version and copies its files.
func copyModule(to, module string) error {
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	if err != nil {
		return fmt.Errorf("cannot fetch %s: %w\n%s", module, err, out)
	}
	var m struct{ Dir string }
	if err := json.Unmarshal(out, &m); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(m.Dir))
}

// writeData writes some 20 MB of JSON.
func writeData(file string) error {
	type item struct {
		ID    int               `json:"id"`
		Name  string            `json:"name"`
		Tags  []string          `json:"tags"`
		Price float64           `json:"price"`
		More  map[string]string `json:"more"`
	}
	var all struct {
		Items []item `json:"items"`
	}
	for i := range 150_000 {
		all.Items = append(all.Items, item{i, fmt.Sprintf("thing %d", i*7919%10007), []string{"new", fmt.Sprint("t", i%97)}, float64(i%1000) / 7, map[string]string{"from": "here", "to": fmt.Sprint(i % 13)}})
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
