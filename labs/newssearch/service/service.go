// Package service is the web side of newssearch: a form, its results, and
// static files.
package service

import (
	"bytes"
	"embed"
	"html/template"
	"log"
	"net/http"

	"loupe/labs/newssearch/search"
)

//go:embed static templates
var files embed.FS

// engines are the check boxes of the form, in their order.
var engines = []string{"cnn", "bbc", "nyt"}

// page is what the template shows.
type page struct {
	Term    string
	Engines []engine
	Results []search.Result
	Error   string
}

type engine struct {
	Name    string
	Checked bool
}

// handler serves the search page.
type handler struct {
	searcher *search.Searcher
	view     *template.Template
}

// Register adds the service's pages to mux.
func Register(mux *http.ServeMux, searcher *search.Searcher) {
	h := &handler{searcher, template.Must(template.ParseFS(files, "templates/search.html"))}
	mux.Handle("/search", h)
	mux.Handle("GET /static/", http.FileServerFS(files))
	mux.Handle("GET /{$}", http.RedirectHandler("/search", http.StatusFound))
}

// ServeHTTP answers the form: by GET or POST, the values in the query or in
// the body.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	if err := r.ParseForm(); err != nil {
		http.Error(w, "cannot read the form", http.StatusBadRequest)
		return
	}
	p := page{Term: r.Form.Get("term")}
	var names []string
	for _, name := range engines {
		on := r.Form.Get(name) == "on"
		p.Engines = append(p.Engines, engine{name, on})
		if on {
			names = append(names, name)
		}
	}
	if p.Term != "" && len(names) > 0 {
		var err error
		if p.Results, err = h.searcher.Search(r.Context(), p.Term, names); err != nil {
			log.Println(err)
			p.Error = "Not every source could be searched."
		}
	}
	var body bytes.Buffer
	if err := h.view.Execute(&body, p); err != nil {
		log.Println(err)
		http.Error(w, "cannot render the page", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write(body.Bytes())
}
