package reporttest

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// CheckOutput returns what is wrong with what a command printed, or a page was
// answered: with its figures where it is JSON, or lines of it, and else with its
// words.
func CheckOutput(out []byte) (wrong []string) {
	text := bytes.TrimSpace(out)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return checkWords("", string(text))
	}
	var c document
	for d := json.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		if err := d.Decode(&v); errors.Is(err, io.EOF) {
			return c.wrong
		} else if err != nil {
			return checkWords("", string(text)) // it only looks like JSON
		}
		c.value("", v)
	}
}

// document collects what is wrong with a tree of values.
type document struct{ wrong []string }

func (c *document) fail(path, format string, args ...any) {
	c.wrong = append(c.wrong, path+": "+fmt.Sprintf(format, args...))
}

func (c *document) value(path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		c.object(path, v)
		for key, inner := range v {
			c.value(path+"."+key, inner)
		}
	case []any:
		for i, inner := range v {
			c.value(path+"["+strconv.Itoa(i)+"]", inner)
		}
	case string:
		c.wrong = append(c.wrong, checkWords(path, v)...)
	}
}

func (c *document) object(path string, o map[string]any) {
	c.figures(path, o)
	c.quantiles(path, o)
	for _, p := range pairs {
		part, ok := o[p[0]].(float64)
		whole, some := o[p[1]].(float64)
		if ok && some && part > whole {
			c.fail(path, "%s is %g, above %s, %g", p[0], part, p[1], whole)
		}
	}
	c.rows(path, o)
	if cells, ok := o["cells"].([]any); ok {
		c.changes(path, o, cells)
	}
	c.impact(path, o)
}

// figures looks at each number alone, by its key.
func (c *document) figures(path string, o map[string]any) {
	for key, v := range o {
		f, ok := v.(float64)
		if !ok {
			continue
		}
		most := math.Inf(1)
		switch {
		case key == "share" || strings.HasSuffix(key, "_share"):
			most = 1
		case key == "percent" || strings.HasSuffix(key, "_percent"):
			most = 100
		case !strings.HasSuffix(key, "_ns") || anyTime(key):
			continue
		}
		if f < 0 || f > most*(1+1e-9) {
			c.fail(path, "%s is %g", key, f)
		}
	}
}

// instants are words of keys whose values may lie before a zero.
var instants = []string{"at", "start", "begin", "end", "from", "to", "opened", "closed", "offset", "first", "last", "time", "t0", "t1", "change", "delta", "diff", "difference", "error"}

func anyTime(key string) bool {
	for w := range strings.SplitSeq(key, "_") {
		if slices.Contains(instants, w) {
			return true
		}
	}
	return false
}

// utilization looks at what shares of the windows have at least: the more windows,
// the less.
func (c *document) utilization(path string, o map[string]any) {
	before := ""
	for _, key := range []string{"mmu", "p99_9", "p99", "p95"} {
		v, number := o[key].(float64)
		if !number {
			continue
		}
		if least, some := o[before].(float64); some && v < least {
			c.fail(path, "%s is %g, below %s, %g", key, v, before, least)
		}
		before = key
	}
}

// quantiles looks at quantiles of one thing.
func (c *document) quantiles(path string, o map[string]any) {
	if _, falls := o["mmu"]; falls {
		c.utilization(path, o)
		return
	}
	type last struct {
		key   string
		value float64
	}
	seen := map[string]last{}
	var numbers, plain []string // names, as they are and in one way
	for _, key := range keysOf(o) {
		if _, number := o[key].(float64); number {
			numbers, plain = append(numbers, key), append(plain, thousandth.Replace(key))
		}
	}
	for _, rank := range ranks {
		for i, key := range numbers {
			thing, ok := without(plain[i], rank)
			v, _ := o[key].(float64)
			if !ok {
				continue
			}
			if before, some := seen[thing]; some && v < before.value {
				c.fail(path, "%s is %g, below %s, %g", key, v, before.key, before.value)
			}
			seen[thing] = last{key, v}
		}
	}
}

