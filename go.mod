module loupe

go 1.26
