package scrape

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// prometheus is a file as Prometheus reads it.
const prometheus = `
global:
  scrape_interval: 30s
  evaluation_interval: 15s
rule_files: [rules.yml]
scrape_configs:
  - job_name: api
    metrics_path: /metrics
    scheme: https
    basic_auth: {username: u, password: p}
    tls_config: {insecure_skip_verify: true}
    params: {token: [x]}
    static_configs:
      - targets: ["a:6060", "b"]
        labels: {env: prod}
    relabel_configs:
      - source_labels: [__address__]
        regex: "([^:]+)(:.*)?"
        target_label: instance
  - job_name: other
    scrape_interval: 1m
    profiling_config: {path_prefix: /internal/pprof, cpu_seconds: 5, profiles: [heap, cpu]}
    static_configs: [{targets: ["c:1"]}]
`

func TestConfig(t *testing.T) {
	c, err := parseConfig("prometheus.yml", []byte(prometheus))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"evaluation_interval (line 4)", "rule_files (line 5)", "metrics_path (line 8)"}; !slices.Equal(c.Without, want) {
		t.Errorf("without effect: %q, want %q", c.Without, want)
	}
	api, other := c.Jobs[0], c.Jobs[1]
	if api.Interval != 30*time.Second || other.Interval != time.Minute || other.Length != 5*time.Second {
		t.Errorf("every %v, every %v for %v", api.Interval, other.Interval, other.Length)
	}
	if got := api.Access.Header.Get("Authorization"); got != "Basic dTpw" {
		t.Errorf("shown: %q", got)
	}
	var shown []string
	for _, j := range c.Jobs {
		groups, err := j.finders[0].find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		targets, err := j.targets(groups[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets {
			shown = append(shown, target.URL.String()+" "+target.Labels["job"]+" "+target.Labels["instance"]+" "+target.Labels["env"]+" "+target.Labels[ServiceLabel])
		}
	}
	want := []string{
		"https://a:6060/debug/pprof?token=x api a prod api", "https://b:443/debug/pprof?token=x api b prod api",
		"http://c:1/internal/pprof other c:1  other",
	}
	if !slices.Equal(shown, want) {
		t.Errorf("targets:\n%s", strings.Join(shown, "\n"))
	}
	if k := other.Profiles; len(k) != 2 || k[0].Name != "heap" || k[1].Name != "cpu" {
		t.Errorf("profiles: %v", k)
	}
}

// TestConfigErrors: each names the line, and what would be right.
func TestConfigErrors(t *testing.T) {
	job := func(more string) string { return "scrape_configs:\n- job_name: j\n" + more }
	targets := "  static_configs: [{targets: [a]}]\n"
	for text, want := range map[string]string{
		"":           "want scrape_configs",
		"global: {}": "f has no scrape_configs",
		job(""):      "f:2: job j finds no targets: it has none of static_configs,",
		"scrape_configs:\n- {static_configs: [{targets: [a]}]}":                         "job_name is missing",
		job(targets) + "- job_name: j\n" + targets:                                      "f:4: there is a job \"j\" already",
		job("  consul_sd_configs: [{server: x}]\n"):                                     "f:3: consul_sd_configs is not understood: let another program",
		job("  scrape_intervall: 5s\n"):                                                 `unknown key "scrape_intervall", did you mean "scrape_interval"?`,
		job(targets + "  scrape_interval: 5s\n"):                                        "the CPU profile takes 10s of every 5s",
		job(targets + "  relabel_configs: [{action: keeep}]\n"):                         "want replace, keep,",
		job(targets + "  relabel_configs: [{action: replace}]\n"):                       "needs target_label",
		job(targets + "  relabel_configs: [{regex: '(', target_label: a}]\n"):           "regex: error parsing",
		job(targets + "  relabel_configs: [{action: hashmod, target_label: a}]\n"):      "needs modulus",
		job(targets + "  relabel_configs: [{action: labeldrop, source_labels: [a]}]\n"): "looks at names alone",
		job(targets + "  relabel_configs: [{target_label: 'a-b'}]\n"):                   `"a-b" is not a label name`,
		job(targets + "  profiling_config: {profiles: [cpu, heep]}\n"):                  `there is no profile "heep"`,
		job(targets + "  profiling_config: {path_prefix: debug}\n"):                     "want a path such as /debug/pprof",
		job(targets + "  authorization: {credentials_file: /nowhere/token}\n"):          "/nowhere/token",
		job(targets + "  tls_config: {ca_file: config_test.go}\n"):                      "no certificate in PEM",
		job("  file_sd_configs: [{files: ['x.txt']}]\n"):                                "want names that end in .json",
		job("  dns_sd_configs: [{names: [x], type: A}]\n"):                              "port is missing",
		job("  kubernetes_sd_configs: [{role: node}]\n"):                                `role: want pod, not "node"`,
		job("  kubernetes_sd_configs: [{role: pod}]\n"):                                 "this is not a pod of a cluster",
		job("  static_configs: [{targets: [a], labels: {a-b: c}}]\n"):                   `"a-b" is not a label name`,
	} {
		t.Setenv("KUBERNETES_SERVICE_HOST", "")
		if _, err := parseConfig("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q:\n%v, want\n%s", text, err, want)
		}
	}
}

// FuzzConfig: no text makes it fail in any other way than by an error.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(prometheus))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConfig("f", data)
		if err == nil && len(c.Jobs) == 0 {
			t.Error("a file of nothing is no error")
		}
	})
}

