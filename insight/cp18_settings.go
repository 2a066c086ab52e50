package insight

// Settings are looked up by their keys again and again: a library for configuration searches one of its sources after another each time.

// againSettings is the kind of such look-ups.
const againSettings = "again.settings"

const settingsTitle = "Settings looked up by their keys again and again"

const settingsAdvice = "Read the settings once, at startup, into the fields of a struct, and use those: each look-up takes its key apart, searches one source of settings after another for it, and converts what it finds."

// tellLookUps says of look-ups whether the source has their keys as constants: one that is made of what is worked on may be another each time.
func tellLookUps(h *hit, f *Finding) {
	f.Title = settingsTitle
	for _, line := range h.lines {
		for _, call := range h.in.code.lineCalls(line.Caller) {
			from := callFrom{call: call, in: declaration{h.in.code.function(line.Caller), line.Caller.File}}
			if calledName(call) == ownName(line.Callee) && len(call.Args) > 0 && !constantPattern(h.in.code, call.Args[0], &from, 0) {
				f.Severity, f.saves = Info, false
				f.Doubts = append(f.Doubts, "the source does not show that the key is a constant: where it is made of what is worked on, read all settings of this kind into a map once")
				return
			}
		}
	}
}
