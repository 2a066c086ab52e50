package scrape

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"loupe/capture/collect"
	"loupe/format/yamlfile"
	"loupe/source/bounded"
)

// kubernetes finds the pods of a cluster by its plain API, with the token of the service
// account that this process runs under. It lists them again and again rather than watch
// them: a list of 10,000 pods is some tens of MB every half minute, and nothing is to be
// resumed.
type kubernetes struct {
	server     *url.URL
	folder     string // of the token and the certificate of the service account
	namespaces []string
	labels     string
	fields     string
	refresh    time.Duration
}

// serviceAccount is where a pod finds its token (Kubernetes: Accessing the API from a Pod).
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount"

// kubernetes reads an entry of kubernetes_sd_configs.
func (c *config) kubernetes(n *yamlfile.Node) (finder, error) {
	k := &kubernetes{folder: serviceAccount, refresh: 30 * time.Second}
	role, server, own := "", "", false
	err := c.Fields(n, yamlfile.Keys{
		"role": c.Text(&role), "api_server": c.Text(&server),
		"namespaces": func(n *yamlfile.Node) error {
			return c.Fields(n, yamlfile.Keys{"names": c.Texts(&k.namespaces), "own_namespace": c.Bool(&own)})
		},
		"selectors": c.List(func(n *yamlfile.Node) error {
			of := ""
			return c.Fields(n, yamlfile.Keys{"role": c.Text(&of), "label": c.Text(&k.labels), "field": c.Text(&k.fields)})
		}),
	})
	if err != nil {
		return nil, err
	}
	if role != "pod" {
		return nil, c.Errorf(n, "role: want pod, not %q: profiles are taken of processes", role)
	}
	if server == "" {
		host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
		if host == "" {
			return nil, c.Errorf(n, "api_server is missing, and this is not a pod of a cluster (KUBERNETES_SERVICE_HOST is not set)")
		}
		server = "https://" + net.JoinHostPort(host, port)
	}
	if k.server, err = url.Parse(server); err != nil || k.server.Host == "" {
		return nil, c.Errorf(n, "api_server: %q is not an address", server)
	}
	if own {
		name, err := bounded.Read(path.Join(k.folder, "namespace"), 1<<10)
		if err != nil {
			return nil, c.Errorf(n, "own_namespace: %v", err)
		}
		k.namespaces = append(k.namespaces, strings.TrimSpace(string(name)))
	}
	return k, nil
}

func (k *kubernetes) every() time.Duration { return k.refresh }

// pod is what is read of one (Kubernetes API, core/v1 Pod).
type pod struct {
	Metadata struct {
		Name, Namespace, UID string
		Labels, Annotations  map[string]string
		OwnerReferences      []struct {
			Kind, Name string
			Controller bool
		}
	}
	Spec struct {
		NodeName                   string
		Containers, InitContainers []container
	}
	Status struct {
		Phase, PodIP, HostIP string
		Conditions           []struct{ Type, Status string }
	}
}

// container is one of a pod.
type container struct {
	Name, Image string
	Ports       []struct {
		Name, Protocol string
		ContainerPort  int
	}
}

// find lists the pods of all namespaces, or of those that are named.
func (k *kubernetes) find(ctx context.Context) (all []Group, err error) {
	client, token, err := k.client()
	if err != nil {
		return nil, err
	}
	paths := []string{"/api/v1/pods"}
	if len(k.namespaces) > 0 {
		paths = nil
		for _, name := range k.namespaces {
			paths = append(paths, "/api/v1/namespaces/"+url.PathEscape(name)+"/pods")
		}
	}
	for _, p := range paths {
		for more := ""; ; {
			pods, next, err := k.page(ctx, client, token, p, more)
			if err != nil {
				return nil, err
			}
			for i := range pods {
				all = append(all, pods[i].groups()...)
			}
			if more = next; more == "" {
				break
			}
		}
	}
	return all, nil
}

