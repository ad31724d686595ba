#!/usr/bin/env bash
# Rehearses a release: builds every package of this commit twice and compares, then installs each on a machine of its own, signs in, fills it,
# verifies its promises, backs up, restores, upgrades from the package of an older commit, and purges: on Debian 12 and on Debian 13.
# `rehearse.sh OLDER_COMMIT`, as root on Debian 12, after `.ci/install-peers`. The log is in build/rehearsal.log.
set -euo pipefail
cd "$(dirname "$0")/../.."

older="${1:?the older commit is missing}"
[[ -z "$(git status --porcelain)" ]] || { echo "$0: commit or remove the changes first" >&2; exit 1; }
mkdir -p build
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
{
  date --utc
  git log -1 --format='commit %H'
  git clone --quiet . "$work/older"
  git -C "$work/older" checkout --quiet "$older"
  (cd "$work/older" && npm run package -- deb --arch "$(dpkg --print-architecture)")
  OLDER_PACKAGE="$(ls "$work"/older/build/release/*.deb)"
  export OLDER_PACKAGE REQUIRE_PEERS=1
  node scripts/test.mjs peers/packages peers/rolling-upgrade peers/verify
  export DEBIAN_RELEASE=trixie STOWAGE_PEERS="$work/trixie"
  .ci/install-peers
  echo "Debian $(cat "$STOWAGE_PEERS/debian/root/etc/debian_version")"
  node scripts/test.mjs peers/packages
} 2>&1 | tee build/rehearsal.log
