module example.com/bugs

go 1.26.0
