package scrape

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/format/yamlfile"
	"loupe/source/bounded"
)

// How profiles are taken where nothing else is said.
const (
	UsualInterval = 15 * time.Second
	UsualLength   = 10 * time.Second
	UsualTimeout  = 10 * time.Second
	UsualPath     = "/debug/pprof"
)

// Config is a file of targets: the scrape_configs of Prometheus, as far as they are about
// finding targets and reaching them.
type Config struct {
	Jobs []*Job
	// Without lists what stands in the file and has no effect here, such as metrics_path,
	// with its lines: "metrics_path (line 7)".
	Without []string
}

// config reads a file.
type config struct {
	yamlfile.Reader
	// folder is what the names of files in it are seen from.
	folder           string
	interval, length time.Duration
	timeout          time.Duration
	out              Config
}

// metricsAlone are keys of Prometheus that are about samples of metrics and change nothing
// about profiles: a file that Prometheus reads is read here, too.
var metricsAlone = []string{
	"honor_labels", "honor_timestamps", "track_timestamps_staleness", "metrics_path", "enable_compression",
	"metric_relabel_configs", "body_size_limit", "sample_limit", "label_limit", "label_name_length_limit",
	"label_value_length_limit", "target_limit", "keep_dropped_targets", "scrape_classic_histograms",
	"always_scrape_classic_histograms", "scrape_native_histograms", "convert_classic_histograms_to_nhcb",
	"native_histogram_bucket_limit", "native_histogram_min_bucket_factor", "scrape_protocols", "fallback_scrape_protocol",
	"metric_name_validation_scheme", "metric_name_escaping_scheme", "scrape_failure_log_file", "enable_http2",
	"follow_redirects", "extra_scrape_metrics",
}

// readConfig reads a file of targets.
func readConfig(path string) (*Config, error) {
	data, err := bounded.ReadNamed(path)
	if err != nil {
		return nil, err
	}
	return parseConfig(path, data)
}

// parseConfig reads the text of a file of targets. An error names the line.
func parseConfig(path string, data []byte) (*Config, error) {
	r, doc, err := yamlfile.Parse(path, data)
	if errors.Is(err, yamlfile.ErrEmpty) {
		return nil, fmt.Errorf("%w: want scrape_configs, a list of jobs", err)
	}
	if err != nil {
		return nil, err
	}
	c := &config{Reader: r, folder: filepath.Dir(path), interval: UsualInterval, length: UsualLength, timeout: UsualTimeout}
	var jobs *yamlfile.Node
	keys := c.idle("rule_files", "alerting", "remote_write", "remote_read", "storage", "tracing", "otlp", "runtime", "scrape_config_files")
	keys["global"] = func(n *yamlfile.Node) error {
		return c.Fields(n, c.with(c.idle("evaluation_interval", "external_labels", "query_log_file", "rule_query_offset"), yamlfile.Keys{
			"scrape_interval": c.Duration(&c.interval), "scrape_timeout": c.Duration(&c.timeout),
		}, c.idle(metricsAlone...)))
	}
	keys["scrape_configs"] = func(n *yamlfile.Node) error { jobs = n; return nil }
	if err := c.Fields(doc, keys); err != nil {
		return nil, err
	}
	if err := c.Each(jobs, c.job); err != nil {
		return nil, err
	}
	if len(c.out.Jobs) == 0 {
		return nil, fmt.Errorf("%s has no scrape_configs: there is nothing to take profiles of", path)
	}
	return &c.out, nil
}

// idle are keys that are known and have no effect.
func (c *config) idle(names ...string) yamlfile.Keys {
	keys := yamlfile.Keys{}
	for _, name := range names {
		keys[name] = func(n *yamlfile.Node) error {
			c.out.Without = append(c.out.Without, fmt.Sprintf("%s (line %d)", name, n.Line))
			return nil
		}
	}
	return keys
}

// with joins keys.
func (c *config) with(all ...yamlfile.Keys) yamlfile.Keys {
	out := yamlfile.Keys{}
	for _, keys := range all {
		for name, read := range keys {
			out[name] = read
		}
	}
	return out
}

