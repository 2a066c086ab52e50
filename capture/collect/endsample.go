package collect

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"loupe/recording"
)

// endFile is where the agent writes a last sample of the runtime's metrics at the end of the
// program, in the folder of what the program captures of itself.
const endFile = "end.metrics"

// keepEnd puts that sample behind those that came while the program ran.
func keepEnd(to io.Writer, src source, own string) {
	if _, agent := src.(agentSource); !agent {
		return
	}
	if line, err := os.ReadFile(filepath.Join(own, endFile)); err == nil {
		to.Write(line) // the entry knows of an error
	}
}

// keepLateEnd keeps the sample of a program that had ended before anybody asked for its metrics: it
// is the only one.
func keepLateEnd(r *running) error {
	path, m := r.runFile("metrics.ndjson"), r.w.Manifest()
	bare := slices.ContainsFunc(m.Phases, func(p recording.Phase) bool { return p.Run == r.run && p.Bare() })
	if !bare || slices.ContainsFunc(m.Entries, func(e recording.Entry) bool { return e.Path == path }) {
		return nil
	}
	line, err := os.ReadFile(filepath.Join(r.own.dir(), endFile))
	if err != nil || len(line) == 0 {
		return nil // it has no agent, or its end could not be seen
	}
	return r.w.Put(recording.Entry{Path: path, Kind: recording.Metrics, Run: max(r.run, 0), Source: "agent"}, line)
}

// endPeak is the largest resident set in bytes that the agent has noted at the end of the program;
// 0 where it has not.
func endPeak(own string) int64 {
	line, err := os.ReadFile(filepath.Join(own, endFile))
	if err != nil {
		return 0
	}
	var sample struct {
		Peak int64 `json:"/loupe/peak-rss:bytes"`
	}
	if json.Unmarshal(line, &sample) != nil {
		return 0
	}
	return max(0, sample.Peak)
}
