package protobuf_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"loupe/value/protobuf"
)

type colour int32

func (colour) Names() []string { return []string{"NONE", "RED"} }

type inner struct {
	Name string  `pb:"1,name"`
	Deep *inner  `pb:"2,deep"`
	Many []int32 `pb:"3,many"`
}

type outer struct {
	Text     string    `pb:"1,some_text"`
	Int      int64     `pb:"2,an_int"`
	Small    int32     `pb:"3,small"`
	Unsigned uint64    `pb:"4,unsigned"`
	Fixed    uint64    `pb:"5,fixed,fixed"`
	Flag     bool      `pb:"6,flag"`
	Real     float64   `pb:"7,real"`
	Data     []byte    `pb:"8,data"`
	Hex      []byte    `pb:"9,hex,hex"`
	Colour   colour    `pb:"10,colour"`
	Maybe    *int64    `pb:"11,maybe"`
	One      *inner    `pb:"12,one"`
	Messages []inner   `pb:"13,messages"`
	Texts    []string  `pb:"14,texts"`
	Ints     []int64   `pb:"15,ints"`
	Fixeds   []uint64  `pb:"16,fixeds,fixed"`
	Reals    []float64 `pb:"17,reals"`
	Chunks   [][]byte  `pb:"300,chunks"`
	ID       string    `pb:"18,profile_typeID"`
}

func full() outer {
	zero := int64(0)
	return outer{
		Text: "a\"\n<é", Int: math.MinInt64, Small: -3, Unsigned: math.MaxUint64, Fixed: 1 << 63, Flag: true, Real: -0.1,
		Data: []byte{0, 255, 62}, Hex: []byte{0xab}, Colour: 1, Maybe: &zero,
		One:      &inner{Name: "x", Deep: &inner{Many: []int32{-1, 0, 300}}},
		Messages: []inner{{}, {Name: "y"}}, Texts: []string{"", "t"}, Ints: []int64{0, -1, 1 << 40},
		Fixeds: []uint64{0, 9}, Reals: []float64{0, math.Inf(-1)}, Chunks: [][]byte{{1}, {2, 3}}, ID: "id",
	}
}

func TestRoundTrip(t *testing.T) {
	want := full()
	var got, gotJSON outer
	if err := protobuf.Unmarshal(protobuf.Marshal(want), &got, 1<<20); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v, %v", got, want, err)
	}
	text := protobuf.MarshalJSON(&want)
	if err := protobuf.UnmarshalJSON(text, &gotJSON, 1<<20); err != nil || !reflect.DeepEqual(gotJSON, want) {
		t.Errorf("%s is %+v, want %+v, %v", text, gotJSON, want, err)
	}
	for _, s := range []string{`"someText":`, `"anInt":"-9223372036854775808"`, `"small":-3`, `"hex":"ab"`, `"colour":"RED"`, `"maybe":"0"`, `"profileTypeID":"id"`, `"-Infinity"`} {
		if !bytes.Contains(text, []byte(s)) {
			t.Errorf("%s lacks %s", text, s)
		}
	}
	if b := protobuf.Marshal(outer{}); len(b) != 0 {
		t.Errorf("the empty message has the bytes %v", b)
	}
	if s := string(protobuf.MarshalJSON(outer{})); s != "{}" {
		t.Errorf("the empty message is %s", s)
	}
}

