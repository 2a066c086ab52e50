package web

var goroutineEndpoints = []endpoint{}
