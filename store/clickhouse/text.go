package clickhouse

import (
	"strconv"
	"strings"
	"time"

	"loupe/store"
)

// Rows are sent tab-separated, the one format that every version and every stand-in for
// the server reads alike.

// appendText appends a string as TabSeparated has it.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		switch c := s[i]; c {
		case '\t':
			b = append(b, `\t`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\\':
			b = append(b, `\\`...)
		case 0:
			b = append(b, `\0`...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// quote returns a string as a literal of SQL.
func quote(s string) string {
	return string(appendQuoted(nil, s))
}

// appendQuoted appends a string in quotes: a literal, or an element of an array in a row,
// which is not escaped a second time.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '\'')
	for {
		at := strings.IndexByte(s, '\'')
		if at < 0 {
			break
		}
		b = append(appendText(b, s[:at]), `\'`...)
		s = s[at+1:]
	}
	return append(appendText(b, s), '\'')
}

// appendTexts appends an array of strings.
func appendTexts(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuoted(b, s)
	}
	return append(b, ']')
}

// appendNumbers appends an array of numbers.
func appendNumbers[T uint32 | uint64 | int64 | int](b []byte, list []T) []byte {
	b = append(b, '[')
	for i, v := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if v < 0 {
			b = strconv.AppendInt(b, int64(v), 10)
		} else {
			b = strconv.AppendUint(b, uint64(v), 10)
		}
	}
	return append(b, ']')
}

// list returns numbers as they stand in IN (…) and in arrays of SQL.
func list[T uint32 | uint64 | int64 | int](numbers []T) string {
	b := appendNumbers(nil, numbers)
	return string(b[1 : len(b)-1])
}

// uuid returns an ID as ClickHouse's UUID.
func uuid(id store.ID) string { return string(appendUUID(nil, id)) }

func appendUUID(b []byte, id store.ID) []byte {
	const digits = "0123456789abcdef"
	for i, c := range id {
		switch i {
		case 4, 6, 8, 10:
			b = append(b, '-')
		}
		b = append(b, digits[c>>4], digits[c&15])
	}
	return b
}

// parseUUID undoes uuid.
func parseUUID(s string) (id store.ID, ok bool) {
	s = strings.ReplaceAll(s, "-", "")
	if len(s) != 32 {
		return id, false
	}
	for i := range id {
		v, err := strconv.ParseUint(s[2*i:2*i+2], 16, 8)
		if err != nil {
			return id, false
		}
		id[i] = byte(v)
	}
	return id, true
}

// join puts what stands in a list of SQL together.
func join(parts []string) string { return strings.Join(parts, ", ") }

// uuids returns IDs as they stand in IN (…).
func uuids(ids []store.ID) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = "toUUID('" + uuid(id) + "')"
	}
	return join(parts)
}

// dayOf returns the day, in UTC, of a time in ns since 1970. ClickHouse's Date ends in
// 2149, that of 18.16 in 2105: what is later counts for the last day of 2099.
func dayOf(ts int64) string {
	return min(time.Unix(0, ts).UTC().Format(time.DateOnly), "2099-12-31")
}
