package inject

import (
	loupe_bytes "bytes"
	loupe_expvar "expvar"
	loupe_strconv "strconv"
	loupe_time "time"
)

// This file is part of programs alone that import expvar themselves.
func init() { loupeVars = loupeReadVars }

// loupeMostVars bounds a sample, in bytes: what does not fit is left out.
const loupeMostVars = 256 << 10

// loupeReadVars appends the variables that the program publishes, as an object without
// its end. Those of expvar itself are left out: memstats stops the program, and runtime/metrics
// has the same; so are texts, of which no lane can be made.
//
// What a variable calls is the program's own code, and may wait for a lock, so that expvar's
// lock is not held meanwhile; one that panics is left out, as a server of HTTP would see to.
func loupeReadVars(line []byte) []byte {
	var all []loupe_expvar.KeyValue
	loupe_expvar.Do(func(v loupe_expvar.KeyValue) { all = append(all, v) })
	line = append(line, `{"t_ns":`...)
	line = loupe_strconv.AppendInt(line, loupe_time.Now().UnixNano(), 10)
	line = append(line, `,"vars":{`...)
	comma := false
	for _, v := range all {
		if _, text := v.Value.(*loupe_expvar.String); text || v.Key == "cmdline" || v.Key == "memstats" || v.Value == nil {
			continue
		}
		key := loupe_strconv.Quote(v.Key)
		value := loupeVarText(v.Value)
		if value == "" || key != `"`+v.Key+`"` || len(line)+len(v.Key)+len(value) > loupeMostVars {
			continue
		}
		if comma {
			line = append(line, ',')
		}
		comma = true
		line = append(line, key...)
		line = append(line, ':')
		line = append(line, loupe_bytes.Replace([]byte(value), []byte("\n"), []byte(" "), -1)...)
	}
	return append(line, '}')
}

// loupeVarText is a variable as JSON; nothing when it panics.
func loupeVarText(v loupe_expvar.Var) (text string) {
	defer func() {
		if recover() != nil {
			text = ""
		}
	}()
	return v.String()
}
