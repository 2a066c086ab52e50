package clickhouse

// Hooked returns options with which f is asked before each statement; its error is that
// of the statement.
func Hooked(o Options, f func(statement string) error) Options {
	o.hook = f
	return o
}
