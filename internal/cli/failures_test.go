//go:build linux

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// broken are files in which something is wrong, beside whole ones.
func broken(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	all := seeds(t)
	profile, trace, dump := all["cpu.pb.gz"], all["size16k.trace"], all["go1.26.deadlock.txt"]
	if profile == nil || trace == nil || dump == nil {
		t.Fatal("a seed is missing")
	}
	for name, data := range map[string][]byte{
		"words": []byte("nothing that anybody knows\n"), "empty": nil, "torn.log": []byte("gc 1 @0.0"), "cut.pb.gz": profile[:len(profile)/2],
		"cut.trace": trace[:2000], "elf": []byte("\x7fELF"), "cut.load": []byte("loupe.load/2\n{\"schema\":"),
		"failed.bench": []byte("BenchmarkA-2 100 12 ns/op\n--- FAIL: TestX\nFAIL\n"), "one.bench": []byte("BenchmarkA-2 100 12 ns/op\nPASS\n"), "other.bench": []byte("BenchmarkB-2 100 12 ns/op\nPASS\n"),
		"whole.pb.gz": profile, "whole.trace": trace, "whole.txt": dump,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFailuresFail: a command that could not do what was asked does not end like one
// that could, in any form, and says why. "1|4" is one of these codes.
func TestFailuresFail(t *testing.T) {
	dir := broken(t)
	for line, codes := range map[string]string{
		"stacks words": "4", "stacks empty": "4", "stacks -json words": "4", "stacks whole.txt cut.pb.gz": "1", "stacks whole.txt missing": "4",
		"gc words": "4", "gc -json words": "4", "gc -json empty": "4", "gc -json torn.log": "4", "gc -json cut.trace": "1", "gc -json cut.pb.gz": "1",
		"sched words": "4", "sched -json words": "4", "sched -json cut.trace": "1",
		"report words": "1|4", "report empty": "1|4", "report missing": "4", "report cut.pb.gz": "1", "report -format json cut.pb.gz": "1", "report -format md cut.pb.gz": "1",
		"report -format svg cut.pb.gz": "1", "report -format html cut.pb.gz": "1", "report -format html cut.load": "1", "report -format html whole.pb.gz missing": "1|4",
		"report -format html missing": "4", "report cut.load": "1", "report whole.pb.gz cut.pb.gz": "1", "report whole.pb.gz missing": "4",
		"open -text words": "1|4", "open -text missing": "4", "open -text cut.pb.gz": "1|4", "open -text whole.pb.gz missing": "4", "open -text failed.bench": "1",
		"pprof -top cut.pb.gz": "1", "pprof -json cut.pb.gz": "1", "pprof -top -diff_base cut.pb.gz whole.pb.gz": "1", "pprof -top -base missing whole.pb.gz": "1|4",
		"pprof -list nothing.there whole.pb.gz": "4", "pprof -peek nothing.there whole.pb.gz": "4", "pprof -proto cut.pb.gz": "1", "pprof -svg missing": "1|4",
		"compare failed.bench one.bench": "1", "compare one.bench failed.bench": "1", "compare -format json one.bench failed.bench": "1", "compare -format csv one.bench failed.bench": "1",
		"compare one.bench other.bench": "4", "compare one.bench words": "1|4", "compare whole.pb.gz cut.pb.gz": "1", "compare whole.pb.gz whole.txt": "1|4", "compare cut.load cut.load": "1",
		"trace summary words": "1", "trace compare whole.trace words": "1", "trace goroutine 99999 whole.trace": "4", "trace cut -from 99s -o OUT whole.trace": "4",
		"trace profile -kind net whole.trace": "4", "trace mmu -json words": "1", "trace export -format json words": "1", "trace index -json words": "1",
		"core elf": "2", "core words": "1|2", "core heap elf": "2", "core missing missing": "2|4", "verify words": "1", "verify missing": "1|4",
		"attach -for 1s 999999999": "4", "attach -for 1s http://127.0.0.1:1": "4", "watch 999999999": "4", "watch http://127.0.0.1:1": "4",
		"load -n 3 http://127.0.0.1:1/": "4", "load -json -n 3 http://127.0.0.1:1/": "4", "load -o csv -n 3 http://127.0.0.1:1/": "4", "load -o trace http://127.0.0.1:1/": "1|4",
		"run elf": "1", "run ./missing": "1", "rules XX99": "2", "labs nothing": "1|2|4",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("loupe", strings.Fields(strings.ReplaceAll(line, "OUT", filepath.Join(t.TempDir(), "out")))...)
			cmd.Dir = dir
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			_ = cmd.Run() // the code is what is looked at
			if code := cmd.ProcessState.ExitCode(); !strings.Contains(codes, string(rune('0'+code))) || stderr.Len() == 0 {
				t.Errorf("it ends with %d, want %s, and says %q", code, codes, stderr.String())
			}
		})
	}
}

// TestPartsAreTold: what shows a part of a trace says so, also in the forms that have
// no room for it.
func TestPartsAreTold(t *testing.T) {
	dir := broken(t)
	for _, line := range []string{
		"summary", "summary -json", "goroutines -format csv", "blocked -json", "sched", "mmu", "mmu -json", "profile", "events", "events -json", "export",
		"export -format json", "compare whole.trace", "index -json", "stw",
	} {
		cmd := exec.Command("loupe", append(strings.Fields("trace "+line), "cut.trace")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err == nil && !bytes.Contains(out, []byte("not all of cut.trace could be read")) {
			t.Errorf("loupe trace %s says nothing of what is missing", line)
		}
	}
}

// TestFullDisk: what cannot be printed is a failure, of every command.
func TestFullDisk(t *testing.T) {
	dir := broken(t)
	for _, line := range []string{
		"help", "help trace", "-h", "version", "completion bash", "labs", "labs -json", "rules", "rules -json", "doctor", "report whole.trace", "report -format json whole.trace",
		"report -format html whole.trace", "report -format md whole.trace", "stacks whole.txt", "stacks -json whole.txt", "pprof -top whole.pb.gz", "pprof -raw whole.pb.gz",
		"pprof -proto whole.pb.gz", "pprof -json whole.pb.gz", "trace summary whole.trace", "trace events whole.trace", "trace export whole.trace", "trace goroutines -format csv whole.trace",
		"compare one.bench one.bench", "open -text whole.pb.gz",
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("loupe", strings.Fields(line)...)
		cmd.Dir, cmd.Stdout = dir, full
		_ = cmd.Run() // the code is what is looked at
		full.Close()
		if cmd.ProcessState.ExitCode() == 0 {
			t.Errorf("loupe %s ends with 0, and nothing was printed", line)
		}
	}
}
