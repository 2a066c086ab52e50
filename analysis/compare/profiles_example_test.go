package compare_test

import (
	"fmt"

	"loupe/analysis/compare"
	"loupe/format/profile"
	"loupe/format/profile/profiletest"
)

func ExampleProfiles() {
	read := func(picture string) []*profile.Profile {
		p, err := profile.Decode(profiletest.Profile(picture), profile.Options{})
		if err != nil {
			panic(err)
		}
		return []*profile.Profile{p}
	}
	before := read(`
		main.main   main.main
		main.find   main.parse
		= 100       300`)
	after := read(`
		main.main   main.main   main.main
		main.find   main.parse  main.find
		main.scan
		= 190       310         110`)

	d, err := compare.Profiles(before, after, compare.ProfileOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range d.Rows {
		if x := d.Key(&r); x.A != 0 || x.B != 0 {
			fmt.Printf("%-11s %3.0f → %3.0f  %s\n", r.Name, x.A, x.B, x.Significance)
		}
	}
	for _, p := range d.Paths {
		fmt.Printf("%v %+.0f\n", p.Path, p.Difference.Estimate)
	}
	// Output:
	// main.scan     0 → 190  grew
	// main.find   100 → 110  no difference shown
	// main.parse  300 → 310  no difference shown
	// [main.main main.find main.scan] +190
}
