package insight

import (
	"slices"
	"strings"
)

// Whether a statement of SQL only reads, by its text.

var (
	// calledInStatement are what a statement calls, with the word in front.
	calledInStatement = lazily(`(?:([A-Z_]+)\s+)?([A-Z_][A-Z0-9_.]*)\s*\(`)
	// statementWords are words in front of a parenthesis that call nothing.
	statementWords = lazily(`^(SELECT|FROM|WHERE|IN|AND|OR|NOT|AS|ON|USING|BY|HAVING|VALUES|JOIN|UNION|ALL|ANY|SOME|EXISTS|DISTINCT|OVER|FILTER|WHEN|THEN|ELSE|LIKE|BETWEEN|LATERAL|EXCEPT|INTERSECT|LIMIT|OFFSET|WITH|ARRAY|ROW|GROUP|VARCHAR|CHAR|DECIMAL|NUMERIC)$`)
	// readingFunctions are functions of databases that change nothing.
	readingFunctions = lazily(`^(COUNT|SUM|MIN|MAX|AVG|TOTAL|COALESCE|NULLIF|IFNULL|ISNULL|IF|IIF|NVL|CAST|CONVERT|LOWER|UPPER|LENGTH|CHAR_LENGTH|SUBSTR|SUBSTRING|TRIM|LTRIM|RTRIM|REPLACE|CONCAT|CONCAT_WS|LEFT|RIGHT|POSITION|INSTR|FORMAT|PRINTF|HEX|MD5|ROUND|ABS|FLOOR|CEIL|CEILING|MOD|POWER|SQRT|RANDOM|RAND|GREATEST|LEAST|NOW|DATE|TIME|DATETIME|YEAR|MONTH|DAY|HOUR|EXTRACT|AGE|STRFTIME|JULIANDAY|UNIX_TIMESTAMP|FROM_UNIXTIME|(DATE|TIME)_?[A-Z]+|TO_[A-Z]+|CURRENT_[A-Z_]+|(STRING|ARRAY|JSONB?|XML|BOOL)_[A-Z_]+|GROUP_CONCAT|UNNEST|GENERATE_SERIES|ROW_NUMBER|RANK|DENSE_RANK|LAG|LEAD|FIRST_VALUE|LAST_VALUE|NTILE|PERCENTILE_[A-Z]+|STDDEV[A-Z_]*|VARIANCE|ST_[A-Z]+|TS_[A-Z]+|[A-Z]*TSQUERY|TO_TSVECTOR|SIMILARITY|VERSION|TYPEOF)$`)
)

// statementReads tells of a statement that it only reads: it selects what tables have. A function that is selected by itself, or from, may be one of the
// program's own in the database, and do anything.
func statementReads(text string) bool {
	text = strings.ToUpper(strings.TrimSpace(text))
	words := strings.Fields(text)
	if len(words) == 0 || words[0] != "SELECT" && words[0] != "SHOW" {
		return false
	}
	if slices.Contains(words, "UPDATE") || slices.Contains(words, "INTO") || strings.Contains(text, "NEXTVAL") || strings.Contains(text, "SETVAL") {
		return false
	}
	tables := slices.Contains(words, "FROM")
	for _, m := range calledInStatement.FindAllStringSubmatch(text, -1) {
		if name := m[2]; !statementWords.MatchString(name) && !readingFunctions.MatchString(name) && (!tables || m[1] == "FROM" || m[1] == "JOIN") {
			return false
		}
	}
	return true
}
