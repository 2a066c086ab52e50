package main

import (
	"context"
	"fmt"
	"time"
)

type check struct {
	name    string
	timeout time.Duration
	probe   func(ctx context.Context) error
}

type checker struct {
	checks []check
	spare  int
}

func (c *checker) measure(ctx context.Context) map[string]string {
	failures := map[string]string{}
	for _, c1 := range c.checks {
		resCh := make(chan error, c.spare)
		go func(c check) {
			resCh <- c.probe(ctx)
		}(c1)
		select {
		case err := <-resCh:
			if err != nil {
				failures[c1.name] = err.Error()
			}
		case <-time.After(c1.timeout):
			failures[c1.name] = "timeout during health check"
		}
	}
	return failures
}

func dial(name string, takes time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		reply := make([]byte, 16<<10)
		time.Sleep(takes)
		n := copy(reply, "pong "+name)
		if n == 0 {
			return fmt.Errorf("%s: no answer", name)
		}
		return nil
	}
}
