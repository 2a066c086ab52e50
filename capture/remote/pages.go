package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"loupe/source/bounded"
)

// pagesPath is where the pages of loupe serve ask.
const pagesPath = "/ui/api/"

// maxPages bounds an answer of those.
const maxPages = 64 << 20

// Pages asks what the pages of loupe serve ask, in a range, and reads the answer into what out points
// to. A Pyroscope has none of it.
func (s *Server) Pages(ctx context.Context, name string, r Range, values url.Values, out any) error {
	u := *s.base
	u.Path += pagesPath + name
	values.Set("from", fmt.Sprint(r.From.UnixMilli()))
	values.Set("until", fmt.Sprint(r.Until.UnixMilli()))
	u.RawQuery = values.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	s.access.Show(req)
	resp, err := s.client.Do(req)
	if err != nil {
		var way *url.Error
		if errors.As(err, &way) {
			err = way.Err // the address is named once
		}
		return nothingf("%s does not answer: %w (is it loupe serve, and is this its address?)", s, err)
	}
	defer resp.Body.Close()
	body, err := bounded.ReadAll(resp.Body, s.String(), maxPages)
	if err != nil {
		return err
	}
	var problem struct{ Error string }
	told := json.Unmarshal(body, &problem) == nil && problem.Error != ""
	switch {
	case resp.StatusCode == http.StatusNotFound && told:
		return nothingf("%s: %s", s, problem.Error)
	case resp.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s does not answer this: only loupe serve does, a Pyroscope does not", s)
	case resp.StatusCode != http.StatusOK && told:
		return fmt.Errorf("%s refuses: %s", s, problem.Error)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s refuses: %s", s, said(resp.Status, body))
	}
	if err := json.Unmarshal(body, out); err != nil {
		return fmt.Errorf("cannot read the answer of %s: %w (is it another version of loupe?)", s, err)
	}
	return nil
}
