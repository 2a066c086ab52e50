package target_test

import (
	"fmt"

	"loupe/capture/load/target"
)

func ExampleParse() {
	feed, err := target.ParseFeed([]byte("name,city\nAnna,New York\nBo,Bonn\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := target.Parse(`/{{seq}}?name={{csv "name"}}&city={{csv "city"}}`, target.InURL, &target.Sources{Feed: feed})
	if err != nil {
		fmt.Println(err)
		return
	}
	v := target.NewValues(1)
	for seq := range int64(3) {
		v.Begin(seq)
		fmt.Printf("%s\n", t.Append(nil, v))
	}
	// Output:
	// /0?name=Anna&city=New%20York
	// /1?name=Bo&city=Bonn
	// /2?name=Anna&city=New%20York
}

func ExampleReader_Curl() {
	c, err := target.Reader{}.Curl(`curl -k -d 'a=1' "http://localhost:8080/form"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	t := c.Targets[0]
	fmt.Println(t.Method, t.URL, t.Body, "insecure:", c.Insecure)
	for _, f := range t.Header {
		fmt.Printf("%s: %s\n", f.Name, f.Value)
	}
	// Output:
	// POST http://localhost:8080/form a=1 insecure: true
	// Accept: */*
	// Content-Type: application/x-www-form-urlencoded
}
