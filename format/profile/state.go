package profile

import "strings"

// IsState says whether a value of the type is a state of the moment, such as the memory
// in use or the goroutines there are, and not a sum of what has happened. States of two
// moments must never be added up: ten heap profiles of a service that holds 1 GB do not
// make 10 GB. Of a range of time there is the last one, or the mean.
//
// The names are those of Go's profiles, of its older text formats, and of Pyroscope's
// clients and the OpenTelemetry collectors for the same.
func (v ValueType) IsState() bool {
	switch v.Type {
	case "goroutine", "goroutines", "goroutineleak", "goroutine_leak", "thread", "threadcreate", "space", "objects", "live":
		return true
	}
	return strings.HasPrefix(v.Type, "inuse_") || strings.HasPrefix(v.Type, "live_")
}
