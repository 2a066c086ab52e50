package scrape

import (
	"maps"
	"strings"
	"testing"
)

// rules reads a list of rules.
func rules(t *testing.T, text string) []Rule {
	t.Helper()
	c, err := parseConfig("f", []byte("scrape_configs: [{job_name: j, static_configs: [{targets: [a]}], relabel_configs: "+text+"}]"))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return c.Jobs[0].rules
}

// TestRelabel holds each action against what Prometheus's documentation says of it.
func TestRelabel(t *testing.T) {
	from := Labels{"a": "foo", "b": "bar", "c": "x:1"}
	for text, want := range map[string]string{
		`[{source_labels: [a], target_label: d}]`:    "a=foo b=bar c=x:1 d=foo",
		`[{source_labels: [a, b], target_label: d}]`: "a=foo b=bar c=x:1 d=foo;bar",
		`[{source_labels: [a, b], separator: "-", regex: "f(.*)-b(.*)", target_label: "${1}_x", replacement: "$2"}]`:           "a=foo b=bar c=x:1 oo_x=ar",
		`[{source_labels: [c], regex: "(.*):.*", target_label: c}]`:                                                            "a=foo b=bar c=x",
		`[{source_labels: [a], regex: oo, target_label: a, replacement: y}]`:                                                   "a=foo b=bar c=x:1", // the whole value must fit
		`[{source_labels: [a], regex: "(f).*", target_label: a, replacement: ""}]`:                                             "b=bar c=x:1",
		`[{source_labels: [nothing], target_label: a, replacement: y}]`:                                                        "a=y b=bar c=x:1", // an absent label is empty, and fits (.*)
		`[{target_label: d, replacement: always}]`:                                                                             "a=foo b=bar c=x:1 d=always",
		`[{source_labels: [a], regex: foo|zzz, action: keep}]`:                                                                 "a=foo b=bar c=x:1",
		`[{source_labels: [a], regex: fo, action: keep}]`:                                                                      "dropped",
		`[{source_labels: [a], regex: foo, action: drop}]`:                                                                     "dropped",
		`[{source_labels: [a], target_label: b, action: keepequal}]`:                                                           "dropped",
		`[{source_labels: [a], target_label: b, action: dropequal}]`:                                                           "a=foo b=bar c=x:1",
		`[{regex: "(a|b)", replacement: "meta_$1", action: labelmap}]`:                                                         "a=foo b=bar c=x:1 meta_a=foo meta_b=bar",
		`[{regex: "a|b", action: labeldrop}]`:                                                                                  "c=x:1",
		`[{regex: "a|b", action: labelkeep}]`:                                                                                  "a=foo b=bar",
		`[{source_labels: [a], target_label: a, action: uppercase}]`:                                                           "a=FOO b=bar c=x:1",
		`[{source_labels: [a], target_label: a, action: uppercase}, {source_labels: [a], target_label: d, action: lowercase}]`: "a=FOO b=bar c=x:1 d=foo",
		// The last eight bytes of the hash, by 10.
		`[{source_labels: [a], target_label: d, modulus: 10, action: hashmod}]`: "a=foo b=bar c=x:1 d=" + hashOfFoo,
	} {
		got, keep := relabel(from, rules(t, text))
		if shown := show(got, keep); shown != want {
			t.Errorf("%s\n%s, want\n%s", text, shown, want)
		}
	}
	if !maps.Equal(from, Labels{"a": "foo", "b": "bar", "c": "x:1"}) {
		t.Error("the labels that were given are changed")
	}
}

// hashOfFoo is of md5("foo") = acbd18db4cc2f85cedef654fccc4a4d8: the last eight bytes are
// 17145033699835028696, big-endian.
const hashOfFoo = "6"

func show(l Labels, keep bool) string {
	if !keep {
		return "dropped"
	}
	var parts []string
	for _, name := range []string{"a", "b", "c", "d", "meta_a", "meta_b", "oo_x"} {
		if v, ok := l[name]; ok {
			parts = append(parts, name+"="+v)
		}
	}
	return strings.Join(parts, " ")
}