func keysOf(o map[string]any) (keys []string) {
	for key := range o {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// rows looks at a table of the pages, whose rows are lists.
func (c *document) rows(path string, o map[string]any) {
	columns, _ := o["columns"].([]any)
	values, ok := o["values"].([]any)
	if !ok || len(columns) == 0 {
		return
	}
	for n, row := range values {
		cells, ok := row.([]any)
		if !ok || len(cells) != len(columns) {
			c.fail(path, "row %d has not a cell for each of %d columns", n, len(columns))
			continue
		}
		named := map[string]any{}
		for i, column := range columns {
			if k, ok := column.(map[string]any); ok {
				named[fmt.Sprint(k["key"])] = cells[i]
			}
		}
		c.object(fmt.Sprintf("%s.values[%d]", path, n), named)
	}
}

// same is how far apart two figures may lie that are the same for a comparison.
const same = 0.0101

// changes looks at a row of a comparison: the change must go the way of the medians
// beside it, unless it is that of pairs, lie within its interval, and have the verdict of
// its direction.
func (c *document) changes(path string, o map[string]any, cells []any) {
	changes, _ := o["changes"].([]any)
	medians := make([]float64, len(cells))
	for i, cell := range cells {
		medians[i] = math.NaN()
		if m, ok := cell.(map[string]any); ok {
			if v, ok := m["median"].(float64); ok {
				medians[i] = v
			}
		}
	}
	for i, one := range changes {
		ch, ok := one.(map[string]any)
		ratio, known := ch["ratio"].(float64)
		if !ok || !known || i+1 >= len(medians) {
			continue
		}
		if real := medians[i+1] / medians[0]; ch["method"] != "pairs" && (real-1)*(ratio-1) < 0 && (math.Abs(real-1) > same || math.Abs(ratio-1) > same) {
			c.fail(path, "the change is %g, and that of the medians %g", ratio, real)
		}
		low, ok1 := ch["low"].(float64)
		high, ok2 := ch["high"].(float64)
		if ok1 && ok2 && (ratio < low || ratio > high) {
			c.fail(path, "%g does not lie from %g to %g", ratio, low, high)
		}
		up := map[any]bool{"higher": true, "lower": false}
		if rises, ok := up[o["better"]]; ok && (ch["verdict"] == "better" || ch["verdict"] == "worse") && ratio != 1 {
			if rises == (ch["verdict"] == "better") != (ratio > 1) {
				c.fail(path, "a change of %g is called %v, and %v is better", ratio, ch["verdict"], o["better"])
			}
		}
	}
}

// impact looks at what a finding is worth.
func (c *document) impact(path string, o map[string]any) {
	value, ok := o["value"].(float64)
	low, ok1 := o["low"].(float64)
	high, ok2 := o["high"].(float64)
	name, ok3 := o["unit"].(string)
	if !ok || !ok1 || !ok2 || !ok3 {
		return
	}
	if (low != 0 || high != 0) && (value < low || value > high) {
		c.fail(path, "%g does not lie from %g to %g", value, low, high)
	}
	if strings.HasPrefix(name, "share") && (value < 0 || value > 1) {
		c.fail(path, "%g is a %s", value, name)
	}
}

// unmeasured is what durations and figures are that nobody has measured.
var unmeasured = []string{" NaN", "(NaN", "NaN%", "2562047h", "292 years"}

// thousandth writes names of the 99.9th percentile in one way.
var thousandth = strings.NewReplacer("p99.9", "p999", "p99_9", "p999")

var (
	partOfAll = regexp.MustCompile(`([0-9][0-9.,]*) of (?:the )?([0-9][0-9.,]*) (?:Ps|CPUs|cores)\b`)
	// mostOf is a share of what nothing has more than all of.
	mostOf = regexp.MustCompile(`([0-9][0-9.,]*)\s?% of (?:(?:the|that|its|all) (?:time|Ps|bytes|requests|goroutines|samples|objects|events)|all\b)`)
)

// checkWords looks at figures in sentences.
func checkWords(path, text string) (wrong []string) {
	fail := func(what string) { wrong = append(wrong, path+": "+what) }
	parts := strings.Contains(text, " of ")
	for _, m := range found(mostOf, text, parts && strings.Contains(text, "%")) {
		if f, ok := figure(m[1]); ok && f > 100 {
			fail(m[0])
		}
	}
	for _, m := range found(partOfAll, text, parts) {
		part, ok := figure(m[1])
		if whole, also := figure(m[2]); ok && also && part > whole*1.005 {
			fail(m[0])
		}
	}
	if number := endless(text); number != "" {
		fail(number)
	}
	return wrong
}

// endless returns a number in a text that nobody has measured: what is left of a division
// by zero, or has more digits than a ratio may. It does not look into packed data, which an
// HTML report holds for its page, nor into fingerprints, nor at a text of digits alone, one
// for each of many things.
func endless(text string) string {
	for _, word := range unmeasured {
		if strings.Contains(text, word) {
			return word
		}
	}
	const digits, packed = 25, 200
	whole := text
	for len(text) >= digits {
		n := strings.IndexFunc(text, func(r rune) bool { return !inWord(r) })
		if n < 0 {
			n = len(text)
		}
		if word := text[:n]; n >= digits && (n < packed || isNumber(word)) && !isFingerprint(word) {
			if run := longRun(word, digits); run != "" && !isNumber(whole) {
				return run
			}
		}
		text = text[min(len(text), n+1):]
	}
	return ""
}

// longRun is the first run of at least n digits in a word.
func longRun(word string, n int) string {
	from := 0
	for i := 0; i <= len(word); i++ {
		if i < len(word) && '0' <= word[i] && word[i] <= '9' {
			continue
		}
		if i-from >= n {
			return word[from:i]
		}
		from = i + 1
	}
	return ""
}

func inWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '+' || r == '/' || r == '='
}

// isFingerprint tells of the hexadecimal digits of MD5, SHA-1 and SHA-256 by their number:
// one in ten thousand of them has a long run of decimal ones.
func isFingerprint(word string) bool {
	sum, err := hex.DecodeString(word)
	return err == nil && !isNumber(word) && slices.Contains([]int{md5.Size, sha1.Size, sha256.Size}, len(sum))
}

func isNumber(text string) bool { return strings.Trim(text, "0123456789") == "" }

// found are the matches in a text that may have some.
func found(expr *regexp.Regexp, text string, may bool) [][]string {
	if !may {
		return nil
	}
	return expr.FindAllStringSubmatch(text, -1)
}

func figure(text string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimRight(text, ".,"), ",", ""), 64)
	return f, err == nil
}
