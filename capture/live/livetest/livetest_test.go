package livetest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"loupe/capture/live/livetest"
)

// TestMain is the program that is started as well.
func TestMain(m *testing.M) {
	switch os.Getenv("LOUPE_TARGET") {
	case "ready":
		println("not this")
		os.Stdout.WriteString("ready now\n")
		select {}
	case "ends":
		os.Stdout.WriteString("re")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestStart(t *testing.T) {
	self := func(mode string) *exec.Cmd {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "LOUPE_TARGET="+mode)
		return c
	}
	c := self("ready")
	line, err := livetest.Start(c)
	if err != nil || line != "ready now" {
		t.Fatalf("%q, %v", line, err)
	}
	livetest.Stop(c)
	if c.ProcessState == nil {
		t.Error("it has not ended")
	}
	if _, err := livetest.Start(self("ends")); err == nil || !strings.Contains(err.Error(), `it has printed "re" and no line`) {
		t.Errorf("of a program that ends: %v", err)
	}
	if _, err := livetest.Start(exec.Command("/nowhere")); err == nil {
		t.Error("nothing was started, and no error")
	}
}
