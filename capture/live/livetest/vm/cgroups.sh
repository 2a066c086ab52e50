# Watches the lab leak in control groups of version 2 with 200 MB: an alert must come
# at half of it, before the end, and the end must be told.
#
#	go run ./live/livetest/vm -arch amd64 … -script live/livetest/vm/cgroups.sh
bad=0
top=/sys/fs/cgroup
echo +memory >$top/cgroup.subtree_control

# inside GROUP COMMAND runs a command in a group.
inside() {
	group=$top/$1
	shift
	sh -c "echo \$\$ >$group/cgroup.procs; exec $*"
}

# watched GROUP END [FLAGS]: what loupe watch says of the lab in a group.
watched() {
	dir=/tmp/$(echo $1 | tr / -)
	inside $1 loupe watch -interval 200ms -capture goroutine $3 -o $dir -alert "'rss>50%'" -- /bin/leak -rate 20000 >/tmp/log 2>&1
	grep -E 'ALERT|watch:' /tmp/log
	grep -q 'ALERT rss>50%' /tmp/log && ls $dir/*/goroutine.pb.gz >/dev/null && grep -q "$2" /tmp/log || { echo "BUT it said"; cat /tmp/log; bad=1; }
}

echo "# memory.max"
mkdir $top/plain && echo 200M >$top/plain/memory.max
watched plain 'Memory cgroup out of memory: Killed process .*leak'

echo "# memory.max of the group above"
mkdir -p $top/above/below
echo +memory >$top/above/cgroup.subtree_control && echo 200M >$top/above/memory.max
watched above/below 'Memory cgroup out of memory: Killed process .*leak'

echo "# memory.high, at which nothing is killed"
mkdir $top/high && echo 200M >$top/high/memory.high
watched high recording '-for 60s'

echo "# a user who may not read the log of the kernel"
mkdir $top/user && echo 200M >$top/user/memory.max
echo 1 >/proc/sys/kernel/dmesg_restrict
inside user su -s /bin/sh nobody -c "'exec loupe watch -interval 200ms -capture goroutine -o /tmp/user -alert \"rss>50%\" -- /bin/leak -rate 20000'" >/tmp/log 2>&1
grep -E 'ALERT|watch:' /tmp/log
grep -q 'in its cgroup the kernel has killed once' /tmp/log || bad=1
exit $bad
