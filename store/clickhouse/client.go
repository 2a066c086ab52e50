package clickhouse

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Limits of one request.
const (
	// maxAnswer is the most that is read of one answer, in bytes. Answers are decoded as
	// they come: what is kept of one has limits of its own.
	maxAnswer = 2 << 30
	// maxMessage is the most that is read of an error.
	maxMessage = 4 << 10
	// insertTime bounds an insert, questionTime everything else.
	insertTime   = 15 * time.Second
	questionTime = 10 * time.Minute
)

// client speaks to the HTTP interface of one or several servers.
type client struct {
	at     Address
	http   *http.Client
	modern bool // the server has codecs, and settings that 18.16 does not know
	last   atomic.Uint32
	hook   func(statement string) error // for tests
}

func newClient(at Address) *client {
	return &client{at: at, http: &http.Client{
		// A redirect would hand the password on.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConnsPerHost: 8, IdleConnTimeout: 30 * time.Second, ResponseHeaderTimeout: questionTime,
			DisableCompression: true, ForceAttemptHTTP2: false,
		},
	}}
}

// serverError is what ClickHouse says when it cannot do something. The statement has
// ended then.
type serverError struct {
	host    string
	code    int // of ClickHouse, 0 where there is none
	status  int // of HTTP
	message string
}

func (e *serverError) Error() string {
	return fmt.Sprintf("ClickHouse at %s answers: %s%s", e.host, e.message, e.advice())
}

// advice says what to do about an error, in brackets.
func (e *serverError) advice() string {
	switch {
	case e.code == 192 || e.code == 193 || e.code == 516 || e.status == http.StatusUnauthorized || e.status == http.StatusForbidden:
		return " (check user and password in -store)"
	case e.code == 497 || e.code == 164:
		return " (the user needs rights to create, read, write and alter in the database)"
	case e.code == 241 || e.code == 159:
		return " (select fewer series or a shorter range)"
	case e.code == 252:
		return " (it merges more slowly than it is written to: wait, or write less)"
	case e.code == 279 || e.code == 210 || e.code == 209:
		return " (is a shard down? what is selected lies on all of them)"
	case e.code == 170:
		return " (the cluster of -store is none of system.clusters)"
	case e.code == 0 && e.status == http.StatusOK:
		return ""
	case e.code == 0:
		return " (is this the HTTP interface, port 8123?)"
	}
	return ""
}

// transportError is a request whose end is not known, or that never got to the server.
type transportError struct {
	host string
	err  error
	sent bool // the server may have done it
}

func (e *transportError) Error() string {
	return fmt.Sprintf("cannot ask ClickHouse at %s: %v (does it run there, and is this its HTTP port?)", e.host, e.err)
}

func (e *transportError) Unwrap() error { return e.err }

// ErrUnreachable is a server that does not answer, or not to the end.
var ErrUnreachable = errors.New("ClickHouse cannot be reached")

// Is tells that the error is ErrUnreachable.
func (e *transportError) Is(target error) bool { return target == ErrUnreachable }

// post sends a statement to one host, with data behind it for an insert, and hands the
// answer to read.
func (c *client) post(ctx context.Context, host, statement string, data []byte, settings url.Values, read func(io.Reader) error) error {
	if c.hook != nil {
		if err := c.hook(statement); err != nil {
			return err
		}
	}
	values := url.Values{"wait_end_of_query": {"1"}} // an error in the middle is an error, not the end
	for name, v := range settings {
		values[name] = v
	}
	body := []byte(statement)
	if data != nil {
		values.Set("query", statement)
		body = data
	}
	scheme := "http://"
	if c.at.Secure {
		scheme = "https://"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, scheme+host+"/?"+values.Encode(), bytes.NewReader(body))
	if err != nil {
		return &transportError{host: host, err: plain(err)}
	}
	if c.at.user != "" || c.at.password != "" {
		req.Header.Set("X-ClickHouse-User", cmp.Or(c.at.user, "default"))
		req.Header.Set("X-ClickHouse-Key", c.at.password)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return ctx.Err()
		}
		return &transportError{host: host, err: plain(err), sent: !refused(err)}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
		return newServerError(host, resp, string(text))
	}
	if code := resp.Header.Get("X-ClickHouse-Exception-Code"); code != "" {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, maxMessage))
		return newServerError(host, resp, string(text))
	}
	answer := &answer{r: resp.Body, left: maxAnswer}
	if read != nil {
		err = read(answer)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, answer)
	}
	switch {
	case answer.err != nil && ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ctx.Err()
	case answer.err != nil:
		return &transportError{host: host, err: fmt.Errorf("its answer was cut after %d bytes: %w", maxAnswer-answer.left, plain(answer.err)), sent: true}
	case err != nil && answer.err == nil:
		return err
	}
	return nil
}

