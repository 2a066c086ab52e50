package clickhouse

import (
	"context"
	"fmt"
	"strings"
)

// table is one table of the schema. docs/formats/clickhouse.md says what is in them.
type table struct {
	name      string
	columns   []column
	engine    string
	partition string
	order     string
	settings  string
	shard     string // what the shards are told apart by; "" is a table of each server alone
}

type column struct {
	name, kind string
	rest       string // DEFAULT
	codec      string // where the version has codecs
}

const (
	small  = "Delta, ZSTD(3)"
	plain3 = "ZSTD(3)"
)

// schema is what loupe makes, in every version: 18.16 has neither codecs nor TTL.
var schema = []table{
	{
		name: "profiles", engine: "ReplacingMergeTree", partition: "day", order: "service, kind, series, ts, id",
		settings: "index_granularity = 128", shard: "series",
		columns: []column{
			{"day", "Date", "", ""}, {"service", "String", "", plain3}, {"kind", "UInt64", "", plain3}, {"series", "UInt64", "", plain3},
			{"ts", "Int64", "", small}, {"id", "UUID", "", ""}, {"space", "UInt64", "", plain3},
			{"gen", "UInt64", "", plain3}, {"res", "UInt32", "", plain3}, {"unit", "UInt64", "", plain3},
			{"span", "Int64", "", "T64, ZSTD(3)"}, {"count", "UInt64", "", "T64, ZSTD(3)"}, {"weight", "Int64", "", "T64, ZSTD(3)"},
			{"samples", "UInt64", "", "T64, ZSTD(3)"}, {"total", "Int64", "", "T64, ZSTD(3)"},
			{"stacks", "Array(UInt32)", "", "Delta, ZSTD(3)"}, {"vals", "Array(Int64)", "", "T64, ZSTD(3)"}, {"sets", "Array(UInt32)", "", plain3},
		},
	},
	{
		name: "locations", engine: "ReplacingMergeTree", partition: "born", order: "space, id", settings: "index_granularity = 1024", shard: "space",
		columns: []column{{"born", "Date", "", ""}, {"space", "UInt64", "", plain3}, {"id", "UInt32", "", small},
			{"functions", "Array(String)", "", plain3}, {"files", "Array(String)", "", plain3},
			{"starts", "Array(Int64)", "", "T64, ZSTD(3)"}, {"lines", "Array(Int64)", "", "T64, ZSTD(3)"}},
	},
	{
		name: "stacks", engine: "ReplacingMergeTree", partition: "born", order: "space, id", settings: "index_granularity = 1024", shard: "space",
		columns: []column{{"born", "Date", "", ""}, {"space", "UInt64", "", plain3}, {"id", "UInt32", "", small}, {"path", "Array(UInt32)", "", plain3}},
	},
	{
		name: "sets", engine: "ReplacingMergeTree", partition: "born", order: "space, id", settings: "index_granularity = 1024", shard: "space",
		columns: []column{{"born", "Date", "", ""}, {"space", "UInt64", "", plain3}, {"id", "UInt32", "", small}, {"labels", "String", "", plain3}},
	},
	{
		name: "names", engine: "ReplacingMergeTree", order: "hash", settings: "index_granularity = 128", shard: "hash",
		columns: []column{{"hash", "UInt64", "", ""}, {"labels", "String", "", plain3}},
	},
	{
		name: "kinds", engine: "ReplacingMergeTree", order: "hash", settings: "index_granularity = 128", shard: "hash",
		columns: []column{{"hash", "UInt64", "", ""}, {"types", "String", "", ""}},
	},
	{
		name: "seen", engine: "MergeTree", partition: "received", order: "id", settings: "index_granularity = 256", shard: "cityHash64(toString(id))",
		columns: []column{{"received", "Date", "DEFAULT toDate(now())", ""}, {"id", "UUID", "", ""}, {"token", "UInt64", "", plain3},
			{"state", "UInt8", "", plain3}, {"at", "DateTime", "DEFAULT now()", plain3}, {"day", "Date", "", plain3}, {"ts", "Int64", "", plain3}},
	},
	{
		name: "state", engine: "ReplacingMergeTree(version)", order: "name", settings: "index_granularity = 128", shard: "cityHash64(name)",
		columns: []column{{"name", "String", "", ""}, {"value", "String", "", ""}, {"version", "UInt64", "", ""}},
	},
	{
		name: "dead", engine: "MergeTree", partition: "gen", order: "id", settings: "index_granularity = 1024",
		columns: []column{{"gen", "UInt64", "", plain3}, {"id", "UUID", "", ""}},
	},
}

