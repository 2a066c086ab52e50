package block

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loupe/store"
)

// manifestName is the one file that says what counts. It is replaced as a whole, so that
// every change of blocks happens at one moment.
const manifestName = "manifest.json"

// manifest is that file.
type manifest struct {
	Schema  string        `json:"schema"`
	Next    uint64        `json:"next"`    // the last number that was given to a file
	Flushed uint64        `json:"flushed"` // the last log whose profiles are in blocks
	Blocks  []string      `json:"blocks"`
	Pins    []savedPin    `json:"pins,omitempty"`
	Archive *archiveState `json:"archive,omitempty"`
}

// savedPin is a pin as it is saved.
type savedPin struct {
	Name     string    `json:"name"`
	Matchers string    `json:"matchers"`
	Start    time.Time `json:"start"`
	End      time.Time `json:"end"`
	Reason   string    `json:"reason,omitempty"`
}

const manifestSchema = "loupe.store/1"

func (m manifest) clone() manifest {
	m.Blocks, m.Pins, m.Archive = slices.Clone(m.Blocks), slices.Clone(m.Pins), m.Archive.clone()
	return m
}

// save writes the manifest, with its checksum in front.
func (m manifest) save(fs filesystem) error {
	m.Schema = manifestSchema
	data, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		return err
	}
	data = fmt.Appendf(nil, "%08x\n%s\n", crc32.Checksum(data, castagnoli), data)
	if err := writeWhole(fs, manifestName, data); err != nil {
		return fmt.Errorf("cannot write the manifest: %w", err)
	}
	return nil
}

// readManifest reads what save has written.
func readManifest(data []byte) (m manifest, err error) {
	sum, rest, ok := bytes.Cut(data, []byte("\n"))
	rest = bytes.TrimSuffix(rest, []byte("\n"))
	if !ok || string(sum) != fmt.Sprintf("%08x", crc32.Checksum(rest, castagnoli)) {
		return m, errCut
	}
	if err := json.Unmarshal(rest, &m); err != nil {
		return m, err
	}
	if m.Schema != manifestSchema {
		return m, fmt.Errorf("it has the schema %.40q, want %s", m.Schema, manifestSchema)
	}
	return m, nil
}

// Is tells whether a folder is one of a store.
func Is(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, manifestName))
	return err == nil && info.Mode().IsRegular()
}

// recover brings the folder into the state of the manifest, and reads the logs that
// are not in blocks.
func (e *Engine) recover() error {
	names, err := e.fs.List()
	if err != nil {
		return err
	}
	if err := e.readState(names); err != nil {
		return err
	}
	var ids [][]store.ID
	live := slices.Clone(e.state.Blocks)
	for _, name := range live {
		b, one, err := openBlock(e.fs, name, &e.cache)
		if err != nil {
			e.damage = append(e.damage, fmt.Sprintf("%v: its profiles are left out (the file is kept)", err))
			continue
		}
		e.blocks = append(e.blocks, b)
		ids = append(ids, one)
	}
	for _, one := range ids {
		e.ids.Add(one...)
	}
	for _, name := range names {
		e.state.Next = max(e.state.Next, fileNumber(name))
		n, isLog := numberOf(name, ".log")
		_, isBlock := numberOf(name, ".block")
		switch {
		case strings.HasSuffix(name, ".tmp"), isBlock && !slices.Contains(live, name), isLog && n <= e.state.Flushed:
			e.fs.Remove(name)
		case isLog:
			if err := e.readLog(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// fileNumber returns the number in a name of ours, or 0.
func fileNumber(name string) uint64 {
	if n, ok := numberOf(name, ".log"); ok {
		return n
	}
	n, _ := numberOf(name, ".block")
	return n
}

// readState reads the manifest. Where there is none, all blocks count: a folder whose
// manifest was lost is put together again.
func (e *Engine) readState(names []string) error {
	data, err := readAll(e.fs, manifestName, 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		for _, name := range names {
			if _, ok := numberOf(name, ".block"); ok {
				e.state.Blocks = append(e.state.Blocks, name)
			}
		}
		if len(e.state.Blocks) == 0 {
			// From now on there is one before there is any block: a block that no manifest
			// names was never finished.
			return e.state.save(e.fs)
		}
		e.damage = append(e.damage, "the manifest is gone: all blocks count again, also those that others were made of")
		for _, name := range e.state.Blocks {
			if b, _, err := openBlock(e.fs, name, &e.cache); err == nil {
				e.state.Flushed = max(e.state.Flushed, b.index.log)
				b.release()
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	if e.state, err = readManifest(data); err != nil {
		return fmt.Errorf("cannot read %s: %w (remove it, and all blocks count again)", manifestName, err)
	}
	return nil
}

// unreadName is what is kept of a log that could not be read.
func unreadName(n uint64) string { return logName(n) + ".unread" }

// keepUnread keeps a part of a log, which itself goes when what could be read is in a block.
func (e *Engine) keepUnread(n uint64, unread []byte) error {
	f, err := e.fs.Create(unreadName(n))
	if err != nil {
		return err
	}
	_, err = f.Write(unread)
	return errors.Join(err, f.Sync(), f.Close(), e.fs.SyncDir())
}

// readLog makes a sealed head of a log.
func (e *Engine) readLog(n uint64) error {
	data, err := readAll(e.fs, logName(n), 1<<32)
	if err != nil {
		return err
	}
	h, unread := replay(n, data, e.known)
	switch {
	case len(unread) == 0:
	case recordBehind(unread):
		if err := e.keepUnread(n, unread); err != nil {
			return err
		}
		e.damage = append(e.damage, fmt.Sprintf("%s is damaged at byte %d: the %d bytes from there on, which were acknowledged, cannot be read (they are kept in %s)",
			logName(n), len(data)-len(unread), len(unread), unreadName(n)))
	default:
		e.damage = append(e.damage, fmt.Sprintf("the end of %s is cut or damaged: %d bytes, as a rule what was being written and not acknowledged when the process ended, are left out", logName(n), len(unread)))
	}
	if h.empty() {
		return e.fs.Remove(logName(n))
	}
	e.sealed = append(e.sealed, h)
	return nil
}
