package insight

import (
	"fmt"
	"strings"
	"testing"

	"loupe/format/profile/profiletest"
	"loupe/recording"
	"loupe/recording/recordingtest"
)

// mixed is a recording with a CPU profile and an allocs profile, or only one
// of them: so many of a hundred parts go through the first stack, the rest
// through plain code of the user. Stacks begin at the root. The allocs profile
// has objects of 1 KiB, about two for each sample.
func mixed(kinds string, parts, of int, frames ...string) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=go1.26.1\nhost cpus=2\nphase cpu 0s..5s profiler=cpu\nphase allocs 5s..10s profiler=allocs\n" +
		"-- source/search/rss.go source from=/src/rss.go --\n" + shapes)
	picture := func(scale int) string {
		var b strings.Builder
		for i, f := range frames {
			other := ""
			if i == 0 {
				other = "shop/page.write:/src/page.go:9"
			}
			fmt.Fprintf(&b, "%-60s %s\n", f, other)
		}
		fmt.Fprintf(&b, "= %d %d\n", parts*scale, (of-parts)*scale)
		return b.String()
	}
	if strings.Contains(kinds, "cpu") {
		r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"}, profiletest.Profile(picture(1)))
	}
	if strings.Contains(kinds, "allocs") {
		text := picture(1000)
		size := 1024
		if strings.Contains(kinds, "small") {
			size = 24
		}
		text += fmt.Sprintf("= %d %d\n", parts*1000*size, (of-parts)*1000*size)
		period := int64(512 << 10)
		if strings.Contains(kinds, "small") {
			period = 8 << 10
		}
		r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Phase: "allocs"},
			profiletest.Encode(text, profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: period}))
	}
	return r
}

// shapes is a source of which the stacks below know lines.
const shapes = `package search

var pool sync.Pool

func find(term string) {
	for _, item := range items {
		use(item) // line 7
	}
	once() // line 9
	re := regexp.MustCompile("fixed") // line 10
	re = regexp.MustCompile(term) // line 11
	pool.Put(buf) // line 12
	cache.Put(buf) // line 13
}
`

