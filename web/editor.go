package web

import (
	"context"
	"net/http"
)

var editorEndpoints = []endpoint{
	post(all("edit", func(_ context.Context, s *Server, q *query) (bool, error) {
		if s.opts.Edit == nil {
			return false, &refusal{http.StatusNotFound, "loupe does not know your editor: start it with LOUPE_EDITOR=\"code -g {file}:{line}\""}
		}
		line, err := q.number("line", 1)
		if err != nil {
			return false, err
		}
		return true, s.opts.Edit(q.Get("file"), int(line))
	})),
}
