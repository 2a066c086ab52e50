package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"sync"
)

// users is how many an answer has.
const users = 24

// sendMaps builds the answer out of maps.
func sendMaps(w http.ResponseWriter, r *http.Request) {
	list := []any{}
	for n := range users {
		list = append(list, map[string]any{
			"active": n%3 != 0,
			"id":     1000 + n,
			"mail":   fmt.Sprintf("user%d@%s.example.com", n, zone(n)),
			"name":   fmt.Sprintf("User Number %d", n),
			"score":  float64(n) * 1.25,
		})
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(map[string]any{"users": list}); err != nil {
		log.Println("cannot send:", err)
	}
}

// zone is the part of the house that a user lives in.
func zone(n int) string { return string(rune('a' + n%4)) }

// user has the fields in the order in which package json sorts the keys of a
// map, so that both forms send the same.
type user struct {
	Active bool    `json:"active"`
	ID     int     `json:"id"`
	Mail   string  `json:"mail"`
	Name   string  `json:"name"`
	Score  float64 `json:"score"`
}

// everyone is the answer of the fixed form, made once. It is never written
// again, so that requests may share it.
var everyone = sync.OnceValue(func() *answer {
	a := &answer{}
	for n := range users {
		a.Users = append(a.Users, user{
			Active: n%3 != 0, ID: 1000 + n, Score: float64(n) * 1.25,
			Mail: "user" + strconv.Itoa(n) + "@" + zone(n) + ".example.com",
			Name: "User Number " + strconv.Itoa(n),
		})
	}
	return a
})

type answer struct {
	Users []user `json:"users"`
}

// encoder writes into its own buffer: an encoder cannot be told to write
// elsewhere, but its buffer can be emptied.
type encoder struct {
	buf bytes.Buffer
	*json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := &encoder{}
	e.Encoder = json.NewEncoder(&e.buf)
	return e
}}

// sendPrepared encodes what is there already.
//
// Note: As this answer is always the same, its bytes could be kept too. The
// lab is about those that are not.
func sendPrepared(w http.ResponseWriter, r *http.Request) {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	e.buf.Reset()
	if err := e.Encode(everyone()); err != nil {
		log.Println("cannot encode:", err)
		http.Error(w, "cannot encode the answer", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if _, err := w.Write(e.buf.Bytes()); err != nil {
		log.Println("cannot send:", err)
	}
}
