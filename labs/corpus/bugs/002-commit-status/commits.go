package main

import (
	"fmt"
	"hash/fnv"
)

type commit struct {
	SHA     string `json:"sha"`
	Message string `json:"message"`
	Status  string `json:"status"`
}

type site struct {
	status *statusStore
	bulk   bool
}

func history(branch string, n int) []commit {
	commits := make([]commit, n)
	for i := range commits {
		h := fnv.New64()
		fmt.Fprintf(h, "%s/%d", branch, i)
		commits[i] = commit{SHA: fmt.Sprintf("%016x", h.Sum64()), Message: fmt.Sprintf("change %d", i)}
	}
	return commits
}

func (s *site) parseCommits(commits []commit) error {
	if s.bulk {
		return s.parseAll(commits)
	}
	for i := range commits {
		state, err := s.status.latest(commits[i].SHA)
		if err != nil {
			return err
		}
		commits[i].Status = state
	}
	return nil
}

func (s *site) parseAll(commits []commit) error {
	shas := make([]string, len(commits))
	for i, c := range commits {
		shas[i] = c.SHA
	}
	states, err := s.status.latestOf(shas)
	if err != nil {
		return err
	}
	for i := range commits {
		commits[i].Status = states[commits[i].SHA]
	}
	return nil
}
