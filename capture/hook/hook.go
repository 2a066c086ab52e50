// Package hook tells a user's command and a user's webhook what has happened.
package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Hooks are what is called. The zero Hooks call nothing.
type Hooks struct {
	// Exec is a line for the shell, Webhook an address to post to.
	Exec, Webhook string
	// Out takes what the command prints.
	Out io.Writer
}

// Event is what they are told. Webhook gets it as JSON, with "schema", "kind": "alert" and "at".
type Event struct {
	Alert     string `json:"alert"` // the rule as it was written, or what else has happened
	Why       string `json:"why"`
	PID       int    `json:"pid"` // 0 where it is not known
	Target    string `json:"target"`
	Service   string `json:"service,omitempty"`
	Host      string `json:"host"`
	Recording string `json:"recording"` // a folder; "" for none
	Text      string `json:"text"`      // all of it for people
}

// Schema names the version of what is posted, which is that of the lines of loupe watch.
const Schema = "loupe.watch/1"

// wait bounds what both may take.
const wait = 30 * time.Second

// Call runs the command and posts the event. What fails is returned and stops nothing.
func (h *Hooks) Call(ctx context.Context, ev Event) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	var failed error
	if h.Exec != "" {
		if err := h.run(ctx, ev); err != nil {
			failed = fmt.Errorf("-exec: %w", err)
		}
	}
	if h.Webhook != "" {
		if err := h.post(ctx, ev); err != nil {
			failed = errors.Join(failed, fmt.Errorf("-webhook: %w", err))
		}
	}
	return failed
}

// run has the shell run the command.
func (h *Hooks) run(ctx context.Context, ev Event) error {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	c := exec.CommandContext(ctx, shell[0], shell[1], h.Exec)
	c.Env = append(os.Environ(), "LOUPE_ALERT="+ev.Alert, "LOUPE_WHY="+ev.Why, fmt.Sprintf("LOUPE_PID=%d", ev.PID),
		"LOUPE_RECORDING="+ev.Recording, "LOUPE_TARGET="+ev.Target, "LOUPE_SERVICE="+ev.Service)
	c.Stdout, c.Stderr = h.Out, h.Out
	c.WaitDelay = time.Second // a child that it leaves behind holds its output open
	return c.Run()
}

// post sends the event.
func (h *Hooks) post(ctx context.Context, ev Event) error {
	body, err := json.Marshal(struct {
		Schema string `json:"schema"`
		Kind   string `json:"kind"`
		At     string `json:"at"`
		Event
	}{Schema, "alert", time.Now().Format(time.RFC3339Nano), ev})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.Webhook, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	// Who has the path of a webhook may post to it: messages name the host alone.
	resp, err := http.DefaultClient.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if err != nil {
		return fmt.Errorf("cannot post to %s: %w", req.URL.Host, err)
	}
	resp.Body.Close()
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s answered %s", req.URL.Host, resp.Status)
	}
	return nil
}