// TestShapes lets each rule find its fault in a picture, and says fine of the
// twin in which little of it is left, too little of a short profile, and not
// applicable without one.
func TestShapes(t *testing.T) {
	const user = "shop/search.find:/src/rss.go:7"
	f := func(id, kinds, words string, frames ...string) {
		t.Helper()
		frames = append([]string{"net/http.(*conn).serve"}, frames...)
		found := expect(t, "a fault", mixed(kinds, 600, 1000, frames...), id, Found, words)
		near(t, id, found, 0.6)
		severity(t, id, found, Warning)
		if found.Advice == "" || found.Verify == "" || len(found.Evidence) == 0 || found.Evidence[0].Text == "" || found.Score < 50 {
			t.Errorf("%s: a finding without advice or evidence: %+v", id, found)
		}
		if e := found.Evidence[0]; frames[1] == user && (e.File != "/src/rss.go" || e.Short != "search/rss.go" || e.Line != 7 || e.Source != "use(item) // line 7" || e.Span == nil) {
			t.Errorf("%s: evidence = %+v", id, e)
		}
		expect(t, "a clean twin", mixed(kinds, 5, 1000, frames...), id, Fine, "0.500%")
		expect(t, "few samples", mixed(kinds, 15, 20, frames...), id, TooLittle, fmt.Sprintf("%g are needed", ruleOf(id).param("samples")))
		expect(t, "no profile", mixed("", 600, 1000, frames...), id, NotApplicable, "the recording has no ")
	}
	f("AL11", "cpu", "fmt.Sprintf", user, "fmt.Sprintf", "fmt.(*pp).doPrintf")
	f("AL11", "allocs", "allocated objects", user, "fmt.Fprintf", "fmt.newPrinter")
	f("AL12", "allocs", "flate.NewWriter", user, "compress/gzip.(*Writer).Write", "compress/flate.NewWriter")
	f("AL13", "allocs", "bytes.(*Buffer).grow", user, "fmt.Fprintf", "bytes.(*Buffer).Write", "bytes.(*Buffer).grow")
	f("AL14", "cpu", "regexp.MustCompile", user, "regexp.MustCompile", "regexp.Compile", "regexp.compile", "regexp/syntax.Parse")
	f("AL14", "allocs", "regexp.MatchString", user, "regexp.MatchString", "regexp.Compile", "regexp.compile")
	f("AL15", "allocs", "sync.(*Pool).Get", user, "sync.(*Pool).Get", "shop/search.init.func1")
	f("AL15", "allocs", "sync.(*Pool).Get", user, "github.com/valyala/fasthttp.AcquireRequest", "sync.(*Pool).Get", "github.com/valyala/fasthttp.init.func1")
	f("AL15", "allocs", "sync.(*Pool).Get", user, "github.com/x/y.(*Server).Serve", "sync.(*Pool).Get", "shop/search.init.func1")
	f("AL16", "cpu", "maps.(*table).rehash", user, "runtime.mapassign_faststr", "internal/runtime/maps.(*table).rehash")
	f("AL16", "cpu", "runtime.hashGrow", user, "runtime.mapassign_faststr", "runtime.hashGrow")
	f("AL17", "allocs", "time.After, in a loop", user, "time.After", "time.NewTimer")
	f("AL22", "allocs", "json.(*Decoder).refill", user, "encoding/json.(*Decoder).Decode", "encoding/json.(*Decoder).refill")
	f("CP02", "cpu", "xml.Unmarshal", user, "encoding/xml.Unmarshal", "encoding/xml.(*Decoder).unmarshal")
	f("CP03", "cpu", "json.Marshal", user, "encoding/json.Marshal", "reflect.Value.Field")
	f("CP03", "cpu", "package reflect", user, "reflect.Value.FieldByName")
	f("CP04", "cpu", "os.(*File).Write", user, "os.(*File).Write", "internal/poll.(*FD).Write", "syscall.write", "syscall.Syscall", "internal/runtime/syscall/linux.Syscall6")
	f("CP05", "cpu", "scheduler", user, "runtime.chansend1", "runtime.goready", "runtime.ready", "runtime.wakep")
	f("CP06", "cpu", "runtime.growslice", user, "runtime.growslice", "runtime.memmove")
	f("CP12", "cpu", "time.Since", user, "time.Since", "time.runtimeNano")
	f("CP13", "cpu", "go.uber.org/zap", user, "go.uber.org/zap.(*Logger).Info", "go.uber.org/multierr.Append")
	f("CP13", "allocs", "log/slog", user, "log/slog.Info")
	f("CP13", "cpu", "github.com/prometheus/client_golang", user, "github.com/prometheus/client_golang/prometheus.(*MetricVec).GetMetricWithLabelValues")
	f("CP14", "cpu", "search.find", user, "runtime.morestack", "runtime.newstack", "runtime.copystack")
	f("CP15", "cpu", "search._Cfunc_add", user, "shop/search._Cfunc_add", "runtime.cgocall", "runtime.entersyscall", "runtime.reentersyscall")
	f("CP16", "cpu", "the lock mostly belongs to a channel", user, "runtime.chansend1", "runtime.chansend", "runtime.lock2", "runtime.procyield")
	f("CP16", "cpu", "channel; none of it is waiting", user, "runtime.chansend1", "runtime.chansend", "runtime.lock2")
	f("CP16", "cpu", "channel; all of it is waiting", user, "runtime.chansend1", "runtime.chansend", "runtime.unlock2", "runtime.futexwakeup", "runtime.futex")
	f("CP18", "cpu", "parsing templates", user, "html/template.(*Template).Parse", "text/template/parse.Parse")
	f("CP18", "cpu", "hashing passwords", user, "golang.org/x/crypto/bcrypt.CompareHashAndPassword", "golang.org/x/crypto/blowfish.ExpandKey")
	f("CP03", "cpu", "binary.Write", user, "encoding/binary.Write", "encoding/binary.(*encoder).value", "reflect.Value.Field")
	f("CP19", "cpu", "sort.Slice", user, "sort.Slice", "sort.pdqsort_func", "sort.insertionSort_func", "shop/search.find.func1:/src/rss.go:8")
	f("CP19", "cpu", "slices.SortFunc", user, "slices.SortFunc[...]", "slices.pdqsortCmpFunc[...]", "shop/search.find.func1:/src/rss.go:8", "strings.Compare")
	f("CP20", "cpu", "slices.IndexFunc", user, "slices.ContainsFunc[...]", "slices.IndexFunc[...]", "shop/search.find.func1:/src/rss.go:8")
	f("CP20", "cpu", "strings.Index", user, "strings.Contains", "strings.Index", "internal/bytealg.IndexString")
	f("CP17", "cpu", "runtime.mapaccess1_faststr", user, "runtime.mapaccess1_faststr", "aeshashbody")
}