// TestJSONForms holds what else readers of the JSON form must take.
func TestJSONForms(t *testing.T) {
	f := func(text string, want outer) {
		t.Helper()
		var got outer
		if err := protobuf.UnmarshalJSON([]byte(text), &got, 1<<20); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v, %v", text, got, want, err)
		}
	}
	f(`{"some_text":"t","an_int":1e3,"unknown":{"a":[1,{"b":null}]},"texts":null}`, outer{Text: "t", Int: 1000})
	f(`{"colour":1,"data":"_-8"}`, outer{Colour: 1, Data: []byte{0xff, 0xef}})
	f(`{"hex":"AB","flag":true,"real":2,"unsigned":"7"}`, outer{Hex: []byte{0xab}, Flag: true, Real: 2, Unsigned: 7})
	for _, bad := range []string{``, `[]`, `{`, `{"an_int":1.5}`, `{"small":3000000000}`, `{"unsigned":-1}`, `{"flag":"true"}`, `{"hex":"x"}`, `{"data":"*"}`, `{"texts":"t"}`, `{"one":3}`, `{} {}`, `{"colour":"BLUE"}`} {
		if err := protobuf.UnmarshalJSON([]byte(bad), new(outer), 1<<20); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestUnmarshalErrors(t *testing.T) {
	f := func(data, want string) {
		t.Helper()
		if err := protobuf.Unmarshal([]byte(data), new(outer), 1<<20); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("% x: %v, want %q", data, err, want)
		}
	}
	f("\x0a\x05ab", "cut or malformed")
	f("\x08\x01", "wire type")
	f("\x00\x01", "number 0")
	f("\x7a\x01\x80", "cut or malformed")                    // packed numbers
	f("\x82\x01\x03abc", "has 3 bytes")                      // packed fixed numbers
	f("\x62\x04\x0a\x09ab", "one: byte 0 of 4")              // a message in a message
	f("\x0b", "cut or malformed")                            // a group
	f("\x62"+strings.Repeat("\x80", 11)+"\x01", "malformed") // an endless length
}

// TestMemory holds that small messages cannot ask for much.
func TestMemory(t *testing.T) {
	const n = 1 << 20
	empty := bytes.Repeat([]byte{13<<3 | 2, 0}, n) // a million empty structs
	list := []byte(`{"messages":[{}` + strings.Repeat(",{}", n) + `]}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err1 := protobuf.Unmarshal(empty, new(outer), 1<<20)
	err2 := protobuf.UnmarshalJSON(list, new(outer), 1<<20)
	runtime.ReadMemStats(&after)
	if !errors.Is(err1, protobuf.ErrMemory) || !errors.Is(err2, protobuf.ErrMemory) {
		t.Errorf("%v, %v", err1, err2)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("a bound of 1 MB is %d bytes", used)
	}
	deep := []byte(`{"one":` + strings.Repeat(`{"deep":`, 1000))
	if err := protobuf.UnmarshalJSON(deep, new(outer), 1<<20); err == nil || !strings.Contains(err.Error(), "64 deep") {
		t.Error(err)
	}
}

// TestValidStrings: readers of proto3 refuse strings that are not UTF-8.
func TestValidStrings(t *testing.T) {
	var got outer
	if err := protobuf.Unmarshal(protobuf.Marshal(outer{Text: "a\xffb"}), &got, 100); err != nil || got.Text != "a\uFFFDb" {
		t.Errorf("%q, %v", got.Text, err)
	}
}

func FuzzUnmarshal(f *testing.F) {
	f.Add(protobuf.Marshal(full()))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again outer
		if protobuf.Unmarshal(data, &m, 1<<20) != nil {
			return
		}
		b := protobuf.Marshal(m)
		if err := protobuf.Unmarshal(b, &again, 1<<30); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(protobuf.Marshal(again), b) {
			t.Fatalf("% x is not % x", protobuf.Marshal(again), b)
		}
	})
}

func FuzzUnmarshalJSON(f *testing.F) {
	f.Add(protobuf.MarshalJSON(full()))
	f.Add([]byte(`{"unknown":[{}],"an_int":1e3}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again outer
		if protobuf.UnmarshalJSON(data, &m, 1<<20) != nil {
			return
		}
		b := protobuf.MarshalJSON(m)
		if err := protobuf.UnmarshalJSON(b, &again, 1<<30); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
		if !bytes.Equal(protobuf.MarshalJSON(again), b) {
			t.Fatalf("%s is not %s", protobuf.MarshalJSON(again), b)
		}
	})
}