// client shows the token to nobody but the server whose certificate it knows. The token
// changes (it is bound to a time), so it is read each time.
func (k *kubernetes) client() (*http.Client, string, error) {
	token, err := bounded.Read(path.Join(k.folder, "token"), 64<<10)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, "", err
	}
	access := collect.Access{}
	if k.server.Scheme == "https" {
		pem, err := bounded.Read(path.Join(k.folder, "ca.crt"), 1<<20)
		if err != nil {
			return nil, "", err
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, "", fmt.Errorf("%s/ca.crt has no certificate in PEM", k.folder)
		}
		access.TLS = &tls.Config{RootCAs: pool}
	}
	client := access.Client()
	client.Timeout = 30 * time.Second
	return client, strings.TrimSpace(string(token)), nil
}

// maxPodList bounds an answer of the API.
const maxPodList = 64 << 20

// page asks for up to 500 pods.
func (k *kubernetes) page(ctx context.Context, client *http.Client, token, path, more string) ([]pod, string, error) {
	u := k.server.JoinPath(path)
	query := url.Values{"limit": {"500"}}
	for name, value := range map[string]string{"labelSelector": k.labels, "fieldSelector": k.fields, "continue": more} {
		if value != "" {
			query.Set(name, value)
		}
	}
	u.RawQuery = query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, "", err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	data, err := bounded.ReadAll(resp.Body, u.String(), maxPodList)
	if err != nil {
		return nil, "", err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, "", fmt.Errorf("%s answers %s: %.200s", u.Redacted(), resp.Status, data)
	}
	var list struct {
		Metadata struct{ Continue string }
		Items    []pod
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, "", fmt.Errorf("%s: %w", u.Redacted(), err)
	}
	return list.Items, list.Metadata.Continue, nil
}

// notInName is what labels of Kubernetes may have and those of Prometheus may not.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_]`)

const podPrefix = "__meta_kubernetes_pod_"

// groups are the addresses of a pod: one for each port that a container declares, and for
// a container that declares none the pod alone. A pod without an address is not running.
func (p *pod) groups() (all []Group) {
	if p.Status.PodIP == "" {
		return nil
	}
	l := p.labels()
	for i, c := range append(append([]container(nil), p.Spec.InitContainers...), p.Spec.Containers...) {
		of := l.clone()
		of.set(podPrefix+"container_name", c.Name)
		of.set(podPrefix+"container_image", c.Image)
		of.set(podPrefix+"container_init", strconv.FormatBool(i < len(p.Spec.InitContainers)))
		if len(c.Ports) == 0 {
			all = append(all, Group{[]string{p.Status.PodIP}, of})
		}
		for _, port := range c.Ports {
			one := of.clone()
			number := strconv.Itoa(port.ContainerPort)
			one.set(podPrefix+"container_port_name", port.Name)
			one.set(podPrefix+"container_port_number", number)
			one.set(podPrefix+"container_port_protocol", port.Protocol)
			all = append(all, Group{[]string{net.JoinHostPort(p.Status.PodIP, number)}, one})
		}
	}
	return all
}

// labels are what Prometheus's documentation calls the meta labels of the role pod.
func (p *pod) labels() Labels {
	l := Labels{}
	l.set("__meta_kubernetes_namespace", p.Metadata.Namespace)
	for name, value := range map[string]string{
		"name": p.Metadata.Name, "uid": p.Metadata.UID, "ip": p.Status.PodIP, "host_ip": p.Status.HostIP,
		"node_name": p.Spec.NodeName, "phase": p.Status.Phase,
	} {
		l.set(podPrefix+name, value)
	}
	for _, c := range p.Status.Conditions {
		if c.Type == "Ready" {
			l.set(podPrefix+"ready", strings.ToLower(c.Status))
		}
	}
	for _, o := range p.Metadata.OwnerReferences {
		if o.Controller {
			l.set(podPrefix+"controller_kind", o.Kind)
			l.set(podPrefix+"controller_name", o.Name)
		}
	}
	for kind, pairs := range map[string]map[string]string{"label": p.Metadata.Labels, "annotation": p.Metadata.Annotations} {
		for name, value := range pairs {
			name = notInName.ReplaceAllString(name, "_")
			l.set(podPrefix+kind+"_"+name, value)
			l.set(podPrefix+kind+"present_"+name, "true")
		}
	}
	return l
}
