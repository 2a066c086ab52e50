package collect

import (
	"os"
	"os/exec"
)

// signalTerm is Kill: Windows has no polite signal for another process.
var signalTerm = os.Kill

func detach(*exec.Cmd) {}

func ownGroup(*exec.Cmd) {}

// askForStacks has no signal here.
func askForStacks(p *os.Process) { p.Kill() }

func signalGroup(p *os.Process, s os.Signal) {
	if p.Signal(s) != nil {
		p.Kill()
	}
}

// mind has no way to outlive loupe here.
func mind(int) (stop func()) { return func() {} }

// whenGone does not either.
func whenGone(string) (stop func()) { return func() {} }

// leftIn reads nothing: pipes have no deadlines here.
func leftIn(*os.File) []byte { return nil }
