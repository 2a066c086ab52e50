package insight

import (
	"slices"
	"strings"
	"sync"

	"loupe/format/profile"
	"loupe/value/stack"
)

// signature is a row of the table of the functions that rules look for. Names
// move from release to release, so each row says in which it is true; a
// profile does not always tell its release, and a name that was never another
// function's does no harm in the others. TestSignatures looks every name up in
// the Go trees that it finds.
type signature struct {
	set string
	// since and until are minor releases of Go 1, both included; 0 is open.
	since, until int
	// names are whole names, beginnings with a "*" behind, or a beginning and an end with a "*"
	// between them, as the versions of a module have it.
	names string
}

// signatures is the table. The sets are in the order of the rules.
var signatures = []signature{
	// What runs before main.main happens once.
	{"startup", 0, 0, "runtime.doInit"},
	{"startup", 21, 0, "runtime.doInit1"},

	{"fmt", 0, 0, "fmt.Sprintf fmt.Sprint fmt.Sprintln fmt.Fprintf fmt.Fprint fmt.Fprintln fmt.Printf fmt.Print fmt.Println fmt.Errorf " +
		"fmt.Sscanf fmt.Sscan fmt.Sscanln fmt.Fscanf fmt.Fscan fmt.Fscanln fmt.Scanf fmt.Scan fmt.Scanln"},
	{"fmt", 19, 0, "fmt.Appendf fmt.Append fmt.Appendln"},

	{"coders", 0, 0, "compress/flate.NewWriter compress/flate.NewWriterDict compress/flate.NewReader compress/flate.NewReaderDict " +
		"compress/gzip.NewWriterLevel compress/gzip.NewReader compress/zlib.NewWriterLevelDict compress/zlib.NewReaderDict compress/lzw.NewReader compress/lzw.NewWriter compress/bzip2.NewReader"},
	{"coders", 0, 0, "github.com/klauspost/compress/flate.NewWriter* github.com/klauspost/compress/flate.NewReader* github.com/klauspost/compress/gzip.NewWriterLevel " +
		"github.com/klauspost/compress/gzip.NewReader github.com/klauspost/compress/zstd.NewWriter github.com/klauspost/compress/zstd.NewReader github.com/andybalholm/brotli.NewWriter*"},

	{"scratch", 0, 0, "bufio.NewReaderSize bufio.NewWriterSize bufio.(*Scanner).Scan bufio.(*Reader).Reset bufio.(*Writer).Reset bytes.(*Buffer).grow"},
	{"scratch", 19, 0, "bytes.growSlice"},
	{"scratch", 0, 18, "bytes.makeSlice"},

	// What makes errors and nothing else, and who fails.
	{"failures", 20, 0, "time.newParseError"},
	{"failures", 0, 25, "strconv.syntaxError strconv.rangeError"},
	{"failures", 26, 0, "strconv.toError"},
	{"tries", 0, 0, "time.Parse time.ParseInLocation time.ParseDuration strconv.Atoi strconv.ParseInt strconv.ParseUint strconv.ParseFloat strconv.ParseBool"},

	{"regexp", 0, 0, "regexp.Compile regexp.MustCompile regexp.CompilePOSIX regexp.MustCompilePOSIX regexp.MatchString regexp.Match regexp.MatchReader"},
	{"regexp.compile", 0, 0, "regexp.compile"},

	{"pool.get", 0, 0, "sync.(*Pool).Get"},

	{"map.grow", 0, 25, "runtime.hashGrow runtime.growWork runtime.growWork_fast32 runtime.growWork_fast64 runtime.growWork_faststr runtime.evacuate"},
	{"map.grow", 24, 0, "internal/runtime/maps.(*table).rehash internal/runtime/maps.(*Map).growToTable"},

	{"timers", 0, 0, "time.NewTimer time.NewTicker time.After time.Tick time.AfterFunc"},

	{"readall", 16, 0, "io.ReadAll"},
	{"readall", 0, 15, "io/ioutil.readAll"},
	{"readall", 0, 0, "io/ioutil.ReadAll"},

	{"encoders", 0, 0, "encoding/json.NewDecoder encoding/json.NewEncoder encoding/json.(*Decoder).refill encoding/xml.NewDecoder encoding/xml.NewEncoder " +
		"encoding/gob.NewDecoder encoding/gob.NewEncoder encoding/gob.(*Decoder).compileDec encoding/gob.(*Decoder).recvType encoding/gob.(*Encoder).sendTypeDescriptor " +
		"encoding/csv.NewReader encoding/csv.NewWriter"},

	{"xml.decode", 0, 0, "encoding/xml.Unmarshal encoding/xml.(*Decoder).Decode encoding/xml.(*Decoder).DecodeElement"},

	{"json", 0, 0, "encoding/json.*"},
	// What waits for a file or a peer and moves its bytes, whoever asks for them.
	{"descriptor", 0, 0, "internal/poll.(*FD).* net.(*conn).Read net.(*conn).Write os.(*File).Read os.(*File).Write syscall.Read syscall.Write"},
	{"reflect", 0, 0, "reflect.*"},
	{"binary", 0, 0, "encoding/binary.Read encoding/binary.Write encoding/binary.Size encoding/gob.*"},
	{"binary", 23, 0, "encoding/binary.Append encoding/binary.Encode encoding/binary.Decode"},
	{"sort", 0, 0, "sort.Sort sort.Stable sort.Slice sort.SliceStable sort.Strings sort.Ints sort.Float64s"},
	// With their type parameters: slices.Sorted goes through an iterator before it sorts.
	{"sort", 21, 0, "slices.Sort slices.SortFunc slices.SortStableFunc slices.Sort[* slices.SortFunc[* slices.SortStableFunc[*"},
	{"search", 0, 0, "strings.Index strings.Contains strings.LastIndex strings.Count strings.IndexFunc strings.ContainsAny strings.IndexAny bytes.Index bytes.Contains bytes.LastIndex bytes.Count"},
	{"search", 21, 0, "slices.Index* slices.Contains*"},

	{"syscall", 0, 0, "syscall.Syscall syscall.Syscall6 syscall.RawSyscall syscall.RawSyscall6 syscall.rawVforkSyscall syscall.rawSyscallNoError"},
	{"syscall", 0, 0, "syscall.syscall syscall.syscall6 syscall.syscall6X syscall.rawSyscall syscall.rawSyscall6 syscall.syscallPtr runtime.syscall runtime.syscall6 runtime.stdcall*"},
	{"syscall", 19, 22, "runtime/internal/syscall.Syscall6"},
	{"syscall", 23, 25, "internal/runtime/syscall.Syscall6"},
	{"syscall", 26, 0, "internal/runtime/syscall/linux.Syscall6"},
	{"netpoll", 0, 0, "runtime.netpoll runtime.netpollBreak"},
	// What a program asks the kernel for, by its name in the library.
	{"kernel", 0, 0, "os.* net.(*conn).* net.(*netFD).* net.(*TCPListener).Accept net.(*UDPConn).* net.(*sysDialer).* internal/poll.(*FD).* syscall.* golang.org/x/sys/unix.* internal/syscall/unix.* crypto/rand.Read"},

	{"schedule", 0, 0, "runtime.schedule runtime.park_m runtime.goschedImpl runtime.goexit0 runtime.goready runtime.ready runtime.wakep runtime.startm runtime.stopm runtime.handoffp runtime.injectglist runtime.resetspinning runtime.newproc runtime.newproc1"},
	{"schedule", 19, 0, "runtime.findRunnable"},
	{"schedule", 0, 18, "runtime.findrunnable"},
	{"schedule", 17, 0, "runtime.mPark"},

	// What a program calls to send, to receive and to choose among channels.
	{"channel", 0, 0, "runtime.chansend* runtime.chanrecv* runtime.selectgo runtime.selectnb*"},

	// The collector's own goroutines, and the threads that serve them.
	{"collector", 0, 0, "runtime.bgsweep runtime.bgscavenge runtime.gcBgMarkWorker runtime.gcStart"},
	{"collector", 13, 22, "runtime.gcBgMarkStartWorkers"},
	{"runtime", 0, 0, "runtime.*"},

	{"move", 0, 0, "runtime.memmove runtime.memclrNoHeapPointers runtime.memclrHasPointers runtime.typedmemmove runtime.typedslicecopy runtime.duffcopy runtime.duffzero"},
	{"move", 18, 0, "runtime.memclrNoHeapPointersChunked"},
	{"move", 21, 0, "runtime.wbMove runtime.wbZero"},

	// What the compiler calls to make memory, and to copy into what is new.
	{"fills", 0, 0, "runtime.growslice* runtime.memmove runtime.typedslicecopy runtime.typedmemmove runtime.duffcopy runtime.duffzero runtime.memclrNoHeapPointers runtime.memclrHasPointers runtime.concatstring* runtime.concatbyte* runtime.slicebytetostring runtime.stringtoslice* " +
		"runtime.slicerunetostring runtime.intstring runtime.makeslice* runtime.newobject runtime.newarray runtime.makechan* runtime.makemap* runtime.convT*"},
	{"fills", 21, 0, "runtime.wbMove runtime.wbZero"},

	// Who copies, by the name that the program has called.
	{"copier", 0, 0, "bytes.* strings.* bufio.* io.* os.* slices.* sort.* append runtime.growslice runtime.concatstring* runtime.slicebytetostring runtime.stringtoslice* runtime.chansend* runtime.chanrecv* runtime.selectgo runtime.makeslice runtime.newobject runtime.map*"},

	{"clock", 0, 0, "time.Now time.Since time.Until"},
	{"clock", 25, 0, "time.runtimeNow"},

	{"logging", 0, 0, "log.*"},
	{"logging", 21, 0, "log/slog.*"},
	{"logging", 0, 0, "go.uber.org/zap.* go.uber.org/zap/* github.com/rs/zerolog.* github.com/rs/zerolog/* github.com/sirupsen/logrus.* github.com/go-kit/log.* github.com/go-kit/log/* " +
		"github.com/go-kit/kit/log.* github.com/golang/glog.* k8s.io/klog* github.com/hashicorp/go-hclog.* github.com/apex/log.* github.com/inconshreveable/log15.* github.com/charmbracelet/log.* " +
		"github.com/phuslu/log.* go.opentelemetry.io/* go.opencensus.io/* github.com/prometheus/client_golang/* github.com/DataDog/dd-trace-go* gopkg.in/DataDog/dd-trace-go* " +
		"github.com/getsentry/sentry-go.* github.com/opentracing/* github.com/uber/jaeger-client-go* github.com/newrelic/go-agent/* github.com/VictoriaMetrics/metrics.* github.com/armon/go-metrics.* github.com/uber-go/tally*"},

	// Answers to who asks for all metrics: that is asked for, and no cost of counting.
	{"scrape", 0, 0, "expvar.expvarHandler github.com/prometheus/client_golang/prometheus/promhttp.* github.com/prometheus/client_golang/prometheus.(*Registry).Gather* " +
		"github.com/VictoriaMetrics/metrics.WritePrometheus* github.com/VictoriaMetrics/metrics.(*Set).WritePrometheus*"},

	// Setting timers and letting them fire; before Go 1.23 under other names.
	{"timers.run", 23, 0, "runtime.(*timers).check runtime.(*timers).run runtime.(*timer).unlockAndRun runtime.(*timer).modify runtime.(*timer).stop runtime.(*timer).maybeAdd runtime.(*timers).adjust runtime.(*timers).siftUp runtime.(*timers).siftDown runtime.(*timers).cleanHead runtime.(*timers).deleteMin"},
	{"timers.run", 14, 22, "runtime.checkTimers runtime.runtimer runtime.runOneTimer runtime.modtimer runtime.addtimer runtime.deltimer runtime.adjusttimers runtime.siftupTimer runtime.siftdownTimer"},

	// Channels that are asked whether they have something; selectgo waits in others.
	{"select", 0, 0, "runtime.selectgo runtime.selectnbrecv runtime.selectnbsend"},

	{"stack.grow", 0, 0, "runtime.newstack runtime.copystack"},
	{"preempt", 0, 0, "runtime.gopreempt_m runtime.shrinkstack"},
	{"preempt", 14, 0, "runtime.preemptPark"},

	{"cgo", 0, 0, "runtime.cgocall runtime.cgocallbackg runtime.cgocallbackg1"},
	{"cgo.cross", 0, 0, "runtime.entersyscall runtime.reentersyscall runtime.exitsyscall runtime.cgoCheckPointer runtime.cgoCheckArg runtime.cgoIsGoPointer runtime.cgocallbackg runtime.cgocallbackg1 " +
		"runtime.casgstatus runtime.save runtime.unwindm runtime.needm runtime.dropm runtime.wirep runtime.cgoUse"},
	{"cgo.cross", 0, 25, "runtime.exitsyscallfast runtime.exitsyscallfast_reacquired runtime.exitsyscallfast_pidle"},

	{"runtime.lock", 0, 0, "runtime.lock2 runtime.unlock2"},
	{"runtime.lock", 0, 14, "runtime.lock runtime.unlock"},
	// What a thread does for a lock that another one holds: it spins, sleeps, and is woken.
	// Taking or leaving a free one is in lock2 and unlock2 themselves.
	{"runtime.lock.wait", 0, 0, "runtime.procyield* runtime.osyield* runtime.usleep* runtime.semasleep runtime.semawakeup runtime.futexsleep runtime.futexwakeup runtime.futex"},
	{"runtime.lock.wait", 24, 0, "runtime.unlock2Wake"},

	{"hash", 0, 0, "runtime.strhash runtime.strhashFallback runtime.memhash runtime.memhash8 runtime.memhash16 runtime.memhash32 runtime.memhash64 runtime.memhash128 runtime.memhash_varlen runtime.memhashFallback " +
		"runtime.memhash32Fallback runtime.memhash64Fallback runtime.nilinterhash runtime.interhash runtime.typehash runtime.f32hash runtime.f64hash runtime.c64hash runtime.c128hash aeshashbody runtime.aeshashbody memhashbody"},
	{"map", 0, 0, "runtime.map*"},
	{"map", 24, 0, "internal/runtime/maps.*"},

	// Work whose result can be kept: a set "again" holds all kinds.
	{"again.template", 0, 0, "html/template.(*Template).Parse html/template.(*Template).ParseFiles html/template.(*Template).ParseGlob html/template.ParseFiles html/template.ParseGlob html/template.escapeTemplate text/template.(*Template).Parse text/template.(*Template).ParseFiles text/template.(*Template).ParseGlob text/template.ParseFiles text/template.ParseGlob"},
	{"again.zone", 0, 0, "time.LoadLocation time.LoadLocationFromTZData"},
	{"again.certificate", 0, 0, "crypto/tls.LoadX509KeyPair crypto/tls.X509KeyPair crypto/x509.SystemCertPool crypto/x509.(*CertPool).AppendCertsFromPEM crypto/x509.ParsePKCS1PrivateKey crypto/x509.ParsePKCS8PrivateKey crypto/x509.ParseECPrivateKey crypto/x509.ParsePKIXPublicKey crypto/x509.ParsePKCS1PublicKey " +
		"github.com/golang-jwt/jwt*.ParseRSAPrivateKeyFromPEM github.com/golang-jwt/jwt*.ParseRSAPublicKeyFromPEM github.com/golang-jwt/jwt*.ParseECPrivateKeyFromPEM github.com/golang-jwt/jwt*.ParseECPublicKeyFromPEM github.com/golang-jwt/jwt*.ParseEdPrivateKeyFromPEM github.com/golang-jwt/jwt*.ParseEdPublicKeyFromPEM golang.org/x/crypto/ssh.ParsePrivateKey* golang.org/x/crypto/ssh.ParseRawPrivateKey* golang.org/x/crypto/ssh.ParseAuthorizedKey"},
	{"again.encoding", 0, 0, "crypto/x509.MarshalPKIXPublicKey crypto/x509.MarshalPKCS1PublicKey crypto/x509.MarshalPKCS1PrivateKey crypto/x509.MarshalPKCS8PrivateKey crypto/x509.MarshalECPrivateKey golang.org/x/crypto/ssh.MarshalAuthorizedKey golang.org/x/crypto/ssh.MarshalPrivateKey*"},
	{"again.key", 0, 0, "crypto/rsa.GenerateKey crypto/ecdsa.GenerateKey crypto/ed25519.GenerateKey"},
	{"again.password", 0, 0, "golang.org/x/crypto/bcrypt.GenerateFromPassword golang.org/x/crypto/bcrypt.CompareHashAndPassword golang.org/x/crypto/scrypt.Key golang.org/x/crypto/argon2.Key golang.org/x/crypto/argon2.IDKey golang.org/x/crypto/pbkdf2.Key crypto/pbkdf2.Key*"},
	{"again.random", 0, 0, "math/rand.NewSource math/rand.Seed math/rand.(*rngSource).Seed"},
	{"again.random", 20, 0, "math/rand.newSource"},
	{"again.connection", 0, 0, "database/sql.Open google.golang.org/grpc.NewClient google.golang.org/grpc.Dial google.golang.org/grpc.DialContext " +
		"github.com/redis/go-redis/v9.New* github.com/go-redis/redis/*.NewClient github.com/go-redis/redis/*.NewClusterClient go.mongodb.org/mongo-driver/mongo.Connect go.mongodb.org/mongo-driver/v2/mongo.Connect " +
		"github.com/nats-io/nats.go.Connect go.etcd.io/etcd/client/v3.New* github.com/rabbitmq/amqp091-go.Dial* github.com/jackc/pgx/v5/pgxpool.New* github.com/jackc/pgx/v4/pgxpool.Connect* " +
		"github.com/segmentio/kafka-go.NewWriter github.com/IBM/sarama.NewSyncProducer* github.com/IBM/sarama.NewAsyncProducer* github.com/IBM/sarama.NewClient github.com/gocql/gocql.(*ClusterConfig).CreateSession " +
		"k8s.io/client-go/kubernetes.NewForConfig* github.com/elastic/go-elasticsearch/*.NewClient github.com/elastic/go-elasticsearch/*.NewDefaultClient gorm.io/gorm.Open"},
	{"again.validator", 0, 0, "github.com/go-playground/validator/*.New github.com/go-playground/validator/*.(*Validate).extractStructCache github.com/gorilla/schema.NewDecoder github.com/gorilla/schema.NewEncoder " +
		"github.com/gorilla/schema.(*cache).create github.com/json-iterator/go.Config.Froze github.com/jmoiron/sqlx/reflectx.NewMapper*"},
	{"again.process", 0, 0, "os.StartProcess os/exec.LookPath"},
	{"again.names", 0, 0, "os/user.* net.LookupHost net.LookupIP net.LookupAddr net.(*Resolver).Lookup* net.InterfaceAddrs net.Interfaces"},
	{"again.settings", 0, 0, "github.com/spf13/viper.Get* github.com/spf13/viper.IsSet github.com/spf13/viper.(*Viper).Get* github.com/spf13/viper.(*Viper).IsSet " +
		"github.com/knadh/koanf*.(*Koanf).Get github.com/knadh/koanf*.(*Koanf).Exists github.com/knadh/koanf*.(*Koanf).Bool github.com/knadh/koanf*.(*Koanf).Int github.com/knadh/koanf*.(*Koanf).Int64 github.com/knadh/koanf*.(*Koanf).String github.com/knadh/koanf*.(*Koanf).Strings github.com/knadh/koanf*.(*Koanf).Float64 github.com/knadh/koanf*.(*Koanf).Duration"},
	{"again.config", 0, 0, "gopkg.in/yaml.* sigs.k8s.io/yaml.* github.com/goccy/go-yaml.* github.com/BurntSushi/toml.* github.com/pelletier/go-toml* github.com/spf13/viper.*"},
	{"again.table", 0, 0, "strings.NewReplacer strings.(*Replacer).build strings.(*Replacer).buildOnce hash/crc32.MakeTable hash/crc64.MakeTable golang.org/x/text/collate.New golang.org/x/text/language.NewMatcher"},
	{"again.program", 0, 0, "github.com/google/cel-go/cel.(*Env).Compile* github.com/google/cel-go/cel.(*Env).Parse* github.com/google/cel-go/cel.(*Env).Check github.com/google/cel-go/cel.(*Env).Program github.com/google/cel-go/cel.(*Env).Extend github.com/google/cel-go/cel.NewEnv* " +
		"github.com/open-policy-agent/opa/rego.(*Rego).PrepareForEval github.com/open-policy-agent/opa/v1/rego.(*Rego).PrepareForEval github.com/xeipuuv/gojsonschema.NewSchema github.com/Knetic/govaluate.NewEvaluableExpression* " +
		"github.com/itchyny/gojq.Parse github.com/vektah/gqlparser* github.com/graphql-go/graphql.NewSchema github.com/graph-gophers/graphql-go.ParseSchema github.com/robfig/cron*.ParseStandard"},
	{"file.read", 0, 0, "os.ReadFile os.Open os.OpenFile os.(*File).Read os.(*File).ReadAt"},
	{"parse", 0, 0, "encoding/json.Unmarshal encoding/json.(*Decoder).Decode encoding/xml.Unmarshal encoding/xml.(*Decoder).Decode encoding/gob.(*Decoder).Decode encoding/csv.(*Reader).Read encoding/csv.(*Reader).ReadAll gopkg.in/yaml.* sigs.k8s.io/yaml.* github.com/goccy/go-yaml.* github.com/BurntSushi/toml.* github.com/pelletier/go-toml* github.com/goccy/go-json.Unmarshal github.com/json-iterator/go.*"},
	{"again.stack", 0, 0, "runtime/debug.Stack runtime/debug.PrintStack"},
	{"again.lazy", 0, 0, "sync.(*Once).doSlow"},
	{"once", 0, 0, "sync.(*Once).doSlow"},

	// Results of which less may do: a set "result" holds all kinds.
	{"result.split", 0, 0, "strings.Split strings.SplitN strings.SplitAfter strings.Fields strings.FieldsFunc bytes.Split bytes.SplitN bytes.SplitAfter bytes.Fields bytes.FieldsFunc"},
	{"result.query", 0, 0, "net/url.(*URL).Query"},
	{"result.encode", 0, 0, "strconv.Itoa strconv.FormatInt strconv.FormatUint strconv.FormatFloat strconv.Quote time.Time.Format encoding/hex.EncodeToString encoding/base64.(*Encoding).EncodeToString"},
	{"result.hash", 0, 0, "crypto/sha256.New crypto/sha256.New224 crypto/sha512.New crypto/sha512.New384 crypto/sha512.New512_256 crypto/sha1.New crypto/md5.New crypto/sha1.(*digest).Sum crypto/md5.(*digest).Sum"},
	{"result.hash", 0, 23, "crypto/sha256.(*digest).Sum crypto/sha512.(*digest).Sum"},
	{"result.hash", 24, 0, "crypto/internal/fips140/sha256.(*Digest).Sum crypto/internal/fips140/sha512.(*Digest).Sum"},
	{"result.collect", 23, 0, "slices.Collect* slices.Sorted*"},
	{"result.match", 0, 0, "regexp.(*Regexp).Find*"},
	{"result.repeat", 0, 0, "strings.Repeat"},
	{"result.address", 0, 0, "net.ParseIP"},
	{"result.header", 0, 0, "net/textproto.CanonicalMIMEHeaderKey net/textproto.canonicalMIMEHeaderKey"},

	// Calls that do more than their names tell: a set "library" holds all kinds.
	{"library.context", 0, 0, "context.(*valueCtx).Value"},
	{"library.context", 17, 0, "context.value"},
	{"library.stack", 0, 0, "runtime.Callers runtime.Caller runtime.CallersFrames runtime.(*Frames).Next runtime.FuncForPC runtime.(*Func).FileLine runtime.Stack runtime/debug.Stack"},
	{"library.match", 0, 0, "regexp.(*Regexp).*"},
	{"library.template", 0, 0, "text/template.(*Template).Execute text/template.(*Template).ExecuteTemplate html/template.(*Template).Execute html/template.(*Template).ExecuteTemplate"},
	{"library.time", 0, 0, "time.Time.Format time.Time.AppendFormat time.Parse time.ParseInLocation"},
	{"library.compress", 0, 0, "compress/flate.(*Writer).Write compress/flate.(*Writer).Close compress/flate.(*Writer).Flush compress/flate.(*compressor).*"},
	{"library.hash", 0, 0, "crypto/sha256.Sum256 crypto/sha256.(*digest).* crypto/sha512.Sum512 crypto/sha512.(*digest).* crypto/sha1.Sum crypto/sha1.(*digest).* crypto/md5.Sum crypto/md5.(*digest).*"},
	{"library.hash", 24, 0, "crypto/internal/fips140/sha256.(*Digest).* crypto/internal/fips140/sha512.(*Digest).*"},
	{"library.sign", 0, 0, "crypto/rsa.SignPKCS1v15 crypto/rsa.SignPSS crypto/rsa.DecryptOAEP crypto/rsa.DecryptPKCS1v15 crypto/rsa.(*PrivateKey).Sign crypto/rsa.(*PrivateKey).Decrypt crypto/ecdsa.Sign crypto/ecdsa.SignASN1 crypto/ecdsa.(*PrivateKey).Sign"},
	{"library.random", 0, 0, "crypto/rand.Read crypto/rand.Int"},
	{"library.power", 0, 0, "math.Pow math.pow"},
	{"library.image", 0, 0, "image.(*RGBA).At image.(*RGBA64).At image.(*NRGBA).At image.(*NRGBA64).At image.(*Alpha).At image.(*Gray).At image.(*Gray16).At image.(*CMYK).At image.(*Paletted).At image.(*YCbCr).At image.(*NYCbCrA).At " +
		"image.(*RGBA).Set image.(*RGBA64).Set image.(*NRGBA).Set image.(*NRGBA64).Set image.(*Alpha).Set image.(*Gray).Set image.(*Gray16).Set image.(*CMYK).Set image.(*Paletted).Set image/color.(*modelFunc).Convert"},
	{"handshake", 0, 0, "crypto/tls.(*Conn).Handshake crypto/tls.(*Conn).HandshakeContext crypto/tls.(*Conn).handshakeContext"},

	{"rwmutex.read", 0, 0, "sync.(*RWMutex).RLock sync.(*RWMutex).RUnlock"},
	{"semaphore", 0, 0, "sync.runtime_SemacquireRWMutexR* sync.(*RWMutex).rUnlockSlow sync.runtime_Semrelease*"},

	{"bench.timer", 0, 0, "testing.(*B).StartTimer testing.(*B).StopTimer testing.(*B).ResetTimer"},

	// What profilers cost, each by the functions that only it needs.
	{"profiler.memory", 0, 0, "runtime.profilealloc runtime.mProf_Malloc"},
	{"profiler.block", 0, 0, "runtime.blockevent runtime.saveblockevent runtime.mutexevent"},
	{"profiler.trace", 22, 0, "runtime.traceLocker.* runtime.traceEventWriter.* runtime.traceStack runtime.traceWriter.*"},
	{"profiler.trace", 0, 21, "runtime.traceEvent runtime.traceEventLocked runtime.traceGoPark runtime.traceGoUnpark runtime.traceGoStart"},
}

