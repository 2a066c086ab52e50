package main

// chain passes all numbers through one goroutine for each prime found so far.
// What comes out at the end is the next prime.
func chain(limit, buffer int) (primes []int) {
	end := numbers(limit, buffer)
	for {
		prime, ok := <-end
		if !ok {
			return primes
		}
		primes = append(primes, prime)
		end = filter(end, prime, buffer)
	}
}

// numbers sends 2, 3, 4, … and closes the channel at the limit.
func numbers(limit, buffer int) <-chan int {
	out := make(chan int, buffer)
	go func() {
		defer close(out)
		for n := 2; n < limit; n++ {
			out <- n
		}
	}()
	return out
}

// filter passes on what prime does not divide. It ends when in does.
func filter(in <-chan int, prime, buffer int) <-chan int {
	out := make(chan int, buffer)
	go func() {
		defer close(out)
		for n := range in {
			if n%prime != 0 {
				out <- n
			}
		}
	}()
	return out
}
