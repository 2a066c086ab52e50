package web

var compareEndpoints = []endpoint{}
