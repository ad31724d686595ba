#!/bin/bash
# Runs in Debian under a systemd of its own: installs the package, starts, upgrades and removes it, and writes down what it sees.
cd /shared || exit 1
exec >output 2>&1
set -x
say() { echo "$1=$2" >>facts; }
sign_in() {
  curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/auth/cookie --data-urlencode auth_username=admin \
    --data-urlencode auth_password=Keep-it-secret-1
}
pid() { systemctl show --property MainPID --value stowage; }

dpkg --install first.deb
say installed "$? $(systemctl is-enabled stowage) $(systemctl is-active stowage)"
stowage user add admin --admin --password <<<Keep-it-secret-1
echo 'service.data.quota = on' >>/etc/stowage/service.properties
echo 'service.data.quota.default = much' >>/etc/stowage/service.properties
systemctl start stowage
say refused "$? $(systemctl is-active stowage) $(systemctl show --property ExecMainStatus --value stowage)"
sed -i '/= much$/d' /etc/stowage/service.properties
# Once that returns, the service responds.
systemctl start stowage && stowage health
say started "$? $(systemctl show --property NRestarts --value stowage)"
say sign-in "$(sign_in)"
say user "$(stat -c %U "/proc/$(pid)")"
say filter "$(awk '/^Seccomp:/ { print $2 }' "/proc/$(pid)/status")"
say exposure "$(systemd-analyze security stowage.service | sed -n 's/.*exposure level.*: \([0-9.]*\).*/\1/p')"
say rights "$(stat -c '%U:%G %a' /etc/stowage/service.properties) $(stat -c '%U:%G %a' /var/lib/stowage)"
say manual "$(man stowage 2>&1 | tr -s ' ' | grep -c 'Runs the service until it receives SIGTERM')"
say completion "$(
  source /usr/share/bash-completion/completions/stowage
  COMP_WORDS=(stowage he) COMP_CWORD=1 && _stowage && printf '%s ' "${COMPREPLY[@]}"
  COMP_WORDS=(stowage fsck --r) COMP_CWORD=2 && _stowage && printf '%s' "${COMPREPLY[@]}"
)"
# The name of a claim ends the key, so the variable has the name of the key: no shell may stand before the program.
say dotted "$(env SERVICE_AUTH_OIDC=on SERVICE_AUTH_OIDC_IDPS_1=campus SERVICE_AUTH_OIDC_IDP_CAMPUS_CLIENT_ID=stowage \
  SERVICE_AUTH_OIDC_IDP_CAMPUS_ISSUER=https://idp.example/ service.auth.oidc.idp.campus.required.affiliation=staff \
  stowage config show | grep -c '^service.auth.oidc.idp.campus.required.affiliation=staff')"
# From any folder, and without a word about settings.
say settings-of-service "$(cd /tmp && stowage config show | grep -c '^service.data.quota=on *# file$')"

# With the variables of the service, which only root can read.
(umask 077 && echo 'SERVICE_LOG_LEVEL=warn' >/etc/stowage/environment)
say variables "$(stowage config show | grep -c '^service.log.level=warn *# environment$')"
rm /etc/stowage/environment

