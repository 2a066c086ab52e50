module example.org/wire

go 1.26.0
