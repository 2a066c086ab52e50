package block

import "sync"

// cacheBytes is the most memory that dictionaries of blocks are kept in.
const cacheBytes = 24 << 20

// cache keeps dictionaries of blocks, those that were asked for last.
type cache struct {
	mu    sync.Mutex
	clock int64
	bytes int64
	all   map[cacheKey]*cached
}

type cacheKey struct {
	block *block
	dict  int
}

type cached struct {
	dict  *dict
	bytes int64
	used  int64
}

func (c *cache) get(b *block, i int) *dict {
	c.mu.Lock()
	defer c.mu.Unlock()
	if have := c.all[cacheKey{b, i}]; have != nil {
		c.clock++
		have.used = c.clock
		return have.dict
	}
	return nil
}

func (c *cache) put(b *block, i int, d *dict) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[cacheKey]*cached{}
	}
	c.clock++
	one := &cached{d, d.bytes(), c.clock}
	if c.all[cacheKey{b, i}] != nil || one.bytes > cacheBytes {
		return
	}
	c.all[cacheKey{b, i}] = one
	c.bytes += one.bytes
	for c.bytes > cacheBytes {
		var oldest cacheKey
		for k, v := range c.all {
			if o := c.all[oldest]; o == nil || v.used < o.used {
				oldest = k
			}
		}
		c.bytes -= c.all[oldest].bytes
		delete(c.all, oldest)
	}
}

// forget drops what is of a block.
func (c *cache) forget(b *block) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, v := range c.all {
		if k.block == b {
			c.bytes -= v.bytes
			delete(c.all, k)
		}
	}
}
