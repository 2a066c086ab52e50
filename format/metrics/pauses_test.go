package metrics

import (
	"fmt"
	"testing"
	"time"
)

func TestParsePauses(t *testing.T) {
	got := ParsePauses([]byte(`{"t_ns":1,"vars":{"memstats":{"PauseNs":[5,7,0],"PauseEnd":[1100,1050,0]}}}
{"t_ns":2,"vars":{"memstats":{"PauseNs":[5,7,9],"PauseEnd":[1100,1050,1200]}}}
{"t_ns":3,"vars":{"memstats":{}}}
{"t_ns":4,"vars":{"memstats":{"PauseNs":[1`), time.Unix(0, 1000))
	if want := "[{43 50} {95 100} {191 200}]"; fmt.Sprint(got) != want {
		t.Errorf("pauses = %v, want %s", got, want)
	}
}
