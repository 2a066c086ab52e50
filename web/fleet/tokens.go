package fleet

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"unicode"

	"loupe/format/push"
	"loupe/web"
)

// Role is what a token allows.
type Role string

// The roles. Who may read sees all that is kept, and the pages; who may write sends profiles.
const (
	Read  Role = "read"
	Write Role = "write"
)

// Tokens are the secrets of which one is needed. The zero Tokens let nobody in.
type Tokens struct{ list []token }

// token is one of them: its digest, since the file of them may be read by more than may ask.
type token struct {
	roles []Role
	name  string
	hash  [sha256.Size]byte
}

// ParseTokens reads the lines of a file of tokens: "read,write NAME HASH", where HASH is the
// SHA-256 of the token in hexadecimal digits. Empty lines and those that begin with # are left out.
func ParseTokens(text string) (*Tokens, error) {
	t := &Tokens{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 3 {
			return nil, fmt.Errorf("line %d has %d words, want three: read,write NAME HASH", n, len(fields))
		}
		roles, err := ParseRoles(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		one := token{roles: roles, name: fields[1]}
		hash, err := hex.DecodeString(fields[2])
		if err != nil || copy(one.hash[:], hash) != len(one.hash) || len(hash) != len(one.hash) {
			return nil, fmt.Errorf("line %d: the hash of %s is no SHA-256 of 64 digits (a token itself does not belong here: loupe serve -new-token makes the line)", n, one.name)
		}
		t.list = append(t.list, one)
	}
	return t, lines.Err()
}

// ParseRoles reads "read", "write" or "read,write".
func ParseRoles(text string) (roles []Role, err error) {
	for word := range strings.SplitSeq(text, ",") {
		role := Role(word)
		if role != Read && role != Write || slices.Contains(roles, role) {
			return nil, fmt.Errorf("%q are no roles: want read, write or read,write", text)
		}
		roles = append(roles, role)
	}
	return roles, nil
}

// NewToken makes a token of 130 random bits, and its line in the file. The name is for people,
// one word.
func NewToken(name string, roles []Role) (secret, line string, err error) {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return "", "", fmt.Errorf("%q is no name of a token: want one word", name)
	}
	words := make([]string, len(roles))
	for i, r := range roles {
		words[i] = string(r)
	}
	secret = rand.Text()
	return secret, fmt.Sprintf("%s %s %x\n", strings.Join(words, ","), name, sha256.Sum256([]byte(secret))), nil
}

// Allow tells whether a secret is that of a token with a role. How long it takes says
// nothing of the secrets.
func (t *Tokens) Allow(secret string, role Role) bool {
	hash, ok := sha256.Sum256([]byte(secret)), 0
	for _, one := range t.list {
		same := subtle.ConstantTimeCompare(hash[:], one.hash[:])
		if slices.Contains(one.roles, role) {
			ok |= same
		}
	}
	return ok == 1
}

// role is the one that a request needs: none for what only says that the server is there.
func role(r *http.Request) Role {
	_, writes := push.Paths[r.URL.Path]
	for _, name := range web.FleetPinPaths { // of the pages
		writes = writes || strings.HasSuffix(path.Clean(r.URL.Path), "/"+name)
	}
	if writes || r.URL.Path == pinPath || r.URL.Path == unpinPath {
		return Write
	}
	if r.URL.Path == "/ready" {
		return ""
	}
	return Read
}

// allowed tells whether a request has a token for what it wants: as a bearer, or as the
// password of anybody, which browsers, Grafana and pyroscope-go can send.
func (s *Server) allowed(r *http.Request) bool {
	need := role(r)
	if s.opt.Tokens == nil || need == "" {
		return true
	}
	secret, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok {
		_, secret, ok = r.BasicAuth()
	}
	return ok && s.opt.Tokens().Allow(secret, need)
}