// TestFiles: targets in files come and go with them; one that is wrong does not hide others.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := &files{patterns: []string{filepath.Join(dir, "*.json"), filepath.Join(dir, "*.yml")}}
	found := func() (addresses []string, err error) {
		groups, err := f.find(t.Context())
		for _, g := range groups {
			if g.Labels["__meta_filepath"] == "" {
				t.Error("where the target comes from is not in its labels")
			}
			addresses = append(addresses, g.Addresses...)
		}
		return addresses, err
	}
	write("a.json", `[{"targets": ["a:1", "b:1"], "labels": {"x": "y"}}]`)
	write("b.yml", "- targets: [c:1]\n")
	write("empty.yml", "")
	if got, err := found(); err != nil || !slices.Equal(got, []string{"a:1", "b:1", "c:1"}) {
		t.Errorf("%v, %v", got, err)
	}
	write("a.json", `[{"targets": `)
	if got, err := found(); err == nil || !strings.Contains(err.Error(), "a.json") || !slices.Equal(got, []string{"c:1"}) {
		t.Errorf("with a file that is cut: %v, %v", got, err)
	}
}

// pods is an answer of the API of Kubernetes in two pages.
var pods = []string{`{"metadata": {"continue": "more"}, "items": [{
	"metadata": {"name": "api-7", "namespace": "shop", "uid": "u1", "labels": {"app.kubernetes.io/name": "api"}, "annotations": {"profiles/scrape": "true"},
		"ownerReferences": [{"kind": "ReplicaSet", "name": "api", "controller": true}]},
	"spec": {"nodeName": "n1", "initContainers": [{"name": "init", "image": "i:1"}],
		"containers": [{"name": "main", "image": "m:2", "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}, {"containerPort": 6060}]}]},
	"status": {"phase": "Running", "podIP": "10.0.0.7", "hostIP": "10.1.0.1", "conditions": [{"type": "Ready", "status": "True"}]}}]}`,
	`{"items": [{"metadata": {"name": "pending"}, "spec": {"containers": [{"name": "x"}]}, "status": {"phase": "Pending"}}]}`}

// TestKubernetes: the pods of two pages, with the labels that Prometheus gives them, by the
// token that is in the file at that moment.
func TestKubernetes(t *testing.T) {
	var asked []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+"?"+r.URL.Query().Get("continue")+" "+r.URL.Query().Get("labelSelector")+" "+r.Header.Get("Authorization"))
		if r.Header.Get("Authorization") == "Bearer old" {
			http.Error(w, "expired", http.StatusUnauthorized)
			return
		}
		page := 0
		if r.URL.Query().Get("continue") == "more" {
			page = 1
		}
		w.Write([]byte(pods[page]))
	}))
	defer api.Close()
	server, err := url.Parse(api.URL)
	if err != nil {
		t.Fatal(err)
	}
	k := &kubernetes{server: server, folder: t.TempDir(), namespaces: []string{"shop"}, labels: "a=b"}
	token := func(text string) {
		if err := os.WriteFile(filepath.Join(k.folder, "token"), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token("old")
	if _, err := k.find(t.Context()); err == nil || !strings.Contains(err.Error(), "401") {
		t.Errorf("with a token that has expired: %v", err)
	}
	token("new")
	groups, err := k.find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := "/api/v1/namespaces/shop/pods?more a=b Bearer new"; asked[len(asked)-1] != want {
		t.Errorf("asked for %q, want %q", asked[len(asked)-1], want)
	}
	var addresses []string
	for _, g := range groups {
		addresses = append(addresses, g.Addresses...)
	}
	if want := []string{"10.0.0.7", "10.0.0.7:8080", "10.0.0.7:6060"}; !slices.Equal(addresses, want) {
		t.Errorf("addresses %q, want %q", addresses, want)
	}
	l := groups[1].Labels
	for name, want := range map[string]string{
		"__meta_kubernetes_namespace":                             "shop",
		"__meta_kubernetes_pod_name":                              "api-7",
		"__meta_kubernetes_pod_label_app_kubernetes_io_name":      "api",
		"__meta_kubernetes_pod_annotation_profiles_scrape":        "true",
		"__meta_kubernetes_pod_annotationpresent_profiles_scrape": "true",
		"__meta_kubernetes_pod_container_port_name":               "http",
		"__meta_kubernetes_pod_container_port_number":             "8080",
		"__meta_kubernetes_pod_container_init":                    "false",
		"__meta_kubernetes_pod_ready":                             "true",
		"__meta_kubernetes_pod_controller_kind":                   "ReplicaSet",
		"__meta_kubernetes_pod_host_ip":                           "10.1.0.1",
	} {
		if l[name] != want {
			t.Errorf("%s is %q, want %q", name, l[name], want)
		}
	}
}

// TestDNS: a name that is not there is an error that names it.
func TestDNS(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := &dns{names: []string{"nowhere.invalid"}, kind: "SRV"}
	if _, err := d.find(ctx); err == nil || !strings.Contains(err.Error(), "nowhere.invalid") {
		t.Errorf("%v", err)
	}
	local := &dns{names: []string{"localhost"}, kind: "A", port: 6060}
	groups, err := local.find(t.Context())
	if err != nil || len(groups) != 1 || !slices.Contains(groups[0].Addresses, "127.0.0.1:6060") {
		t.Errorf("localhost: %v, %v", groups, err)
	}
}
