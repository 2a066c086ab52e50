// Package check holds the files that deploy loupe serve against what will read them: the
// types of the Kubernetes API, systemd, and the program itself, which runs as they say.
package check

import (
	"bufio"
	"debug/elf"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestImage builds the image and runs it, as docker run does and as the pod of the
// Kubernetes manifest: alone in its file system, under its user.
func TestImage(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root may change the root of a process")
	}
	im := build(t)
	binary := filepath.Join(im.dir, im.entrypoint[0])
	t.Run("static", func(t *testing.T) { static(t, binary) })
	t.Run("docker run", func(t *testing.T) { im.alone(t) })
	t.Run("pod", func(t *testing.T) { im.pod(t) })
	t.Run("systemd", func(t *testing.T) { unit(t, binary) })
}

// static: the base image has no loader and no library.
func static(t *testing.T, binary string) {
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Section(".interp") != nil {
		t.Error("the program wants a loader, and the image has none")
	}
	if libs, _ := f.ImportedLibraries(); len(libs) > 0 {
		t.Errorf("the program wants %q", libs)
	}
}

// put writes a file of the image.
func (im *image) put(t *testing.T, name string, data []byte, mode os.FileMode) {
	t.Helper()
	to := filepath.Join(im.dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, mode); err != nil {
		t.Fatal(err)
	}
}

// own makes a folder of the image that of its user.
func (im *image) own(t *testing.T, name string) {
	t.Helper()
	dir := filepath.Join(im.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, nonroot, nonroot); err != nil {
		t.Fatal(err)
	}
}

// tokens makes the file of tokens as the manifest says, in the image itself, and returns
// its content and the secret of one that may read and write.
func (im *image) tokens(t *testing.T) (file []byte, secret string) {
	t.Helper()
	im.own(t, "/made")
	c := im.command("serve", "-tokens", "/made/tokens", "-new-token", "read,write:me")
	out, err := c.Output()
	if err != nil {
		t.Fatalf("-new-token: %v", err)
	}
	if file, err = os.ReadFile(filepath.Join(im.dir, "made/tokens")); err != nil {
		t.Fatal(err)
	}
	return file, strings.TrimSpace(string(out))
}

// command is the image run with arguments instead of its CMD.
func (im *image) command(args ...string) *exec.Cmd {
	c := exec.Command(im.entrypoint[0], append(slices.Clone(im.entrypoint[1:]), args...)...)
	c.Dir = "/"
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/home/nonroot"}
	c.SysProcAttr = &syscall.SysProcAttr{Chroot: im.dir, Credential: &syscall.Credential{Uid: nonroot, Gid: nonroot}}
	return c
}

// loopback are arguments that listen where nothing else does, and no other machine reaches.
func loopback(t *testing.T, args []string) []string {
	t.Helper()
	args = slices.Clone(args)
	i := slices.Index(args, "-listen")
	if i < 0 || !strings.HasSuffix(args[i+1], ":4040") {
		t.Fatalf("%q listen on no :4040", args)
	}
	args[i+1] = "127.0.0.1:0"
	return args
}

// served is a server that runs.
type served struct {
	url    string
	stderr *strings.Builder
}

var address = regexp.MustCompile(`listens on (http://\S+),`)

// start runs a server until the test ends, at which it is told to stop as Docker,
// Kubernetes and systemd do, and must do so by itself and without an error.
func start(t *testing.T, c *exec.Cmd) *served {
	t.Helper()
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s := &served{stderr: &strings.Builder{}}
	c.Stderr = s.stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		if err := c.Wait(); err != nil {
			t.Errorf("after SIGTERM: %v\n%s", err, s.stderr)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	m := address.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("it says %q (%v)\n%s", line, err, s.stderr)
	}
	s.url = m[1]
	return s
}

