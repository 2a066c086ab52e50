package load

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"loupe/capture/load"
	"loupe/capture/load/target"
	"loupe/internal/cli/command"
)

// TestAgainstInStep: two services of which one answers more in the same time get the same at the beginning of each round.
func TestAgainstInStep(t *testing.T) {
	var mu sync.Mutex
	begins := map[string][]string{} // the first request of each connection, by service
	seen := map[string]bool{}
	serve := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if !seen[r.RemoteAddr+name] {
				seen[r.RemoteAddr+name] = true
				begins[name] = append(begins[name], r.URL.Path)
			}
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	slow, fast := serve("slow"), serve("fast")
	a := &againstFlags{repeat: 4, against: fast, wait: "1s"}
	arms, err := a.arms(slow, func(address string) (load.Config, error) {
		c := load.Config{Targets: []target.Target{{URL: address + "/{{seq}}"}}, Concurrency: 1, Requests: 3}
		if address == fast {
			c.Requests = 17
		}
		return c, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// What is found may be a regression: that is not asked here.
	a.run(&command.Env{Stdout: io.Discard, Stderr: io.Discard, Ctx: context.Background(), Quiet: true}, arms, "", "")
	want := []string{"/0", "/17", "/34", "/51"}
	if !slices.Equal(begins["slow"], want) || !slices.Equal(begins["fast"], want) {
		t.Errorf("the runs begin with %v and %v, want %v", begins["slow"], begins["fast"], want)
	}
}

// TestGoOn: services go on together if one of them does, and those that are all started afresh do not.
func TestGoOn(t *testing.T) {
	for _, row := range []struct {
		commands []string
		goOn     bool
	}{
		{[]string{""}, true},
		{[]string{"./server"}, false},
		{[]string{"", ""}, true},
		{[]string{"./server", "./other"}, false},
		{[]string{"./server", ""}, true},
	} {
		var arms []*arm
		for _, c := range row.commands {
			arms = append(arms, &arm{command: c})
		}
		for i, m := range goOn(arms...) {
			if (m.config.Series != nil) != row.goOn {
				t.Errorf("%q: service %d goes on: %v", row.commands, i, !row.goOn)
			}
		}
	}
}
