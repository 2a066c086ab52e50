package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"

	"loupe/capture/load"
)

// answer is what the server says to everything.
const answer = "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/plain; charset=utf-8\r\n" +
	"Date: Sat, 21 Nov 2026 09:00:00 GMT\r\nContent-Length: 13\r\n\r\nHello, world!"

// send is the generator: load.Run and nothing else.
func send(o *options, url string) error {
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	// What the other tools have too: one thread that sends.
	runtime.GOMAXPROCS(1)
	c := load.Config{URL: url, Engine: o.engine, Concurrency: o.c, Requests: o.requests, Rate: o.rate, MaxConns: o.maxConns, Timeout: 20 * time.Second}
	if o.length > 0 {
		c.Requests, c.Duration = 0, o.length
	}
	l, err := load.Run(context.Background(), c)
	if err != nil {
		return err
	}
	answered := 0
	for range l.Answered() {
		answered++
	}
	fmt.Printf("requests=%d\n", answered)
	if o.length > 0 { // figures cost time that is not the generator's
		s := l.Summary()
		fmt.Printf("p99=%v lag50=%v lag99=%v service99=%v\n", s.Latency.P99, s.Generator.LagP50, s.Generator.LagP99, s.Service.P99)
	}
	if answered < l.Len() {
		return fmt.Errorf("%d requests failed, most with %s", l.Len()-answered, l.Summary().CommonError())
	}
	return nil
}

// serve is the server; it prints its URL.
func serve(o *options) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if o.tls {
		return serveTLS(l)
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/\n", l.Addr())
	return loop(int(file.Fd()), o.freeze, o.freezeFor)
}

// loop answers everything that comes with one thread.
func loop(listener int, freeze, freezeFor time.Duration) error {
	if err := syscall.SetNonblock(listener, true); err != nil {
		return err
	}
	poll, err := syscall.EpollCreate1(0)
	if err != nil {
		return err
	}
	watch := func(fd int) error {
		return syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(fd)})
	}
	if err := watch(listener); err != nil {
		return err
	}
	events := make([]syscall.EpollEvent, 256)
	buf := make([]byte, 64<<10)
	out := bytes.Repeat([]byte(answer), 64)
	var first time.Time
	for {
		n, err := syscall.EpollWait(poll, events, -1)
		if err != nil && err != syscall.EINTR {
			return err
		}
		for i := range max(0, n) {
			fd := int(events[i].Fd)
			if fd == listener {
				for {
					c, _, err := syscall.Accept4(listener, syscall.SOCK_NONBLOCK)
					if err != nil {
						break
					}
					syscall.SetsockoptInt(c, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
					if err := watch(c); err != nil {
						return err
					}
				}
				continue
			}
			m, err := syscall.Read(fd, buf)
			if err == syscall.EAGAIN {
				continue
			}
			if m <= 0 {
				syscall.Close(fd)
				continue
			}
			if freeze > 0 {
				if first.IsZero() {
					first = time.Now()
				} else if time.Since(first) > freeze {
					time.Sleep(freezeFor)
					freeze = 0
				}
			}
			requests := max(1, bytes.Count(buf[:m], []byte("\r\n\r\n")))
			syscall.Write(fd, out[:requests*len(answer)])
		}
	}
}

// serveTLS answers over TLS, with a goroutine for each connection.
func serveTLS(l net.Listener) error {
	s := httptest.NewUnstartedServer(nil) // for its certificate
	s.StartTLS()
	certificates := s.TLS.Certificates
	s.Close()
	fmt.Printf("https://%s/\n", l.Addr())
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			c := tls.Server(conn, &tls.Config{Certificates: certificates})
			defer c.Close()
			buf := make([]byte, 16<<10)
			for {
				if _, err := c.Read(buf); err != nil {
					return
				}
				if _, err := io.WriteString(c, answer); err != nil {
					return
				}
			}
		}()
	}
}
