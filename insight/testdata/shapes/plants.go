package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// plants are all cases, by the rule that has to find them.
var plants = []plant{
	{"al11", "both", formatting}, {"al12", "allocs", compressing}, {"al13", "allocs", buffering}, {"al14", "both", compiling},
	{"al15", "allocs", pooling}, {"al15box", "allocs", boxing}, {"al16", "cpu", growing}, {"al17", "allocs", waiting}, {"al21", "allocs", reading}, {"al22", "allocs", decoding},
	{"cp02", "cpu", feeds}, {"cp03", "cpu", answers}, {"cp03reflect", "cpu", reflecting}, {"cp04", "cpu", writing}, {"cp05", "cpu", handing}, {"cp06", "cpu", appending},
	{"cp12", "cpu", clocking}, {"cp13", "both", logging}, {"cp14", "cpu", deepening}, {"cp16", "cpu", contending}, {"cp17", "cpu", hashing},
}

var (
	sink  []byte
	total int
	keys  = func() (keys []string) {
		for i := range 2000 {
			keys = append(keys, "a/rather/long/path/of/some/file/in/a/tree/number/"+strconv.Itoa(i)+"/with/an/end.html")
		}
		return keys
	}()
	page = []byte(strings.Repeat("<p>some text of a page, about nothing</p>\n", 500))
)

// work is what the twins do besides.
func work(n int) {
	for i := range n {
		total += i*i ^ total>>3
	}
}

func formatting(clean bool) {
	buf := sink[:0]
	for i := range 2000 {
		if clean {
			buf = append(buf, "item "...)
			buf = strconv.AppendInt(buf, int64(i), 10)
			buf = append(buf, " of "...)
			buf = append(buf, keys[i]...)
		} else {
			buf = append(buf, fmt.Sprintf("item %d of %s", i, keys[i])...)
		}
		work(50)
	}
	sink = buf
}

var writer = gzip.NewWriter(io.Discard)

func compressing(clean bool) {
	for range 5 {
		if clean {
			writer.Reset(io.Discard)
			writer.Write(page)
			writer.Close()
			total++
			total--
		} else {
			z := gzip.NewWriter(io.Discard)
			z.Write(page)
			z.Close()
		}
		sink = append([]byte(nil), page...)
	}
}

var readers = sync.Pool{New: func() any { return bufio.NewReader(nil) }}

func buffering(clean bool) {
	for range 100 {
		var r *bufio.Reader
		if clean {
			r = readers.Get().(*bufio.Reader)
			r.Reset(io.LimitReader(bytes.NewReader(page), 1<<20))
		} else {
			r = bufio.NewReader(io.LimitReader(bytes.NewReader(page), 1<<20))
		}
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				break
			}
			total += len(line)
		}
		if clean {
			readers.Put(r)
		}
		sink = append([]byte(nil), page[:1000]...)
	}
}

var number = regexp.MustCompile(`number/(\d+)/with`)

func compiling(clean bool) {
	for _, key := range keys[:200] {
		re := number
		if !clean {
			re = regexp.MustCompile(`number/(\d+)/with`)
		}
		total += len(re.FindStringSubmatch(key))
	}
}

var scratch = sync.Pool{New: func() any { return new([4096]byte) }}

func pooling(clean bool) {
	for i := range 1000 {
		buf := scratch.Get().(*[4096]byte)
		n := copy(buf[:], page)
		sink = append([]byte(nil), buf[:n/8]...)
		if !clean && i%3 != 0 {
			continue // an early return
		}
		scratch.Put(buf)
	}
}

var (
	slicePool   = sync.Pool{New: func() any { return make([]byte, 0, 128) }}
	pointerPool = sync.Pool{New: func() any { b := make([]byte, 0, 128); return &b }}
)

func boxing(clean bool) {
	for _, key := range keys {
		if clean {
			p := pointerPool.Get().(*[]byte)
			*p = append((*p)[:0], key...)
			total += len(*p)
			pointerPool.Put(p)
		} else {
			b := slicePool.Get().([]byte)
			b = append(b[:0], key...)
			total += len(b)
			slicePool.Put(b)
		}
		if len(key)%8 == 0 {
			sink = []byte(key)
		}
	}
}

func growing(clean bool) {
	var m map[string]int
	if clean {
		m = make(map[string]int, len(keys))
	} else {
		m = map[string]int{}
	}
	for i, key := range keys {
		m[key] = i
	}
	total += len(m)
}

func waiting(clean bool) {
	values := make(chan int, 1)
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	for i := range 1000 {
		values <- i
		if clean {
			timer.Reset(time.Minute)
			select {
			case v := <-values:
				total += v
			case <-timer.C:
			}
		} else {
			select {
			case v := <-values:
				total += v
			case <-time.After(time.Minute):
			}
		}
		sink = append([]byte(nil), keys[i][:20]...)
	}
}

