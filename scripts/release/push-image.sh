#!/usr/bin/env bash
# Builds the image for both architectures from build/release, pushes it, and prints its digest.
# `push-image.sh IMAGE VERSION`, after a login to the registry of IMAGE.
set -euo pipefail
cd "$(dirname "$0")/../.."

image="$1" version="$2"
manifest="$image:$version"
commit="$(git rev-parse HEAD)"
source="$(node -p "require('./package.json').homepage")"
podman manifest rm "$manifest" >/dev/null 2>&1 || true
podman build --format docker --platform linux/amd64,linux/arm64 --manifest "$manifest" \
  --label "org.opencontainers.image.version=$version" --label "org.opencontainers.image.revision=$commit" \
  --label "org.opencontainers.image.source=$source" --label "org.opencontainers.image.licenses=Apache-2.0" \
  -f deploy/Containerfile . >&2
digest="$(mktemp)"
trap 'rm -f "$digest"' EXIT
podman manifest push --all --digestfile "$digest" "$manifest" "docker://$manifest" >&2
# `latest` is the newest version that is no pre-release.
[[ "$version" == *-* ]] || podman manifest push --all "$manifest" "docker://$image:latest" >&2
cat "$digest"
