package account

import "loupe/value/stack"

// Who lets a lock go for which another goroutine has waited for long hands its P over to that one (the handoff of sync.Mutex), and waits for a
// P inside of Unlock. The lock is no longer its own then: what it does, or waits for, holds up nobody who wants the lock.

// unlockers are the functions that let a lock go.
var unlockers = []string{"sync.(*Mutex).Unlock", "sync.(*Mutex).unlockSlow", "internal/sync.(*Mutex).Unlock", "internal/sync.(*Mutex).unlockSlow",
	"sync.(*RWMutex).Unlock", "sync.(*RWMutex).RUnlock", "sync.(*RWMutex).rUnlockSlow"}

// letsGo tells of a stack that it is inside of a function that lets a lock go.
func letsGo(w *words, id stack.ID) bool { return id != 0 && w.view(id).has(unlockers...) }

// afterLock is the line that stands for one at which a goroutine is, at a stack, when it has let a lock go there. Under another lock, which another
// function takes, it may be all the same.
func afterLock(w *words, s siteID, id stack.ID) siteID {
	to, ok := w.lets[s]
	if !ok {
		to = siteID(len(w.sites))
		at := w.sites[s]
		at.Stack = id
		w.sites, w.users = append(w.sites, at), append(w.users, w.users[s])
		w.lets[s], w.past[to] = to, w.locker(id)
	}
	return to
}
