//go:build linux

package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"loupe/store/blob/blobtest"
)

// bucketServer is a server of S3 with the bucket "profiles", in memory, on an address. It says
// what it has at /.
func bucketServer() {
	h := &blobtest.Handler{Memory: blobtest.NewMemory(), Bucket: "profiles", Conditional: true}
	http.HandleFunc("/profiles/", h.ServeHTTP)
	http.HandleFunc("/nobucket/", h.ServeHTTP) // which says that there is none
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		for _, name := range h.Names() {
			fmt.Fprintln(w, name)
		}
	})
	must(http.ListenAndServe(os.Args[1], nil))
}

// ask asks an address again and again until the answer matches, and prints it: ask PATTERN
// URL [FILE], of which the file is sent by POST, as JSON where it ends in .json.
func ask() {
	pattern, url := regexp.MustCompile(os.Args[1]), os.Args[2]
	method, kind, body := http.MethodGet, "", []byte(nil)
	if len(os.Args) > 3 {
		text, err := os.ReadFile(os.Args[3])
		must(err)
		method, kind, body = http.MethodPost, "application/octet-stream", text
		if bytes.HasSuffix([]byte(os.Args[3]), []byte(".json")) {
			kind = "application/json"
		}
	}
	said := ""
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		req, err := http.NewRequest(method, url, bytes.NewReader(body))
		must(err)
		if kind != "" {
			req.Header.Set("Content-Type", kind)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			said = err.Error()
			continue
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		must(err)
		said = fmt.Sprintf("%d %s", resp.StatusCode, text)
		if pattern.MatchString(said) {
			fmt.Println(said)
			return
		}
	}
	must(fmt.Errorf("gave up waiting for %s: %s", pattern, said))
}

// fill copies a file with the values of variables in the place of $NAME: fill FROM TO.
func fill() {
	text, err := os.ReadFile(os.Args[1])
	must(err)
	must(os.WriteFile(os.Args[2], []byte(os.ExpandEnv(string(text))), 0o600))
}

// ingest pushes CPU profiles of ten seconds of a service, one each half minute until now: ingest URL
// VERSION:COUNT,COUNT…xN …, of which the counts are the samples of functions main.f0, main.f1 … give or
// take some, and N is how many there are of the version.
func ingest() {
	form := regexp.MustCompile(`^(\w+):([\d,]+)x(\d+)$`)
	type one struct {
		version string
		counts  []string
	}
	var all []one
	for _, arg := range os.Args[2:] {
		m := form.FindStringSubmatch(arg)
		if m == nil {
			must(fmt.Errorf("%q is no VERSION:COUNTSxN", arg))
		}
		n, err := strconv.Atoi(m[3])
		must(err)
		all = append(all, slices.Repeat([]one{{m[1], strings.Split(m[2], ",")}}, n)...)
	}
	begin := time.Now().Add(-time.Duration(len(all)+1) * 30 * time.Second)
	for i, o := range all {
		var body bytes.Buffer
		for f, text := range o.counts {
			n, err := strconv.Atoi(text)
			must(err)
			fmt.Fprintf(&body, "main.main;main.f%d %d\n", f, n+i*(2*f+5)%7)
		}
		at := begin.Add(time.Duration(i) * 30 * time.Second)
		q := url.Values{"name": {"shop{version=" + o.version + "}"}, "format": {"folded"}, "from": {fmt.Sprint(at.Unix())}, "until": {fmt.Sprint(at.Unix() + 10)}}
		resp, err := http.Post(os.Args[1]+"/ingest?"+q.Encode(), "application/octet-stream", &body)
		must(err)
		said, err := io.ReadAll(resp.Body)
		must(err)
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			must(fmt.Errorf("%s: %s", resp.Status, said))
		}
	}
}
