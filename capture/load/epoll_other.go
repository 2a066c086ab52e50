//go:build !linux || loupe_portable

package load

import "errors"

// haveEpoll tells that plain HTTP/1.1 can be sent by an event loop. Everything
// that one does the blocking engine does too; the tag loupe_portable leaves the
// loop out, so that tests can show it.
const haveEpoll = false

func newEpoll(*run) (engine, error) {
	return nil, errors.New("BUG: there is no epoll on this system")
}
