package profile

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// isMapTitle knows the line above a list of mappings.
func isMapTitle(line []byte) bool {
	return bytes.Contains(line, []byte("--- Memory map: ---")) || bytes.Contains(line, []byte("MAPPED_LIBRARIES:"))
}

const addressRange = `^\s*(?:0x)?([[:xdigit:]]+)[\s-]?\s*(?:0x)?([[:xdigit:]]+):?(?:\s+([-rwxp]+))?`

var (
	// /proc/PID/maps: 00400000-005dc000 r-xp 00000000 fc:00 36431  /bin/search
	procMap = regexp.MustCompile(addressRange + `(?:\s+([[:xdigit:]]+))?\s+[[:xdigit:]]+:[[:xdigit:]]+\s+[[:digit:]]+(?:\s+(\S+))?`)
	// of other tools: 40000-80000: /bin/search (@ff00) buildid
	briefMap = regexp.MustCompile(addressRange + `(?:\s+(\S+))?(?:\s+\(@([[:xdigit:]]+)\))?(?:\s+([[:xdigit:]]+))?`)
	// what a logger puts in front: I0101 12:00:00 prog.cc:12] text
	logPrefix = regexp.MustCompile(`^[^\[\]]+:[0-9]+]\s`)
	library   = regexp.MustCompile(`[.]so$|[.]so[._][0-9]`)
)

// Assignments ("build=/bin") replace $build in the lines below them. An
// attacker could make them grow without end.
const (
	maxAssignments = 100
	maxGrowth      = 1 << 20 // bytes, of all lines
)

// mappings are what lies in the memory of a program, as a format lists it.
type mappings []Mapping

// read reads mappings up to the end of the text, skips what is none, and
// puts them in order: parts of one file are joined, the program comes first.
func (ms *mappings) read(l *lines) error {
	var assigned []string
	replacer, growth, longest := strings.NewReplacer(), 0, 0
	for l.next() {
		line := l.line
		if m := logPrefix.FindIndex(line); m != nil {
			line = line[m[1]:]
		}
		if len(assigned) > 0 && bytes.IndexByte(line, '$') >= 0 {
			if bytes.Count(line, []byte("$"))*longest > maxGrowth {
				return l.bad("the line would grow without end when its names are replaced")
			}
			before := len(line)
			line = []byte(replacer.Replace(string(line)))
			if growth += max(0, len(line)-before); growth > maxGrowth {
				return l.bad("replacing names has added more than %d bytes", maxGrowth)
			}
		}
		if m, executable, ok := mapLine(line); ok {
			if executable {
				*ms = append(*ms, m)
			}
			continue
		}
		if name, value, ok := bytes.Cut(line, []byte("=")); ok {
			if len(assigned) >= 2*maxAssignments {
				return l.bad("there are more than %d assignments", maxAssignments)
			}
			assigned = append(assigned, "$"+string(bytes.TrimSpace(name)), string(bytes.TrimSpace(value)))
			longest = max(longest, len(value))
			replacer = strings.NewReplacer(assigned...)
		}
	}
	ms.join()
	return nil
}

// mapLine reads one line of either form. Only executable parts count; a line
// that does not say so is one.
func mapLine(line []byte) (m Mapping, executable, ok bool) {
	var start, limit, perm, offset, file, build []byte
	if g := procMap.FindSubmatch(line); g != nil {
		start, limit, perm, offset, file = g[1], g[2], g[3], g[4], g[5]
	} else if g := briefMap.FindSubmatch(line); g != nil {
		start, limit, perm, file, offset, build = g[1], g[2], g[3], g[4], g[5], g[6]
	} else {
		return m, false, false
	}
	if len(perm) > 0 && bytes.IndexByte(perm, 'x') < 0 {
		return m, false, true
	}
	var err [3]error
	m.Start, err[0] = strconv.ParseUint(string(start), 16, 64)
	m.Limit, err[1] = strconv.ParseUint(string(limit), 16, 64)
	if len(offset) > 0 {
		m.Offset, err[2] = strconv.ParseUint(string(offset), 16, 64)
	}
	m.File, m.BuildID = string(file), string(build)
	return m, true, errors.Join(err[:]...) == nil
}

// join joins the parts of a file that lie next to each other, and
// moves the first that seems to be a program to the front.
func (ms *mappings) join() {
	var joined mappings
	for _, m := range *ms {
		if len(joined) > 0 && continues(joined[len(joined)-1], m) {
			last := &joined[len(joined)-1]
			last.Limit = m.Limit
			if m.File != "" {
				last.File = m.File
			}
			if m.BuildID != "" {
				last.BuildID = m.BuildID
			}
			continue
		}
		joined = append(joined, m)
	}
	*ms = joined
	for i, m := range joined {
		file := strings.TrimSpace(strings.ReplaceAll(m.File, "(deleted)", ""))
		if file != "" && file[0] != '[' && !library.MatchString(file) {
			joined[0], joined[i] = joined[i], joined[0]
			break
		}
	}
}

// continues says whether m is the part of a file that follows last.
func continues(last, m Mapping) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	if differ(last.File, m.File) || differ(last.BuildID, m.BuildID) || last.Limit != m.Start {
		return false
	}
	return last.Offset == 0 || m.Offset == 0 || last.Offset+(last.Limit-last.Start) == m.Offset
}

// placeLocations finds the mapping of each location that a sample goes
// through, and makes one of all addresses for those that have none.
func (b *builder) placeLocations() error {
	if len(b.numbered)*len(b.mappings) > 1<<28 { // each is looked for in all
		return fmt.Errorf("there are %d mappings for %d addresses, which no process has", len(b.mappings), len(b.numbered))
	}
	if m := b.mappings; len(m) > 1 && strings.HasPrefix(m[0].File, "/anon_hugepage") && m[0].Limit == m[1].Start {
		b.mappings = m[1:] // the program's text moved to huge pages, and the rest follows
	}
	const usual = 0x400000 // where linkers put a program
	if m := b.mappings; len(m) > 0 && m[0].Start-m[0].Offset == usual {
		m[0].Start, m[0].Offset = usual, 0
	}
	fake := 0
	for _, id := range b.numbered {
		l := &b.locations[id]
		if l.address == 0 {
			continue
		}
		i := b.mappings.find(l.address)
		if i < 0 {
			if fake == 0 {
				b.mappings = append(b.mappings, Mapping{Limit: ^uint64(0)})
				fake = len(b.mappings)
			}
			i = fake - 1
		}
		l.mapping = uint32(i) + 1
	}
	return nil
}

// find returns the position of the one that an address is in, -1 for none.
func (ms mappings) find(address uint64) int {
	for i, m := range ms {
		if m.Start <= address && address < m.Limit {
			return i
		}
	}
	// A writer may have left out the first of two parts of a file.
	for i := range ms {
		m := &ms[i]
		if m.Offset != 0 && m.Start-m.Offset <= address && address < m.Start {
			m.Start -= m.Offset
			m.Offset = 0
			return i
		}
	}
	return -1
}

// baseName is the last element of a path in the text.
func baseName(s []byte) []byte { return []byte(path.Base(string(s))) }
