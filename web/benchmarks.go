package web

var benchmarkEndpoints = []endpoint{}
