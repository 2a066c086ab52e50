package store

import (
	"strings"
	"testing"
)

// TestSelectors holds selectors against what Prometheus makes of them.
func TestSelectors(t *testing.T) {
	f := func(s string, matching, not string) {
		t.Helper()
		all, err := ParseMatchers(s)
		if err != nil {
			t.Error(err)
			return
		}
		ok := func(labels string) bool {
			m := map[string]string{}
			for l := range strings.FieldsSeq(labels) {
				k, v, _ := strings.Cut(l, "=")
				m[k] = v
			}
			for _, one := range all {
				if !one.Match(m[one.Name]) {
					return false
				}
			}
			return true
		}
		if !ok(matching) {
			t.Errorf("%s does not match %s", s, matching)
		}
		if not != "" && ok(not) {
			t.Errorf("%s matches %s", s, not)
		}
	}
	f(``, "a=b", "")
	f(`{}`, "a=b", "")
	f(` { a = "b" , c!="d", } `, "a=b", "a=b c=d")
	f(`{pod=~"a-.*|b"}`, "pod=a-1", "pod=xa-1")
	f(`{pod!~"a-.*"}`, "pod=b", "pod=a-1")
	f(`{pod=""}`, "x=y", "pod=a")
	f("{pod=`a\\d`}", `pod=a\d`, "pod=a1")
	f(`{pod="a\"}"}`, `pod=a"}`, "")
	f(`{"k8s.pod"="a"}`, "k8s.pod=a", "k8s.pod=b")
	f(`{pod='é\x41'}`, "pod=éA", "")
	for _, bad := range []string{`{`, `{a}`, `{a="b"`, `{a="b}`, `{a=b}`, `{a="b" c="d"}`, `{a=~"("}`, `{a="b"} x`, `{="b"}`, `{a="\q"}`, `{,}`} {
		if _, err := ParseMatchers(bad); err == nil {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
