package main

type frame struct {
	kind  string
	depth int
	done  chan<- int
}

type client struct {
	id     int64
	apart  bool
	frames chan frame
	seen   int
}

func newClient(id int64, apart bool) *client {
	return &client{id: id, apart: apart, frames: make(chan frame, 1)}
}

func (c *client) readLoop() {
	for f := range c.frames {
		if c.apart {
			c.handOff(f)
			continue
		}
		c.dispatch(f)
	}
}

func (c *client) handOff(f frame) {
	done := make(chan struct{})
	go func() {
		c.dispatch(f)
		close(done)
	}()
	<-done
}

func (c *client) dispatch(f frame) {
	c.seen += int(broadcast(f.depth, c.id))
	f.done <- c.seen
}

func broadcast(depth int, id int64) byte {
	var scratch [256]byte
	scratch[id&255] = byte(depth)
	if depth == 0 {
		return scratch[id&255]
	}
	return broadcast(depth-1, id+1) + scratch[id&255]
}