# It is filled, keeps its promises, and comes back from a backup by the commands of docs/how-to/backup-and-upgrade.md.
jar=/tmp/admin.jar
store=http://127.0.0.1:8080
curl -s -o /dev/null -c $jar $store/auth/cookie --data-urlencode auth_username=admin --data-urlencode auth_password=Keep-it-secret-1
curl -s -o /dev/null -b $jar "$store/_contexts?graphtype=context&id=photos" --json '{"resource": {"name": "Photos"}}'
curl -s -o /dev/null -b $jar -X POST "$store/photos?id=one"
say filled "$(curl -s -o /dev/null -w '%{http_code}' -b $jar -T /etc/debian_version $store/photos/resource/one)"
promises=responds,ready,base-address,cookie,lockout,files-exact,resumable,quota-exact,right-taken,revoked-token,search-complete,doctor
say verified "$(stowage verify $store/ --user admin --only $promises <<<Keep-it-secret-1 | tail -1)"
install -d -o stowage -g stowage -m 0700 /var/backups/stowage
stowage backup /var/backups/stowage
say backed-up "$? $(stat -c %U /var/backups/stowage/* | sort -u)"
# More starts than systemd allows within ten seconds.
again() { systemctl reset-failed stowage; }
restore() {
  again
  old=/var/lib/stowage-old-$(date +%s)
  systemctl stop stowage &&
    install -d -o stowage -g stowage -m 0700 /var/lib/stowage-new &&
    stowage restore /var/backups/stowage \
      --set service.data.folder=/var/lib/stowage-new &&
    { [ ! -e /var/lib/stowage ] || mv /var/lib/stowage "$old"; } &&
    mv /var/lib/stowage-new /var/lib/stowage &&
    systemctl start stowage
}
stored_file() {
  curl -s -o /dev/null -c $jar $store/auth/cookie --data-urlencode auth_username=admin --data-urlencode auth_password=Keep-it-secret-1
  curl -s -b $jar $store/photos/resource/one | cmp - /etc/debian_version && echo same
}
restore
say restored "$? $(stored_file)"
rm -rf /var/lib/stowage /var/lib/stowage-old-*
restore
say restored-lost "$? $(stored_file)"
# A disk of its own is the data folder.
again
systemctl stop stowage
install -d -o stowage -g stowage -m 0700 /var/lib/disk
cp -a /var/lib/stowage/. /var/lib/disk/
mount --bind /var/lib/disk /var/lib/stowage
old=/var/lib/stowage/old-$(date +%s)
install -d -o stowage -g stowage -m 0700 /var/lib/stowage/new &&
  stowage restore /var/backups/stowage \
    --set service.data.folder=/var/lib/stowage/new &&
  mkdir -m 0700 "$old" &&
  find /var/lib/stowage -mindepth 1 -maxdepth 1 ! -name 'old-*' ! -name new ! -name lost+found -exec mv -n -t "$old" {} + &&
  find /var/lib/stowage/new -mindepth 1 -maxdepth 1 -exec mv -n -t /var/lib/stowage {} + &&
  rmdir /var/lib/stowage/new &&
  systemctl start stowage
say restored-into-mount "$? $(stored_file)"
systemctl stop stowage && umount /var/lib/stowage
# The folder of the backups may be missing for a while.
mkdir -p /etc/systemd/system/stowage.service.d
printf '[Service]\nReadWritePaths=-/var/backups/stowage\n' >/etc/systemd/system/stowage.service.d/backup.conf
mv /var/backups/stowage /var/backups/elsewhere
again
systemctl daemon-reload && systemctl restart stowage
say without-backups "$? $(stored_file)"
mv /var/backups/elsewhere /var/backups/stowage
again
systemctl restart stowage
say with-backups "$? $(nsenter -t "$(pid)" -m findmnt -n -o OPTIONS -T /var/backups/stowage | cut -d, -f1)"

# What was set and stored before the upgrade is there afterwards.
before=$(pid)
dpkg --install second.deb
say upgraded "$(dpkg-query --show --showformat '${Version}' stowage) $(systemctl is-active stowage) $([[ $(pid) != "$before" ]] && echo restarted)"
say sign-in-again "$(sign_in)"
say file-upgraded "$(stored_file)"
say settings "$(grep -c '^service.data.quota = on' /etc/stowage/service.properties)"

systemctl stop stowage
say stopped "$(systemctl show --property Result --value stowage) $(systemctl show --property ExecMainStatus --value stowage)"
systemctl start stowage
dpkg --remove stowage
say removed "$? $(pgrep -c node) $(ls /opt/stowage 2>&1 | grep -c 'No such file')"
# Its settings may be elsewhere.
rm /etc/stowage/service.properties
dpkg --install second.deb
say back "$? $(systemctl is-enabled stowage)"
echo secret > /etc/stowage/token.key
dpkg --purge stowage
say purged "$? $(ls /etc/stowage) $(find /etc/systemd -name stowage.service | wc -l) $([[ -s /var/lib/stowage/store.sqlite ]] && echo data)"
systemctl exit 0
