package web

var collectorEndpoints = []endpoint{}
