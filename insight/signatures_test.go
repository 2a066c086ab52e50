package insight

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loupe/value/stack"
)

// tree is the source of one release of Go.
type tree struct {
	root  string
	minor int
}

// trees are the installed release and the others that the module cache holds;
// none is downloaded.
func trees(t *testing.T) []tree {
	t.Helper()
	release := regexp.MustCompile(`go1\.(\d+)`)
	var out []tree
	add := func(root, version string) {
		m := release.FindStringSubmatch(version)
		if m == nil {
			return
		}
		minor, _ := strconv.Atoi(m[1])
		if _, err := os.Stat(filepath.Join(root, "src/runtime/proc.go")); err == nil && minor >= 17 && !slices.ContainsFunc(out, func(t tree) bool { return t.minor == minor }) {
			out = append(out, tree{root, minor})
		}
	}
	add(runtime.GOROOT(), runtime.Version())
	cache := os.Getenv("GOMODCACHE")
	if home, err := os.UserHomeDir(); cache == "" && err == nil {
		cache = filepath.Join(home, "go/pkg/mod")
	}
	if testing.Short() {
		return out
	}
	others, _ := filepath.Glob(filepath.Join(cache, "golang.org/toolchain@*"))
	for _, root := range others {
		add(root, filepath.Base(root)[len("toolchain@v0.0.1-"):])
	}
	return out
}

// funcLine is the first line of a function: its receiver's type and its name.
var funcLine = regexp.MustCompile(`(?m)^func (?:\((?:\w+ )?(\*?)(\w+)(?:\[[^\]]*\])?\) )?(\w+)`)

// declared reads the names of the functions of a package: "(*T).M" and "f".
func declared(root, pkg string) map[string]bool {
	names := map[string]bool{}
	files, _ := filepath.Glob(filepath.Join(root, "src", pkg, "*.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range funcLine.FindAllSubmatch(text, -1) {
			switch name := string(m[3]); {
			case len(m[1]) > 0:
				names["(*"+string(m[2])+")."+name] = true
			case len(m[2]) > 0:
				names[string(m[2])+"."+name] = true
			default:
				names[name] = true
			}
		}
	}
	return names
}

// notDeclared are functions of assembly alone, or of the systems on which the
// name does not stand in a Go file.
var notDeclared = strings.Fields("aeshashbody runtime.aeshashbody memhashbody runtime.duffcopy runtime.duffzero")

// TestSignatures looks every name of the standard library up in the sources
// of the releases for which it is said to hold.
func TestSignatures(t *testing.T) {
	for _, tr := range trees(t) {
		packages := map[string]map[string]bool{}
		for _, row := range signatures {
			if row.since > tr.minor || row.until > 0 && row.until < tr.minor {
				continue
			}
			for name := range strings.FieldsSeq(row.names) {
				pkg := stack.Package(strings.TrimSuffix(name, "*"))
				if strings.HasSuffix(name, "*") || slices.Contains(notDeclared, name) || !stack.IsStandard(pkg) {
					continue
				}
				if packages[pkg] == nil {
					packages[pkg] = declared(tr.root, pkg)
				}
				if !packages[pkg][strings.TrimPrefix(name, pkg+".")] {
					t.Errorf("go1.%d has no %s, which set %s expects", tr.minor, name, row.set)
				}
			}
		}
	}
}

// TestSets knows names of several releases, and not their neighbours.
func TestSets(t *testing.T) {
	f := func(set, function string, want bool) {
		t.Helper()
		if got := inSet(set, function); got != want {
			t.Errorf("inSet(%s, %s) = %v", set, function, got)
		}
	}
	f("fmt", "fmt.Sprintf", true)
	f("fmt", "fmt.(*pp).doPrintf", false)
	f("map.grow", "runtime.hashGrow", true)
	f("map.grow", "internal/runtime/maps.(*table).rehash", true)
	f("map.grow", "internal/runtime/maps.(*Map).PutSlot", false)
	f("syscall", "runtime/internal/syscall.Syscall6", true)
	f("syscall", "internal/runtime/syscall/linux.Syscall6", true)
	f("logging", "log.Printf", true)
	f("logging", "log/slog.(*Logger).Info", true)
	f("logging", "logger.Printf", false)
	f("logging", "go.uber.org/zap/zapcore.(*ioCore).Write", true)
	f("logging", "math.Log", false)
	defer func() {
		if recover() == nil {
			t.Error("a set that does not exist has names")
		}
	}()
	fmt.Println(inSet("none", "main.main"))
}

// TestNameSet: names may be whole, begin with a text, or begin and end with one, as that of a
// module of any version does.
func TestNameSet(t *testing.T) {
	s := &nameSet{whole: map[string]bool{}}
	s.add("a.New b.New* github.com/x/validator/*.(*Validate).learn net.(*Dialer).*")
	for name, want := range map[string]bool{
		"a.New": true, "a.NewMore": false, "b.NewMore": true,
		"github.com/x/validator/v10.(*Validate).learn": true, "github.com/x/validator/v10.(*Validate).Struct": false,
		"net.(*Dialer).DialContext": true,
	} {
		if got := s.has(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, known := range []string{"github.com/go-playground/validator/v10.New", "github.com/golang-jwt/jwt/v5.ParseRSAPrivateKeyFromPEM"} {
		if !inSet("again", known) {
			t.Errorf("%s is in no set", known)
		}
	}
}
