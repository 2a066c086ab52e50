package recording

import (
	"slices"

	"loupe/value/secret"
)

// Files of a recording hold what a program knows: its memory, its log, its
// sources. Nobody but the user reads them unless the user says so.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// redacted returns r without the secrets that stand in addresses, arguments and
// messages: no caller has to think of it. Contents of entries stay as they are.
func (r record) redacted() record {
	switch {
	case r.Header != nil:
		h := *r.Header
		h.Title, h.Target, h.Made = secret.Text(h.Title), h.Target.redacted(), h.Made.redacted()
		r.Header = &h
	case r.Phase != nil:
		p := *r.Phase
		p.Error = secret.Text(p.Error)
		r.Phase = &p
	case r.Open != nil:
		e := *r.Open
		e.Source = secret.Text(e.Source)
		r.Open = &e
	case r.Entry != nil:
		e := *r.Entry
		e.Source = secret.Text(e.Source)
		r.Entry = &e
	case r.Mark != nil:
		m := *r.Mark
		m.Text = secret.Text(m.Text)
		r.Mark = &m
	case r.Missed != nil:
		m := *r.Missed
		m.Reason = secret.Text(m.Reason)
		r.Missed = &m
	}
	r.Note = secret.Text(r.Note)
	return r
}

// redacted returns t without what is secret in how the program was called, built
// or reached.
func (t Target) redacted() Target {
	if t.Kind == "url" {
		t.Name = secret.URL(t.Name)
	} else {
		t.Name = secret.Text(t.Name)
	}
	t.Args = secret.Args(t.Args)
	t.Env = slices.Clone(t.Env)
	for i := range t.Env {
		t.Env[i] = secret.Text(t.Env[i])
	}
	settings := make(map[string]string, len(t.BuildSettings))
	for key, value := range t.BuildSettings {
		settings[key] = secret.Text(value)
	}
	if t.BuildSettings != nil {
		t.BuildSettings = settings
	}
	return t
}

// redacted returns m without what is secret in the command line, and says whether there was
// something.
func (m *Made) redacted() *Made {
	if m == nil {
		return nil
	}
	out := *m
	out.Flags, out.Target, out.Args = secret.Args(m.Flags), secret.Text(m.Target), secret.Args(m.Args)
	out.Masked = m.Masked || out.Target != m.Target || !slices.Equal(out.Flags, m.Flags) || !slices.Equal(out.Args, m.Args)
	return &out
}
