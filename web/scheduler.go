package web

var schedulerEndpoints = []endpoint{}
