package main

import (
	"os/user"
	"strconv"
	"sync"
)

type ids struct {
	uid, gid int
	groups   []string
}

type lookup struct {
	memo  bool
	mu    sync.Mutex
	known map[string]ids
}

func (l *lookup) find(name string) (id ids, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id, ok := l.known[name]; ok {
		return id, nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return id, err
	}
	if id.uid, err = strconv.Atoi(u.Uid); err != nil {
		return id, err
	}
	if id.gid, err = strconv.Atoi(u.Gid); err != nil {
		return id, err
	}
	if id.groups, err = u.GroupIds(); err != nil {
		return id, err
	}
	if l.memo {
		l.known[name] = id
	}
	return id, nil
}
