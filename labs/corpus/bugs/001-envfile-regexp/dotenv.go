package main

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

var (
	exportPattern = regexp.MustCompile(`^\s*(?:export\s+)?([A-Za-z0-9_.]+)\s*[=:]\s*(.*?)\s*$`)
	expandPattern = regexp.MustCompile(`(\\)?(\$)(\()?\{?([A-Z0-9_]+)?\}?`)
)

type loader struct {
	shared bool
}

func (l *loader) parse(r io.Reader) (map[string]string, error) {
	vars := map[string]string{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, err := l.parseLine(line, vars)
		if err != nil {
			return nil, err
		}
		vars[key] = value
	}
	return vars, lines.Err()
}

func (l *loader) parseLine(line string, vars map[string]string) (key, value string, err error) {
	pattern := exportPattern
	if !l.shared {
		pattern = regexp.MustCompile(`^\s*(?:export\s+)?([A-Za-z0-9_.]+)\s*[=:]\s*(.*?)\s*$`)
	}
	m := pattern.FindStringSubmatch(line)
	if m == nil {
		return "", "", fmt.Errorf("cannot separate key from value in %q", line)
	}
	return m[1], l.expand(strings.Trim(m[2], `"'`), vars), nil
}

func (l *loader) expand(value string, vars map[string]string) string {
	pattern := expandPattern
	if !l.shared {
		pattern = regexp.MustCompile(`(\\)?(\$)(\()?\{?([A-Z0-9_]+)?\}?`)
	}
	return pattern.ReplaceAllStringFunc(value, func(s string) string {
		sub := pattern.FindStringSubmatch(s)
		if sub == nil || sub[1] == `\` || sub[4] == "" {
			return s
		}
		return vars[sub[4]]
	})
}
