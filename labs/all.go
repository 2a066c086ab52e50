package labs

// The labs that end by themselves are started anew in every phase. Five rounds
// of a second or two give the scheduler's samples, one a second, enough to
// say something.
var (
	short  = []string{"-rounds", "5", "-phases", "bare,cpu,trace"}
	loaded = []string{"-n", "10000", "-c", "100"}
	// What a form allocates is seen in its profiles; one round will do.
	allocating = []string{"-phases", "bare,cpu,allocs"}
	// Who waits for whom is in the profiles of blocking and of mutexes, and in
	// the trace.
	waiting = []string{"-phases", "bare,goroutine,block,mutex,trace"}
	// Where the time goes that is spent on computing.
	computing = []string{"-phases", "bare,cpu"}
	posting   = []string{"-m", "POST", "-n", "20000", "-c", "8"}
	// Slow enough for the connections that stay open to fit the limit of files.
	asking = []string{"-m", "POST", "-rate", "100/s", "-z", "4s", "-c", "8", "-interval", "100ms"}
	// What is in use, some collections later.
	growing = []string{"-phases", "bare:12s,heap"}
	rushing = []string{"-phases", "bare:1s,growth:4s", "-interval", "200ms"}
	staying = []string{"-phases", "bare:3s,goroutine,trace"}
	// What Go itself can prove, and how fast it becomes more.
	searched = []string{"-phases", "bare:1s,growth:2s,goroutineleak"}
	// The text of the goroutines says how many minutes they have waited.
	waited = []string{"-phases", "bare:13m,stacks"}
)

// common is a search that finds something in many items.
const common = "http://localhost:5000/search?term=people+in+graz&cnn=on&bbc=on&nyt=on"

