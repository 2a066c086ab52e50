package web

var profileEndpoints = []endpoint{}
