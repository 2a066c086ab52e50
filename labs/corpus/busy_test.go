package main

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv(busyMark) != "" {
		busyLoop()
	}
	os.Exit(m.Run())
}

// TestKeepBusy: the loops end by themselves once their input does, with success; a
// loop that had to be killed, or another program, would not.
func TestKeepBusy(t *testing.T) {
	stop, err := keepBusy(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