// All lists the labs.
var All = []Lab{{
	Name:  "newssearch",
	Title: "a web service that searches three news feeds; allocates where it need not",
	Forms: []Form{
		{Name: "slow", Record: loaded, About: "lower-cases every text in every request"},
		{Name: "fixed", Args: []string{"-fixed"}, Record: loaded, About: "lower-cases each text once, when it is cached"},
		{Name: "common", Args: []string{"-ascii"}, URL: common, Record: loaded, About: "slow, with plain feeds and a term that a quarter of the items have"},
		{Name: "common-fixed", Args: []string{"-ascii", "-fixed"}, URL: common, Record: loaded, About: "the same, fixed: what is left is the standard library's"},
	},
	URL:   "http://localhost:5000/search?term=topic&cnn=on&bbc=on&nyt=on",
	Fixed: []string{"-fixed"},
}, {
	Name:  "newsfreq",
	Title: "counts a word in hundreds of RSS documents; one goroutine, hundreds, or one for each P",
	Pair:  [2]string{"find", "numcpu"},
	Forms: []Form{
		{Name: "find", Args: []string{"-mode", "find"}, Record: short, About: "one document after the other"},
		{Name: "fanout", Args: []string{"-mode", "fanout"}, Record: short, About: "a goroutine for each document"},
		{Name: "sem", Args: []string{"-mode", "sem"}, Record: short, About: "the same behind a semaphore with room for one on each P"},
		{Name: "numcpu", Args: []string{"-mode", "numcpu"}, Record: short, About: "a worker for each P"},
		{Name: "actor", Args: []string{"-mode", "actor"}, Record: short, About: "a pipeline with a goroutine for each step"},
		{Name: "tasks", Args: []string{"-mode", "tasks"}, Record: short, About: "numcpu with a task for each document and regions for its steps"},
	},
}, {
	Name:  "mandelbrot",
	Title: "paints the Mandelbrot set; too few goroutines, too many, or too little in a message",
	Pair:  [2]string{"seq", "row"},
	Forms: []Form{
		{Name: "seq", Args: []string{"-mode", "seq"}, Record: short, About: "one goroutine"},
		{Name: "px", Args: []string{"-mode", "px"}, Record: short, About: "a goroutine for each of a million pixels"},
		{Name: "row", Args: []string{"-mode", "row"}, Record: short, About: "a goroutine for each of a thousand rows"},
		{Name: "workers", Args: []string{"-mode", "workers"}, Record: short, About: "one worker, pixels over an unbuffered channel"},
		{Name: "workers4", Args: []string{"-mode", "workers", "-workers", "4"}, Record: short, About: "four of them"},
		{Name: "buffered", Args: []string{"-mode", "buffered", "-workers", "4"}, Record: short, About: "four, and room for all pixels in the channel"},
		{Name: "batched", Args: []string{"-mode", "batched", "-workers", "4"}, Record: short, About: "four, and a row in each message"},
	},
}, {
	Name:  "mandelweb",
	Title: "a web service that paints the Mandelbrot set; idle Ps, and too few of them",
	Pair:  [2]string{"light", "rows"},
	Forms: []Form{
		{Name: "light", Record: []string{"-c", "1", "-q", "1"}, About: "one request a second, one goroutine for each"},
		{Name: "rows", Args: []string{"-mode", "row"}, Record: []string{"-c", "1", "-q", "1"}, About: "one request a second, a goroutine for each row"},
		{Name: "overload", Record: []string{"-c", "5", "-q", "5"}, About: "up to 25 requests a second"},
	},
	URL: "http://localhost:8080/mandelbrot",
}, {
	Name:  "sieve",
	Title: "finds primes with a chain of goroutines; all hand-over, no work",
	Pair:  [2]string{"chain", "segmented"},
	Forms: []Form{
		{Name: "chain", Args: []string{"-mode", "chain"}, Record: short, About: "a goroutine for each prime, unbuffered channels"},
		{Name: "buffered", Args: []string{"-mode", "buffered"}, Record: short, About: "the same with room for 256 numbers in each channel"},
		{Name: "segmented", Args: []string{"-mode", "segmented"}, Record: short, About: "no goroutines, an array"},
	},
}, {
	Name:  "daisy",
	Title: "passes numbers through 50,000 goroutines; one works at a time",
	Pair:  [2]string{"chain", "stream"},
	Forms: []Form{
		{Name: "chain", Args: []string{"-mode", "chain"}, Record: short, About: "one number at a time"},
		{Name: "stream", Args: []string{"-mode", "stream"}, Record: short, About: "all numbers at once"},
		{Name: "loop", Args: []string{"-mode", "loop"}, Record: short, About: "no goroutines"},
	},
}, {
	Name:  "pingpong",
	Title: "two goroutines that wait for each other; a switch for every hit",
	Pair:  [2]string{"single", "batched"},
	Forms: []Form{
		{Name: "single", Args: []string{"-mode", "single"}, Record: short, About: "one ball at a time"},
		{Name: "batched", Args: []string{"-mode", "batched"}, Record: short, About: "256 balls at a time"},
		{Name: "alone", Args: []string{"-mode", "alone"}, Record: short, About: "one goroutine plays both sides"},
	},
}, {
	Name:  "stream",
	Title: "corrects a name in a stream of messages; an interface takes two values to the heap",
	Pair:  [2]string{"one", "two"},
	Forms: []Form{
		{Name: "one", Args: []string{"-mode", "one"}, Record: allocating, About: "a window that is read with io.ReadFull"},
		{Name: "two", Args: []string{"-mode", "two"}, Record: allocating, About: "a state, byte by byte"},
	},
}, {
	Name:  "gzippool",
	Title: "compresses its metrics for each answer; makes what a pool could keep",
	Forms: []Form{
		{Name: "slow", Args: []string{"-mode", "slow"}, Record: allocating, About: "gzip.NewWriter for each answer"},
		{Name: "fixed", Args: []string{"-mode", "fixed"}, Record: allocating, About: "a writer and a buffer of a sync.Pool"},
	},
	Slow:  []string{"-mode", "slow"},
	Fixed: []string{"-mode", "fixed"},
}, {
	Name:  "sendjson",
	Title: "a web service that answers with JSON; builds it out of maps and boxes",
	Forms: []Form{
		{Name: "slow", Args: []string{"-mode", "slow"}, Record: posting, About: "maps, fmt.Sprintf and an encoder for each request"},
		{Name: "fixed", Args: []string{"-mode", "fixed"}, Record: posting, About: "structs that are made once, and an encoder of a pool"},
	},
	URL:   "http://localhost:4000/sendjson",
	Slow:  []string{"-mode", "slow"},
	Fixed: []string{"-mode", "fixed"},
}, {
	Name:  "mutex",
	Title: "counts words of pages that it fetches; holds a lock too long, or takes it too often",
	Forms: []Form{
		{Name: "held", Args: []string{"-mode", "held"}, Record: waiting, About: "the cache is locked while a page is fetched"},
		{Name: "each", Args: []string{"-mode", "each"}, Record: waiting, About: "the table is locked for each word"},
		{Name: "fixed", Args: []string{"-mode", "fixed"}, Record: waiting, About: "fetches without a lock, and a table for each reader"},
	},
	Fixed: []string{"-mode", "fixed"},
}, {
	Name:  "blocking",
	Title: "asks a database; its workers wait for one connection",
	Pair:  [2]string{"one", "all"},
	Forms: []Form{
		{Name: "one", Args: []string{"-mode", "one"}, Record: waiting, About: "a pool of one connection for sixteen workers"},
		{Name: "all", Args: []string{"-mode", "all"}, Record: waiting, About: "a connection for each worker"},
		{Name: "chan", Args: []string{"-mode", "chan"}, Record: waiting, About: "the same, and every price goes over an unbuffered channel"},
	},
}, {
	Name:  "httptrace",
	Title: "asks a service over TLS, and times the phases; closes bodies that it has not read",
	Pair:  [2]string{"fresh", "reused"},
	Forms: []Form{
		{Name: "fresh", Args: []string{"-mode", "fresh"}, Record: computing, About: "every request dials and shakes hands"},
		{Name: "reused", Args: []string{"-mode", "reused"}, Record: computing, About: "reads bodies to their end, and keeps one connection"},
	},
}, {
	Name:  "leak",
	Title: "takes orders and keeps what it should let go; to be watched until it is too large",
	Forms: []Form{
		{Name: "map", Args: []string{"-mode", "map"}, Record: growing, About: "a map from which nobody deletes"},
		{Name: "goroutine", Args: []string{"-mode", "goroutine"}, Record: staying, About: "goroutines that wait for a payment for ever"},
		{Name: "quote", Args: []string{"-mode", "quote"}, Record: searched, About: "goroutines that answer when nobody listens any more"},
		{Name: "cache", Args: []string{"-mode", "cache"}, Record: growing, About: "a cache without a bound"},
		{Name: "queue", Args: []string{"-mode", "queue", "-rate", "20000", "-for", "3s", "-stay", "10m"}, Record: rushing, About: "a rush of orders that wait to be delivered, and then are"},
		{Name: "stuck", Args: []string{"-mode", "goroutine", "-for", "2s", "-stay", "30m"}, Record: waited, Long: true, About: "goroutines that have waited for more than ten minutes"},
		{Name: "fixed", Args: []string{"-mode", "fixed"}, Record: growing, About: "lets go of what is paid, stops waiting, and bounds the cache"},
	},
	Fixed: []string{"-mode", "fixed"},
}, {
	Name:  "stacktrace",
	Title: "fails, and leaves a stack trace to read; a server that gets a signal",
	Pair:  [2]string{"server", "bodies"},
	Forms: []Form{
		{Name: "words", Args: []string{"-mode", "words"}, Dies: true, About: "panics with a slice, a string and an integer on the stack"},
		{Name: "packed", Args: []string{"-mode", "packed"}, Dies: true, About: "panics with four values of one byte"},
		{Name: "server", Args: []string{"-mode", "server"}, Record: posting, About: "a web service to be sent SIGQUIT under load"},
		{Name: "bodies", Args: []string{"-mode", "bodies"}, Record: asking, About: "the same service asks another one, and closes no answer"},
	},
	URL: "http://localhost:4000/sendjson",
}}
