// Package core reads the core files of Linux: what was in the memory and in the
// registers of a process at one moment.
package core