func reading(clean bool) {
	for range 50 {
		r := bytes.NewReader(page)
		if clean {
			body := make([]byte, r.Len())
			io.ReadFull(r, body)
			sink = body
		} else {
			sink, _ = io.ReadAll(io.LimitReader(r, 1<<20))
		}
	}
}

type order struct {
	ID    int      `json:"id" xml:"id,attr"`
	Name  string   `json:"name" xml:"name"`
	Lines []string `json:"lines" xml:"line"`
}

var (
	orderJSON = []byte(`{"id": 17, "name": "somebody", "lines": ["one", "two", "three"]}`)
	orderXML  = []byte(`<order id="17"><name>somebody</name><line>one</line><line>two</line><line>three</line></order>`)
)

func decoding(clean bool) {
	for range 500 {
		var o order
		if clean {
			json.Unmarshal(orderJSON, &o)
		} else {
			json.NewDecoder(bytes.NewReader(orderJSON)).Decode(&o)
		}
		total += o.ID
	}
}

var decoded = map[string]order{}

func feeds(clean bool) {
	for range 50 {
		var o order
		if known, ok := decoded[string(orderXML)]; ok && clean {
			o = known
		} else {
			xml.Unmarshal(orderXML, &o)
			decoded[string(orderXML)] = o
		}
		total += o.ID
		work(3000)
	}
}

func answers(clean bool) {
	o := order{1, "somebody", []string{"one", "two", "three"}}
	for i := range 200 {
		o.ID = i
		if clean {
			sink = append(sink[:0], `{"id":`...)
			sink = strconv.AppendInt(sink, int64(i), 10)
			sink = append(sink, `,"name":"somebody","lines":["one","two","three"]}`...)
		} else {
			sink, _ = json.Marshal(&o)
		}
		work(300)
	}
}

func reflecting(clean bool) {
	o := order{1, "somebody", nil}
	for i := range 2000 {
		if clean {
			o.ID = i
		} else {
			reflect.ValueOf(&o).Elem().FieldByName("ID").SetInt(int64(i))
		}
		work(50)
	}
}

func writing(clean bool) {
	f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 64<<10)
	defer w.Flush()
	for _, key := range keys {
		if clean {
			w.WriteString(key)
			work(50)
		} else {
			f.WriteString(key)
		}
	}
}

func handing(clean bool) {
	const size = 256
	if clean {
		batches := make(chan []int)
		go func() {
			for range 200 {
				batches <- make([]int, size)
			}
			close(batches)
		}()
		for batch := range batches {
			for _, v := range batch {
				total += v
				work(100)
			}
		}
		return
	}
	var wg sync.WaitGroup
	items, back := make(chan int), make(chan int)
	wg.Add(1)
	go func() {
		defer wg.Done()
		for v := range items {
			back <- v
		}
	}()
	for i := range 10 * size {
		items <- i
		total += <-back
	}
	close(items)
	wg.Wait()
}

func appending(clean bool) {
	var all []byte
	if clean {
		all = sink[:0]
	}
	for range 200 {
		all = append(all, page...)
		if clean {
			work(10_000)
		}
	}
	if clean {
		sink = all
	}
}

func clocking(clean bool) {
	begin := time.Now()
	var spent time.Duration
	for i := range 10_000 {
		if !clean || i%1000 == 0 {
			spent = time.Since(begin)
		}
		work(100)
	}
	total += int(spent)
}

var (
	quiet = slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelWarn}))
	chat  = slog.New(slog.NewTextHandler(io.Discard, nil))
)

func logging(clean bool) {
	log := chat
	if clean {
		log = quiet
	}
	for i, key := range keys {
		log.LogAttrs(context.Background(), slog.LevelInfo, "request", slog.Int("n", i), slog.String("path", key))
		sink = append([]byte(nil), key...)
		work(500)
	}
}

func deepening(clean bool) {
	if clean {
		for range 500 {
			total += deep(40)
		}
		return
	}
	var wg sync.WaitGroup
	for range 500 {
		wg.Go(func() { deep(40) })
	}
	wg.Wait()
}

//go:noinline
func deep(n int) int {
	var local [256]byte
	local[n%256] = byte(n)
	if n == 0 {
		return 0
	}
	return deep(n-1) + int(local[(n*7)%256])
}

func contending(clean bool) {
	values := make(chan int, 64)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 2000 {
				select {
				case values <- i:
				case <-values:
				}
				if clean {
					work2(2000)
				}
			}
		})
	}
	wg.Wait()
}

// work2 is work for several goroutines.
func work2(n int) (sum int) {
	for i := range n {
		sum += i*i ^ sum>>3
	}
	return sum
}

var (
	byPath = func() map[string]int {
		m := map[string]int{}
		for i, key := range keys {
			m[key] = i
		}
		return m
	}()
)

func hashing(clean bool) {
	for i, key := range keys {
		if clean {
			total += len(keys[i])
		} else {
			total += byPath[key]
		}
	}
}