// TestShapesGuarded holds the guards against stacks that only look like it.
func TestShapesGuarded(t *testing.T) {
	const user = "shop/search.find:/src/rss.go:7"
	fine := func(what, id, kinds string, frames ...string) {
		t.Helper()
		expect(t, what, mixed(kinds, 600, 1000, append([]string{"net/http.(*conn).serve"}, frames...)...), id, Fine)
	}
	fine("a logger formats", "AL11", "cpu", user, "log.Printf", "fmt.Appendf")
	fine("the standard library formats", "AL11", "cpu", user, "net/http.Error", "fmt.Fprintln")
	fine("a method of the user's own", "AL11", "cpu", user, "fmt.Sprint", "fmt.(*pp).handleMethods", "shop/search.Item.String")
	fine("text is written", "AL11", "cpu", user, "fmt.Println", "os.(*File).Write", "syscall.Syscall")
	fine("nobody's line", "AL11", "cpu", "fmt.Sprintf")
	fine("the transport decompresses", "AL12", "allocs", user, "io.ReadAll", "net/http.(*gzipReader).Read", "compress/gzip.NewReader")
	fine("the encoder's own buffer", "AL13", "allocs", user, "encoding/json.Marshal", "bytes.(*Buffer).Write", "bytes.(*Buffer).grow")
	fine("an encoder's, which AL22 tells", "AL13", "allocs", "shop/search.find:/src/rss.go:7", "encoding/xml.NewEncoder", "bufio.NewWriterSize")
	fine("before main", "AL14", "cpu", "runtime.doInit1", "shop/search.init", "regexp.MustCompile", "regexp.compile")
	fine("matching", "AL14", "cpu", user, "regexp.MatchString", "regexp.(*Regexp).doExecute")
	fine("a pool of another module, inside of it", "AL15", "allocs", user, "go.etcd.io/bbolt.(*DB).Update", "go.etcd.io/bbolt.(*DB).allocate", "sync.(*Pool).Get", "go.etcd.io/bbolt.Open.func1")
	fine("a pool of another package", "AL15", "allocs", user, "fmt.Sprintf", "fmt.newPrinter", "sync.(*Pool).Get", "fmt.init.func1")
	fine("a map of the library", "AL16", "cpu", user, "net/http.Header.Set", "runtime.mapassign_faststr", "internal/runtime/maps.(*table).rehash")
	fine("once", "AL17", "allocs", "shop/search.find:/src/rss.go:9", "time.After", "time.NewTimer")
	fine("a context", "AL17", "allocs", user, "context.WithTimeout", "time.AfterFunc")
	fine("one size", "AL21", "allocs", user, "io.ReadAll")
	fine("waiting", "CP04", "cpu", "runtime.netpoll", "syscall.Syscall6")
	fine("reflection of a package", "CP03", "cpu", user, "encoding/xml.Unmarshal", "reflect.Value.Set")
	fine("the collector's", "CP05", "cpu", "runtime.bgsweep", "runtime.goready", "runtime.wakep")
	fine("the collector's lock", "CP16", "cpu", "runtime.bgsweep", "runtime.lock2")
	fine("a stack that is copied", "CP06", "cpu", user, "runtime.newstack", "runtime.copystack", "runtime.memmove")
	fine("preempted", "CP14", "cpu", user, "runtime.newstack", "runtime.gopreempt_m")
	fine("the library sorts", "CP19", "cpu", user, "net/url.Values.Encode", "maps.Keys")
	fine("the library searches", "CP20", "cpu", user, "net/http.(*ServeMux).ServeHTTP", "strings.Index")
	fine("what it compresses with", "CP19", "cpu", user, "io.Copy", "compress/gzip.(*Writer).Write", "compress/flate.(*huffmanEncoder).assignEncodingAndSize", "compress/flate.(*byFreq).sort", "sort.Sort", "sort.pdqsort")
	fine("for a query", "CP19", "cpu", user, "net/url.Values.Encode", "slices.Sort[...]", "slices.pdqsortOrdered[...]")
	fine("another module for itself", "CP19", "cpu", user, "github.com/a/b.Render", "sort.Strings", "sort.pdqsort")
	fine("the library's header", "CP17", "cpu", user, "net/http.Header.Get", "runtime.mapaccess1_faststr", "aeshashbody")
	fine("no map", "CP17", "cpu", user, "hash/maphash.String", "runtime.memhash")
	fine("a map that grows", "CP17", "cpu", user, "internal/runtime/maps.(*table).rehash", "runtime.strhash", "aeshashbody")
	fine("made once", "CP18", "cpu", user, "sync.(*Once).doSlow", "shop/search.load:/src/rss.go:9", "text/template.(*Template).Parse", "text/template/parse.Parse")
	fine("executed", "CP18", "cpu", user, "text/template.(*Template).Execute", "text/template.(*state).walk")
	fine("a scrape", "CP13", "allocs", "net/http.(*conn).serve", "net/http.HandlerFunc.ServeHTTP", "github.com/prometheus/client_golang/prometheus/promhttp.HandlerForTransactional.func1", "github.com/prometheus/client_golang/prometheus.(*Registry).Gather")
	fine("collectors of a scrape", "CP13", "allocs", "github.com/prometheus/client_golang/prometheus.(*Registry).Gather.func1", "github.com/prometheus/client_golang/prometheus.(*CounterVec).Collect")
	fine("the user's own logger", "CP13", "cpu", user, "log/slog.Info", "shop/log.(*Handler).Handle")
}

