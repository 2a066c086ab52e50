package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"strings"
)

type file struct {
	direct   bool
	sections map[string]*section
}

func (f *file) load(r io.Reader) error {
	current := f.section("DEFAULT")
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" || line[0] == ';' || line[0] == '#':
		case line[0] == '[' && line[len(line)-1] == ']':
			current = f.section(line[1 : len(line)-1])
		default:
			name, value, ok := strings.Cut(line, "=")
			if !ok {
				return fmt.Errorf("no key in %q", line)
			}
			current.newKey(strings.TrimSpace(name), strings.TrimSpace(value))
		}
	}
	return lines.Err()
}

func (f *file) section(name string) *section {
	s := f.sections[name]
	if s == nil {
		s = &section{name: name, direct: f.direct, keys: map[string]*key{}}
		f.sections[name] = s
	}
	return s
}

func main() {
	form := flag.String("form", "slow", "slow or fixed")
	keys := flag.Int("keys", 18_000, "keys in the file")
	flag.Parse()
	var text strings.Builder
	text.WriteString("[translations]\n")
	for i := range *keys {
		fmt.Fprintf(&text, "message.%06d = text number %d\n", i, i)
	}
	f := &file{direct: *form == "fixed", sections: map[string]*section{}}
	if err := f.load(strings.NewReader(text.String())); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(f.sections["translations"].keys), "keys")
}
