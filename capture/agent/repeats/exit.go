package repeats

// atExit has f called when the program ends; where it is built in, the runtime does that.
var atExit = func(f func()) {}