// answer is the body of an answer, which tells what is wrong with the connection from
// what is wrong with its content.
type answer struct {
	r    io.Reader
	left int64
	err  error // of the connection
}

var errLong = errors.New("the answer is longer than 2 GiB")

func (a *answer) Read(p []byte) (int, error) {
	if a.left <= 0 {
		a.err = errLong
		return 0, a.err
	}
	if int64(len(p)) > a.left {
		p = p[:a.left]
	}
	n, err := a.r.Read(p)
	a.left -= int64(n)
	if err != nil && err != io.EOF {
		a.err = err
	}
	return n, err
}

// plain takes the URL, which has the statement, off an error.
func plain(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refused tells whether a request has surely not got to the server.
func refused(err error) bool {
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && op.Op == "dial"
}

func newServerError(host string, resp *http.Response, text string) error {
	e := &serverError{host: host, status: resp.StatusCode}
	text = strings.TrimSpace(text)
	if code, ok := strings.CutPrefix(text, "Code: "); ok {
		digits, _, _ := strings.Cut(strings.ReplaceAll(code, ".", ","), ",")
		e.code, _ = strconv.Atoi(digits)
		if _, after, ok := strings.Cut(text, "DB::Exception: "); ok {
			text = after
		}
		text, _, _ = strings.Cut(text, ", e.what()")
		text = fmt.Sprintf("%s (code %d)", text, e.code)
	}
	if text == "" {
		text = resp.Status
	}
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 400 {
		text = strings.ToValidUTF8(text[:400], "") + "…"
	}
	e.message = text
	return e
}

// any sends to the host that answered last, and to the others when it does not.
func (c *client) any(ctx context.Context, again bool, send func(host string) error) (err error) {
	first := c.last.Load()
	for i := range uint32(len(c.at.Hosts)) {
		n := (first + i) % uint32(len(c.at.Hosts))
		one := send(c.at.Hosts[n])
		lost := (*transportError)(nil)
		if !errors.As(one, &lost) {
			c.last.Store(n)
			return one
		}
		err = one
		if lost.sent && !again {
			c.last.Store(n + 1)
			return err
		}
	}
	return err
}

// long are the settings of every question: statements have long lists of series.
func (c *client) long() url.Values {
	return url.Values{"default_format": {"RowBinary"}, "max_query_size": {"100000000"}, "max_ast_elements": {"5000000"}, "max_expanded_ast_elements": {"5000000"}}
}

// ask sends a question to any host and calls f with each row of the answer.
func (c *client) ask(ctx context.Context, statement string, f func(*rows) error) error {
	return c.any(ctx, true, func(host string) error { return c.askHost(ctx, host, statement, f) })
}

// askHost is ask of one host.
func (c *client) askHost(ctx context.Context, host, statement string, f func(*rows) error) error {
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	return c.post(ctx, host, statement, nil, c.long(), func(r io.Reader) error {
		rows := newRows(r)
		for rows.next() {
			if err := f(rows); err != nil && rows.err == nil {
				return err
			}
		}
		if rows.err != nil {
			return fmt.Errorf("cannot read the answer of ClickHouse at %s: %w", host, rows.err)
		}
		return nil
	})
}

// tell sends a statement without an answer to one host.
func (c *client) tell(ctx context.Context, host, statement string) error {
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	settings := c.long()
	settings.Del("default_format")
	if c.at.Cluster != "" {
		settings.Set("insert_distributed_sync", "1")
	}
	return c.post(ctx, host, statement, nil, settings, nil)
}

// insert adds rows, tab-separated, to a table.
func (c *client) insert(ctx context.Context, table, columns string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, insertTime)
	defer cancel()
	statement := "INSERT INTO " + table + " (" + columns + ") FORMAT TabSeparated"
	settings := url.Values{}
	if c.at.Cluster != "" {
		settings.Set("insert_distributed_sync", "1")
	}
	return c.any(ctx, false, func(host string) error { return c.post(ctx, host, statement, data, settings, nil) })
}

// local is the name of a table of one server.
func (c *client) local(table string) string { return c.at.Database + "." + table }

// all is the name of a table over all shards.
func (c *client) all(table string) string {
	if c.at.Cluster == "" {
		return c.local(table)
	}
	return c.local(table + "_all")
}
