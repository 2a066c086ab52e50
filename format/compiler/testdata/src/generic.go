//go:build go1.18
// +build go1.18

package sample

func pointer[T any](v T) *T { return &v }

func pointers() (*int, *string) { return pointer(1), pointer("a") }
