package clickhouse_test

import (
	"testing"

	"loupe/store/clickhouse/clickhousetest"
	"loupe/store/storetest"
)

// TestShards holds the engine on two shards of Debian's clickhouse-server 18.16 to the
// suite.
func TestShards(t *testing.T) {
	_, address := clickhousetest.Shards(t, "loupe:only%20for%20tests@")
	storetest.RunSome(t, 8, func(t *testing.T) storetest.Opener { return place{address(clickhousetest.Name(t)), quick} })
}

// TestCurrent does so on the engine of a current ClickHouse, which takes five to ten ms for
// any statement.
func TestCurrent(t *testing.T) {
	address := clickhousetest.Current(t)
	storetest.RunSome(t, 16, func(t *testing.T) storetest.Opener { return place{address(clickhousetest.Name(t)), quick} })
}
