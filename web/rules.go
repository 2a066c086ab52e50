package web

import (
	"context"

	figures "loupe/analysis/facts"
	"loupe/insight"
)

var ruleEndpoints = []endpoint{
	all("rules", func(context.Context, *Server, *query) ([]ruleView, error) { return ruleViews(), nil }),
}

// ruleView is a rule with its questions in words.
type ruleView struct {
	Rule *insight.Rule `json:"rule"`
	Asks []ruleAsks    `json:"asks"`
}

// ruleAsks is what a rule asks: "where goroutines wait", and what answers it.
type ruleAsks struct {
	Asks string   `json:"asks"`
	From []string `json:"from"`
}

func ruleViews() (all []ruleView) {
	for _, r := range insight.Rules() {
		v := ruleView{Rule: r, Asks: []ruleAsks{}}
		for _, q := range r.Asks {
			a := ruleAsks{Asks: q.Asks(), From: []string{}}
			for _, kind := range q.From() {
				a.From = append(a.From, figures.Describe(kind))
			}
			v.Asks = append(v.Asks, a)
		}
		all = append(all, v)
	}
	return all
}
