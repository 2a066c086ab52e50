// Package target describes what a load run sends: requests whose URLs, headers
// and bodies may be templates, several of them with weights, and where they can
// come from: a curl command line, a file of vegeta's targets, a list of URLs. It
// sends nothing itself.
package target

// Target is one kind of request. URL (but for scheme and host), the values of
// headers, and Body may hold templates such as {{seq}}; see [Parse].
type Target struct {
	Method string // GET when empty
	URL    string
	// Header holds names and values in the order in which they are sent; a
	// name may come twice.
	Header []Field
	Body   string
	// Weight is its part of the requests, in comparison with the other
	// targets; 0 counts as 1.
	Weight int
}

// Field is one line of a header.
type Field struct{ Name, Value string }
