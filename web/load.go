package web

var loadEndpoints = []endpoint{}
