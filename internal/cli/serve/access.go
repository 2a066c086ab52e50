package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"loupe/internal/cli/command"
	"loupe/source/bounded"
	"loupe/web/fleet"
)

// access is who may ask, and how.
type access struct {
	cert, key, tokens, newToken string
	insecure                    bool

	allowed  *watched[fleet.Tokens]    // nil where no token is needed
	identity *watched[tls.Certificate] // nil without TLS
}

func (a *access) declare(fs *command.FlagSet) {
	fs.StringVar(&a.cert, "tls-cert", "", "`file` of the certificate to serve TLS with (reloaded when it changes)")
	fs.StringVar(&a.key, "tls-key", "", "`file` of its key")
	fs.StringVar(&a.tokens, "tokens", "", "`file` of accepted tokens (reloaded when it changes)")
	fs.StringVar(&a.newToken, "new-token", "", "create a token for -tokens, given as `roles:name`, such as read,write:ada")
	fs.BoolVar(&a.insecure, "insecure", false, "listen without TLS on an address that other machines can reach")
}

// check refuses what would let in anybody: an address that other machines reach wants a
// token, and TLS around it.
func (a *access) check(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return command.Usagef("-listen: %v", err)
	}
	if (a.cert == "") != (a.key == "") {
		return command.Usagef("-tls-cert and -tls-key belong together")
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	switch {
	case a.tokens == "":
		return command.Usagef("-listen: %s can be reached from other machines, and anybody there could read and write: -tokens FILE says who may (make the first with: loupe serve -tokens FILE -new-token read,write:me)", address)
	case a.cert == "" && !a.insecure:
		return command.Usagef("-listen: %s can be reached from other machines, and tokens would be sent for all to read: -tls-cert and -tls-key encrypt, -insecure says that something in front does", address)
	}
	return nil
}

// add makes a token.
func (a *access) add(e *command.Env) error {
	if a.tokens == "" {
		return command.Usagef("-new-token: -tokens says in which file its digest is kept")
	}
	words, name, ok := strings.Cut(a.newToken, ":")
	if !ok {
		return command.Usagef("-new-token: want roles:name, such as write:ci, not %q", a.newToken)
	}
	roles, err := fleet.ParseRoles(words)
	if err != nil {
		return command.Usagef("-new-token: %w", err)
	}
	secret, line, err := fleet.NewToken(name, roles)
	if err != nil {
		return command.Usagef("-new-token: %w", err)
	}
	before, err := bounded.ReadNamed(a.tokens)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := fleet.ParseTokens(string(before)); err != nil {
		return fmt.Errorf("%s: %w", a.tokens, err)
	}
	if len(before) > 0 && before[len(before)-1] != '\n' {
		line = "\n" + line
	}
	f, err := os.OpenFile(a.tokens, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(e.Stderr, "%s has the digest of this token, which is not shown again. Who has it may %s.\n", a.tokens, strings.Join(strings.Split(words, ","), " and "))
	fmt.Fprintln(e.Stdout, secret)
	return nil
}

// watched is what files say, read again when they change. While they are wrong, what was in
// them before holds.
type watched[T any] struct {
	files []string
	read  func() (*T, error)
	state string // of the files when they were read last
	now   atomic.Pointer[T]
}

// newWatched reads files for the first time.
func newWatched[T any](read func() (*T, error), files ...string) (*watched[T], error) {
	w := &watched[T]{files: files, read: read}
	w.state = w.look()
	first, err := read()
	w.now.Store(first)
	return w, err
}

// look tells one state of the files from another.
func (w *watched[T]) look() (state string) {
	for _, name := range w.files {
		if info, err := os.Stat(name); err == nil {
			state += fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano(), " ")
		}
	}
	return state
}

// again reads the files if they have changed, and says what came of it; one goroutine calls it.
func (w *watched[T]) again(tell func(format string, args ...any)) {
	state := w.look()
	if state == w.state {
		return
	}
	w.state = state
	next, err := w.read()
	if err != nil {
		tell("%v: what was there before holds", err)
		return
	}
	w.now.Store(next)
	tell("%s was read again", strings.Join(w.files, " and "))
}

// open reads the files that access rests on.
func (a *access) open() (err error) {
	if a.tokens != "" {
		a.allowed, err = newWatched(func() (*fleet.Tokens, error) {
			text, err := bounded.ReadNamed(a.tokens)
			if err != nil {
				return nil, err
			}
			t, err := fleet.ParseTokens(string(text))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", a.tokens, err)
			}
			return t, nil
		}, a.tokens)
	}
	if err == nil && a.cert != "" {
		a.identity, err = newWatched(func() (*tls.Certificate, error) {
			c, err := tls.LoadX509KeyPair(a.cert, a.key)
			if err != nil {
				return nil, fmt.Errorf("%s and %s: %w", a.cert, a.key, err)
			}
			return &c, nil
		}, a.cert, a.key)
	}
	return err
}

// watch reads the files again when they change, until ctx ends.
func (a *access) watch(ctx context.Context, tell func(string, ...any)) {
	every := time.NewTicker(time.Second)
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		if a.allowed != nil {
			a.allowed.again(tell)
		}
		if a.identity != nil {
			a.identity.again(tell)
		}
	}
}

// needed returns the tokens of which one is needed, nil where none is.
func (a *access) needed() func() *fleet.Tokens {
	if a.allowed == nil {
		return nil
	}
	return a.allowed.now.Load
}

// around puts TLS around a listener, where it is wanted.
func (a *access) around(l net.Listener) net.Listener {
	if a.identity == nil {
		return l
	}
	return tls.NewListener(l, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return a.identity.now.Load(), nil },
	})
}

// scheme is how the server is asked.
func (a *access) scheme() string {
	if a.cert != "" {
		return "https"
	}
	return "http"
}
