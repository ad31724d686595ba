import { realSystem } from '../base/system.ts'
import type { Settings } from '../config/settings.ts'
import {
  clockAhead,
  joinNodes,
  leaveNodes,
  type NodeFacts,
  requireClock,
  watchClock,
} from '../stores/postgres/node-registry.ts'
import type { EphemeralStores } from './ephemeral-stores.ts'
import type { Machine } from './machine.ts'
import type { Stores } from './stores.ts'

/** This process as one of several nodes on a database. */
export interface Node {
  /** Compares the clocks again. */
  readonly watch: () => Promise<void>
  readonly leave: () => Promise<void>
}

/** Settings on which all nodes of a store must agree. */
const common = [
  'service.baseurl.folder',
  'service.content.base-url',
  'service.data.quota',
  'service.data.quota.default',
  'service.data.max-file-size',
  'service.data.store',
  'service.auth.token.store',
  'service.auth.cookie.host-prefix',
] as const

/** The facts that this node registers. Addresses are shown without passwords. */
export function nodeFacts(settings: Settings, version: string, keys: readonly string[]): NodeFacts {
  const redis = settings['service.cluster.redis.url']
  const values = common.flatMap(key => (settings[key] === undefined ? [] : [[key, String(settings[key])] as const]))
  const place = redis === undefined ? [] : [['service.cluster.redis.url', redis.replace(/\/\/[^/?#]*@/, '//')] as const]
  return { version, keys, settings: Object.fromEntries([...values, ...place]) }
}

/**
 * Registers this process with the nodes that share the database; with a database file there are none.
 * @throws {StartupError} when its settings do not match theirs, or its clock is wrong
 */
export async function joinAsNode(
  settings: Settings,
  { version, log }: Machine,
  { database, nodeId }: Stores,
  { keyFingerprints }: EphemeralStores,
): Promise<Node> {
  if (nodeId === undefined) return { watch: async () => {}, leave: async () => {} }
  // The clock of the machine, even if a test sets another one.
  const now = (): number => realSystem.now()
  requireClock(await clockAhead(database, now))
  await joinNodes(database, nodeId, nodeFacts(settings, version, keyFingerprints))
  return { watch: () => watchClock(database, now, log), leave: () => leaveNodes(database, nodeId) }
}
