package main

// chain starts a goroutine for each link. What is sent to first comes out at
// last, one larger for each link; closing first ends them all.
func chain(links int) (first chan<- int, last <-chan int) {
	in := make(chan int)
	end := in
	for range links {
		end = link(end)
	}
	return in, end
}

// link adds one to every number, until there is no more.
func link(in <-chan int) chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		for n := range in {
			out <- n + 1
		}
	}()
	return out
}

// oneByOne waits for each number before it sends the next one.
func oneByOne(links, numbers int) (sum int) {
	if links == 0 {
		return loop(links, numbers) // nobody would take what is sent
	}
	first, last := chain(links)
	for n := range numbers {
		first <- n
		sum += <-last
	}
	close(first)
	<-last // closed when every link has ended
	return sum
}

// allAtOnce sends every number while the earlier ones are on their way.
func allAtOnce(links, numbers int) (sum int) {
	first, last := chain(links)
	go func() {
		defer close(first)
		for n := range numbers {
			first <- n
		}
	}()
	for n := range last {
		sum += n
	}
	return sum
}

// loop does the same additions in the goroutine that called it.
func loop(links, numbers int) (sum int) {
	for n := range numbers {
		for range links {
			n++
		}
		sum += n
	}
	return sum
}
