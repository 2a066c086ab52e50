package main

// parts are functions of which each has a sixteenth of the time: none is hot. They are
// written out because one that is copied into the others would have it all.
var parts = []func(){
	func() {
		for i := range 80_000 {
			counted = counted*3 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*5 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*7 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*9 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*11 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*13 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*15 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*17 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*19 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*21 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*23 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*25 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*27 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*29 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*31 + i
		}
	},
	func() {
		for i := range 80_000 {
			counted = counted*33 + i
		}
	},
}
