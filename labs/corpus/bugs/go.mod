module example.com/bugs

go 1.26.0

require example.org/wire v0.1.0
