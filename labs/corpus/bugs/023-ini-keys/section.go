package main

type key struct {
	name, value string
}

type section struct {
	name    string
	direct  bool
	keys    map[string]*key
	keyList []string
}

func inSlice(s string, list []string) bool {
	for _, v := range list {
		if s == v {
			return true
		}
	}
	return false
}

func (s *section) newKey(name, value string) *key {
	if s.has(name) {
		k := s.keys[name]
		k.value = value
		return k
	}
	s.keyList = append(s.keyList, name)
	k := &key{name: name, value: value}
	s.keys[name] = k
	return k
}

func (s *section) has(name string) bool {
	if s.direct {
		return s.keys[name] != nil
	}
	return inSlice(name, s.keyList)
}
