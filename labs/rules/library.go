package main

import "context"

// key23 is what the values of the context are kept under.
type key23 int

// cp23 looks a value up that a hundred others were put in after, again for each step; the other form looks it up once.
func cp23() {
	ctx := context.Background()
	for i := range 100 {
		ctx = context.WithValue(ctx, key23(i), i+1)
	}
	first := ctx.Value(key23(0)).(int)
	spend(func() {
		for range 10_000 {
			if fixed {
				counted += first
			} else {
				counted += ctx.Value(key23(0)).(int)
			}
			counted += int(count(10))
		}
	})
}