// TestShapeAdvice sees that advice and doubts follow what was found.
func TestShapeAdvice(t *testing.T) {
	f := func(id, kinds, advice string, frames ...string) Finding {
		t.Helper()
		found := expect(t, advice, mixed(kinds, 600, 1000, append([]string{"net/http.(*conn).serve"}, frames...)...), id, Found)
		if !strings.Contains(found.Advice, advice) {
			t.Errorf("%s advises %q, want %q in it", id, found.Advice, advice)
		}
		return found
	}
	const user = "shop/search.find:/src/rss.go:7"
	f("AL11", "cpu", "package variable", user, "fmt.Errorf")
	f("CP04", "cpu", "filepath.WalkDir", user, "path/filepath.Walk", "path/filepath.walk", "os.Lstat", "syscall.lstat", "syscall.Syscall", "internal/runtime/syscall/linux.Syscall6")
	severity(t, "a loop of connects", f("CP04", "cpu", "pause before the next attempt", user, "net.(*Dialer).DialContext", "net.(*sysDialer).dialTCP", "net.(*netFD).connect", "syscall.connect", "syscall.Syscall", "internal/runtime/syscall/linux.Syscall6"), Warning)
	f("AL11", "cpu", "strconv.Atoi", user, "fmt.Sscanf")
	doubted(t, f("AL11", "cpu", "AppendInt", user, "github.com/x/y.Print", "fmt.Sprintf"), "github.com/x/y.Print, which is not your code")
	if d := f("AL12", "allocs", "Resetter", user, "compress/gzip.NewReader", "compress/flate.NewReader"); !strings.Contains(d.Title, "decompressor") || !strings.Contains(d.Summary, "creating decompressors") {
		t.Errorf("a reader: %s: %s", d.Title, d.Advice)
	}
	f("AL12", "allocs", "EncodeAll", user, "github.com/klauspost/compress/zstd.NewWriter")
	f("AL13", "allocs", "Scanner.Buffer", user, "bufio.(*Scanner).Scan")
	f("AL13", "allocs", "with the connection", user, "bufio.NewReader", "bufio.NewReaderSize")
	f("AL14", "cpu", "The pattern is fixed", "shop/search.find:/src/rss.go:10", "regexp.MustCompile", "regexp.compile")
	f("AL14", "cpu", "built at run time", "shop/search.find:/src/rss.go:11", "regexp.MustCompile", "regexp.compile")
	f("AL14", "cpu", "in a package variable", "shop/other.find:/src/other.go:11", "regexp.MustCompile", "regexp.compile")
	f("AL22", "allocs", "one gob.Encoder", user, "encoding/gob.NewEncoder")
	f("AL22", "allocs", "ReadByte", user, "encoding/xml.NewDecoder", "bufio.NewReaderSize")
	f("AL22", "allocs", "after Flush", user, "encoding/xml.Marshal", "encoding/xml.NewEncoder", "bufio.NewWriterSize")
	f("AL22", "allocs", "ReuseRecord", user, "encoding/csv.NewReader", "bufio.NewReaderSize")
	f("AL22", "allocs", "json.Marshal", user, "encoding/json.NewEncoder")
	f("CP03", "cpu", "Decode into a struct", user, "encoding/json.Unmarshal")
	f("CP03", "cpu", "Call it less often", user, "encoding/json.Valid")
	severity(t, "network", f("CP04", "cpu", "net.Buffers", "net/http.(*Server).Serve", "net.(*conn).Write", "syscall.Syscall"), Info)
	f("CP04", "cpu", "bufio.Reader", user, "os.(*File).Read", "syscall.Syscall")
	f("CP04", "cpu", "keep files open", user, "os.Open", "syscall.Syscall6")
	f("CP04", "cpu", "Start fewer processes", user, "os/exec.(*Cmd).Start", "os.StartProcess", "syscall.forkExec", "syscall.RawSyscall6")
	f("CP04", "cpu", "crypto/rand", user, "crypto/rand.Read", "syscall.Syscall6")
	f("CP04", "cpu", "strace", user, "syscall.RawSyscall")
	f("CP18", "cpu", "Parse the template once", user, "text/template.(*Template).Parse", "text/template/parse.Parse")
	f("CP18", "cpu", "and keep it", "shop/search.find:/src/rss.go:7", "time.LoadLocation", "os.ReadFile")
	f("CP05", "cpu", "for very little work: give each a batch", user, "runtime.newproc", "runtime.newproc1")
	f("CP05", "cpu", "going to sleep", "runtime.mcall", "runtime.park_m", "runtime.schedule", "runtime.findRunnable")
	f("CP06", "cpu", "one []byte or strings.Builder", user, "runtime.concatstrings", "runtime.memmove")
	f("CP06", "cpu", "send a pointer", user, "runtime.chansend1", "runtime.typedmemmove")
	f("CP06", "cpu", "keep pointers or indexes", user, "runtime.mapassign", "runtime.typedmemmove")
	f("CP06", "cpu", "new memory are cleared", user, "runtime.mallocgc", "runtime.memclrNoHeapPointers")
	f("CP12", "cpu", "It is package context that reads the clock", user, "context.WithTimeout", "time.Now", "time.now")
	f("CP12", "cpu", "once per request", user, "time.Now", "time.now")
	f("CP06", "cpu", "new memory are cleared", user, "compress/gzip.NewWriterLevel", "runtime.mallocgc", "runtime.memclrNoHeapPointers")
	f("CP06", "cpu", "a part of what the library does", user, "encoding/json.Marshal", "bytes.(*Buffer).Write", "runtime.memmove")
	f("CP06", "cpu", "If the program makes that buffer, give it its room first", user, "archive/tar.(*Writer).Write", "bytes.(*Buffer).Write", "bytes.(*Buffer).grow", "bytes.growSlice", "runtime.memmove")
	f("CP06", "cpu", "keep it, unless what it writes to", user, "bufio.(*Writer).Write", "runtime.memmove")
	severity(t, "C itself", f("CP15", "cpu", "perf record", user, "shop/search._Cfunc_add", "runtime.cgocall"), Info)
	const more, fewer = "give each worker its own channel", "More channels do not make it less"
	f("CP16", "cpu", fewer, user, "runtime.chansend1", "runtime.chansend", "runtime.lock2")
	f("CP16", "cpu", fewer, user, "runtime.selectgo", "runtime.sellock", "runtime.lock2")
	f("CP16", "cpu", more, user, "runtime.chansend1", "runtime.chansend", "runtime.lock2", "runtime.procyield")
	f("CP16", "cpu", more, user, "runtime.chanrecv2", "runtime.chanrecv", "runtime.unlock2", "runtime.futexwakeup")
	f("CP16", "cpu", "allocate less", user, "runtime.mallocgc", "runtime.(*mheap).alloc", "runtime.lock2")
	f("CP16", "cpu", "Many timers", user, "time.NewTimer", "runtime.(*timers).run", "runtime.lock2")
	f("CP16", "cpu", "queue for a mutex", user, "sync.(*Mutex).Lock", "runtime.semacquire1", "runtime.lock2")
	f("CP16", "cpu", "GOMAXPROCS", "runtime.mcall", "runtime.schedule", "runtime.lock2")
	f("CP16", "cpu", "-peek", user, "runtime.lock2")
	f("CP17", "cpu", "a concrete key type", user, "runtime.mapaccess1", "runtime.nilinterhash", "runtime.strhash", "aeshashbody")
	f("CP17", "cpu", "Make the key smaller", user, "runtime.mapaccess1", "type..hash.shop.key", "runtime.strhash")
	f("CP17", "cpu", "arrays or structs without strings", user, "runtime.mapaccess1", "runtime.memhash_varlen", "aeshashbody")
	f("CP17", "cpu", "Map the strings to numbers", user, "runtime.mapaccess1", "aeshashbody")
	f("CP17", "cpu", "a concrete key type", user, "runtime.mapaccess1", "runtime.nilinterhash", "runtime.typehash", "runtime.memhash_varlen", "aeshashbody")
	f("CP03", "cpu", "binary.BigEndian.Uint32(b[4:])", user, "encoding/binary.Read", "encoding/binary.(*decoder).value")
	f("CP03", "cpu", "AppendUint32", user, "encoding/binary.Write", "encoding/binary.(*encoder).value")
	f("CP03", "cpu", "one gob.Decoder per stream", user, "encoding/gob.(*Decoder).Decode", "encoding/gob.(*Decoder).compileDec")
	f("CP03", "cpu", "gob goes through each value by reflection", user, "encoding/gob.(*Decoder).Decode", "reflect.Value.Set")
	f("CP17", "cpu", "The keys are numbers", user, "runtime.mapaccess1_fast64", "runtime.memhash64")
}

