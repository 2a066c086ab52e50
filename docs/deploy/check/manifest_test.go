package check

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// manifest is what kubernetes.yaml has.
type manifest struct {
	account *corev1.ServiceAccount
	role    *rbacv1.ClusterRole
	binding *rbacv1.ClusterRoleBinding
	config  *corev1.ConfigMap
	service *corev1.Service
	set     *appsv1.StatefulSet
}

// readManifest decodes the file as the API server does with strict validation: a field that
// is not known, and one that stands twice, are errors.
func readManifest(t *testing.T) *manifest {
	t.Helper()
	text, err := os.ReadFile("../kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m := &manifest{}
	in := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(text)))
	decode := decoder(t)
	for buf := make([]byte, 1<<20); ; {
		n, err := in.Read(buf)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		object, err := decode(buf[:n])
		if err != nil {
			t.Fatalf("kubernetes.yaml: %v\n%s", err, buf[:n])
		}
		switch o := object.(type) {
		case *corev1.ServiceAccount:
			m.account = o
		case *rbacv1.ClusterRole:
			m.role = o
		case *rbacv1.ClusterRoleBinding:
			m.binding = o
		case *corev1.ConfigMap:
			m.config = o
		case *corev1.Service:
			m.service = o
		case *appsv1.StatefulSet:
			m.set = o
		default:
			t.Fatalf("kubernetes.yaml has a %T, which the test does not know", o)
		}
	}
	if m.account == nil || m.role == nil || m.binding == nil || m.config == nil || m.service == nil || m.set == nil {
		t.Fatalf("kubernetes.yaml has not all of its parts: %+v", m)
	}
	return m
}

// decoder decodes objects of the API strictly.
func decoder(t *testing.T) func([]byte) (runtime.Object, error) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, rbacv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	d := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	return func(data []byte) (runtime.Object, error) {
		object, _, err := d.Decode(data, nil, nil)
		return object, err
	}
}

// TestDecoderIsStrict: a word that the API does not know is found.
func TestDecoderIsStrict(t *testing.T) {
	decode := decoder(t)
	const good = "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: a\n"
	if _, err := decode([]byte(good)); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{good + "  nmae: b\n", good + "  name: b\n", strings.Replace(good, "v1", "v7", 1)} {
		if _, err := decode([]byte(bad)); err == nil {
			t.Errorf("no error of\n%s", bad)
		}
	}
}

// TestManifest: what the parts of the manifest say of each other is so.
func TestManifest(t *testing.T) {
	m := readManifest(t)
	pod := m.set.Spec.Template
	c := pod.Spec.Containers[0]
	for _, o := range []interface{ GetNamespace() string }{m.account, m.config, m.service, m.set} {
		if o.GetNamespace() != "loupe" {
			t.Errorf("%T is in namespace %q", o, o.GetNamespace())
		}
	}
	for what, selector := range map[string]map[string]string{"the set": m.set.Spec.Selector.MatchLabels, "the service": m.service.Spec.Selector} {
		for name, value := range selector {
			if pod.Labels[name] != value {
				t.Errorf("%s selects %s=%s, and its pods have %v", what, name, value, pod.Labels)
			}
		}
		if len(selector) == 0 {
			t.Errorf("%s selects everything", what)
		}
	}
	if *m.set.Spec.Replicas != 1 {
		t.Errorf("%d replicas: a folder belongs to one process", *m.set.Spec.Replicas)
	}
	if m.set.Spec.ServiceName != m.service.Name || pod.Spec.ServiceAccountName != m.account.Name {
		t.Error("the set names a service or an account that is not there")
	}
	if s := m.binding.Subjects[0]; m.binding.RoleRef.Name != m.role.Name || s.Name != m.account.Name || s.Namespace != m.account.Namespace || s.Kind != "ServiceAccount" {
		t.Errorf("the binding is of %+v to %+v", m.binding.RoleRef, s)
	}
	if r := m.role.Rules; len(r) != 1 || !slices.Equal(r[0].Resources, []string{"pods"}) || slices.ContainsFunc(r[0].Verbs, func(v string) bool { return v != "get" && v != "list" }) {
		t.Errorf("the account may do more than list pods: %+v", r)
	}

	ports := map[string]int32{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, name := range []string{m.service.Spec.Ports[0].TargetPort.StrVal, c.ReadinessProbe.HTTPGet.Port.StrVal, c.LivenessProbe.HTTPGet.Port.StrVal} {
		if ports[name] != 4040 {
			t.Errorf("port %q is %d, and loupe listens on 4040", name, ports[name])
		}
	}
	volumes := map[string]*corev1.Volume{}
	for i := range pod.Spec.Volumes {
		volumes[pod.Spec.Volumes[i].Name] = &pod.Spec.Volumes[i]
	}
	for _, claim := range m.set.Spec.VolumeClaimTemplates {
		volumes[claim.Name] = nil
	}
	mounted := map[string]bool{}
	for _, v := range c.VolumeMounts {
		if _, ok := volumes[v.Name]; !ok {
			t.Errorf("%s is mounted from a volume %q that is not there", v.MountPath, v.Name)
		}
		mounted[v.Name] = true
	}
	for name := range maps.Keys(volumes) {
		if !mounted[name] {
			t.Errorf("volume %s is mounted nowhere", name)
		}
	}
	if volumes["targets"].ConfigMap.Name != m.config.Name {
		t.Error("the targets come from a map that is not there")
	}
	// The user of the pod must be able to read the tokens, by its group.
	if mode := *volumes["tokens"].Secret.DefaultMode; mode != 0o440 || *pod.Spec.SecurityContext.FSGroup != nonroot {
		t.Errorf("the tokens have mode %o and group %d", mode, *pod.Spec.SecurityContext.FSGroup)
	}
	if *pod.Spec.SecurityContext.RunAsUser != nonroot {
		t.Errorf("the pod runs as %d, the image as %d", *pod.Spec.SecurityContext.RunAsUser, nonroot)
	}

	// What loupe keeps must leave room in its volume for what is being written.
	text, err := os.ReadFile("../kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if want := "create secret generic " + volumes["tokens"].Secret.SecretName + " --from-file=tokens"; !strings.Contains(string(text), want) {
		t.Errorf("the comment does not say how the secret %s is made", volumes["tokens"].Secret.SecretName)
	}
	disk := m.set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests[corev1.ResourceStorage]
	if i := slices.Index(c.Args, "-keep"); i < 0 || c.Args[i+1] != "9GB" || disk.Value() < 10<<30 {
		t.Errorf("%q in a volume of %s", c.Args, disk.String())
	}
}
