package calltree

import "strings"

// ShortenFunctionName returns the name of a function without what a reader can
// do without, as pprof prints it in pictures: the path and the major version
// of a Go package, the package and the arguments of a Java method, and the
// namespaces of a C++ method.
func ShortenFunctionName(name string) string {
	name = dropMajorVersion(strings.TrimPrefix(name, "(anonymous namespace)::"))
	for _, shorten := range []func(string) string{shortGo, shortJava, shortCpp} {
		if short := shorten(name); short != "" {
			return short
		}
	}
	return name
}

// dropMajorVersion cuts the first "/v2", "/v3", … that is a whole element of
// a path.
func dropMajorVersion(s string) string {
	for at := 0; ; {
		i := strings.Index(s[at:], "/v")
		if i < 0 || strings.Contains(s, "\n") {
			return s
		}
		i += at
		digits := span(s[i+2:], isDigit)
		end := i + 2 + digits
		first := byte('0')
		if digits > 0 {
			first = s[i+2]
		}
		if first >= '1' && (digits > 1 || first >= '2') && end < len(s) && (s[end] == '.' || s[end] == '/') {
			return s[:i] + s[end:]
		}
		at = i + 2
	}
}

// shortGo cuts the path of a package: "net/http.(*conn).serve" is
// "http.(*conn).serve". It returns "" for what is no such name.
func shortGo(s string) string {
	var ends []int
	for at := 0; ; {
		n := span(s[at:], func(c byte) bool { return isWord(c) || c == '-' || c == '.' })
		if n == 0 || at+n >= len(s) || s[at+n] != '/' {
			break
		}
		at += n + 1
		ends = append(ends, at)
	}
	for i := len(ends) - 1; i >= 0; i-- {
		rest := s[ends[i]:]
		dot := strings.IndexByte(rest, '.')
		if dot < 1 || dot+1 == len(rest) || rest[dot+1] == '\n' {
			continue
		}
		if line := strings.IndexByte(rest[dot:], '\n'); line >= 0 {
			return rest[:dot+line]
		}
		return rest
	}
	return ""
}

// shortJava keeps class and method of "java.lang.Float.parseFloat(…)".
func shortJava(s string) string {
	word := func(c byte) bool { return isWord(c) || c == '$' }
	at := 0
	for at < len(s) && isLower(s[at]) {
		n := span(s[at:], isWord)
		if at+n >= len(s) || s[at+n] != '.' {
			return ""
		}
		at += n + 1
	}
	rest := s[at:]
	if rest == "" || !isUpper(rest[0]) {
		return ""
	}
	end := span(rest, word)
	if end == len(rest) || rest[end] != '.' {
		return ""
	}
	end++
	switch method := rest[end:]; {
	case strings.HasPrefix(method, "<init>"):
		end += len("<init>")
	case method != "" && isLower(method[0]):
		end += span(method, word)
	default:
		return ""
	}
	if end < len(rest) && rest[end] != '(' {
		return ""
	}
	return rest[:end]
}

// shortCpp keeps class and method of "foo::bar::Class::Method(int)", with the
// arguments of a template.
func shortCpp(s string) string {
	var ends []int
	for at := 0; at < len(s) && isLetter(s[at]); {
		at += span(s[at:], isWord)
		if !strings.HasPrefix(s[at:], "::") {
			break
		}
		at += len("::")
		ends = append(ends, at)
	}
	for i := len(ends) - 1; i >= 0; i-- {
		rest := s[ends[i]:]
		end := span(rest, func(c byte) bool { return c == '_' })
		if end == len(rest) || !isUpper(rest[end]) {
			continue
		}
		end += span(rest[end:], isWord)
		if !strings.HasPrefix(rest[end:], "::") {
			continue
		}
		end += len("::")
		if end < len(rest) && rest[end] == '~' {
			end++
		}
		if end == len(rest) || !isLetter(rest[end]) {
			continue
		}
		end += span(rest[end:], isWord)
		if end < len(rest) && rest[end] == '<' {
			template, _, _ := strings.Cut(rest[end:], "\n")
			end += strings.LastIndexByte(template, '>') + 1
		}
		return rest[:end]
	}
	return ""
}

// span counts the bytes at the beginning of s that are of a kind.
func span(s string, kind func(byte) bool) int {
	for i := range len(s) {
		if !kind(s[i]) {
			return i
		}
	}
	return len(s)
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isLower(c) || isUpper(c) || c == '_' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) }
