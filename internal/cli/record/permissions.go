package record

import (
	"fmt"
	"io"
	"os"
	"strconv"

	"loupe/capture/collect"
	"loupe/internal/cli/command"
	"loupe/report"
)

// writePermissions prints what may be learnt of a process, a way to a line, and
// below it why not and what would open it.
func writePermissions(w io.Writer, s report.Style, all []collect.Permission) {
	const indent = 16
	for _, p := range all {
		verdict := "no"
		if p.OK {
			verdict = "yes"
		}
		fmt.Fprintf(w, "%-11s %-3s %s\n", p.What, verdict, s.Wrap(p.How, indent))
		if p.Why != "" {
			fmt.Fprintf(w, "%*s%s\n", indent, "", s.Wrap("why not: "+p.Why, indent))
		}
		if p.Opens != "" {
			fmt.Fprintf(w, "%*s%s\n", indent, "", s.Wrap("to enable it: "+p.Opens, indent))
		}
	}
}

// processID reads the number of a process that is there.
func processID(text string) (int, error) {
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 0 {
		return 0, command.Usagef("%q is not a process ID", text)
	}
	if !collect.ProcessExists(pid) {
		return 0, command.Nothingf("there is no process %d", pid)
	}
	return pid, nil
}

// explainProcess prints the table of one process.
func explainProcess(e *command.Env, pid int, asJSON bool) error {
	all := collect.Permissions(e.Ctx, pid)
	if asJSON {
		return report.WriteJSON(e.Stdout, map[string]any{"schema": "loupe.permissions/1", "pid": pid, "user": os.Geteuid(), "ways": all})
	}
	writePermissions(e.Stdout, e.Style(), all)
	return nil
}
