package scrape

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/format/yamlfile"
	"loupe/source/bounded"
)

// finder finds targets. It is asked again and again; with an error, what it has found the
// last time is kept.
type finder interface {
	find(ctx context.Context) ([]Group, error)
	// every is how often it is asked.
	every() time.Duration
}

// ways are the keys of scrape_configs that find targets.
var ways = []string{"static_configs", "file_sd_configs", "dns_sd_configs", "kubernetes_sd_configs"}

// finding are the keys that find targets; those of Prometheus that are not understood say
// what there is instead.
func (c *config) finding(j *Job) yamlfile.Keys {
	add := func(read func(n *yamlfile.Node) (finder, error)) yamlfile.Value {
		return c.List(func(n *yamlfile.Node) error {
			f, err := read(n)
			if err == nil {
				j.finders = append(j.finders, f)
			}
			return err
		})
	}
	keys := yamlfile.Keys{
		ways[0]: add(c.static), ways[1]: add(c.files), ways[2]: add(c.dns), ways[3]: add(c.kubernetes),
	}
	for _, other := range []string{
		"azure", "consul", "digitalocean", "docker", "dockerswarm", "ec2", "eureka", "gce", "hetzner", "http", "ionos", "kuma", "lightsail",
		"linode", "marathon", "nerve", "nomad", "openstack", "ovhcloud", "puppetdb", "scaleway", "serverset", "stackit", "triton", "uyuni", "vultr",
	} {
		keys[other+"_sd_configs"] = func(n *yamlfile.Node) error {
			return c.Errorf(n, "%s_sd_configs is not understood: let another program write its targets to a file, and name it in file_sd_configs", other)
		}
	}
	return keys
}

// static are targets that are named.
type static []Group

func (s static) find(context.Context) ([]Group, error) { return s, nil }
func (s static) every() time.Duration                  { return time.Hour }

// static reads an entry of static_configs.
func (c *config) static(n *yamlfile.Node) (finder, error) {
	g, err := c.group(n)
	return static{g}, err
}

// group reads targets with their labels.
func (c *config) group(n *yamlfile.Node) (g Group, err error) {
	var labels map[string]string
	if err := c.Fields(n, yamlfile.Keys{"targets": c.Texts(&g.Addresses), "labels": c.Map(&labels)}); err != nil {
		return g, err
	}
	g.Labels = labels
	for name := range labels {
		if !labelName.MatchString(name) {
			return g, c.Errorf(n, "labels: %q is not a label name", name)
		}
	}
	return g, nil
}

// files are targets in files that another program writes.
type files struct {
	patterns []string
	refresh  time.Duration
}

// files reads an entry of file_sd_configs.
func (c *config) files(n *yamlfile.Node) (finder, error) {
	f := &files{refresh: 30 * time.Second}
	if err := c.Fields(n, yamlfile.Keys{"files": c.Texts(&f.patterns), "refresh_interval": c.Duration(&f.refresh)}); err != nil {
		return nil, err
	}
	if len(f.patterns) == 0 {
		return nil, c.Errorf(n, "files is missing")
	}
	for i, pattern := range f.patterns {
		if !slices.Contains([]string{".json", ".yml", ".yaml"}, filepath.Ext(pattern)) {
			return nil, c.Errorf(n, "files: want names that end in .json, .yml or .yaml, not %q", pattern)
		}
		f.patterns[i] = c.seen(pattern)
	}
	return f, nil
}

func (f *files) every() time.Duration { return f.refresh }

// find reads all files. What is wrong with one of them does not hide the others.
func (f *files) find(context.Context) (all []Group, err error) {
	for _, pattern := range f.patterns {
		names, bad := filepath.Glob(pattern)
		if bad != nil {
			return nil, fmt.Errorf("%s: %w", pattern, bad)
		}
		for _, name := range names {
			groups, wrong := readGroups(name)
			err = errors.Join(err, wrong)
			for _, g := range groups {
				g.Labels = withLabel(g.Labels, "__meta_filepath", name)
				all = append(all, g)
			}
		}
	}
	return all, err
}

// withLabel is a copy with one label more.
func withLabel(l Labels, name, value string) Labels {
	if l = l.clone(); l == nil {
		l = Labels{}
	}
	l[name] = value
	return l
}

// readGroups reads a file of targets: a list of groups, in JSON or YAML.
func readGroups(name string) (groups []Group, err error) {
	data, err := bounded.Read(name, 16<<20)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(name) == ".json" {
		var list []struct {
			Targets []string          `json:"targets"`
			Labels  map[string]string `json:"labels"`
		}
		if err := json.Unmarshal(data, &list); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, g := range list {
			groups = append(groups, Group{g.Targets, g.Labels})
		}
		return groups, nil
	}
	r, doc, err := yamlfile.Parse(name, data)
	if errors.Is(err, yamlfile.ErrEmpty) {
		return nil, nil // as Prometheus has it: no targets now
	}
	if err != nil {
		return nil, err
	}
	c := &config{Reader: r}
	return groups, r.Each(doc, func(n *yamlfile.Node) error {
		g, err := c.group(n)
		groups = append(groups, g)
		return err
	})
}

// dns are targets behind names.
type dns struct {
	names   []string
	kind    string
	port    int
	refresh time.Duration
}

// dns reads an entry of dns_sd_configs.
func (c *config) dns(n *yamlfile.Node) (finder, error) {
	d := &dns{kind: "SRV", refresh: 30 * time.Second}
	err := c.Fields(n, yamlfile.Keys{
		"names": c.Texts(&d.names), "port": c.Int(&d.port, 1), "refresh_interval": c.Duration(&d.refresh),
		"type": c.Word("type", []string{"A", "AAAA", "SRV"}, func(w string) { d.kind = w }),
	})
	switch {
	case err != nil:
		return nil, err
	case len(d.names) == 0:
		return nil, c.Errorf(n, "names is missing")
	case d.kind != "SRV" && d.port == 0:
		return nil, c.Errorf(n, "port is missing: records of type %s have none", d.kind)
	}
	return d, nil
}

func (d *dns) every() time.Duration { return d.refresh }

// find asks the resolver of this machine.
func (d *dns) find(ctx context.Context) (all []Group, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, name := range d.names {
		g := Group{Labels: Labels{"__meta_dns_name": name}}
		if d.kind == "SRV" {
			_, records, wrong := net.DefaultResolver.LookupSRV(ctx, "", "", name)
			err = errors.Join(err, wrong)
			for _, r := range records {
				g.Addresses = append(g.Addresses, net.JoinHostPort(strings.TrimSuffix(r.Target, "."), strconv.Itoa(int(r.Port))))
			}
		} else {
			network := map[string]string{"A": "ip4", "AAAA": "ip6"}[d.kind]
			ips, wrong := net.DefaultResolver.LookupIP(ctx, network, name)
			err = errors.Join(err, wrong)
			for _, ip := range ips {
				g.Addresses = append(g.Addresses, net.JoinHostPort(ip.String(), strconv.Itoa(d.port)))
			}
		}
		all = append(all, g)
	}
	return all, err
}
