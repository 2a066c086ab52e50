package main

type record struct {
	id   int
	rest [63]int
}

var records = make([]record, 2000)

//go:noinline
func use(r *record) int { return r.id + r.rest[total&63%63] }

//go:noinline
func sumCopies(list []record) (sum int) {
	for _, r := range list { // planted
		sum += use(&r)
	}
	return sum
}

//go:noinline
func sumPointers(list []record) (sum int) {
	for i := range list {
		sum += use(&list[i])
	}
	return sum
}

func copied() { total += sumCopies(records) }

func pointed() { total += sumPointers(records) }
