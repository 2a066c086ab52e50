package system

import (
	"fmt"
	"os"
	"path/filepath"
)

// UserCache is loupe's folder in this user's cache. Where there is none, as in a
// container without HOME, or none that can be written, it is a folder of this user
// among the temporary files.
func UserCache() (string, error) {
	dir, err := homeCache()
	if err == nil {
		return dir, nil
	}
	temporary := filepath.Join(os.TempDir(), fmt.Sprintf("loupe-cache-%d", os.Getuid()))
	made := os.Mkdir(temporary, 0o700)
	if OwnPrivateDir(temporary) {
		return temporary, nil
	}
	if made == nil || os.IsExist(made) {
		made = fmt.Errorf("%s is not a folder of this user alone", temporary)
	}
	return "", fmt.Errorf("cannot find a folder for the cache: %w; %w (set XDG_CACHE_HOME or HOME to a folder that can be written)", err, made)
}

// homeCache is loupe's folder in the cache below the user's home.
func homeCache() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "loupe")
	return dir, os.MkdirAll(dir, 0o700)
}

// GoEnvironment is what the go command must be told where the user has no home that can be
// written: where its caches are. It is empty where it finds them by itself.
func GoEnvironment() (env []string) {
	dir, err := UserCache()
	if err != nil {
		return nil
	}
	if _, err := homeCache(); err != nil && os.Getenv("GOCACHE") == "" {
		env = append(env, "GOCACHE="+filepath.Join(dir, "go-build"))
	}
	home, err := os.UserHomeDir()
	if err == nil {
		_, err = os.Stat(home)
	}
	if err != nil && os.Getenv("GOPATH") == "" && os.Getenv("GOMODCACHE") == "" {
		env = append(env, "GOMODCACHE="+filepath.Join(dir, "go-mod"))
	}
	return env
}