// TestAL15Boxes knows the Put of a pool from that of something else.
func TestAL15Boxes(t *testing.T) {
	f := func(what, kinds string, line int, state State) {
		t.Helper()
		expect(t, what, mixed(kinds, 600, 1000, "net/http.(*conn).serve", fmt.Sprintf("shop/search.find:/src/rss.go:%d", line)), "AL15", state)
	}
	f("a slice is put", "allocs small", 12, Found)
	f("no pool", "allocs small", 13, Fine)
	f("another line", "allocs small", 9, Fine)
	f("objects of other sizes", "allocs", 12, Fine)
}

// ladder is an allocs profile of io.ReadAll with buffers of these sizes.
func ladder(release string, sizes ...int) *recordingtest.Recording {
	r := recordingtest.New("title x\ntarget package ./shop module=shop go=" + release + "\nphase allocs 5s..10s profiler=allocs\n" +
		"-- source/search/rss.go source from=/src/rss.go --\n" + shapes)
	var frames, callees, objects, bytes strings.Builder
	for _, size := range sizes {
		frames.WriteString("shop/search.find:/src/rss.go:7  ")
		callees.WriteString(fmt.Sprintf("%-32s", "io.ReadAll"))
		objects.WriteString(" 100000")
		fmt.Fprintf(&bytes, " %d", 100000*size)
	}
	picture := frames.String() + "\n" + callees.String() + "\n=" + objects.String() + "\n=" + bytes.String() + "\n"
	return r.Put(recording.Entry{Path: "allocs.pb.gz", Kind: recording.Allocs, Phase: "allocs"},
		profiletest.Encode(picture, profiletest.Options{Types: []string{"alloc_objects/count", "alloc_space/bytes"}, Period: 512 << 10}))
}

