// Package report renders analysis values as text, Markdown and JSON for
// people and programs to read. It computes nothing: a figure that is not in
// the value it is given does not appear.
package report
