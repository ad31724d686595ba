#!/usr/bin/env bash
# Rehearses a release from a clean clone: builds every package of this commit twice and compares, then installs each on a machine of its own,
# signs in, fills it, verifies its promises, backs up, restores, upgrades and purges: on Debian 12, on Debian 13 and in a container.
# The upgrade starts from the package of an older commit: any commit whose `npm run package -- deb` builds, and whose store this version opens.
# `rehearse.sh OLDER_COMMIT`, as root on Debian 12. The log is in build/rehearsal.log.
set -euo pipefail
cd "$(dirname "$0")/../.."

older="${1:?the older commit is missing}"
[[ -z "$(git status --porcelain)" ]] || { echo "$0: commit or remove the changes first" >&2; exit 1; }
git cat-file -e "$older^{commit}"
mkdir -p build
log="$PWD/build/rehearsal.log"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
{
  date --utc
  git log -1 --format='commit %H'
  git clone --quiet . "$work/older"
  git -C "$work/older" checkout --quiet "$older"
  git -C "$work/older" log -1 --format='older commit %H'
  git clone --quiet . "$work/release"
  (cd "$work/older" && npm run package -- deb --arch "$(dpkg --print-architecture)")
  OLDER_PACKAGE="$(ls "$work"/older/build/release/*.deb)"
  export OLDER_PACKAGE REQUIRE_PEERS=1

  cd "$work/release"
  .ci/install-peers
  node scripts/test.mjs peers/packages peers/rolling-upgrade peers/verify
  export DEBIAN_RELEASE=trixie STOWAGE_PEERS="$work/trixie"
  .ci/install-peers
  echo "Debian $(cat "$STOWAGE_PEERS/debian/root/etc/debian_version")"
  node scripts/test.mjs peers/packages
  date --utc
  echo 'The rehearsal is green.'
} 2>&1 | tee "$log"
