// Package system is what the operating system does for whoever reads large files
// and measures processes: mapping a file, and the memory that a process needed.
// It is the one place for the differences between systems in both; it starts no
// process and parses nothing.
package system
