// Package clickhousetest installs ClickHouse and runs it for tests: two shards of Debian's
// clickhouse-server 18.16 (server.sh), and the engine of a current ClickHouse behind an
// HTTP interface (current.py). Both scripts are of use by hand, too.
//
// A package whose tests use it ends its TestMain with [Stop].
package clickhousetest

import (
	"bufio"
	"embed"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/internal/long"
)

// programs is where what the tests install lies: LOUPE_CLICKHOUSE, when it is to stay for
// the next time, or a folder that goes at the end.
var programs = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv("LOUPE_CLICKHOUSE"); dir != "" {
		return dir, os.MkdirAll(dir, 0o755)
	}
	dir, err := os.MkdirTemp("", "loupe-clickhouse")
	atEnd(func() { os.RemoveAll(dir) })
	return dir, err
})

var (
	endMu sync.Mutex
	ends  []func()
)

// atEnd calls f when all tests are done, the last one first.
func atEnd(f func()) {
	endMu.Lock()
	defer endMu.Unlock()
	ends = append(ends, f)
}

// Stop ends all servers and removes what they have written.
func Stop() {
	endMu.Lock()
	defer endMu.Unlock()
	for _, f := range slices.Backward(ends) {
		f()
	}
	ends = nil
}

//go:embed server.sh current.py
var scripts embed.FS

// script writes one of the scripts out and returns its path.
func script(name string) (string, error) {
	text, err := scripts.ReadFile(name)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "loupe-clickhouse-script")
	if err != nil {
		return "", err
	}
	atEnd(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, name)
	return path, os.WriteFile(path, text, 0o755)
}

// installed runs a command that installs something, once.
func installed(mark string, name string, args ...string) error {
	if _, err := os.Stat(mark); err == nil {
		return nil
	}
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return os.WriteFile(mark, nil, 0o644)
}

// Node is one clickhouse-server.
type Node struct {
	script, dir, data string
	http, tcp         int
	peers             []string
	cmd               *exec.Cmd
	said              *os.File
}

// Start starts it and waits until it answers.
func (n *Node) Start() error {
	args := append([]string{"run", n.dir, n.data, fmt.Sprint(n.http), fmt.Sprint(n.tcp)}, n.peers...)
	n.cmd = exec.Command(n.script, args...)
	if err := os.MkdirAll(n.data, 0o755); err != nil {
		return err
	}
	var err error
	if n.said, err = os.OpenFile(filepath.Join(n.data, "said"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return err
	}
	n.cmd.Stdout, n.cmd.Stderr = n.said, n.said
	if err := n.cmd.Start(); err != nil {
		return err
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		if resp, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/ping", n.http)); err == nil {
			resp.Body.Close()
			return nil
		}
	}
	n.Kill()
	text, _ := os.ReadFile(n.said.Name())
	return fmt.Errorf("clickhouse-server does not answer:\n%s", text)
}

// Kill ends it as a crash does.
func (n *Node) Kill() {
	n.cmd.Process.Kill()
	n.cmd.Wait()
	n.said.Close()
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// cluster starts two shards, once for all tests.
var cluster = sync.OnceValues(func() (nodes []*Node, err error) {
	dir, err := programs()
	if err != nil {
		return nil, err
	}
	root := filepath.Join(dir, "server")
	path, err := script("server.sh")
	if err != nil {
		return nil, err
	}
	if err := installed(filepath.Join(dir, "server-installed"), path, "install", root); err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp("", "loupe-shards")
	if err != nil {
		return nil, err
	}
	atEnd(func() { os.RemoveAll(data) })
	var peers []string
	for i := range 2 {
		n := &Node{script: path, dir: root, data: filepath.Join(data, fmt.Sprint(i))}
		if n.http, err = freePort(); err == nil {
			n.tcp, err = freePort()
		}
		if err != nil {
			return nil, err
		}
		nodes, peers = append(nodes, n), append(peers, fmt.Sprint(n.tcp))
	}
	for _, n := range nodes {
		n.peers = peers
		if err := n.Start(); err != nil {
			return nil, err
		}
		atEnd(n.Kill)
	}
	return nodes, nil
})

// Shards returns the cluster, and its address for a database; user is "" or "loupe:password@".
// It leaves the test out where that is not to be had.
func Shards(t testing.TB, user string) (nodes []*Node, address func(database string) string) {
	t.Helper()
	long.Only(t, "it installs clickhouse-server and runs two")
	if runtime.GOOS != "linux" {
		t.Skip("clickhouse-server is a package of Debian")
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("clickhouse-server comes by apt-get: ", err)
	}
	nodes, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	return nodes, func(database string) string {
		return fmt.Sprintf("clickhouse://%s127.0.0.1:%d,127.0.0.1:%d/%s?cluster=loupe", user, nodes[0].http, nodes[1].http, database)
	}
}

// current starts the engine of a current ClickHouse, once for all tests.
var current = sync.OnceValues(func() (port string, err error) {
	dir, err := programs()
	if err != nil {
		return "", err
	}
	python := filepath.Join(dir, "venv", "bin", "python")
	if err := installed(filepath.Join(dir, "venv-made"), "python3", "-m", "venv", filepath.Join(dir, "venv")); err != nil {
		return "", err
	}
	if err := installed(filepath.Join(dir, "chdb-installed"), python, "-m", "pip", "install", "-q", "--no-deps", "chdb-core"); err != nil {
		return "", err
	}
	data, err := os.MkdirTemp("", "loupe-chdb")
	if err != nil {
		return "", err
	}
	atEnd(func() { os.RemoveAll(data) })
	path, err := script("current.py")
	if err != nil {
		return "", err
	}
	cmd := exec.Command(python, path, data)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	atEnd(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("current.py does not start: %w", err)
	}
	go io.Copy(io.Discard, out)
	return strings.TrimSpace(line), nil
})

// Current returns the address of a current ClickHouse for a database. It leaves the test
// out where that is not to be had.
func Current(t testing.TB) (address func(database string) string) {
	t.Helper()
	long.Only(t, "it installs a current ClickHouse")
	if runtime.GOOS != "linux" {
		t.Skip("chdb-core is a package for Linux")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("a current ClickHouse comes as a package of Python: ", err)
	}
	port, err := current()
	if err != nil {
		t.Fatal(err)
	}
	return func(database string) string { return "clickhouse://127.0.0.1:" + port + "/" + database }
}

// Name makes the name of a database out of a test's.
func Name(t testing.TB) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, t.Name())
}
