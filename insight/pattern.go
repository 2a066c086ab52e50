package insight

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first asked: there are hundreds, and most commands ask none of them.
type pattern struct {
	text string
	once sync.Once
	re   *regexp.Regexp
}

// patterns are all there are, for the test that compiles them.
var patterns []*pattern

// lazily makes a pattern of the package. It panics when it is first asked if the text is none.
func lazily(text string) *pattern {
	p := &pattern{text: text}
	patterns = append(patterns, p)
	return p
}

func (p *pattern) compiled() *regexp.Regexp {
	p.once.Do(func() { p.re = regexp.MustCompile(p.text) })
	return p.re
}

func (p *pattern) MatchString(s string) bool            { return p.compiled().MatchString(s) }
func (p *pattern) FindString(s string) string           { return p.compiled().FindString(s) }
func (p *pattern) FindStringIndex(s string) []int       { return p.compiled().FindStringIndex(s) }
func (p *pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }
func (p *pattern) FindAllString(s string, n int) []string {
	return p.compiled().FindAllString(s, n)
}
func (p *pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}
func (p *pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}
func (p *pattern) FindAllStringIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringIndex(s, n)
}
func (p *pattern) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return p.compiled().FindAllStringSubmatchIndex(s, n)
}
func (p *pattern) ReplaceAllString(s, with string) string {
	return p.compiled().ReplaceAllString(s, with)
}
func (p *pattern) ReplaceAllStringFunc(s string, f func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, f)
}
func (p *pattern) Split(s string, n int) []string { return p.compiled().Split(s, n) }
func (p *pattern) Match(b []byte) bool            { return p.compiled().Match(b) }
