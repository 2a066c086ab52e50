package clickhouse_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"loupe/store"
	"loupe/store/clickhouse"
	"loupe/store/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(writerVariable); job != "" {
		if err := writeCounted(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	clickhousetest.Stop()
	os.Exit(code)
}

// quick are options for tests, which do not write from many sides.
var quick = clickhouse.Options{Every: time.Millisecond, Settle: 2 * time.Second}

// place opens one database.
type place struct {
	address string
	opt     clickhouse.Options
}

func (p place) Open(t *testing.T) store.Engine { return open(t, p.address, p.opt) }

func open(t testing.TB, address string, opt clickhouse.Options) *clickhouse.Engine {
	t.Helper()
	at, err := clickhouse.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	e, err := clickhouse.Open(context.Background(), at, opt)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
