package main

//go:noinline
func release(n int) { total += n }

//go:noinline
func releaseAtEnd(n int) {
	for i := range n {
		defer release(i) // planted
	}
}

//go:noinline
func releaseEach(n int) {
	for i := range n {
		func() {
			defer release(i)
			total++
		}()
	}
}

func deferredLate() {
	for range 20 {
		releaseAtEnd(100)
	}
}

func deferredEach() {
	for range 20 {
		releaseEach(100)
	}
}