func TestAL21(t *testing.T) {
	f := expect(t, "a ladder", ladder("go1.25.1", 512, 768, 1152, 1792), "AL21", Found, "io.ReadAll", "buffers of 4 sizes")
	if len(f.Doubts) != 0 {
		t.Errorf("doubts = %q", f.Doubts)
	}
	doubted(t, expect(t, "since Go 1.26", ladder("go1.26.1", 512, 768, 1152, 1792), "AL21", Found), "since Go 1.26")
	expect(t, "small bodies", ladder("go1.25.1", 512, 768), "AL21", Fine)
	expect(t, "few samples", mixed("allocs", 15, 20, "main.main", "io.ReadAll"), "AL21", TooLittle)
	expect(t, "no profile", mixed("cpu", 15, 20, "main.main", "io.ReadAll"), "AL21", NotApplicable)
}

// TestShapesTogether makes one finding of a line that both profiles show.
func TestShapesTogether(t *testing.T) {
	all := answers(t, mixed("cpu allocs", 600, 1000, "shop/search.find:/src/rss.go:7", "fmt.Sprintf"), "AL11")
	if len(all) != 1 || len(all[0].Evidence) != 2 || !strings.HasPrefix(all[0].Evidence[1].Text, "also 60.0% of the allocated objects") {
		t.Errorf("answers = %+v, want one with both", all)
	}
	f := expect(t, "fine in both", mixed("cpu allocs", 5, 1000, "shop/search.find:/src/rss.go:7", "fmt.Sprintf"), "AL11", Fine)
	if !strings.Contains(f.Summary, "CPU time") || !strings.Contains(f.Summary, "allocated objects") {
		t.Errorf("summary = %q, want both profiles", f.Summary)
	}
}

