// Package secret takes passwords, tokens and keys out of texts that loupe keeps
// or shows: addresses, command lines, notes, messages. It goes by what a text
// looks like (the userinfo of an address, parameters and flags whose names say
// that they hold a secret, Authorization and cookies, the forms of well-known
// tokens) and leaves everything else as it is, byte for byte.
//
// It is no defence against a secret that looks like nothing: what a recording
// holds is told kind by kind in docs/privacy.md.
package secret

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// Mask stands where a secret was. It is what net/url puts there as well, so that
// an address that holds it is still an address.
const Mask = "xxxxx"

// telling are parts of names of what is secret, as they stand in a name that is
// all lower case and has no separators.
var telling = []string{
	"token", "secret", "passw", "passphrase", "apikey", "accesskey", "privatekey", "signingkey", "encryptionkey",
	"authoriz", "bearer", "credential", "cookie", "sessionid", "sessid", "jwt", "signature", "oauth",
}

// words are those that make a name secret as a word of their own. In prose they
// stand for other things as well; see [Text].
var words = map[string]bool{
	"key": true, "pass": true, "pwd": true, "pw": true, "auth": true, "sig": true, "sid": true, "session": true,
	"creds": true, "cred": true, "psk": true, "otp": true,
}

// named tells whether what has this name, as a parameter, a flag or a variable, is
// to be kept secret.
func named(name string) bool {
	if clearly(name) {
		return true
	}
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if words[strings.ToLower(word)] {
			return true
		}
	}
	return false
}

// clearly tells that a name says it in one of the ways that nothing else is meant by.
func clearly(name string) bool {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	for _, part := range telling {
		if strings.Contains(plain, part) {
			return true
		}
	}
	return false
}

// URL masks what is secret in an address, which may lack its scheme, as in
// user:password@host:6060.
func URL(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if found {
		scheme += "://"
	} else {
		scheme, rest = "", address
	}
	rest = withoutUser(rest)
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	path, query, hasQuery := strings.Cut(rest, "?")
	out := scheme + pathParameter.ReplaceAllStringFunc(tokens(path), assignment)
	if hasQuery {
		out += "?" + parameters(query)
	}
	if hasFragment {
		out += "#" + parameters(fragment)
	}
	return out
}

// withoutUser masks the userinfo at the beginning of what follows the scheme. A
// password with a slash in it makes no valid address, and is a password all the
// same: what stands before the slash has then no port behind its colon.
func withoutUser(rest string) string {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		return Mask + rest[at:]
	}
	if host, port, ok := strings.Cut(rest[:end], ":"); ok && host != "" && !strings.HasPrefix(host, "[") && strings.Trim(port, "0123456789") != "" {
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			return Mask + rest[at:]
		}
	}
	return rest
}

var pathParameter = regexp.MustCompile(`;[^;/?#=]+=[^;/?#]*`)

// parameters masks the values of a query.
func parameters(query string) string {
	var b strings.Builder
	for query != "" {
		end := strings.IndexAny(query, "&;")
		if end < 0 {
			end = len(query)
		}
		b.WriteString(assignment(query[:end]))
		if end < len(query) {
			b.WriteByte(query[end])
			end++
		}
		query = query[end:]
	}
	return b.String()
}

// assignment masks the value of name=value where the name says that it is
// secret, or the value is an address or a token that shows it.
func assignment(text string) string {
	name, value, found := strings.Cut(text, "=")
	plainName, err := url.QueryUnescape(name)
	if err != nil {
		plainName = name
	}
	plain, err := url.QueryUnescape(value)
	if err != nil {
		plain = value
	}
	switch {
	case !found:
		return tokens(text)
	case value != "" && named(plainName), Text(plain) != plain:
		return name + "=" + Mask
	}
	return text
}