// get asks for something.
func (s *served) get(t *testing.T, path, secret string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// ready asks as a probe does, without a token, and whether one is needed for the rest.
func (s *served) ready(t *testing.T, secret string) {
	t.Helper()
	if status, body := s.get(t, "/ready", ""); status != http.StatusOK {
		t.Errorf("/ready: %d %s", status, body)
	}
	if secret == "" {
		return
	}
	if status, _ := s.get(t, "/", ""); status != http.StatusUnauthorized {
		t.Errorf("/ without a token: %d", status)
	}
	if status, _ := s.get(t, "/", secret); status != http.StatusOK {
		t.Errorf("/ with a token: %d", status)
	}
}

// alone is docker run with the volumes that the comment of the Dockerfile names.
func (im *image) alone(t *testing.T) {
	file, secret := im.tokens(t)
	im.put(t, "/etc/loupe/tokens", file, 0o644)
	if !slices.Equal(im.volumes, []string{"/data"}) {
		t.Errorf("volumes %q, want the folder of the profiles", im.volumes)
	}
	start(t, im.command(loopback(t, im.cmd)...)).ready(t, secret)
	if names, _ := filepath.Glob(filepath.Join(im.dir, "data/*")); len(names) == 0 {
		t.Error("nothing is in the volume")
	}
}

// pod runs the container of the manifest with what Kubernetes mounts in it, beside an API
// that lists pods. It must find those that its comment says, under their labels.
func (im *image) pod(t *testing.T) {
	m := readManifest(t)
	c := m.set.Spec.Template.Spec.Containers[0]
	file, secret := im.tokens(t)
	im.put(t, "/etc/loupe/targets/targets.yml", []byte(m.config.Data["targets.yml"]), 0o644)
	im.put(t, "/etc/loupe/secret/tokens", file, 0o644)
	im.own(t, "/data")

	service := httptest.NewServer(http.DefaultServeMux) // net/http/pprof
	defer service.Close()
	port := int32(service.Listener.Addr().(*net.TCPAddr).Port)
	pod := func(name, phase string, annotations map[string]string, ports ...corev1.ContainerPort) corev1.Pod {
		return corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", Annotations: annotations, Labels: map[string]string{
				"app.kubernetes.io/name": "api-" + name, "app.kubernetes.io/version": "v1.42"}},
			Spec:   corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Ports: ports}}},
			Status: corev1.PodStatus{Phase: corev1.PodPhase(phase), PodIP: "127.0.0.1"},
		}
	}
	scraped := map[string]string{"profiles/scrape": "true"}
	at := map[string]string{"profiles/scrape": "true", "profiles/port": fmt.Sprint(port)}
	list := corev1.PodList{Items: []corev1.Pod{
		pod("named", "Running", scraped, corev1.ContainerPort{Name: "http", ContainerPort: 1}, corev1.ContainerPort{Name: "pprof", ContainerPort: port}),
		pod("annotated", "Running", at, corev1.ContainerPort{Name: "http", ContainerPort: 1}),
		pod("unmarked", "Running", nil, corev1.ContainerPort{Name: "pprof", ContainerPort: port}),
		pod("portless", "Running", scraped, corev1.ContainerPort{Name: "http", ContainerPort: 1}),
		pod("gone", "Succeeded", scraped, corev1.ContainerPort{Name: "pprof", ContainerPort: port}),
	}}
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/pods" || r.Header.Get("Authorization") != "Bearer of-the-account" || r.Method != http.MethodGet {
			http.Error(w, "the account may list pods", http.StatusForbidden)
			return
		}
		json.NewEncoder(w).Encode(list)
	}))
	defer api.Close()
	const account = "/var/run/secrets/kubernetes.io/serviceaccount/"
	im.put(t, account+"token", []byte("of-the-account"), 0o644)
	im.put(t, account+"ca.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}), 0o644)

	run := im.command(loopback(t, c.Args)...)
	host, apiPort, _ := net.SplitHostPort(api.Listener.Addr().String())
	run.Env = append(run.Env, "KUBERNETES_SERVICE_HOST="+host, "KUBERNETES_SERVICE_PORT="+apiPort)
	s := start(t, run)
	s.ready(t, secret)
	found := wait(t, s, secret, "2 targets:")
	for _, name := range []string{"named", "annotated"} {
		if want := fmt.Sprintf("http://127.0.0.1:%d/debug/pprof  api-%s", port, name); !strings.Contains(found, want) {
			t.Errorf("%q is not among the targets:\n%s", want, found)
		}
	}
}

// wait asks for the page of a server until it has a text.
func wait(t *testing.T, s *served, secret, text string) string {
	t.Helper()
	body := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if _, body = s.get(t, "/", secret); strings.Contains(body, text) {
			return body
		}
	}
	t.Fatalf("the server does not come to say %q:\n%s\n%s", text, body, s.stderr)
	return ""
}

// profiled serves net/http/pprof on loopback, in this process, and returns the address.
func profiled(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.DefaultServeMux)
	t.Cleanup(s.Close)
	return s.URL
}

// reachable is a copy of a program where any user may run it.
func reachable(t *testing.T, binary string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "loupe-unit-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "loupe")
	copyTree(t, binary, to, 0)
	return to
}
