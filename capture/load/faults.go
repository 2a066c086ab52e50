package load

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"loupe/capture/load/internal/http1"
)

// plain gives equal failures equal texts: without local ports, which differ in
// every one of them, and without what an engine puts around them.
func plain(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return errTimeout.Error()
	case isOurs(err):
		errno, _ := errors.AsType[syscall.Errno](err)
		return "the generator, not the service: " + errno.Error()
	case errors.As(err, &timeout) && timeout.Timeout():
		return errTimeout.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return http1.ErrCutOff.Error()
	}
	op, ok := errors.AsType[*net.OpError](err)
	if !ok {
		return err.Error()
	}
	if op.Op == "read" || op.Op == "write" {
		if errno, ok := errors.AsType[syscall.Errno](err); ok {
			return errno.Error()
		}
	}
	bare := *op
	bare.Source = nil
	return bare.Error()
}

// isOurs tells that it is this machine that has no more ports, descriptors or
// memory for a connection: the service is not to blame.
func isOurs(err error) bool {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok {
		return false
	}
	switch errno {
	case syscall.EADDRNOTAVAIL, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM:
		return true
	}
	return false
}

// hungUp tells that err is what a connection gives that the other side had
// closed.
func hungUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, http1.ErrNoAnswer) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed)
}
