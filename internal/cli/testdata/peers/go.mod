// A module of its own: loupe needs these for nothing but the samples in them.
module peers

go 1.26

require (
	github.com/DataDog/gostackparse v0.7.0
	github.com/google/pprof v0.0.0-20251114195745-4902fdda35c8
	github.com/maruel/panicparse/v2 v2.5.0
	honnef.co/go/gotraceui v0.4.0
)
