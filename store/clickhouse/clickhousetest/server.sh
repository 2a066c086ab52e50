#!/bin/sh
# The clickhouse-server of Debian 12 (18.16), without installing it into the system.
#
#   server.sh install DIR                    fetch it and what it needs into DIR
#   server.sh run DIR DATA HTTP TCP PEER...  serve on loopback in the foreground: its data
#                                            folder, its ports for HTTP and for the other
#                                            nodes, and the second port of every node of the
#                                            cluster "loupe", its own among them
#
# Two shards by hand, each in a terminal of its own:
#
#   server.sh install /tmp/clickhouse
#   server.sh run /tmp/clickhouse /tmp/shard-1 8123 9000 9000 9001
#   server.sh run /tmp/clickhouse /tmp/shard-2 8124 9001 9000 9001
#   loupe serve -store 'clickhouse://127.0.0.1:8123,127.0.0.1:8124/loupe?cluster=loupe'
set -eu

install() {
	mkdir -p "$1/packages"
	cd "$1/packages"
	# What apt would install: the server, though it be there, and the libraries that are not.
	list=$(apt-get install -s --reinstall --no-install-recommends clickhouse-server | awk '/^Inst / { print $2 }')
	apt-get download -qq $list
	for package in *.deb; do dpkg -x "$package" ..; done
	touch ../installed
}

run() {
	root=$1 data=$2 http=$3 tcp=$4
	shift 4
	mkdir -p "$data"
	shards=
	for peer; do
		shards="$shards<shard><internal_replication>true</internal_replication><replica><host>127.0.0.1</host><port>$peer</port></replica></shard>"
	done
	cat >"$data/config.xml" <<END
<yandex>
	<logger><level>warning</level><console>1</console></logger>
	<listen_host>127.0.0.1</listen_host>
	<http_port>$http</http_port>
	<tcp_port>$tcp</tcp_port>
	<path>$data/</path>
	<tmp_path>$data/tmp/</tmp_path>
	<users_config>$data/users.xml</users_config>
	<default_profile>default</default_profile>
	<default_database>default</default_database>
	<mark_cache_size>67108864</mark_cache_size>
	<remote_servers><loupe>$shards</loupe></remote_servers>
	<compression><case><min_part_size>0</min_part_size><min_part_size_ratio>0</min_part_size_ratio><method>zstd</method></case></compression>
</yandex>
END
	cat >"$data/users.xml" <<END
<yandex>
	<profiles><default><max_memory_usage>2000000000</max_memory_usage></default></profiles>
	<users>
		<default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
		<loupe><password>only for tests</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></loupe>
	</users>
	<quotas><default/></quotas>
</yandex>
END
	# The newer paths come first, so that a library of the system does not hide one of these.
	LD_LIBRARY_PATH=$(find "$root/usr/lib" "$root/lib" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | tr '\n' ':')
	export LD_LIBRARY_PATH
	exec "$root/usr/sbin/clickhouse-server" --config-file="$data/config.xml"
}

command=${1-}
[ $# -gt 0 ] && shift
case "$command" in
install) install "$@" ;;
run) run "$@" ;;
*) sed -n '2,/^set/p' "$0" | sed '/^set/d; s/^# \{0,1\}//'; exit 2 ;;
esac
