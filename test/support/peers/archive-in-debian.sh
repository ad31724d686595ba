#!/bin/bash
# Runs in Debian under a systemd of its own: installs the archive by the commands of docs/how-to/install.md, and writes down what it sees.
cd /shared || exit 1
exec >output 2>&1
set -x
say() { echo "$1=$2" >>facts; }
sed -n '/^## Other systems with systemd/,/^## npm/p' install.md | sed -n '/^```sh/,/^```/p' | grep -v '^```' >commands
say commands "$(wc -l <commands)"
mv archive.tar.gz "$(grep -o 'stowage-[^ ]*\.tar\.gz' commands)"
bash -e commands
say installed "$? $(systemctl is-enabled stowage) $(stat -c '%U:%G %a' /etc/stowage/service.properties)"
stowage config check
say checked "$?"
stowage user add admin --admin --password <<<Keep-it-secret-1
systemctl start stowage
say started "$? $(stat -c %U "/proc/$(systemctl show --property MainPID --value stowage)")"
say sign-in "$(curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8080/auth/cookie --data-urlencode auth_username=admin \
  --data-urlencode auth_password=Keep-it-secret-1)"
systemctl exit 0
