package cli

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"time"

	"loupe/store/blob/blobtest"
)

// bucketServer is a server of S3 with the bucket "profiles", in memory, on an address. It says
// what it has at /.
func bucketServer() {
	h := &blobtest.Handler{Memory: blobtest.NewMemory(), Bucket: "profiles", Conditional: true}
	http.HandleFunc("/profiles/", h.ServeHTTP)
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
