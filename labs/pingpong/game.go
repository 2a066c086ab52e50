package main

// ball remembers its hits: the hash of its number and of each player who hit
// it. It would be another one if the players had not taken turns.
type ball uint64

const (
	ping = 'i'
	pong = 'o'
)

// hit is a step of the FNV-1a hash.
func (b ball) hit(player ball) ball { return (b ^ player) * 0x100000001b3 }

// basketSize is how many balls the players of the batched form throw at once.
const basketSize = 256

// play lets two goroutines hit the balls to and fro, some of them at a time.
func play(balls, hits, atOnce int) (sum uint64) {
	toPong, toPing := make(chan []ball), make(chan []ball)
	go func() {
		defer close(toPing)
		for basket := range toPong {
			hitAll(basket, pong)
			toPing <- basket
		}
	}()
	for first := 0; first < balls; first += atOnce {
		basket := newBasket(first, min(first+atOnce, balls))
		for range hits {
			hitAll(basket, ping)
			toPong <- basket
			basket = <-toPing
		}
		for _, b := range basket {
			sum += uint64(b)
		}
	}
	close(toPong)
	<-toPing // closed when the other player has gone
	return sum
}

// newBasket returns the balls from first up to end, as yet unhit.
func newBasket(first, end int) (basket []ball) {
	for n := first; n < end; n++ {
		basket = append(basket, ball(n))
	}
	return basket
}

func hitAll(basket []ball, player ball) {
	for i, b := range basket {
		basket[i] = b.hit(player)
	}
}

// alone hits for both players.
func alone(balls, hits int) (sum uint64) {
	for n := range balls {
		b := ball(n)
		for range hits {
			b = b.hit(ping).hit(pong)
		}
		sum += uint64(b)
	}
	return sum
}
