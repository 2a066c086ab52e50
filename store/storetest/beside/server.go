//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"loupe/format/connect"
	"loupe/format/push"
)

// typeID names the type that is asked for, in the words of Pyroscope.
const typeID = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"

// server is a store of profiles that is measured: how it is started, and how its own
// clients speak to it.
type server interface {
	name() string
	// start starts it with its data below a folder.
	start(dir string) (*process, error)
	// kept is the part of the folder that profiles are in.
	kept(dir string) string
	push(ctx context.Context, p *pushed) error
	// ask asks a question, and returns the total that the answer has, where it has one.
	ask(ctx context.Context, q question) (total int64, err error)
}

// question is one of those that all servers answer.
type question struct {
	name     string
	kind     string // flame, series, diff, values
	selector string // of a flame graph
	want     int64  // the total; 0 where the answer has none
	from, to time.Time
}

// client keeps connections open, as many as there are pods.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}, Timeout: 2 * time.Minute}

// http2 speaks gRPC without TLS.
var http2 = func() *http.Client {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: p}, Timeout: 2 * time.Minute}
}()

// post sends a body and returns that of the answer, which must be 200.
func post(ctx context.Context, c *http.Client, method, address, contentType string, body []byte) ([]byte, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if contentType == "application/grpc" {
		r.Header.Set("TE", "trailers")
	}
	resp, err := c.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %.300s", method, address, resp.Status, b)
	}
	head := resp.Header
	for k, v := range resp.Trailer {
		head[k] = v
	}
	return b, head, err
}

// pyroscopes speak push.v1 and querier.v1: Pyroscope and loupe.
type pyroscopes struct{ address string }

func (s *pyroscopes) push(ctx context.Context, p *pushed) error {
	item := push.Item{Labels: p.labels, Profile: p.data}
	path, message := push.Message(item)
	_, _, err := post(ctx, client, "POST", s.address+path, "application/proto", connect.Marshal(connect.Proto, message))
	return err
}

