package fleet_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"loupe/format/connect"
	wire "loupe/format/push"
	"loupe/store/block"
	"loupe/store/intake"
	"loupe/store/storetest/corpus"
	"loupe/web/fleet"
)

// BenchmarkServer is what a server does for a pushed profile, from the request to the log, and for a
// flame graph of all that was pushed: 200 profiles of four services, drawn from the stacks of this
// repository. There is no network, and the disk is that of TMPDIR.
//
// On a machine with other work instructions say more than times:
//
//	go test -c ./web/fleet
//	valgrind --tool=cachegrind --cache-sim=no ./fleet.test -test.run '^$' -test.bench Server/push -test.benchtime 100x
func BenchmarkServer(b *testing.B) {
	files, err := filepath.Glob("../../analysis/compare/testdata/regexp/*.pb.gz")
	if err != nil || len(files) == 0 {
		b.Fatal(files, err)
	}
	from, err := corpus.Base(strings.Join(files, ","))
	if err != nil {
		b.Fatal(err)
	}
	var bodies [][]byte
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		var p bytes.Buffer
		if err := corpus.NewService(from, uint64(i%4), 2.9).Draw(r, 1990, noon.Add(time.Duration(i)*time.Second)).Encode(&p); err != nil {
			b.Fatal(err)
		}
		_, message := wire.Message(wire.Item{Profile: p.Bytes(), Labels: []wire.Label{{Name: "__name__", Value: "process_cpu"},
			{Name: "service_name", Value: fmt.Sprint("service-", i%4)}, {Name: "pod", Value: fmt.Sprint("pod-", i%20)}}})
		bodies = append(bodies, connect.Marshal(connect.Proto, message))
	}
	engine, err := block.Open(b.TempDir(), block.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer engine.Close()
	handler := fleet.New(engine, intake.New(engine), fleet.Options{Now: func() time.Time { return noon.Add(time.Hour) }})
	ask := func(b *testing.B, path, kind string, body []byte) {
		q := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:4040"+path, bytes.NewReader(body))
		q.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, q); w.Code != http.StatusOK {
			b.Fatal(w.Code, w.Body)
		}
	}
	next := 0
	one := func(b *testing.B) {
		ask(b, "/push.v1.PusherService/Push", "application/proto", bodies[next%len(bodies)])
		next++
	}
	for range bodies {
		one(b)
	}
	b.Run("push", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			one(b)
		}
	})
	b.Run("flame", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ask(b, "/querier.v1.QuerierService/SelectMergeStacktraces", "application/json", []byte(asked(`,"maxNodes":"8192"`)))
		}
	})
}