// job reads one entry of scrape_configs.
func (c *config) job(n *yamlfile.Node) error {
	j := &Job{Interval: c.interval, Length: c.length, Timeout: c.timeout, Profiles: usualKinds(), scheme: "http", path: UsualPath}
	var params map[string][]string
	err := c.Fields(n, c.with(c.idle(metricsAlone...), c.finding(j), c.access(j), yamlfile.Keys{
		"job_name": c.Text(&j.Name), "scrape_interval": c.Duration(&j.Interval), "scrape_timeout": c.Duration(&j.Timeout),
		"scheme":          c.Word("scheme", []string{"http", "https"}, func(w string) { j.scheme = w }),
		"params":          c.params(&params),
		"relabel_configs": relabelling(c.Reader, &j.rules),
		"profiling_config": func(n *yamlfile.Node) error {
			return c.Fields(n, yamlfile.Keys{"path_prefix": c.Text(&j.path), "cpu_seconds": c.Duration(&j.Length), "profiles": c.profiles(&j.Profiles)})
		},
	}))
	if err != nil {
		return err
	}
	j.params = params
	switch {
	case j.Name == "":
		return c.Errorf(n, "job_name is missing")
	case slices.ContainsFunc(c.out.Jobs, func(o *Job) bool { return o.Name == j.Name }):
		return c.Errorf(n, "there is a job %q already: give this one another name", j.Name)
	case len(j.finders) == 0:
		return c.Errorf(n, "job %s finds no targets: it has none of %s", j.Name, strings.Join(ways, ", "))
	case j.Length >= j.Interval:
		return c.Errorf(n, "job %s: the CPU profile takes %v of every %v: want a shorter profiling_config.cpu_seconds, or a longer scrape_interval", j.Name, j.Length, j.Interval)
	}
	if !strings.HasPrefix(j.path, "/") {
		return c.Errorf(n, "path_prefix: want a path such as %s, not %q", UsualPath, j.path)
	}
	c.out.Jobs = append(c.out.Jobs, j)
	return nil
}

// profiles reads which are taken.
func (c *config) profiles(to *[]Kind) yamlfile.Value {
	return func(n *yamlfile.Node) (err error) {
		var names []string
		if err := c.Texts(&names)(n); err != nil {
			return err
		}
		if *to, err = kindsOf(names); err != nil {
			return c.Errorf(n, "profiles: %v", err)
		}
		return nil
	}
}

// params reads what goes with each request.
func (c *config) params(to *map[string][]string) yamlfile.Value {
	return func(n *yamlfile.Node) error {
		known := yamlfile.Keys{}
		*to = map[string][]string{}
		for _, name := range yamlfile.Names(n) {
			known[name] = func(n *yamlfile.Node) error {
				var values []string
				err := c.Texts(&values)(n)
				if err == nil && len(values) == 0 {
					err = c.Errorf(n, "%s has no value", name)
				}
				(*to)[name] = values
				return err
			}
		}
		return c.Fields(n, known)
	}
}

// access are the keys that say how a target is asked.
func (c *config) access(j *Job) yamlfile.Keys {
	show := func(name, value string) {
		if j.Access.Header == nil {
			j.Access.Header = http.Header{}
		}
		j.Access.Header.Set(name, value)
	}
	return yamlfile.Keys{
		"basic_auth": func(n *yamlfile.Node) error {
			var user, word, file string
			if err := c.Fields(n, yamlfile.Keys{"username": c.Text(&user), "password": c.Text(&word), "password_file": c.Text(&file)}); err != nil {
				return err
			}
			word, err := c.secret(n, word, file)
			show("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+word)))
			return err
		},
		"authorization": func(n *yamlfile.Node) error {
			var scheme, word, file string
			if err := c.Fields(n, yamlfile.Keys{"type": c.Text(&scheme), "credentials": c.Text(&word), "credentials_file": c.Text(&file)}); err != nil {
				return err
			}
			word, err := c.secret(n, word, file)
			show("Authorization", cmp.Or(scheme, "Bearer")+" "+word)
			return err
		},
		"proxy_url": func(n *yamlfile.Node) error {
			u, err := url.Parse(n.Value)
			if err != nil || u.Host == "" {
				return c.Errorf(n, "proxy_url: %q is not an address", n.Value)
			}
			j.Access.Proxy = u
			return nil
		},
		"tls_config": func(n *yamlfile.Node) error { return c.tls(n, j) },
	}
}

// secret is a word, or what is in a file.
func (c *config) secret(n *yamlfile.Node, word, file string) (string, error) {
	if file == "" {
		return word, nil
	}
	text, err := bounded.Read(c.seen(file), 64<<10)
	if err != nil {
		return "", c.Errorf(n, "%v", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// seen is the path of a file that is named in the file.
func (c *config) seen(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(c.folder, name)
}

// tls reads how the certificate of a target is looked at, and what it is shown.
func (c *config) tls(n *yamlfile.Node, j *Job) error {
	var ca, cert, key string
	t := &tls.Config{}
	err := c.Fields(n, yamlfile.Keys{
		"ca_file": c.Text(&ca), "cert_file": c.Text(&cert), "key_file": c.Text(&key),
		"server_name": c.Text(&t.ServerName), "insecure_skip_verify": c.Bool(&t.InsecureSkipVerify),
	})
	if err != nil {
		return err
	}
	if ca != "" {
		text, err := bounded.Read(c.seen(ca), 1<<20)
		if err != nil {
			return c.Errorf(n, "%v", err)
		}
		if t.RootCAs = x509.NewCertPool(); !t.RootCAs.AppendCertsFromPEM(text) {
			return c.Errorf(n, "ca_file: %s has no certificate in PEM", ca)
		}
	}
	if cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(c.seen(cert), c.seen(key))
		if err != nil {
			return c.Errorf(n, "%v", err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	j.Access.TLS = t
	return nil
}
