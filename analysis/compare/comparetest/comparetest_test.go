package comparetest

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
)

func recorded(t *testing.T) []Series {
	t.Helper()
	text, err := os.ReadFile("testdata/series.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRecorded: on rounds of real programs on a busy machine, equal sides are called different in
// no more than 5 of 100 comparisons, of which there are more than 300, by wall time and by CPU
// time. The same rounds, first all of one side and then all of the other, are what benchstat is
// given most of the time. The table of docs/statistics.md is that of these series.
func TestRecorded(t *testing.T) {
	all := recorded(t)
	for _, unit := range []string{"", "cpu-ns/op"} {
		var of []Series
		for _, s := range all {
			if strings.HasPrefix(s.Unit, unit) {
				of = append(of, s)
			}
		}
		for _, n := range []int{10, 20} {
			for _, j := range Judges {
				r := Wrong(of, j, n)
				t.Logf("%s: %s: %.1f %% of %d with %d rounds a side", unit, j.Name, r.Percent(), r.Of, n)
				if j.Name == Judges[0].Name && unit == "" && (n == 10 && r.Of < 300 || r.Percent() > 5) {
					t.Errorf("%.1f %% of %d comparisons of equal sides have a verdict", r.Percent(), r.Of)
				}
				if !j.InTurns && j.Name != "hyperfine, mean ± σ" && r.Percent() < 10 {
					t.Errorf("%s is wrong in %.1f %%: these series are too quiet to tell anything", j.Name, r.Percent())
				}
			}
		}
	}
}

// TestRead: what is written is read again, and what is no series is told.
func TestRead(t *testing.T) {
	all := []Series{
		{Name: "a", Unit: "ns/op", Work: []float64{1}, Rounds: [][]float64{{1, 2.5, 3e9}}},
		{Name: "b", Unit: "ns/op", Work: []float64{1, 1.03}, Rounds: [][]float64{{1, 2}, {3, 4}}},
	}
	var b bytes.Buffer
	if err := Write(&b, all); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(&b); err != nil || !reflect.DeepEqual(got, all) {
		t.Errorf("%v %+v", err, got)
	}
	for _, text := range []string{"a ns/op 1", "a ns/op 1 x", "a ns/op x 1"} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

// TestFound: an effect far beyond the noise is found by every judge, and one that was not recorded
// is not made up.
func TestFound(t *testing.T) {
	quiet := Series{Work: []float64{1, 1.03}, Rounds: make([][]float64, 2)}
	for i := range 80 {
		quiet.Rounds[0] = append(quiet.Rounds[0], 1000+float64(i*7%5))
		quiet.Rounds[1] = append(quiet.Rounds[1], 1030+float64(i*11%7))
	}
	row := Series{Work: []float64{1}, Rounds: quiet.Rounds[:1]}
	for _, j := range Judges {
		for _, s := range []*Series{&quiet, &row} {
			if r := Found(s, j, 20, 0.03); r.Of == 0 || r.Different != float64(r.Of) {
				t.Errorf("%s found 3 %% in %+v", j.Name, r)
			}
		}
		if r := Found(&quiet, j, 20, 0.05); r.Of != 0 {
			t.Errorf("%s found %+v of what nobody has recorded", j.Name, r)
		}
	}
}