// create returns the statement that makes a table where it is not there.
func (t *table) create(c *client) string {
	var columns []string
	for _, one := range t.columns {
		s := one.name + " " + one.kind + " " + one.rest
		if c.modern && one.codec != "" {
			s += " CODEC(" + one.codec + ")"
		}
		columns = append(columns, s)
	}
	settings := t.settings
	if c.modern {
		// An insert is acknowledged when it is on the disk, not only with the system.
		settings += ", fsync_after_insert = 1, fsync_part_directory = 1"
	}
	partition := ""
	if t.partition != "" {
		partition = " PARTITION BY " + t.partition
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE = %s%s ORDER BY (%s) SETTINGS %s",
		c.local(t.name), strings.Join(columns, ", "), t.engine, partition, t.order, settings)
}

// spread returns the statement that makes the table over all shards.
func (t *table) spread(c *client) string {
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s AS %s ENGINE = Distributed(%s, %s, %s, %s)",
		c.all(t.name), c.local(t.name), c.at.Cluster, c.at.Database, t.name, t.shard)
}

// prepare makes the database and its tables on every host.
func (c *client) prepare(ctx context.Context) error {
	for _, host := range c.at.Hosts {
		major := uint64(0)
		err := c.askHost(ctx, host, "SELECT toUInt64(splitByChar('.', version())[1])", func(r *rows) error {
			major = r.uint64()
			return r.err
		})
		if err != nil {
			return err
		}
		c.modern = major >= 21
		if err := c.tell(ctx, host, "CREATE DATABASE IF NOT EXISTS "+c.at.Database); err != nil {
			return err
		}
		for i := range schema {
			if err := c.tell(ctx, host, schema[i].create(c)); err != nil {
				return fmt.Errorf("cannot make the table %s: %w", c.local(schema[i].name), err)
			}
		}
		if c.at.Cluster == "" {
			continue
		}
		if err := c.shards(ctx, host); err != nil {
			return err
		}
		for i := range schema {
			if schema[i].shard == "" {
				continue
			}
			if err := c.tell(ctx, host, schema[i].spread(c)); err != nil {
				return fmt.Errorf("cannot make the table %s: %w", c.all(schema[i].name), err)
			}
		}
	}
	return nil
}

// shards holds the hosts to the cluster: what is thinned out and dropped is asked of
// each shard, so that one that is not named would grow for ever.
func (c *client) shards(ctx context.Context, host string) error {
	shards, replicas := uint64(0), uint64(0)
	err := c.askHost(ctx, host, "SELECT uniqExact(shard_num), count() FROM system.clusters WHERE cluster = "+quote(c.at.Cluster), func(r *rows) error {
		shards, replicas = r.uint64(), r.uint64()
		return r.err
	})
	switch {
	case err != nil:
		return err
	case shards == 0:
		return fmt.Errorf("ClickHouse at %s knows no cluster %s (its configuration names clusters under remote_servers)", host, c.at.Cluster)
	case int(shards) != len(c.at.Hosts):
		return fmt.Errorf("the cluster %s has %d shards, and -store names %d hosts: name one of each shard", c.at.Cluster, shards, len(c.at.Hosts))
	case replicas != shards:
		return fmt.Errorf("the cluster %s has replicas, which the tables of loupe do not: name a cluster with one replica for each shard", c.at.Cluster)
	}
	return nil
}
