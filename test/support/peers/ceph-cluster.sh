#!/usr/bin/env bash
# A Ceph cluster of one monitor and one store of objects in memory, and a user of its gateway: in this folder, until the end.
# usage: ceph-cluster.sh GATEWAY_PORT MONITOR_PORT ACCESS_KEY SECRET_KEY; makes the file `ready`
set -euo pipefail

gateway_port=$1 monitor_port=$2 access=$3 secret=$4
here=$PWD
mkdir -p mon osd rgw

cat > ceph.conf <<CONF
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon host = [v2:127.0.0.1:$monitor_port]
public addr = 127.0.0.1
cluster addr = 127.0.0.1
keyring = $here/keyring
run dir = $here
admin socket =
log file =
log to stderr = true
auth cluster required = cephx
auth service required = cephx
auth client required = cephx
mon allow pool size one = true
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
[mon.a]
mon data = $here/mon
[osd.0]
osd data = $here/osd
osd objectstore = memstore
memstore device bytes = 4294967296
[client.rgw]
rgw data = $here/rgw
rgw frontends = beast endpoint=127.0.0.1:$gateway_port
CONF

ceph() { timeout 20 /usr/bin/ceph -c ceph.conf "$@"; }

fsid=$(sed -n 's/^fsid = //p' ceph.conf)
ceph-authtool --create-keyring first --gen-key -n mon. --cap mon 'allow *'
ceph-authtool --create-keyring keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
ceph-authtool first --import-keyring keyring
monmaptool --create --fsid "$fsid" --addv a "[v2:127.0.0.1:$monitor_port]" monmap
ceph-mon -c ceph.conf --mkfs -i a --monmap monmap --keyring first
cp first mon/keyring
ceph-mon -c ceph.conf -f -i a &

until ceph quorum_status >/dev/null 2>&1; do sleep 0.2; done
ceph auth get-or-create osd.0 mon 'allow profile osd' osd 'allow *' >> keyring
ceph auth get-or-create client.rgw mon 'allow rw' osd 'allow rwx' >> keyring
osd=$(cat /proc/sys/kernel/random/uuid)
ceph osd new "$osd"
ceph-osd -c ceph.conf -i 0 --mkfs --osd-uuid "$osd"
ceph-osd -c ceph.conf -f -i 0 &

radosgw-admin -c ceph.conf -n client.rgw user create --uid=tests --display-name=tests \
  --access-key="$access" --secret-key="$secret"
touch ready
wait
