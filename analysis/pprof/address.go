package pprof

import (
	"maps"
	"net/url"
	"slices"
)

// params are the parameters that go tool pprof's pages have for options (urlparam in
// internal/driver/config.go of github.com/google/pprof).
var params = map[string]string{
	"drop_negative": "dropneg", "call_tree": "calltree", "relative_percentages": "rel", "unit": "unit", "compact_labels": "compact",
	"intel_syntax": "intel", "nodecount": "n", "nodefraction": "nf", "edgefraction": "ef", "trim": "trim",
	"focus": "f", "ignore": "i", "prune_from": "prunefrom", "hide": "h", "show": "s", "show_from": "sf",
	"tagfocus": "tf", "tagignore": "ti", "tagshow": "ts", "taghide": "th", "mean": "mean",
	"sample_index": "si", "normalize": "norm", "sort": "sort", "granularity": "g", "noinlines": "noinlines", "showcolumns": "showcolumns",
}

// FromAddress returns a configuration with the options that the query of an address
// names: by the short names of go tool pprof's pages, or by those of its flags. What an
// empty parameter says is as if it were not there, as in those pages. It errs when a
// value does not fit. Where files are read and written is no matter of an address.
func FromAddress(c Config, q url.Values) (Config, error) {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		for _, key := range []string{params[name], name} {
			value := q.Get(key)
			if value == "" {
				continue
			}
			if err := FindField(name).Set(&c, name, value); err != nil {
				return c, err
			}
		}
	}
	return c, nil
}

// ToAddress is the inverse of [FromAddress]: the query, by the names of flags, of the
// options in which c differs from another configuration.
func ToAddress(c, from Config) url.Values {
	q := url.Values{}
	for name := range params {
		f := FindField(name)
		if v := f.Get(&c); v != f.Get(&from) {
			q.Set(name, v)
		}
	}
	return q
}
