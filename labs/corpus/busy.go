package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// busyMark in the environment makes this program one of the busy loops of -busy.
const busyMark = "CORPUS_BUSY_LOOP"

// keepBusy starts processes that compute, as other users of a machine do, until stop is
// called. They end with this program, also if it is killed: their standard input does.
func keepBusy(n int) (stop func() error, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var loops []*exec.Cmd
	var inputs []io.Closer
	stop = func() error {
		var errs []error
		for i, loop := range loops {
			errs = append(errs, inputs[i].Close(), loop.Wait())
		}
		return errors.Join(errs...)
	}
	for i := range n {
		loop := exec.Command(self)
		loop.Env = append(os.Environ(), busyMark+"="+strconv.Itoa(i+1), "GOMAXPROCS=1")
		in, err := loop.StdinPipe()
		if err == nil {
			err = loop.Start()
		}
		if err != nil {
			return nil, errors.Join(err, stop())
		}
		loops, inputs = append(loops, loop), append(inputs, in)
	}
	return stop, nil
}

// busyLoop computes until standard input ends, and then ends the process.
func busyLoop() {
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
	}
}
