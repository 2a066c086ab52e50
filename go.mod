module loupe

go 1.26

require (
	github.com/google/pprof v0.0.0-20251114195745-4902fdda35c8
	github.com/klauspost/compress v1.20.3
)
