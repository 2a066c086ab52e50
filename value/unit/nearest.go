package unit

// Nearest returns the one of the names that a mistyped one is close to, or "": a
// slip of the finger, or two in a long name.
func Nearest(name string, names []string) string {
	best, most := "", 1
	switch {
	case len(name) < 2:
		return ""
	case len(name) > 4:
		most = 2
	}
	for _, n := range names {
		if d := distance(name, n); d <= most {
			best, most = n, d-1
		}
	}
	return best
}

// distance is the edit distance of two short words, where two neighbours that
// changed places are one edit (Damerau 1964, as optimal string alignment).
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
