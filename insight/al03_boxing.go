package insight

import (
	"strings"

	"loupe/analysis/facts"
	"loupe/analysis/why"
)

var al03 = &Rule{
	ID: "AL03", Title: "Boxing: values are converted to interfaces",
	About: "Converting a non-pointer value to an interface copies it to the heap (boxing), as with each number passed to fmt.Sprintf. Constants " +
		"and values below 256 that fit in a byte cost nothing and are not counted.",
	Asks:   []facts.Question{facts.Allocations, facts.Compiled},
	Params: reasonParams("AL03", "Datadog's boxing rule (5 %)"),
	Check: func(r *Rule, in *Input) []Finding {
		return r.reasoned(in, "values converted to interfaces", tellBoxing)
	},
}

// isBox tells whether a value was copied into an interface.
func isBox(s *allocSite, c *why.Cause) bool {
	return c.Mechanism == why.Interface || c.Mechanism&why.Interface != 0 && strings.HasPrefix(s.Runtime, "runtime.convT")
}

func tellBoxing(_ *Input, _ *reasons, g *reasonLine, f *Finding) {
	c := &g.sites[0].Causes[0]
	to := ""
	flowHas(c, func(how, expr string) bool {
		if how == "call parameter" {
			to = strings.TrimSuffix(expr, "(... argument...)")
		}
		return to != ""
	})
	switch {
	case strings.HasPrefix(to, "fmt."):
		f.Advice = "Format without interfaces: append to a []byte with strconv.AppendInt and similar functions, or concatenate the results of strconv.Itoa."
	case strings.Contains(c.Expr, "[]"):
		f.Advice = "The slice header is copied to the heap: pass a pointer to it, or a dedicated type. In a sync.Pool store *[]byte and put back the pointer that Get returned: &buf of a local variable allocates just the same." + whenDone
	case to == "":
		f.Advice = "The interface is returned or kept: return the concrete type, or use a type parameter."
	default:
		f.Advice = "Let the function take the concrete type or a type parameter, or pass a pointer to a value that is already on the heap."
	}
	if to != "" && !strings.HasPrefix(to, "fmt.") {
		f.Doubts = append(f.Doubts, "if "+to+" keeps the value, it has to be on the heap anyway")
	}
}
