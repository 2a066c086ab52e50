package web

import (
	"context"

	"loupe/insight"
)

var ruleEndpoints = []endpoint{
	all("rules", func(context.Context, *Server, *query) ([]*insight.Rule, error) { return insight.Rules(), nil }),
}
