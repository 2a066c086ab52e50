package clickhouse_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"loupe/internal/long"
	"loupe/store"
	"loupe/store/clickhouse"
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

func TestMain(m *testing.M) {
	if job := os.Getenv(writerVariable); job != "" {
		if err := writeCounted(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	for i := len(ends) - 1; i >= 0; i-- {
		ends[i]()
	}
	os.Exit(code)
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

// node is one clickhouse-server.
type node struct {
	dir, data string
	http, tcp int
	peers     []string
	cmd       *exec.Cmd
	said      *os.File
}

// start starts it and waits until it answers.
func (n *node) start() error {
	script, err := filepath.Abs("testdata/server.sh")
	if err != nil {
		return err
	}
	args := append([]string{"run", n.dir, n.data, fmt.Sprint(n.http), fmt.Sprint(n.tcp)}, n.peers...)
	n.cmd = exec.Command(script, args...)
	if err := os.MkdirAll(n.data, 0o755); err != nil {
		return err
	}
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
	n.kill()
	text, _ := os.ReadFile(n.said.Name())
	return fmt.Errorf("clickhouse-server does not answer:\n%s", text)
}

// kill ends it as a crash does.
func (n *node) kill() {
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
var cluster = sync.OnceValues(func() (nodes []*node, err error) {
	dir, err := programs()
	if err != nil {
		return nil, err
	}
	root := filepath.Join(dir, "server")
	script, err := filepath.Abs("testdata/server.sh")
	if err != nil {
		return nil, err
	}
	if err := installed(filepath.Join(dir, "server-installed"), script, "install", root); err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp("", "loupe-shards")
	if err != nil {
		return nil, err
	}
	atEnd(func() { os.RemoveAll(data) })
	var peers []string
	for i := range 2 {
		n := &node{dir: root, data: filepath.Join(data, fmt.Sprint(i))}
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
		if err := n.start(); err != nil {
			return nil, err
		}
		atEnd(n.kill)
	}
	return nodes, nil
})

// shards returns the cluster, and its address for a database.
func shards(t testing.TB, user string) (nodes []*node, address func(database string) string) {
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
	cmd := exec.Command(python, "testdata/current.py", data)
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
		return "", fmt.Errorf("testdata/current.py does not start: %w", err)
	}
	go io.Copy(io.Discard, out)
	return strings.TrimSpace(line), nil
})

func modern(t testing.TB) (address func(database string) string) {
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

// quick are options for tests, which do not write from many sides.
var quick = clickhouse.Options{Every: time.Millisecond, Settle: 2 * time.Second}

// place opens one database.
type place struct {
	address string
	opt     clickhouse.Options
}

func (p place) Open(t *testing.T) store.Engine { return open(t, p.address, p.opt) }

func open(t testing.TB, address string, opt clickhouse.Options) *clickhouse.Engine {
	t.Helper()
	at, err := clickhouse.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	e, err := clickhouse.Open(context.Background(), at, opt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// name makes the name of a database out of a test's.
func name(t testing.TB) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, t.Name())
}
