package insight

import "testing"

// TestHolderPart: the line is named that stores a part of a text without a copy, and nothing is
// said of parts where the whole is stored, or a copy.
func TestHolderPart(t *testing.T) {
	for _, c := range []heldCase{
		{"a finding with a part of a fragment", `func (r repo) fragment(data []byte) (fragment, error) {
	return fragment{Path: fmt.Sprint(r.n), Raw: string(data)}, nil
}
func (s *server) scan(w http.ResponseWriter, n int) {
	frag, err := s.repo.fragment(read(n))
	found := s.detect(frag)
	s.store.Add(found)
	w.Write(found.text())
}
func (s *server) detect(f fragment) (all []finding) {
	rest := f.Raw
	for i := strings.Index(rest, key); i >= 0; i = strings.Index(rest, key) {
		all = append(all, s.found(f, i))
		rest = rest[i+1:]
	}
	return all
}
func (s *server) found(f fragment, at int) finding {
	return finding{
		Path: f.Path,
		Match: f.Raw[at : at+20], Line: f.Raw[:at],
		Secret: f.Raw[at+4 : at+20],
	}
}
func (s *store) Add(all []finding) {
	for _, f := range all {
		s.ring = append(s.ring, f)
	}
}
func (n *sum) Add(more int) {
	n.all += more
}`, "copy the part at a.go:23 (and at a.go:24), before it is stored (strings.Clone)", 29, []int{7}},
		{"a finding with a copy of a part", `func fragment(data []byte) fragment {
	return fragment{Raw: string(data)}
}
func scan(s *store, n int) {
	frag := fragment(read(n))
	s.ring = append(s.ring, finding{Match: strings.Clone(frag.Raw[4:8])})
}`, "", 0, []int{7}},
		{"another field of the fragment", `func fragment(data []byte) fragment {
	return fragment{Path: name(), Raw: string(data)}
}
func scan(s *store, n int) {
	frag := fragment(read(n))
	s.ring = append(s.ring, finding{Match: frag.Path[4:8]})
}`, "", 0, []int{7}},
		{"the whole and a part of it", `func scan(s *store, name string) {
	content, err := os.ReadFile(name)
	s.ring = append(s.ring, finding{Match: content[4:8]})
	s.files[name] = content
}`, "It goes into s.files", 0, nil},
		{"all but a header", `func scan(s *store, name string) {
	content := read(name)
	s.files[name] = content[4:]
}`, "It goes into s.files", 0, nil},
		{"all but the end of the line", `func scan(s *store, name string) {
	content := read(name)
	s.files[name] = strings.TrimSuffix(content[:len(content)-1], "!")
}`, "It goes into s.files", 0, nil},
		{"a key alone", `func scan(s *store, name string) {
	content := read(name)
	s.files[name] = content[:8]
}`, "copy the part at a.go:5", 5, nil},
		{"lines of a text in a map", `func read(s *store, r io.Reader) {
	b, err := io.ReadAll(r)
	for line := range bytes.Lines(b) {
		key, value, _ := bytes.Cut(line, []byte("="))
		s.known[string(key)] = value
	}
}`, "copy the part at a.go:7, before it is stored (bytes.Clone", 7, nil},
		{"a match of a pattern", `func read(s *store, r *bufio.Reader) {
	text, err := r.ReadString(0)
	m := pattern.FindStringSubmatch(text)
	s.last.Name = m[1]
	s.all = append(s.all, s.last)
}`, "copy the part at a.go:6, before it is stored (strings.Clone)", 6, nil},
		{"a method that cuts", `func load(s *store, name string) {
	d := doc{text: string(must(os.ReadFile(name)))}
	s.titles[name] = d.title()
}
func (d doc) title() string {
	return strings.TrimSpace(d.text[:40])
}`, "copy the part at a.go:5, before it is stored (strings.Clone)", 5, nil},
	} {
		c.check(t)
	}
}

// TestHolderCopied: a piece that is replaced by its copy does not keep the whole; in a branch it may.
func TestHolderCopied(t *testing.T) {
	for _, c := range []heldCase{
		{"a key that is copied first", `func scan(s *store, name string) {
	content := read(name)
	e := entry{key: content[:8]}
	e.key = strings.Clone(e.key)
	s.files[name] = e
}`, "", 0, nil},
		{"a variable that is copied first", `func scan(s *store, name string) {
	content := read(name)
	key := content[:8]
	key = append([]byte(nil), key...)
	s.files[name] = key
}`, "", 0, nil},
		{"a key that may be copied", `func scan(s *store, name string) {
	content := read(name)
	e := entry{key: content[:8]}
	if s.clones {
		e.key = bytes.Clone(e.key)
	}
	s.files[name] = e
}`, "If the branch at a.go:7 did not run, the part in s.files keeps the whole alive: copy it always", 5, nil},
		{"a variable of the branch that copies", `func scan(s *store, name string) {
	content := read(name)
	if s.clones {
		e := entry{key: content[:8]}
		e.key = bytes.Clone(e.key)
		s.files[name] = e
	}
}`, "", 0, nil},
		{"the whole in a branch, and a part of it", `func scan(s *store, name string) {
	content := read(name)
	s.files[name] = content[:8]
	if s.retries {
		s.again(content)
	}
}
func (s *store) again(content []byte) {
	s.todo = append(s.todo, content)
}`, "It is appended to s.todo", 0, nil},
	} {
		c.check(t)
	}
}
