package block_test

import (
	"errors"
	"testing"

	"loupe/store"
	"loupe/store/block"
	"loupe/store/storetest"
)

// dir is a place that a store is opened in.
type dir struct {
	name string
	opt  block.Options
}

func (d dir) Open(t *testing.T) store.Engine {
	t.Helper()
	e, err := block.Open(d.name, d.opt)
	if err != nil {
		t.Fatal(err)
	}
	if damage := e.Damage(); len(damage) > 0 {
		t.Errorf("the store is damaged: %v", damage)
	}
	return e
}

func TestSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener { return dir{t.TempDir(), block.Options{}} })
}

// TestSuiteSmall runs the suite with so little memory that blocks are made all the time.
func TestSuiteSmall(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Opener { return dir{t.TempDir(), block.Options{HeadBytes: 60 << 10}} })
}

func TestLocked(t *testing.T) {
	name := t.TempDir()
	e, err := block.Open(name, block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := block.Open(name, block.Options{}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("opened twice: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := block.Open(name, block.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}
