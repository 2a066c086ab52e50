package insight

import "testing"

// TestPausesBefore: a pause before a loop that asks until an answer suits delays what is ready already; one that spreads or
// keeps a rate, that comes after a look, or that stands before another kind of loop does not. The pause is on line 5.
func TestPausesBefore(t *testing.T) {
	const polls = "for {\nst, err := get(id)\nif err != nil {\nreturn err\n}\nif st.Done {\nreturn nil\n}\ntime.Sleep(d)\n}"
	for _, c := range []struct {
		name, text string
		want       bool
		after      string
	}{
		{"before a loop", "n := 0\ntime.Sleep(first)\n" + polls, true, ""},
		{"by a setting", "if c.First > 0 {\ntime.Sleep(c.First)\n}\n" + polls, true, ""},
		{"by a delay's setting", "if c.Delay > 0 {\ntime.Sleep(c.Delay)\n}\n" + polls, true, ""},
		{"with an end", "n := 0\ntime.Sleep(first)\nend := time.Now().Add(most)\nfor time.Now().Before(end) {\nif ready(id) {\nreturn nil\n}\ntime.Sleep(d)\n}", true, ""},
		{"with a ticker", "n := 0\ntime.Sleep(first)\nt := time.NewTicker(d)\ndefer t.Stop()\nfor {\nif ready(id) {\nreturn nil\n}\n<-t.C\n}", true, ""},
		{"by the condition", "n := 0\ntime.Sleep(first)\nfor !ready(id) {\ntime.Sleep(d)\n}", true, ""},
		{"a select", "select {\ncase <-time.After(first):\ncase <-ctx.Done():\nreturn ctx.Err()\n}\n" + polls, true, ""},
		{"a bounded number of looks", "n := 0\ntime.Sleep(first)\nfor i := 0; i < 10; i++ {\nif ready(id) {\nreturn nil\n}\ntime.Sleep(d)\n}", true, ""},
		{"until it works", "n := 0\ntime.Sleep(first)\nfor {\nif err := get(id); err == nil {\nreturn nil\n}\ntime.Sleep(d)\n}", true, ""},
		{"after it is created", "id := api.Create(name)\ntime.Sleep(first)\n" + polls, true, "api.Create"},
		{"after it is killed", "kill(id)\ntime.Sleep(first)\n" + polls, true, "kill"},
		{"after a text is made", "id := fmt.Sprint(n)\ntime.Sleep(first)\n" + polls, true, ""},

		{"it has looked", "if st, _ := get(id); st.Done { return nil }\ntime.Sleep(d)\n" + polls, false, ""},
		{"if it is not ready", "if !ready(id) {\ntime.Sleep(d)\n}\n" + polls, false, ""},
		{"spread by chance", "n := 0\ntime.Sleep(time.Duration(rand.Int63n(int64(first))))\n" + polls, false, ""},
		{"a backoff", "n := 0\ntime.Sleep(backoff)\n" + polls, false, ""},
		{"a further try", "if attempt > 0 {\ntime.Sleep(d)\n}\n" + polls, false, ""},
		{"after an error", "if err != nil {\ntime.Sleep(d)\n}\n" + polls, false, ""},
		{"a rate", "n := 0\ntime.Sleep(interval)\n" + polls, false, ""},
		{"a debounce: what has come meanwhile", "n := 0\ntime.Sleep(quiet)\nfor {\nselect {\ncase <-events:\nn++\ndefault:\nreturn n\n}\n}", false, ""},
		{"no more pauses", "n := 0\ntime.Sleep(first)\nfor {\nst := get(id)\nif st.Done {\nreturn nil\n}\n}", false, ""},
		{"pages", "n := 0\ntime.Sleep(first)\nfor {\nlist := get(from)\nall = append(all, list...)\nif len(list) < 100 {\nreturn nil\n}\nfrom += 100\ntime.Sleep(d)\n}", false, ""},
		{"items", "n := 0\ntime.Sleep(first)\nfor i := 0; i < len(ids); i++ {\nif find(ids[i]) {\nreturn nil\n}\ntime.Sleep(d)\n}", false, ""},
		{"reports for good", "n := 0\ntime.Sleep(first)\nfor {\nif err := report(id); err != nil {\nreturn err\n}\ntime.Sleep(d)\n}", false, ""},
		{"between turns", "for {\ntime.Sleep(d)\n" + polls + "\n}", false, ""},
		{"something else first", "n := 0\ntime.Sleep(first)\nprepare(id)\n" + polls, false, ""},
		{"another way", "if c.First > 0 {\ntime.Sleep(c.First)\n} else {\nprepare(id)\n}\n" + polls, false, ""},
		{"until an event or the time", "select {\ncase <-time.After(first):\ncase <-ready:\n}\n" + polls, false, ""},
		{"at the end", polls + "\ntime.Sleep(d)", false, ""},
	} {
		p, ok := pausesBefore(lineFive(c.text))
		if ok != c.want || p.after != c.after {
			t.Errorf("%s: %v, after %q", c.name, ok, p.after)
		}
	}
}
