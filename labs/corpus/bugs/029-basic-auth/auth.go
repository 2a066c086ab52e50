package main

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"sync"
)

type account struct {
	salt, hash []byte
}

type accounts struct {
	users  map[string]account
	key    [32]byte
	keep   bool
	mu     sync.Mutex
	proven map[[32]byte]bool
}

func newAccounts(keep bool) *accounts {
	a := &accounts{users: map[string]account{}, keep: keep, proven: map[[32]byte]bool{}}
	rand.Read(a.key[:])
	return a
}

func (a *accounts) add(user, password string) error {
	salt := make([]byte, 16)
	rand.Read(salt)
	hash, err := pbkdf2.Key(sha256.New, password, salt, 10_000, 32)
	a.users[user] = account{salt: salt, hash: hash}
	return err
}

func (a *accounts) check(user, password string) bool {
	if !a.keep {
		return a.correct(user, password)
	}
	mac := hmac.New(sha256.New, a.key[:])
	mac.Write([]byte(user + "\x00" + password))
	digest := [32]byte(mac.Sum(nil))
	a.mu.Lock()
	ok := a.proven[digest]
	a.mu.Unlock()
	if ok {
		return true
	}
	if !a.correct(user, password) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.proven[digest] = true
	return true
}

func (a *accounts) correct(user, password string) bool {
	acc, known := a.users[user]
	hash, err := pbkdf2.Key(sha256.New, password, acc.salt, 10_000, 32)
	return err == nil && known && subtle.ConstantTimeCompare(hash, acc.hash) == 1
}

func (a *accounts) require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, ok := r.BasicAuth()
		if !ok || !a.check(user, password) {
			w.Header().Set("WWW-Authenticate", `Basic realm="api"`)
			http.Error(w, "not authorized", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