// sets finds the set of a name quickly: whole names in a map, beginnings in a
// list.
var sets = sync.OnceValue(func() map[string]*nameSet {
	m := map[string]*nameSet{}
	of := func(set string) *nameSet {
		if m[set] == nil {
			m[set] = &nameSet{whole: map[string]bool{}}
		}
		return m[set]
	}
	for _, row := range signatures {
		of(row.set).add(row.names)
		if kind, _, ok := strings.Cut(row.set, "."); ok && (kind == "again" || kind == "result" || kind == "library") {
			of(kind).add(row.names)
		}
	}
	return m
})

// nameSet is all names of a set, of every release.
type nameSet struct {
	whole map[string]bool
	begin []string
	ends  [][2]string // a beginning and an end
}

// add takes in the names of a row.
func (s *nameSet) add(names string) {
	for name := range strings.FieldsSeq(names) {
		// A "*" before a type is that of a method.
		begin, ok := strings.CutSuffix(name, "*")
		first, last, between := strings.Cut(strings.ReplaceAll(begin, "(*", "(\x00"), "*")
		switch {
		case between:
			if ok {
				panic("BUG: two wildcards in " + name)
			}
			s.ends = append(s.ends, [2]string{first, strings.ReplaceAll(last, "\x00", "*")})
		case ok:
			s.begin = append(s.begin, begin)
		default:
			s.whole[name] = true
		}
	}
}

