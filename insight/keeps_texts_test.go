package insight

import "testing"

// TestHolderOfTexts: a text that is put together where it is given to a function is followed to the map or the list in which that one keeps it.
func TestHolderOfTexts(t *testing.T) {
	const book = "\nfunc (l *ledger) book(id string, n int) {\n\tif l.seen[id] {\n\t\treturn\n\t}\n\tl.seen[id] = true\n}\ntype ledger struct{ seen map[string]bool; all []string; n int }"
	const add = "\nfunc (l *ledger) book(id string, n int) {\n\tl.all = append(l.all, id)\n}\ntype ledger struct{ seen map[string]bool; all []string; n int }"
	const reads = "\nfunc (l *ledger) book(id string, n int) {\n\tl.n += len(id)\n}\ntype ledger struct{ seen map[string]bool; all []string; n int }"
	for _, c := range []heldCase{
		{"a key that is put together", "func f(l *ledger, n int) {\n\tl.book(\"payment-\"+strconv.Itoa(n), 5)\n}" + book, "l.seen", 10, nil},
		{"of a number in it", "func f(l *ledger, n int) {\n\tl.book(fmt.Sprintf(\"payment-%d\", n), 5)\n}" + book, "l.seen", 10, nil},
		{"a conversion", "func f(l *ledger, b []byte) {\n\tl.book(string(b), 5)\n}" + book, "l.seen", 10, nil},
		{"into a list", "func f(l *ledger, n int) {\n\tl.book(\"payment-\"+strconv.Itoa(n), 5)\n}" + add, "l.all", 7, nil},
		{"only its length", "func f(l *ledger, n int) {\n\tl.book(\"payment-\"+strconv.Itoa(n), 5)\n}" + reads, "", 0, nil},
		{"the text of what another function makes", "func f(l *ledger, n int) {\n\tl.book(\"payment-\"+load(n).name, 5)\n}" + book, "", 0, nil},
		{"a sum of numbers", "func f(l *ledger, n int) {\n\tl.put(n+len(make([]byte, n)))\n}\nfunc (l *ledger) put(n int) {\n\tl.of[n] = true\n}\ntype ledger struct{ of map[int]bool }", "", 0, nil},
	} {
		c.check(t)
	}
}
