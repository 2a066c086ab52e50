package main

import (
	"context"
	"fmt"
	"net"
	"time"
)

type remoteTable struct {
	service string
	backoff time.Duration
}

func (t *remoteTable) doUnlock(txn int64) error {
	c, err := net.DialTimeout("tcp", t.service, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = fmt.Fprintf(c, "unlock %d\n", txn)
	return err
}

func (t *remoteTable) unlock(ctx context.Context, txn int64) error {
	for wait := t.backoff; ; wait = min(2*wait, time.Second) {
		err := t.doUnlock(txn)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return err
		}
		if wait > 0 {
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
	}
}
