import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A real server or browser that comes from Debian's packages; `.ci/install-peers` installs all of them. */
export interface Peer {
  readonly name: string
  available(): boolean
}

/** Where `.ci/install-peers` unpacks what is not installed. */
export const unpackedPeers = process.env['STOWAGE_PEERS'] ?? join(tmpdir(), 'stowage-peers')

/**
 * True if the test can go on. Without the peer the test is skipped and must return at once; where
 * REQUIRE_PEERS=1 says that nothing may be skipped, it fails.
 */
export function requirePeer(t: { skip(message: string): void }, peer: Peer): boolean {
  if (peer.available()) return true
  const reason = `${peer.name} is not installed: run .ci/install-peers`
  assert.notEqual(process.env['REQUIRE_PEERS'], '1', reason)
  t.skip(reason)
  return false
}
