//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// machine is a virtual machine.
type machine struct {
	arch, kernel, busybox, loader, options, cpu, out string
	memory                                           int // MiB
	patience                                         time.Duration
}

// drivers are the modules for the disk on which results come back, each after what
// it needs.
var drivers = []string{
	"virtio/virtio_ring.ko", "virtio/virtio.ko", "virtio/virtio_pci_legacy_dev.ko", "virtio/virtio_pci_modern_dev.ko",
	"virtio/virtio_pci.ko", "block/virtio_blk.ko",
}

// initScript is what the kernel starts. The last line of the machine says how
// the script ended.
const initScript = `#!/bin/sh
export PATH=/bin HOME=/root
/bin/busybox mkdir -p /proc /sys /dev /tmp /out /root /sys/fs/cgroup
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mount -t cgroup2 none /sys/fs/cgroup
mount -t securityfs none /sys/kernel/security
ifconfig lo 127.0.0.1 up
for module in /drivers/*.ko; do insmod $module; done
echo core >/proc/sys/kernel/core_pattern
chmod 1777 /tmp
cd /src
sh /script
echo "the script ended with $?"
cd / && tar c out >/dev/vda
sync
poweroff -f
`

// testScript runs the tests, but those that need the go command itself and would say
// the same on every machine.
func testScript(versions []string, tests string) string {
	list := strings.Join(versions, ",")
	return fmt.Sprintf(`export LOUPE_TOOLCHAINS=%s LOUPE_CORES=%s
bad=0
for pkg in %s; do
	echo "--- $pkg"
	(cd $pkg && ./tests -test.v -test.timeout 30m -test.skip 'TestLayouts|TestVariablesInCode' -test.run '%s') || bad=1
done
exit $bad
`, list, list, strings.Join(packages, " "), tests)
}

// furnish adds what starts the machine to its file system, and the files that a
// script asks for.
func (m *machine) furnish(root, script string, named []string) error {
	put := func(name string, text []byte) error {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, text, 0o755)
	}
	for name, text := range map[string]string{
		"init": initScript, "script": script, "bin/go": fmt.Sprintf(goScript, runtime.Version()), "src/README": "no sources\n",
		"etc/passwd": "root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n",
	} {
		if err := put(name, []byte(text)); err != nil {
			return err
		}
	}
	copies := map[string]string{"bin/busybox": m.busybox, "bin/sh": m.busybox}
	if m.loader != "" {
		copies[map[string]string{"arm64": "lib/ld-linux-aarch64.so.1", "amd64": "lib64/ld-linux-x86-64.so.2"}[m.arch]] = m.loader
	}
	for i, name := range drivers {
		// One that is not there is built into the kernel.
		if found, _ := filepath.Glob(filepath.Join(m.kernel, "lib/modules/*/kernel/drivers", name)); len(found) == 1 {
			copies[fmt.Sprintf("drivers/%d.ko", i)] = found[0]
		}
	}
	for _, name := range named {
		copies["files/"+filepath.Base(name)] = name
	}
	for to, from := range copies {
		text, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := put(to, text); err != nil {
			return err
		}
	}
	return nil
}

// archive writes a folder as the kernel takes it as its first file system
// (Documentation/driver-api/early-userspace/buffer-format.rst).
func archive(w io.Writer, root string) error {
	number := 0
	put := func(name string, mode fs.FileMode, text []byte) error {
		number++
		bits := 0o100755
		if mode.IsDir() {
			bits = 0o040755
		}
		var b bytes.Buffer
		fmt.Fprintf(&b, "070701%08x%08x%08x%08x%08x%08x%08x", number, bits, 0, 0, 1, 0, len(text))
		fmt.Fprintf(&b, "%08x%08x%08x%08x%08x%08x%s\x00", 0, 0, 0, 0, len(name)+1, 0, name)
		pad := func() { b.Write(make([]byte, -b.Len()&3)) }
		pad()
		b.Write(text)
		pad()
		_, err := w.Write(b.Bytes())
		return err
	}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			return put(name, fs.ModeDir, nil)
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		return put(name, 0, text)
	})
	if err != nil {
		return err
	}
	return put("TRAILER!!!", 0, nil)
}

// boot starts the machine with the file system below dir and waits for its end.
func (m *machine) boot(ctx context.Context, dir string) error {
	images, _ := filepath.Glob(filepath.Join(m.kernel, "boot/vmlinuz*"))
	if len(images) != 1 {
		return fmt.Errorf("there are %d kernels in %s", len(images), filepath.Join(m.kernel, "boot"))
	}
	initrd, disk := filepath.Join(dir, "initrd"), filepath.Join(dir, "disk")
	f, err := os.Create(initrd)
	if err != nil {
		return err
	}
	if err := archive(f, filepath.Join(dir, "root")); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(disk, nil, 0o644); err != nil {
		return err
	}
	const room = 1 << 30
	if err := os.Truncate(disk, room); err != nil {
		return err
	}
	command, console := []string{"qemu-system-x86_64", "-cpu", "max"}, "ttyS0"
	if m.arch == "arm64" {
		command, console = []string{"qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72"}, "ttyAMA0"
	}
	if m.cpu != "" {
		command[len(command)-1] = m.cpu
	}
	command = append(command, "-accel", "tcg", "-smp", "2", "-m", fmt.Sprint(m.memory), "-nographic", "-no-reboot", "-nic", "none",
		"-drive", "if=virtio,format=raw,file="+disk, "-kernel", images[0], "-initrd", initrd,
		"-append", "console="+console+" quiet panic=-1 rdinit=/init "+m.options)
	ctx, cancel := context.WithTimeout(ctx, m.patience)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	end := &watched{w: os.Stdout}
	c.Stdout, c.Stderr = end, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("the machine: %w", err)
	}
	if m.out != "" {
		if err := os.MkdirAll(m.out, 0o755); err != nil {
			return err
		}
		if out, err := exec.CommandContext(ctx, "tar", "xf", disk, "-C", m.out, "--strip-components=1").CombinedOutput(); err != nil {
			return fmt.Errorf("cannot unpack what the machine has left: %w\n%s", err, out)
		}
	}
	if !end.well() {
		return fmt.Errorf("the script failed")
	}
	return nil
}

// watched passes on what the machine prints, and remembers the end.
type watched struct {
	w    io.Writer
	tail []byte
}

func (o *watched) Write(b []byte) (int, error) {
	o.tail = append(o.tail, b...)
	o.tail = o.tail[max(0, len(o.tail)-4096):]
	return o.w.Write(b)
}

func (o *watched) well() bool { return bytes.Contains(o.tail, []byte("the script ended with 0")) }
