package insight

import (
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
	"loupe/session"
	"loupe/value/stack"
)

// TestAnswersWith: what line 4 encodes is an answer where it gets to a ResponseWriter, and not
// where the function has one for something else.
func TestAnswersWith(t *testing.T) {
	for _, c := range []struct {
		name, source string
		callers      []int
		answers      bool
	}{
		{"an encoder", "func serve(w http.ResponseWriter, r *http.Request) {\n\tjson.NewEncoder(w).Encode(all)\n}", nil, true},
		{"bytes", "func serve(w http.ResponseWriter, r *http.Request) {\n\tb, err := json.Marshal(all)\n\tw.Write(b)\n}", nil, true},
		{"a framework", "func serve(c *gin.Context) {\n\tc.JSON(200, all)\n}", nil, true},
		{"a helper", "func (a all) text() string {\n\tb, _ := json.Marshal(a)\n\treturn string(b)\n}\nfunc serve(w http.ResponseWriter, r *http.Request) {\n\tt := all.text()\n\tio.WriteString(w, t)\n}", []int{8}, true},
		{"a helper that is handed it", "func write(w http.ResponseWriter, v any) {\n\tjson.NewEncoder(w).Encode(v)\n}", []int{8}, true},
		{"a log", "func (a all) text() string {\n\tb, _ := json.Marshal(a)\n\treturn string(b)\n}\nfunc serve(w http.ResponseWriter, r *http.Request) {\n\tlog.Debug(\"all\", all.text())\n\tw.WriteHeader(200)\n}", []int{8}, false},
		{"a file", "func save(f *os.File) {\n\tjson.NewEncoder(f).Encode(all)\n}\nfunc serve(w http.ResponseWriter, r *http.Request) {\n\tsave(f)\n\tw.Write(ok)\n}", []int{7}, false},
		{"a queue", "func publish(ctx context.Context) error {\n\tb, err := json.Marshal(all)\n\treturn q.Publish(ctx, b)\n}\nfunc serve(w http.ResponseWriter, r *http.Request) {\n\terr := publish(r.Context())\n\tif err != nil {\n\t\tw.WriteHeader(500)\n\t}\n}", []int{8}, false},
	} {
		r := recordingtest.New("title x")
		r.Put(recording.Entry{Path: "source/a.go", Kind: recording.Source, Source: "a.go"}, []byte("package main\n\n"+c.source+"\n"))
		at := stack.Frame{Func: "main.f", File: "a.go", Line: 4}
		frames := []stack.Frame{{Func: "encoding/json.Marshal"}, at}
		for _, line := range c.callers {
			frames = append(frames, stack.Frame{Func: "main.g", File: "a.go", Line: line})
		}
		if got := answersWith(NewInput(session.New(r.Open())).code, frames, at); got != c.answers {
			t.Errorf("%s: %v", c.name, got)
		}
	}
	if at := (stack.Frame{Func: "main.f", File: "b.go", Line: 3}); !answersWith(NewInput(session.New(recordingtest.New("title x").Open())).code, []stack.Frame{{Func: "net/http.(*response).Write"}, {Func: "encoding/json.(*Encoder).Encode"}, at}, at) {
		t.Error("a stack that writes the answer")
	}
}

// TestHashingGain: what can be saved of hashing is the hashing, and not the rest of the look-up.
func TestHashingGain(t *testing.T) {
	r := recordingtest.New("title x\ntarget package ./shop module=shop\nphase bare 0s..10s\nphase cpu 10s..15s profiler=cpu\n")
	r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture(
		column{"main.main shop/stats.add:/src/stats.go:9 runtime.mapaccess1 runtime.memhash_varlen aeshashbody", []int64{250}},
		column{"main.main shop/stats.add:/src/stats.go:9 runtime.mapaccess1", []int64{400}},
		column{"main.main shop/stats.read:/src/stats.go:20", []int64{350}})))
	in := NewInput(session.New(r.Open()))
	all := Run(in)
	for _, card := range Cards(in, all) {
		if all[card.Finding].Rule != "CP17" {
			continue
		}
		if g := card.Gain; g == nil || g.Share < 0.24 || g.Share > 0.26 {
			t.Errorf("gain %+v, want 25%%", g)
		}
		return
	}
	for _, f := range all {
		if f.Rule == "CP17" && f.State == Found && strings.Contains(f.Summary, "25.0%") {
			c := newCausal(in, all)
			for i := range all {
				if all[i].Rule == "CP17" {
					if g, ok := c.cpuGain(i); !ok || g.Estimate > 0.26 {
						t.Errorf("gain %+v", g)
					}
				}
			}
			return
		}
	}
	t.Error("CP17 finds nothing")
}
