#!/bin/bash
# Runs in Debian under a systemd of its own: installs the package, starts, upgrades and removes it, and writes down what it sees.
cd /shared || exit 1
exec >output 2>&1
set -x
say() { echo "$1=$2" >>facts; }
until_healthy() { for _ in {1..200}; do stowage health && return; sleep 0.1; done; }
sign_in() {
  curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/auth/cookie --data-urlencode auth_username=admin \
    --data-urlencode auth_password=keep-it-secret
}
pid() { systemctl show --property MainPID --value stowage; }

dpkg --install first.deb
say installed "$? $(systemctl is-enabled stowage) $(systemctl is-active stowage)"
echo SERVICE_ADMIN_PASSWORD=keep-it-secret >/etc/stowage/environment
echo 'service.data.quota = on' >>/etc/stowage/service.properties
systemctl start stowage
until_healthy
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

# What was set and stored before the upgrade is there afterwards.
before=$(pid)
rm /etc/stowage/environment
dpkg --install second.deb
until_healthy
say upgraded "$(dpkg-query --show --showformat '${Version}' stowage) $(systemctl is-active stowage) $([[ $(pid) != "$before" ]] && echo restarted)"
say sign-in-again "$(sign_in)"
say settings "$(grep -c '^service.data.quota = on' /etc/stowage/service.properties)"

systemctl stop stowage
say stopped "$(systemctl show --property Result --value stowage) $(systemctl show --property ExecMainStatus --value stowage)"
systemctl start stowage
dpkg --remove stowage
say removed "$? $(pgrep -c node) $(ls /opt/stowage 2>&1 | grep -c 'No such file')"
dpkg --install second.deb
say back "$? $(systemctl is-enabled stowage)"
dpkg --purge stowage
say purged "$? $([[ -e /etc/stowage ]] || echo no settings) $(find /etc/systemd -name stowage.service | wc -l) $([[ -s /var/lib/stowage/store.sqlite ]] && echo data)"
systemctl exit 0
