// Command busy is a program of some hundred goroutines that wait in all kinds of
// places of the standard library, when the collector has just been by: what is
// allocated is in use, but for the little that has been allocated since. It
// compiles with Go 1.21 and says "ready" when all is there.
package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"reflect"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"text/template"
	"time"
)

type tree struct {
	Name     string
	Numbers  []int
	Children map[string]*tree
}

var gate = make(chan bool) // is never opened

// serve has requests wait in handlers, over TCP and over TLS.
func serve(n int) {
	var all sync.WaitGroup
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var t tree
		json.NewDecoder(r.Body).Decode(&t)
		zw := gzip.NewWriter(w)
		json.NewEncoder(zw).Encode(&t)
		all.Done()
		<-gate
		zw.Close()
	}))
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		all.Done()
		<-gate
	}))
	all.Add(2 * n)
	for i := 0; i < n; i++ {
		body := fmt.Sprintf(`{"Name":"%d","Numbers":[1,2,3],"Children":{"x":{"Name":"y"}}}`, i)
		go http.Post(plain.URL, "application/json", strings.NewReader(body))
		go secure.Client().Post(secure.URL, "text/plain", strings.NewReader(body))
	}
	all.Wait()
}

func inCond(c *sync.Cond, i int) {
	text := fmt.Sprint("in a condition ", i)
	c.L.Lock()
	c.Wait()
	fmt.Println(text)
}

func inSelect(i int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	m := map[int]string{}
	for j := 0; j < i; j++ {
		m[j] = fmt.Sprint(j)
	}
	select {
	case <-ctx.Done():
	case <-gate:
	}
	fmt.Println(len(m))
}

func inReflection(i int) {
	defer func() { fmt.Println("deferred", i) }()
	f := reflect.ValueOf(func(t *tree, text string) {
		<-gate
		fmt.Println(t, text)
	})
	f.Call([]reflect.Value{reflect.ValueOf(&tree{Name: "called"}), reflect.ValueOf(fmt.Sprint("with ", i))})
}

func inMadeFunc(i int) {
	f := reflect.MakeFunc(reflect.TypeOf(func(*tree) *tree { return nil }), func(args []reflect.Value) []reflect.Value {
		<-gate
		return args
	})
	fmt.Println(f.Interface().(func(*tree) *tree)(&tree{Name: fmt.Sprint("made ", i)}))
}

func inSort(i int) {
	list := make([]*tree, i+2)
	for j := range list {
		list[j] = &tree{Name: fmt.Sprint(j)}
	}
	sort.Slice(list, func(a, b int) bool {
		<-gate
		return list[a].Name < list[b].Name
	})
}

func inPanic(i int) {
	defer func() {
		text := fmt.Sprint(recover())
		<-gate
		fmt.Println(text)
	}()
	var none []int
	fmt.Println(none[i])
}

func inPipe(i int) {
	r, w := io.Pipe()
	go func() {
		io.WriteString(w, strings.Repeat("x", 100+i))
		<-gate
		w.Close()
	}()
	for sc := bufio.NewScanner(r); sc.Scan(); {
		fmt.Println(sc.Text())
	}
}

func inTemplate(i int) {
	hold := template.FuncMap{"hold": func() string { <-gate; return "" }}
	t := template.Must(template.New("t").Funcs(hold).Parse("{{range .}}{{hold}}{{.}}{{end}}"))
	t.Execute(io.Discard, []string{fmt.Sprint(i)})
}

func main() {
	debug.SetGCPercent(-1)
	serve(50)
	cond := sync.NewCond(new(sync.Mutex))
	for i := 0; i < 30; i++ {
		i := i
		for _, f := range []func(int){inSelect, inReflection, inMadeFunc, inSort, inPanic, inPipe, inTemplate} {
			go f(i)
		}
		go inCond(cond, i)
		time.AfterFunc(time.Hour, func() { fmt.Println(i) })
	}
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err == nil {
		go l.Accept()
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	time.Sleep(500 * time.Millisecond)
	for i := 0; i < 3; i++ {
		runtime.GC()
	}
	fmt.Println("ready")
	for {
		time.Sleep(time.Hour)
	}
}
