package pprof

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// Settings are the named configurations that pprof keeps in its settings file
// (settings.json in the folder pprof of the user's configuration): those that
// it has saved can be used here, and the other way round.
type Settings struct {
	names   []string
	configs []Config
}

// ParseSettings reads a settings file. Empty input means that there are none.
func ParseSettings(data []byte) (*Settings, error) {
	s := &Settings{}
	if len(data) == 0 {
		return s, nil
	}
	var file struct {
		Configs []map[string]any `json:"configs"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("cannot parse settings: %w", err)
	}
	for _, fields := range file.Configs {
		name, _ := fields["name"].(string)
		c := Config{DivideBy: 1} // what is left out of the file is zero, not the default
		for key, value := range fields {
			f := FindField(key)
			if f == nil || f.Name != key || !f.Saved {
				continue // the name, or an option of another version
			}
			text := fmt.Sprint(value)
			if x, ok := value.(float64); ok {
				text = strconv.FormatFloat(x, 'g', -1, 64)
			}
			if err := f.Set(&c, key, text); err != nil {
				return nil, fmt.Errorf("cannot parse settings: configuration %q: %s: %w", name, key, err)
			}
		}
		s.names, s.configs = append(s.names, name), append(s.configs, c)
	}
	return s, nil
}

// Names returns the names of the configurations.
func (s *Settings) Names() []string { return slices.Clone(s.names) }

// Find returns the configuration with a name. Options that are not saved are
// taken from the configuration in use.
func (s *Settings) Find(name string, now Config) (Config, bool) {
	i := slices.Index(s.names, name)
	if i < 0 {
		return now, false
	}
	c := s.configs[i]
	for n := range Fields {
		if f := &Fields[n]; !f.Saved && f.Name != "granularity" {
			_ = f.Set(&c, f.Name, f.Get(&now)) // a value that was there fits
		}
	}
	return c, true
}

// Save adds a configuration, or replaces the one with its name.
func (s *Settings) Save(name string, c Config) {
	if i := slices.Index(s.names, name); i >= 0 {
		s.configs[i] = c
		return
	}
	s.names, s.configs = append(s.names, name), append(s.configs, c)
}

// Delete removes a configuration and says whether there was one.
func (s *Settings) Delete(name string) bool {
	i := slices.Index(s.names, name)
	if i < 0 {
		return false
	}
	s.names, s.configs = slices.Delete(s.names, i, i+1), slices.Delete(s.configs, i, i+1)
	return true
}

// Encode returns the text of the settings file.
func (s *Settings) Encode() ([]byte, error) {
	list := make([]map[string]any, len(s.names))
	for i, name := range s.names {
		list[i] = map[string]any{"name": name}
		for n := range Fields {
			f := &Fields[n]
			if !f.Saved {
				continue
			}
			switch v := f.at(&s.configs[i]).(type) {
			case *string:
				if *v != "" {
					list[i][f.Name] = *v
				}
			case *int:
				if *v != 0 {
					list[i][f.Name] = *v
				}
			case *float64:
				if *v != 0 {
					list[i][f.Name] = *v
				}
			case *bool:
				if *v {
					list[i][f.Name] = true
				}
			}
		}
	}
	return json.MarshalIndent(map[string]any{"configs": list}, "", "  ")
}
