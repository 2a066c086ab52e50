//go:build linux

package cli

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"expvar"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"loupe/format/profile/profiletest"
)

// web is a server that scripts put load on and record: web [flags] ADDR.
func webSite() {
	log := flag.String("log", "", "write a line for each request to `file`")
	pid := flag.String("pid", "", "write the process number to `file`")
	withPprof := flag.Bool("pprof", false, "serve /debug/pprof")
	withVars := flag.Bool("expvar", false, "serve /debug/vars")
	withTLS := flag.Bool("tls", false, "serve HTTPS, with a certificate that nobody signed")
	pemFile := flag.String("pem", "", "write that certificate and its key to `file`")
	askClient := flag.Bool("client", false, "want a certificate of the client, any")
	flag.Parse()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "Hello from %s\n", r.URL.Path) })
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { time.Sleep(time.Second) })
	mux.HandleFunc("/hang", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/fail", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusInternalServerError) })
	mux.Handle("/there", http.RedirectHandler("/here", http.StatusFound))
	if *withPprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	}
	if *withVars {
		mux.Handle("/debug/vars", expvar.Handler())
	}
	if *pid != "" {
		must(os.WriteFile(*pid, fmt.Append(nil, os.Getpid()), 0o600))
	}
	server := httptest.NewUnstartedServer(mux)
	if *log != "" {
		server.Config.Handler = logged(server, mux, *log)
	}
	network := "tcp"
	if strings.HasSuffix(flag.Arg(0), ".sock") {
		network = "unix"
	}
	l, err := net.Listen(network, flag.Arg(0))
	must(err)
	server.Listener.Close()
	server.Listener = l
	server.EnableHTTP2 = true
	if *withTLS {
		if *askClient {
			server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
		}
		server.StartTLS()
		if *pemFile != "" {
			key, err := x509.MarshalPKCS8PrivateKey(server.TLS.Certificates[0].PrivateKey)
			must(err)
			text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
			must(os.WriteFile(*pemFile, text, 0o600))
		}
	} else {
		server.Config.Protocols = new(http.Protocols)
		server.Config.Protocols.SetHTTP1(true)
		server.Config.Protocols.SetUnencryptedHTTP2(true)
		server.Start()
	}
	fmt.Println("listening on", flag.Arg(0))
	select {}
}

// logged writes what arrives, and every new connection, to a file.
func logged(server *httptest.Server, next http.Handler, name string) http.Handler {
	f, err := os.Create(name)
	must(err)
	var mu sync.Mutex
	line := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(f, format+"\n", args...)
	}
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			line("connection")
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		line("%s %s host=%s proto=%s type=%s accept=%s agent=%s encoding=%s auth=%s:%s x=%s body=%s", r.Method, r.RequestURI, r.Host, r.Proto,
			r.Header.Get("Content-Type"), r.Header.Get("Accept"), r.UserAgent(), r.Header.Get("Accept-Encoding"), user, password,
			strings.Join(r.Header.Values("X-Loupe"), ","), body)
		if c := r.Header.Values("Cookie"); len(c) > 0 {
			line("cookie %s", strings.Join(c, " and "))
		}
		if a := r.Header.Get("Authorization"); a != "" && user == "" {
			line("authorization %s", a)
		}
		if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
			line("client certificate")
		}
		next.ServeHTTP(w, r)
	})
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// limited runs a program that cannot write files larger than so many bytes:
// limited BYTES PROGRAM [ARG…].
func limited() {
	size, err := strconv.ParseUint(os.Args[1], 10, 64)
	must(err)
	must(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}))
	path, err := exec.LookPath(os.Args[2])
	must(err)
	must(syscall.Exec(path, os.Args[2:], os.Environ()))
}

// mkprofile makes a profile of a picture, see package profiletest: mkprofile
// PICTURE OUT [TYPE/UNIT…].
func mkprofile() {
	picture, err := os.ReadFile(os.Args[1])
	must(err)
	must(os.WriteFile(os.Args[2], profiletest.Encode(string(picture), profiletest.Options{Types: os.Args[3:], Start: 1}), 0o600))
}

// nowhere wants that a word stands in no file below the named ones, as it is or in
// base64, packed or not, nor in their names: nowhere WORD PATH…. Nobody but their owner may
// read them.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: nowhere WORD PATH…")
	}
	word := args[0]
	shapes := []string{word}
	for shift := range 3 { // base64 has three forms, by where the word begins
		coded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + word))
		shapes = append(shapes, coded[(shift*8+5)/6:len(coded)-1])
	}
	files := 0
	look := func(name string, text []byte) {
		files++
		for _, shape := range shapes {
			if i := bytes.Index(text, []byte(shape)); i >= 0 {
				ts.Fatalf("%s has %q: %q", name, word, text[max(0, i-80):min(len(text), i+80)])
			}
		}
	}
	for _, root := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(root), func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			ts.Check(err)
			if info.Mode().Perm()&0o077 != 0 {
				ts.Fatalf("%s has the mode %v: others may read it", name, info.Mode())
			}
			look("the name of "+name, []byte(name))
			if d.IsDir() {
				return nil
			}
			text, err := os.ReadFile(name)
			ts.Check(err)
			look(name, text)
			if z, err := gzip.NewReader(bytes.NewReader(text)); err == nil {
				if plain, err := io.ReadAll(z); err == nil {
					look(name, plain)
				}
			}
			if z, err := zip.NewReader(bytes.NewReader(text), int64(len(text))); err == nil {
				for _, f := range z.File {
					r, err := f.Open()
					ts.Check(err)
					plain, err := io.ReadAll(r)
					ts.Check(err)
					look(name+":"+f.Name, plain)
				}
			}
			return nil
		}))
	}
	if files == 0 {
		ts.Fatalf("there is no file to look into")
	}
}

// checkJSON checks that stdout, stderr or a file holds JSON with fields:
// json FILE CHECK…. A check is a path such as cycles.0.gc, which must exist,
// or findings.rule:AL09.state, which takes the first element with that field;
// PATH=REGEXP for a value, PATH#=REGEXP for a length, !PATH for a field that
// must not be there.
func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: json FILE CHECK…")
	}
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[0])), &v); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	for _, check := range args[1:] {
		path, want, valued := strings.Cut(check, "=")
		path, absent := strings.CutPrefix(path, "!")
		path, length := strings.CutSuffix(path, "#")
		got, ok := follow(v, path)
		if ok == absent {
			ts.Fatalf("%s: field %s: exists is %v", args[0], path, ok)
		}
		if !valued {
			continue
		}
		text := printed(got)
		if list, ok := got.([]any); ok && length {
			text = strconv.Itoa(len(list))
		}
		re, err := regexp.Compile("^(?:" + want + ")$")
		ts.Check(err)
		if !re.MatchString(text) {
			ts.Fatalf("%s: field %s is %s, want %s", args[0], path, text, want)
		}
	}
}

// follow finds the value at a path.
func follow(v any, path string) (any, bool) {
	for _, name := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[name]; !ok {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(name)
			if key, value, ok := strings.Cut(name, ":"); ok {
				i, err = slices.IndexFunc(x, func(v any) bool {
					got, ok := follow(v, key)
					return ok && printed(got) == value
				}), nil
			}
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// printed is a JSON value as a script writes it: a text without its quotes.
func printed(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
