#!/usr/bin/env bash
# Rehearses a release from clean clones: builds every package of this commit twice and compares, then installs each on a machine of its own,
# signs in, fills it, verifies its promises, backs up, restores and purges: on Debian 12, on Debian 13 and in a container. It also upgrades from
# the package of an older commit: any commit whose `npm run package -- deb` succeeds, and whose store this version opens.
# `rehearse.sh OLDER_COMMIT`, as root on Debian 12. The log is in build/rehearsal.log.
set -euo pipefail
cd "$(dirname "$0")/../.."

older="${1:?the older commit is missing}"
[[ -z "$(git status --porcelain)" ]] || { echo "$0: commit or remove the changes first" >&2; exit 1; }
mkdir -p build
log="$PWD/build/rehearsal.log"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
{
  date --utc
  git log -1 --format='commit %H'
  git log -1 --format='older commit %H' "$older"
  git clone --quiet . "$work/release"
  git clone --quiet . "$work/older"
  git -C "$work/older" checkout --quiet "$older"

  cd "$work/release"
  .ci/install-peers
  npm run package
  # An older commit may have no script that installs the right Node.js.
  PATH="$(node -e 'import("./scripts/runtime.mjs").then(() => console.log(require("node:path").dirname(process.execPath)))'):$PATH"
  (cd "$work/older" && npm run package -- deb --arch "$(dpkg --print-architecture)")
  OLDER_PACKAGE="$(ls "$work"/older/build/release/*.deb)"
  export OLDER_PACKAGE BUILT_CLONE="$work/release" REQUIRE_PEERS=1

  node scripts/test.mjs peers/package peers/rolling-upgrade peers/verify
  export DEBIAN_RELEASE=trixie STOWAGE_PEERS="${STOWAGE_PEERS:-${TMPDIR:-/tmp}/stowage-peers}-trixie"
  .ci/install-peers
  echo "Debian $(cat "$STOWAGE_PEERS/debian/root/etc/debian_version")"
  node scripts/test.mjs peers/packages
  date --utc
  echo 'The rehearsal is green.'
} 2>&1 | tee "$log"
