package main

//go:noinline
func sumOf(n int) (sum int) {
	buf := make([]byte, n) // planted
	for i := range buf {
		buf[i] = byte(i)
	}
	for _, b := range buf {
		sum += int(b)
	}
	return sum
}

//go:noinline
func sumOfAtMost(n int) (sum int) {
	var room [1024]byte
	buf := room[:n]
	for i := range buf {
		buf[i] = byte(i)
	}
	for _, b := range buf {
		sum += int(b)
	}
	return sum
}

var thousand = 1000

func madeAnew() {
	for range 100 {
		total += sumOf(thousand)
	}
}

func constant() {
	for range 100 {
		total += sumOfAtMost(thousand)
	}
}
