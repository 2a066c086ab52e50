package door

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"loupe/internal/cli/command"
	"loupe/source/bounded"
	"loupe/value/secret"
)

// Request asks as go tool pprof does, through the proxy of the environment. With
// https+insecure the certificate is not checked.
func Request(ctx context.Context, method, address string, body io.Reader, timeout time.Duration) ([]byte, error) {
	transport := &http.Transport{ResponseHeaderTimeout: timeout + 5*time.Second, Proxy: http.ProxyFromEnvironment}
	defer transport.CloseIdleConnections()
	if rest, ok := strings.CutPrefix(address, "https+insecure:"); ok {
		address = "https:" + rest
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the user asks for it by the scheme
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, command.Nothingf("http fetch: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		why := ""
		if resp.Header.Get("X-Go-Pprof") != "" && strings.Contains(resp.Header.Get("Content-Type"), "text/plain") {
			body, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
			why = " - " + strings.TrimSpace(string(body))
		}
		return nil, command.Nothingf("server response: %s%s", resp.Status, why)
	}
	data, err := bounded.ReadAll(resp.Body, address, bounded.MaxAnswer)
	if errors.Is(err, bounded.ErrTooLong) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s to its end: %w (try again)", secret.URL(address), err)
	}
	return data, nil
}
