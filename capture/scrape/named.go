package scrape

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Static is a job of targets that are named by their addresses, host:port. The service of each
// is its program, by its command line, which net/http/pprof tells; where a target does not, it is
// the address.
func Static(addresses ...string) *Job {
	j := &Job{
		Name: "targets", Interval: UsualInterval, Length: UsualLength, Timeout: UsualTimeout, Profiles: usualKinds(),
		scheme: "http", path: UsualPath,
	}
	j.finders = []finder{&named{addresses: addresses, client: j.Access.Client(), programs: map[string]string{}}}
	return j
}

// named finds targets whose addresses are known, and asks them for their names.
type named struct {
	addresses []string
	client    *http.Client

	mu       sync.Mutex
	programs map[string]string // by address, of those that have ever said
}

// The waits between two questions to a target that has a name, and to one that has not: another
// program may be started at the address.
const (
	askAgain = time.Minute
	askSoon  = 10 * time.Second
)

func (n *named) every() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.programs) < len(n.addresses) {
		return askSoon
	}
	return askAgain
}

// find asks all targets at the same time. One that does not answer keeps the name that it had.
func (n *named) find(ctx context.Context) ([]Group, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	all := make([]Group, len(n.addresses))
	var asking sync.WaitGroup
	for i, address := range n.addresses {
		asking.Go(func() {
			program, err := n.program(ctx, address)
			n.mu.Lock()
			defer n.mu.Unlock()
			if err == nil {
				n.programs[address] = program
			}
			if program = n.programs[address]; program == "" {
				program = address
			}
			all[i] = Group{[]string{address}, Labels{ServiceLabel: program}}
		})
	}
	asking.Wait()
	return all, nil
}

// program asks a target what it is called.
func (n *named) program(ctx context.Context, address string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+UsualPath+"/cmdline", nil)
	if err != nil {
		return "", err
	}
	resp, err := n.client.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return "", err
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		return "", fmt.Errorf("%s does not tell its command line: %s", address, resp.Status)
	}
	return programOf(string(text))
}

// programOf is the name of the program in a command line, whose words end in NUL.
func programOf(line string) (string, error) {
	first, _, _ := strings.Cut(line, "\x00")
	first = strings.ReplaceAll(first, `\`, "/") // of Windows
	name := strings.TrimSuffix(path.Base(first), ".exe")
	odd := strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`<>"{}`, r) })
	if name == "." || name == "/" || name == "" || len(name) > 200 || odd || strings.HasPrefix(first, "/proc/") {
		return "", fmt.Errorf("%q names no program", first)
	}
	return name, nil
}