// has tells whether a function is of the set.
func (s *nameSet) has(function string) bool {
	if s.whole[function] {
		return true
	}
	for _, begin := range s.begin {
		if strings.HasPrefix(function, begin) {
			return true
		}
	}
	return slices.ContainsFunc(s.ends, func(e [2]string) bool {
		return strings.HasPrefix(function, e[0]) && strings.HasSuffix(function, e[1])
	})
}

// inSet tells whether a function is of a set of the table.
func inSet(set, function string) bool {
	s := sets()[set]
	if s == nil {
		panic("BUG: no signatures of " + set)
	}
	return s.has(function)
}

// anything is a set of all functions.
const anything = "*"

// view is what rules ask of every frame of a profile, asked once.
type view struct {
	t       *stack.Table
	origins []stack.Origin

	mu    sync.Mutex
	known map[string][]bool
}

// views keeps the view of each profile. The zero value is ready for use.
type views struct {
	mu sync.Mutex
	of map[*profile.Profile]*view
}

// view returns what is known of a profile's frames.
func (in *Input) view(p *profile.Profile) *view {
	in.views.mu.Lock()
	defer in.views.mu.Unlock()
	if in.views.of == nil {
		in.views.of = map[*profile.Profile]*view{}
	}
	v := in.views.of[p]
	if v == nil {
		scope := in.Session.Scope()
		v = &view{t: p.Stacks, known: map[string][]bool{}, origins: make([]stack.Origin, p.Stacks.NumFrames())}
		for id := range v.origins {
			f := p.Stacks.Frame(stack.FrameID(id))
			if v.origins[id] = scope.Of(f); generated(f.Func) {
				v.origins[id] = stack.Runtime
			}
		}
		in.views.of[p] = v
	}
	return v
}

// generated tells whether a function is made by the tool chain and not written
// by anybody: hash and equality of a type, the way into C.
func generated(function string) bool {
	return strings.HasPrefix(function, "type:.") || strings.HasPrefix(function, "type..") ||
		strings.Contains(function, "._Cfunc_") || strings.Contains(function, "._cgo")
}

// marks tells of each frame whether it is of a set; no set gives nil.
func (v *view) marks(set string) []bool {
	if set == "" {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	m, ok := v.known[set]
	if !ok {
		m = make([]bool, v.t.NumFrames())
		for id := range m {
			m[id] = set == anything || inSet(set, v.t.Frame(stack.FrameID(id)).Func)
		}
		v.known[set] = m
	}
	return m
}