var (
	addresses = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>` + "`" + `]+`)
	// A source name of a database driver, which is no URL.
	source = regexp.MustCompile(`[\w.+-]+:[^\s@/"']+@([A-Za-z][\w.-]*)`)
	// A line of a header, to its end or the end of its quotes.
	header = regexp.MustCompile(`(?i)(^|[^\w-])((?:proxy-)?authorization|(?:set-)?cookie|x-[\w-]*(?:token|key|secret|auth|password)[\w-]*|api-?key)("?\s*:\s*"?)([^\r\n"']+)`)
	bearer = regexp.MustCompile(`(?i)\b(bearer\s+)([^\s"',;]+)`)
	basic  = regexp.MustCompile(`(?i)\b(basic\s+)([A-Za-z0-9+/_-]{4,}={0,2})`)
	set    = regexp.MustCompile(`([A-Za-z_][\w.-]*)=("[^"]*"|'[^']*'|[^\s&;,"']+)`)
	member = regexp.MustCompile(`"([A-Za-z_][\w.-]*)"(\s*:\s*)"((?:[^"\\]|\\.)*)"`)
	known  = regexp.MustCompile(`\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|sk_live_)[\w-]{8,}|\bA(?:KIA|SIA)[0-9A-Z]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`)
)

const lower = "abcdefghijklmnopqrstuvwxyz"

// tokens masks what has the form of a well-known token.
func tokens(s string) string { return known.ReplaceAllString(s, Mask) }

// Text masks what is secret in a text: in the addresses that it holds, in lines of
// headers, in name=value and "name": "value".
func Text(s string) string {
	s = addresses.ReplaceAllStringFunc(s, func(match string) string {
		address := strings.TrimRight(match, ".,:;)]}") // of the sentence around it
		return URL(address) + match[len(address):]
	})
	s = source.ReplaceAllString(s, Mask+"@${1}")
	s = header.ReplaceAllString(s, "${1}${2}${3}"+Mask)
	s = bearer.ReplaceAllStringFunc(s, func(match string) string {
		parts := bearer.FindStringSubmatch(match)
		if strings.Trim(parts[2], lower) == "" {
			return match // a word: bearer token
		}
		return parts[1] + Mask
	})
	s = basic.ReplaceAllStringFunc(s, func(match string) string {
		parts := basic.FindStringSubmatch(match)
		if plain, err := base64.StdEncoding.DecodeString(parts[2]); err != nil || !strings.Contains(string(plain), ":") {
			return match // a word: basic authentication
		}
		return parts[1] + Mask
	})
	s = sets(s)
	s = member.ReplaceAllStringFunc(s, func(match string) string {
		if parts := member.FindStringSubmatch(match); named(parts[1]) {
			return `"` + parts[1] + `"` + parts[2] + `"` + Mask + `"`
		}
		return match
	})
	return tokens(s)
}

// sets masks the values of name=value, and within values: -ldflags="-X=main.token=abc".
func sets(s string) string {
	return set.ReplaceAllStringFunc(s, func(match string) string {
		name, value, _ := strings.Cut(match, "=")
		if clearly(name) && !strings.HasPrefix(value, Mask) {
			return name + "=" + Mask
		}
		if quote := value[:1]; quote == `"` || quote == "'" {
			return name + "=" + quote + sets(value[1:len(value)-1]) + quote
		}
		return name + "=" + sets(value)
	})
}

// Args masks what is secret in the arguments of a program: the values of flags and
// of assignments whose names say so, and what [Text] finds.
func Args(args []string) []string {
	if args == nil {
		return nil
	}
	out := make([]string, len(args))
	next := "" // the flag whose value follows
	for i, arg := range args {
		flag := strings.TrimLeft(arg, "-")
		name, value, assigned := strings.Cut(flag, "=")
		switch {
		case next != "" && !strings.HasPrefix(arg, "-"):
			out[i], next = masked(next, arg), ""
			continue
		case assigned && value != "" && !strings.ContainsAny(name, " \t:/") && named(name):
			out[i] = strings.TrimSuffix(arg, value) + Mask
		default:
			out[i] = Text(arg)
		}
		next = ""
		if flag != arg && !assigned {
			next = name
		}
	}
	return out
}

// masked is the value of a flag.
func masked(flag, value string) string {
	switch {
	case named(flag):
		return Mask
	case flag == "u" || flag == "a" || flag == "user":
		// name:password; a port or a path is none.
		if name, password, ok := strings.Cut(value, ":"); ok && name != "" && strings.Trim(password, "0123456789") != "" && !strings.Contains(password, "/") {
			return Mask
		}
	}
	return Text(value)
}
