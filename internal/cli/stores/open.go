package stores

import (
	"context"
	"errors"
	"os"
	"strings"

	"loupe/internal/cli/command"
	"loupe/store"
	"loupe/store/block"
	"loupe/store/clickhouse"
)

// storeFlag is what -store may be besides a folder.
const storeFlag = "clickhouse://host:8123/database"

// Open opens the store that a flag names: a folder, or a database of ClickHouse.
// shown is its name without secrets.
func Open(ctx context.Context, name string) (engine store.Engine, shown string, err error) {
	scheme, _, ok := strings.Cut(name, "://")
	if !ok {
		e, err := block.Open(name, block.Options{})
		if err != nil {
			return nil, "", err
		}
		return e, name, nil
	}
	if scheme != "clickhouse" && scheme != "clickhouses" {
		return nil, "", command.Usagef("-store: there are no stores of %s:// (want %s, or a folder)", scheme, storeFlag)
	}
	at, err := clickhouse.ParseAddress(name)
	if err != nil {
		return nil, "", command.Usagef("-store: %w", err)
	}
	// What stands in the command line, everybody on the machine can read.
	at = at.Login(os.Getenv("CLICKHOUSE_USER"), os.Getenv("CLICKHOUSE_PASSWORD"))
	e, err := clickhouse.Open(ctx, at, clickhouse.Options{})
	if errors.Is(err, clickhouse.ErrUnreachable) {
		return nil, "", command.Nothing(err)
	}
	if err != nil {
		return nil, "", err
	}
	return e, at.String(), nil
}

// damaged is an engine that finds files of its own damaged.
type damaged interface{ Damage() []string }

// DamageOf returns what an engine has found damaged.
func DamageOf(e store.Engine) []string {
	if d, ok := e.(damaged); ok {
		return d.Damage()
	}
	return nil
}
