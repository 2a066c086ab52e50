package profile

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
)

// debugText takes in what Go writes below a sample with debug=1, in comments
// that other readers skip: the goroutine labels, and the symbol of each frame.
//
//	1 @ 0x43a4f1 0x40b6fc 0x5f1b45 0x46c2a1
//	# labels: {"route":"/users"}
//	#	0x5f1b44	main.wait+0x64	/home/user/main.go:12
//
// The number in a comment is that of the call, one less than the address
// above. Frames of the runtime at the leaf and runtime.goexit at the root have
// no comment. They are left out when others of the sample have one, as Go
// leaves them out of the heap profiles that it writes as profile.proto: nobody
// knows their names.
type debugText struct {
	b       *builder
	symbols bool // there was a symbol
	stats   *MemStats

	open     bool // a sample waits for its comments
	addrs    []uint64
	values   []int64
	wire     []byte
	comments []symbolText
	locs     []uint32
}

// symbolText is one comment: the address, and what follows it.
type symbolText struct {
	pc   uint64
	text []byte
}

// begin takes a sample that comments may follow; the slices are copied.
func (d *debugText) begin(addrs []uint64, wire []byte, values []int64) {
	for len(addrs) > 0 && addrs[len(addrs)-1] == 0 {
		addrs = addrs[:len(addrs)-1] // threadcreate of Go 1.26 has 32 numbers, whatever the depth
	}
	d.open, d.comments = true, d.comments[:0]
	d.addrs = append(d.addrs[:0], addrs...)
	d.values = append(d.values[:0], values...)
	d.wire = append(d.wire[:0], wire...)
}

// comment takes in a line that begins with '#' or is empty.
func (d *debugText) comment(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	line = bytes.TrimLeft(line[1:], " \t")
	if string(line) == "runtime.MemStats" {
		d.flush()
		d.stats = new(MemStats)
		return nil
	}
	if d.stats != nil {
		return d.stats.line(line)
	}
	if list, ok := bytes.CutPrefix(line, []byte("labels: {")); ok && d.open {
		return d.labels(list)
	}
	if !d.open || !bytes.HasPrefix(line, []byte("0x")) {
		return nil
	}
	s := scanner{b: line}
	if pc := s.hex(); !s.failed {
		d.comments = append(d.comments, symbolText{pc, s.b})
	}
	return nil
}

// labels reads "k":"v", "l":"w"} with strings as Go quotes them.
func (d *debugText) labels(list []byte) error {
	var err error
	d.wire, err = quotedLabels(d.b, d.wire, list)
	return err
}

var errLabels = errors.New(`want labels as {"key":"value", "key":"value"}`)

// quotedLabels appends the labels of a list to a set. The list ends with a
// brace, and there may be a space after a colon.
func quotedLabels(b *builder, set, list []byte) ([]byte, error) {
	s, ok := strings.CutSuffix(string(list), "}")
	if !ok {
		return set, errLabels
	}
	for s != "" {
		var key, value string
		if key, s, ok = cutQuoted(s); ok {
			s, ok = strings.CutPrefix(s, ":")
		}
		if ok {
			value, s, ok = cutQuoted(strings.TrimPrefix(s, " "))
		}
		if !ok {
			return set, errLabels
		}
		set = b.label(set, key, []byte(value))
		if s == "" {
			break
		}
		if s, ok = strings.CutPrefix(s, ", "); !ok || s == "" {
			return set, errLabels
		}
	}
	return set, nil
}

// cutQuoted splits a text behind the string in quotes that it begins with.
func cutQuoted(s string) (word, rest string, ok bool) {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return "", s, false
	}
	word, err = strconv.Unquote(quoted)
	return word, s[len(quoted):], err == nil
}

// flush adds the sample that waits.
func (d *debugText) flush() {
	if !d.open {
		return
	}
	d.open = false
	first, last := d.match()
	d.locs = d.locs[:0]
	for _, a := range d.addrs[first:last] {
		d.locs = append(d.locs, d.b.at(a-1))
	}
	d.b.sample(d.locs, d.wire, d.values...)
}

// match gives the comments to the locations of the addresses, and returns
// which of them stay. Equal addresses in a row are a recursion, and equal
// comments in a row too, or calls that were inlined there: a row of comments
// belongs to a row of addresses.
func (d *debugText) match() (first, last int) {
	first, last = -1, -1
	i := 0
	for j := 0; j < len(d.comments) && i < len(d.addrs); {
		pc := d.comments[j].pc
		next := i+1 < len(d.addrs) && d.addrs[i+1] == pc+1
		if d.addrs[i] != pc+1 && (d.addrs[i] != pc || next) {
			i++
			continue
		}
		from, k := i, j
		for i < len(d.addrs) && d.addrs[i] == d.addrs[from] {
			i++
		}
		for k < len(d.comments) && d.comments[k].pc == pc {
			k++
		}
		if first < 0 {
			first = from
		}
		last = i
		d.symbol(d.addrs[from], d.comments[j:j+max(1, (k-j)/(i-from))])
		j = k
	}
	if first < 0 {
		return 0, len(d.addrs)
	}
	if len(d.addrs)-last != 1 {
		last = len(d.addrs) // it is not goexit alone that has no comment
	}
	return first, last
}

// symbol gives a location its frames.
func (d *debugText) symbol(address uint64, comments []symbolText) {
	l := &d.b.locations[d.b.at(address-1)]
	if len(l.lines) > 0 {
		return
	}
	for _, c := range comments {
		if line, ok := d.b.goSymbol(c.text); ok {
			l.lines = append(l.lines, line)
			d.symbols = true
		}
	}
}

// goSymbol reads "\tmain.wait+0x64\t/home/user/main.go:12", with any number of
// tabs.
func (b *builder) goSymbol(s []byte) (l builtLine, ok bool) {
	s = bytes.TrimLeft(s, "\t ")
	name, file, _ := bytes.Cut(s, []byte("\t"))
	if i := bytes.LastIndex(name, []byte("+0x")); i > 0 {
		name = name[:i]
	}
	if len(name) == 0 {
		return l, false
	}
	file, line := fileLine(bytes.TrimLeft(file, "\t "))
	return b.frame(name, file, line), true
}

// frame is one frame of a location, with a plain function.
func (b *builder) frame(name, file []byte, line int64) builtLine {
	n := b.text(name)
	return builtLine{function: b.function(builtFunction{n, n, b.text(file)}), line: line}
}

// fileLine splits "/home/user/main.go:12".
func fileLine(s []byte) (file []byte, line int64) {
	i := bytes.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0
	}
	n, err := strconv.ParseUint(string(s[i+1:]), 10, 63)
	if err != nil {
		return s, 0
	}
	return s[:i], int64(n)
}
