package godebug

import "slices"

// ByRun returns the records of each run ([Position]), which run tells of one, in order of
// their first appearance. With one run the result shares memory with the records.
func ByRun[T any](records []T, run func(*T) int) [][]T {
	if !slices.ContainsFunc(records, func(r T) bool { return run(&r) != run(&records[0]) }) {
		return [][]T{records}[:min(len(records), 1)]
	}
	var runs [][]T
	index := map[int]int{}
	for _, r := range records {
		i, ok := index[run(&r)]
		if !ok {
			i = len(runs)
			index[run(&r)] = i
			runs = append(runs, nil)
		}
		runs[i] = append(runs[i], r)
	}
	return runs
}
