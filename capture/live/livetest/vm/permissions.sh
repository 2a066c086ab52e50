# Holds what loupe attach -explain says of a process against what then works: as root,
# as the process's own user and as another, under each setting of the kernel.
#
#	go run ./live/livetest/vm -arch amd64 … -script live/livetest/vm/permissions.sh
bad=0
mkdir -m 1777 /tmp/try
cp /bin/leak /bin/sealed && chmod 711 /bin/sealed
echo 'group:x:65534:5::/tmp:/bin/sh' >>/etc/passwd # nobody, in another group

leak -mode map -rate 400 -for 1h >/dev/null & roots=$!
su -s /bin/sh nobody -c 'exec leak -mode map -rate 400 -for 1h' >/dev/null & theirs=$!
su -s /bin/sh nobody -c 'exec sealed -mode map -rate 400 -for 1h' >/dev/null & sealed=$!
sleep 4

# check NAME PID says what the table tells of a process, and what works.
cat >/bin/check <<'END'
#!/bin/sh
dir=$(mktemp -d /tmp/try/XXXXXX) && cd $dir || exit 1
loupe attach -explain $2 >table 2>&1
said=$(awk '/^(goroutines|cpu|core|oom)/ {printf "%s=%s ", $1, $2}' table)
works() { "$@" >log 2>&1 && echo yes || echo no; }
did="goroutines=$(works loupe stacks $2) "
loupe attach -quiet -for 10ms -phases bare,cpu:300ms -o rec $2 >log 2>&1
did="${did}cpu=$(works test -f rec/cpu.pb.gz) core=$(works loupe core capture -o x.core $2) "
did="${did}oom=$(works dd if=/dev/kmsg of=/dev/null bs=8192 count=1) "
echo "$1: $said"
sed -n 's/^ *why not: /    /p' table | sort -u
[ "$said" = "$did" ] || { echo "BUT it is $did"; exit 1; }
cd / && rm -r $dir
END
chmod 755 /bin/check

all() {
	for key in yama/ptrace_scope perf_event_paranoid dmesg_restrict; do
		echo "# $key $(cat /proc/sys/kernel/$key)"
	done
	check "root of root's" $roots || bad=1
	check "root of another's" $theirs || bad=1
	su -s /bin/sh nobody -c "check \"a user of root's\" $roots" || bad=1
	su -s /bin/sh nobody -c "check \"a user of its own\" $theirs" || bad=1
	su -s /bin/sh nobody -c "check \"a user of its own that it may not read\" $sealed" || bad=1
	su -s /bin/sh group -c "check \"the user in another group\" $theirs" || bad=1
}

set_to() { echo $2 >/proc/sys/kernel/$1; }
set_to yama/ptrace_scope 0
set_to dmesg_restrict 0
for level in -1 0 1 2 3 4; do
	set_to perf_event_paranoid $level
	all
done
set_to perf_event_paranoid 2
set_to dmesg_restrict 1
# Nothing leads back from 3.
for scope in 1 2 3; do
	set_to yama/ptrace_scope $scope
	all
done
exit $bad
