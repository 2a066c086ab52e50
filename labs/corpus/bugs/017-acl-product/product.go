package main

import "slices"

func iter(sets ...[]string) <-chan []string {
	out := make(chan []string)
	go iterate(out, nil, sets)
	return out
}

func iterate(out chan []string, prefix []string, sets [][]string) {
	expand(prefix, sets, func(combination []string) bool {
		out <- combination
		return true
	})
	close(out)
}

func expand(prefix []string, sets [][]string, yield func([]string) bool) bool {
	if len(sets) == 0 {
		return yield(slices.Clone(prefix))
	}
	for _, s := range sets[0] {
		if !expand(append(prefix, s), sets[1:], yield) {
			return false
		}
	}
	return true
}

func product(sets ...[]string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		expand(nil, sets, yield)
	}
}