func (s *pyroscopes) ask(ctx context.Context, q question) (int64, error) {
	merge := func(selector string) map[string]any {
		return map[string]any{"profileTypeID": typeID, "labelSelector": selector, "start": q.from.UnixMilli(), "end": q.to.UnixMilli(), "maxNodes": 8192}
	}
	method, request := "", map[string]any{}
	switch q.kind {
	case "flame":
		method, request = "SelectMergeStacktraces", merge(q.selector)
	case "series":
		method, request = "SelectSeries", merge("{}")
		delete(request, "maxNodes")
		request["step"], request["groupBy"] = 300, []string{"pod"}
	case "diff":
		method, request = "Diff", map[string]any{"left": merge(`{version="v0"}`), "right": merge(`{version="v1"}`)}
	case "values":
		method, request = "LabelValues", map[string]any{"name": "pod", "start": q.from.UnixMilli(), "end": q.to.UnixMilli()}
	}
	body, err := json.Marshal(request)
	if err != nil {
		return 0, err
	}
	b, _, err := post(ctx, client, "POST", s.address+"/querier.v1.QuerierService/"+method, "application/json", body)
	if err != nil || q.kind != "flame" {
		return 0, err
	}
	var answer struct {
		FlameGraph struct {
			Total json.Number `json:"total"`
		} `json:"flamegraph"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return 0, err
	}
	return answer.FlameGraph.Total.Int64()
}

// loupe is this repository's.
type loupe struct {
	pyroscopes
	binary string
	nice   int
}

func (s *loupe) name() string           { return "loupe" }
func (s *loupe) kept(dir string) string { return dir }

func (s *loupe) start(dir string) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s.address = fmt.Sprintf("http://127.0.0.1:%d", port)
	return start(s.nice, s.binary, "serve", "-listen", fmt.Sprintf("127.0.0.1:%d", port), "-data", dir)
}

// pyroscope is Pyroscope 2, as one process with its files on a disk.
type pyroscope struct {
	pyroscopes
	binary string
	nice   int
}

func (s *pyroscope) name() string           { return "Pyroscope" }
func (s *pyroscope) kept(dir string) string { return filepath.Join(dir, "shared") }

func (s *pyroscope) start(dir string) (*process, error) {
	var ports [3]int
	for i := range ports {
		var err error
		if ports[i], err = freePort(); err != nil {
			return nil, err
		}
	}
	at := func(i int) string { return fmt.Sprintf("127.0.0.1:%d", ports[i]) }
	s.address = "http://" + at(0)
	in := func(name string) string { return filepath.Join(dir, name) }
	return start(s.nice, s.binary, "-target=all", "-architecture.storage=v2", "-write-path=segment-writer",
		"-server.http-listen-address=127.0.0.1", "-server.http-listen-port="+strconv.Itoa(ports[0]),
		"-server.grpc-listen-address=127.0.0.1", "-server.grpc-listen-port="+strconv.Itoa(ports[1]),
		"-memberlist.bind-addr=127.0.0.1", "-memberlist.bind-port=0", "-memberlist.advertise-addr=127.0.0.1",
		"-ring.store=inmemory", "-segment-writer.store=inmemory", "-distributor.ring.store=inmemory", "-overrides-exporter.ring.store=inmemory",
		"-segment-writer.lifecycler.addr=127.0.0.1", "-distributor.ring.instance-addr=127.0.0.1", "-query-frontend.instance-addr=127.0.0.1",
		"-storage.backend=filesystem", "-storage.filesystem.dir="+in("shared"),
		"-metastore.data-dir="+in("metastore"), "-metastore.raft.dir="+in("raft"), "-metastore.raft.snapshots-dir="+in("snapshots"),
		"-metastore.address="+at(1), "-query-backend.address="+at(1),
		"-metastore.raft.bind-address="+at(2), "-metastore.raft.advertise-address="+at(2),
		"-self-profiling.disable-push=true", "-usage-stats.enabled=false", "-validation.reject-older-than=0",
		"-distributor.ingestion-rate-limit-mb=1000", "-distributor.ingestion-burst-size-mb=1000")
}

// parca is Parca with its database on the disk.
type parca struct {
	binary  string
	address string
	nice    int
}

func (s *parca) name() string           { return "Parca" }
func (s *parca) kept(dir string) string { return dir }

func (s *parca) start(dir string) (*process, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "parca.yaml")
	text := fmt.Sprintf("object_storage:\n  bucket:\n    type: FILESYSTEM\n    config:\n      directory: %q\n", filepath.Join(dir, "bucket"))
	if err := writeFile(config, text); err != nil {
		return nil, err
	}
	s.address = fmt.Sprintf("http://127.0.0.1:%d", port)
	return start(s.nice, s.binary, "--config-path="+config, fmt.Sprintf("--http-address=127.0.0.1:%d", port),
		"--enable-persistence", "--storage-enable-wal", "--storage-path="+filepath.Join(dir, "data"))
}

// The request of profilestore.v1alpha1.
type (
	writeRaw struct {
		Series []rawSeries `pb:"2,series"`
	}
	rawSeries struct {
		Labels  rawLabels   `pb:"1,labels"`
		Samples []rawSample `pb:"2,samples"`
	}
	rawLabels struct {
		Labels []push.Label `pb:"1,labels"`
	}
	rawSample struct {
		Profile []byte `pb:"1,raw_profile"`
	}
)

func (s *parca) push(ctx context.Context, p *pushed) error {
	message := &writeRaw{Series: []rawSeries{{Labels: rawLabels{p.labels}, Samples: []rawSample{{p.data}}}}}
	body := connect.Frame(connect.Marshal(connect.Proto, message))
	_, head, err := post(ctx, http2, "POST", s.address+"/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw", "application/grpc", body)
	if err == nil && head.Get("Grpc-Status") != "0" {
		err = fmt.Errorf("gRPC status %s: %s", head.Get("Grpc-Status"), head.Get("Grpc-Message"))
	}
	return err
}

func (s *parca) ask(ctx context.Context, q question) (int64, error) {
	values := url.Values{}
	path := "query"
	start, end := q.from.UTC().Format(time.RFC3339Nano), q.to.UTC().Format(time.RFC3339Nano)
	query := func(selector string) string { return typeID + ":delta" + selector }
	switch q.kind {
	case "flame":
		values = url.Values{"mode": {"MODE_MERGE"}, "merge.query": {query(q.selector)}, "merge.start": {start}, "merge.end": {end}, "report_type": {"REPORT_TYPE_FLAMEGRAPH_ARROW"}}
	case "diff":
		values.Set("mode", "MODE_DIFF")
		values.Set("report_type", "REPORT_TYPE_FLAMEGRAPH_ARROW")
		for side, version := range map[string]string{"a": "v0", "b": "v1"} {
			values.Set("diff."+side+".mode", "MODE_MERGE")
			values.Set("diff."+side+".merge.query", query(`{version="`+version+`"}`))
			values.Set("diff."+side+".merge.start", start)
			values.Set("diff."+side+".merge.end", end)
		}
	case "series":
		path = "query_range"
		values = url.Values{"query": {query("{}")}, "sum_by": {"pod"}, "start": {start}, "end": {end}, "step": {"300s"}}
	case "values":
		path = "labels/pod/values"
		values = url.Values{"start": {start}, "end": {end}}
	}
	b, _, err := post(ctx, client, "GET", s.address+"/api/profiles/"+path+"?"+values.Encode(), "", nil)
	if err != nil || q.kind != "flame" {
		return 0, err
	}
	var answer struct {
		Total json.Number `json:"total"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return 0, err
	}
	return answer.Total.Int64()
}