// TestIdle doubts findings in a program that does next to nothing; of its
// scheduler it tells nothing, and says why.
func TestIdle(t *testing.T) {
	r := func(frames ...string) *recordingtest.Recording {
		r := mixed("", 1, 1)
		picture := strings.Join(frames, "\n") + "\n= 100\n= 1000000000\n"
		return r.Put(recording.Entry{Path: "cpu.pb.gz", Kind: recording.CPU, Phase: "cpu"},
			profiletest.Encode(picture, profiletest.Options{Types: []string{"samples/count", "cpu/nanoseconds"}, Duration: 20e9}))
	}
	doubted(t, expect(t, "idle", r("main.main", "fmt.Sprintf"), "AL11", Found), "5.00% of one CPU")
	looking := []string{"runtime.mcall", "runtime.park_m", "runtime.schedule", "runtime.findRunnable"}
	expect(t, "idle", r(looking...), "CP05", TooLittle, "the program used 0.05 CPUs", "apply load to it")
	// On a machine that others use a busy program gets as little: its threads wait for a CPU meanwhile.
	for waited, want := range map[int]State{0: TooLittle, 100: TooLittle, 5000: Found} {
		var os strings.Builder
		for i := range 5 {
			fmt.Fprintf(&os, `{"t_ns":%d,"pid":7,"user_ns":%d,"waited_ns":%d,"busy_ns":%d,"idle_ns":0}`+"\n", i*1e9, i*5e7, i*waited*1e6, i*2e9)
		}
		expect(t, fmt.Sprintf("waits %d ms for a CPU each second", waited), r(looking...).Put(recording.Entry{Path: "os.ndjson", Kind: recording.OS}, []byte(os.String())), "CP05", want)
	}
}
