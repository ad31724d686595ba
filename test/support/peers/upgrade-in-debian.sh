#!/bin/bash
# Runs in Debian under a systemd of its own: fills a store with an older version, upgrades, and writes down what it sees. Of the older version
# it uses only what every version has: the settings, the unit, and the interface.
cd /shared || exit 1
exec >output 2>&1
set -x
say() { echo "$1=$2" >>facts; }
password=Keep-it-secret-1
jar=/tmp/admin.jar
store=http://127.0.0.1:8080
sign_in() {
  curl -s -o /dev/null -w '%{http_code}' -c $jar $store/auth/cookie --data-urlencode auth_username=admin --data-urlencode auth_password=$password
}
as_service() { runuser -u stowage -- "$@" --config /etc/stowage/service.properties; }
stored() {
  curl -s -b $jar $store/photos/resource/one | cmp - /etc/debian_version && curl -s -b $jar $store/photos/metadata/one | grep -o Ducks
}

dpkg --install first.deb
echo "SERVICE_ADMIN_PASSWORD=$password" >/etc/stowage/environment
echo 'service.data.quota = on' >>/etc/stowage/service.properties
systemctl start stowage
# The unit of an older version may return before the service responds.
for _ in {1..600}; do [[ $(sign_in) == 200 ]] && break; sleep 0.1; done
say older "$(sign_in)"
curl -s -o /dev/null -b $jar "$store/_contexts?graphtype=context&id=photos" --json '{"resource": {"name": "Photos"}}'
curl -s -o /dev/null -b $jar -X POST "$store/photos?id=one"
curl -s -o /dev/null -b $jar -X PUT $store/photos/metadata/one -H 'content-type: text/turtle' \
  --data "<$store/photos/resource/one> <http://purl.org/dc/terms/title> \"Ducks\" ."
curl -s -o /dev/null -b $jar -T /etc/debian_version $store/photos/resource/one
say filled "$(stored)"

dpkg --install second.deb
rm /etc/stowage/environment
say upgraded "$? $(systemctl is-active stowage) $(sign_in) $(stored)"
systemctl stop stowage
say fsck "$(as_service stowage fsck >fsck; echo $?)"
systemctl start stowage
promises=responds,ready,files-exact,resumable,quota-exact,search-complete
say verified "$(stowage verify $store/ --user admin --only $promises <<<$password | tail -1)"

install -d -o stowage -g stowage -m 0700 /var/backups/stowage
as_service stowage backup /var/backups/stowage
say backed-up "$?"
systemctl stop stowage
mv /var/lib/stowage /var/lib/stowage-old
install -d -o stowage -g stowage -m 0700 /var/lib/stowage
as_service stowage restore /var/backups/stowage
say restored "$?"
systemctl start stowage
say restored-store "$(sign_in) $(stored)"
dpkg --purge stowage
say purged "$?"
systemctl exit 0
