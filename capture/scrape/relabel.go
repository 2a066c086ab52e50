package scrape

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"loupe/format/yamlfile"
)

// Labels are names with their values. An absent label and one with an empty value are the
// same.
type Labels map[string]string

// clone is a copy that may be written to.
func (l Labels) clone() Labels { return maps.Clone(l) }

// set gives a label a value; the empty one takes the label away.
func (l Labels) set(name, value string) {
	if value == "" {
		delete(l, name)
		return
	}
	l[name] = value
}

// Rule is one step of relabelling, as Prometheus's documentation (relabel_config) defines
// it.
type Rule struct {
	sources            []string
	separator          string
	pattern            *regexp.Regexp
	modulus            uint64
	target, substitute string
	action             string
}

// actions are what a rule may do.
var actions = []string{
	"replace", "keep", "drop", "keepequal", "dropequal", "hashmod", "labelmap", "labeldrop", "labelkeep", "lowercase", "uppercase",
}

// labelName is what a label may be called; a target may hold references to groups of the
// expression, too.
var (
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
	targetName = regexp.MustCompile(`^(?:(?:[a-zA-Z_]|\$(?:\{\w+\}|\w+))+\w*)+$`)
)

// relabelling reads a list of rules.
func relabelling(r yamlfile.Reader, to *[]Rule) yamlfile.Value {
	return r.List(func(n *yamlfile.Node) error {
		rule := Rule{separator: ";", substitute: "$1", action: "replace"}
		pattern, modulus := "(.*)", 0
		err := r.Fields(n, yamlfile.Keys{
			"source_labels": r.Texts(&rule.sources), "separator": r.Text(&rule.separator), "regex": r.Text(&pattern),
			"modulus": r.Int(&modulus, 1), "target_label": r.Text(&rule.target), "replacement": r.Text(&rule.substitute),
			"action": r.Word("action", actions, func(w string) { rule.action = w }),
		})
		if err != nil {
			return err
		}
		rule.modulus = uint64(modulus)
		if rule.pattern, err = anchored(pattern); err != nil {
			return r.Errorf(n, "regex: %v", err)
		}
		if err := rule.check(); err != nil {
			return r.Errorf(n, "%v", err)
		}
		*to = append(*to, rule)
		return nil
	})
}

// anchored compiles an expression that must fit the whole value.
func anchored(pattern string) (*regexp.Regexp, error) {
	return regexp.Compile("^(?s:" + pattern + ")$")
}

// check tells what is missing for an action.
func (r *Rule) check() error {
	switch r.action {
	case "replace", "hashmod", "lowercase", "uppercase", "keepequal", "dropequal":
		if r.target == "" {
			return fmt.Errorf("action %s needs target_label", r.action)
		}
		if r.action == "replace" && !targetName.MatchString(r.target) || r.action != "replace" && !labelName.MatchString(r.target) {
			return fmt.Errorf("target_label: %q is not a label name", r.target)
		}
	case "labeldrop", "labelkeep":
		if len(r.sources) > 0 || r.target != "" {
			return fmt.Errorf("action %s looks at names alone: it has a regex, and neither source_labels nor target_label", r.action)
		}
	}
	if r.action == "hashmod" && r.modulus == 0 {
		return fmt.Errorf("action hashmod needs modulus")
	}
	return nil
}

// relabel applies rules in turn. It tells false where one of them drops the labels.
func relabel(l Labels, rules []Rule) (Labels, bool) {
	l = l.clone()
	for i := range rules {
		if !rules[i].apply(l) {
			return nil, false
		}
	}
	return l, true
}

// apply changes labels, and tells whether they are kept.
func (r *Rule) apply(l Labels) (keep bool) {
	values := make([]string, len(r.sources))
	for i, name := range r.sources {
		values[i] = l[name]
	}
	value := strings.Join(values, r.separator)
	switch r.action {
	case "keep":
		return r.pattern.MatchString(value)
	case "drop":
		return !r.pattern.MatchString(value)
	case "keepequal":
		return l[r.target] == value
	case "dropequal":
		return l[r.target] != value
	case "lowercase":
		l.set(r.target, strings.ToLower(value))
	case "uppercase":
		l.set(r.target, strings.ToUpper(value))
	case "hashmod":
		hash := md5.Sum([]byte(value))
		l.set(r.target, fmt.Sprint(binary.BigEndian.Uint64(hash[8:])%r.modulus))
	case "replace":
		r.replace(l, value)
	default:
		r.rename(l)
	}
	return true
}

// replace sets the target from the groups of the expression. A value that the expression
// does not fit changes nothing, and neither does a target that is no name then.
func (r *Rule) replace(l Labels, value string) {
	groups := r.pattern.FindStringSubmatchIndex(value)
	if groups == nil {
		return
	}
	target := string(r.pattern.ExpandString(nil, r.target, value, groups))
	if !labelName.MatchString(target) {
		return
	}
	l.set(target, string(r.pattern.ExpandString(nil, r.substitute, value, groups)))
}

// rename are the actions that look at the names of all labels.
func (r *Rule) rename(l Labels) {
	for _, name := range slices.Sorted(maps.Keys(l)) {
		fits := r.pattern.MatchString(name)
		switch {
		case r.action == "labelmap" && fits:
			l.set(r.pattern.ReplaceAllString(name, r.substitute), l[name])
		case r.action == "labeldrop" && fits, r.action == "labelkeep" && !fits:
			delete(l, name)
		}
	}
}
