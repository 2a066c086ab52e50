// Package bench has benchmarks that rules must find something in, with a clean twin each:
// Slow/BM01 and Fixed/BM01. Recordings of them are kept in labs/rules/testdata.
package bench
