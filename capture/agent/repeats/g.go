package repeats

// g is where the runtime keeps the present goroutine.
func g() uintptr
