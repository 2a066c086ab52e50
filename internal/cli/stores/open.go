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

// Open opens the store that -store names: a folder, or a database of ClickHouse.
// shown is its name without secrets.
func Open(ctx context.Context, name string) (engine store.Engine, shown string, err error) {
	return open(ctx, "-store", name)
}

// open opens the store that a flag names.
func open(ctx context.Context, flag, name string) (engine store.Engine, shown string, err error) {
	if !strings.Contains(name, "://") {
		e, err := block.Open(name, block.Options{})
		if err != nil {
			return nil, "", err
		}
		return e, name, nil
	}
	at, err := database(flag, name)
	if err != nil {
		return nil, "", err
	}
	e, err := clickhouse.Open(ctx, at, clickhouse.Options{})
	if err != nil {
		return nil, "", unreachable(err)
	}
	return e, at.String(), nil
}

// database reads the address of a database, with the login of the environment: what stands in
// the command line, everybody on the machine can read.
func database(flag, name string) (clickhouse.Address, error) {
	if scheme, _, _ := strings.Cut(name, "://"); scheme != "clickhouse" && scheme != "clickhouses" {
		return clickhouse.Address{}, command.Usagef("%s: there are no stores of %s:// (want %s, or a folder)", flag, scheme, storeFlag)
	}
	at, err := clickhouse.ParseAddress(name)
	if err != nil {
		return clickhouse.Address{}, command.Usagef("%s: %w", flag, err)
	}
	return at.Login(os.Getenv("CLICKHOUSE_USER"), os.Getenv("CLICKHOUSE_PASSWORD")), nil
}

// databaseExists tells whether a database has a store of loupe.
func databaseExists(ctx context.Context, name string) (bool, error) {
	at, err := database("-copy", name)
	if err != nil {
		return false, err
	}
	there, err := clickhouse.Exists(ctx, at)
	return there, unreachable(err)
}

// unreachable gives a server that does not answer the exit code for it.
func unreachable(err error) error {
	if errors.Is(err, clickhouse.ErrUnreachable) {
		return command.Nothing(err)
	}
	return err
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
