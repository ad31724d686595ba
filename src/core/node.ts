import { realSystem } from '../base/system.ts'
import { rows } from '../config/keys.ts'
import type { Settings } from '../config/settings.ts'
import { valueText } from '../config/show.ts'
import { keyFingerprint } from '../stores/key-file.ts'
import {
  changeNode,
  clockAhead,
  joinNodes,
  keepRegistered,
  leaveNodes,
  type NodeFacts,
  requireClock,
  watchClock,
} from '../stores/postgres/node-registry.ts'
import type { EphemeralStores } from './ephemeral-stores.ts'
import { factorKeys } from './sealing-keys.ts'
import type { Reload } from './reload.ts'
import type { RuntimeEnvironment } from './machine.ts'
import type { Stores } from './stores.ts'

/** This process as one of several nodes on a database. */
export interface Node {
  /** Registers the node again if it must be, and compares the clocks. */
  readonly watch: () => Promise<void>
  readonly leave: () => Promise<void>
  /** Compares changed settings with those of other nodes, and registers them. */
  readonly reload: Reload
}

/** Fingerprints of the keys that this node seals with, of each kind the key for new secrets first. */
interface Fingerprints {
  /** Empty for tokens in memory. */
  readonly tokens: readonly string[]
  /** `undefined` when the keys are not known, which `doctor` may find: nothing is compared then. */
  readonly factors: readonly string[] | undefined
}

/** The facts that this node registers. Secrets are masked, addresses are shown without passwords. */
export function nodeFacts(settings: Settings, version: string, { tokens, factors }: Fingerprints): NodeFacts {
  const common = rows.filter(([, { sameOnAllNodes }]) => sameOnAllNodes).map(([key]) => key)
  const redis = settings['service.cluster.redis.url']
  const place = redis === undefined ? {} : { 'service.cluster.redis.url': redis.replace(/\/\/[^/?#]*@/, '//') }
  const values = Object.fromEntries(common.map(key => [key, valueText(settings, key)]))
  return { version, keys: tokens, ...(factors && { factorKeys: factors }), settings: { ...values, ...place } }
}

/**
 * Registers this process with the nodes that share the database; with a database file there are none.
 * @throws {StartupError} when its settings do not match theirs, or its clock is wrong
 */
export async function joinAsNode(
  settings: Settings,
  machine: RuntimeEnvironment,
  { database, nodeId }: Stores,
  { tokenKeys }: EphemeralStores,
): Promise<Node> {
  if (nodeId === undefined) return { watch: async () => {}, leave: async () => {}, reload: async () => undefined }
  // The clock of the machine, even if a test sets another one.
  const now = (): number => realSystem.now()
  requireClock(await clockAhead(database, now))
  const fingerprints = {
    tokens: tokenKeys.map(keyFingerprint),
    factors: (await factorKeys(settings, machine, tokenKeys)).map(keyFingerprint),
  }
  // The settings of a running service have the values in force.
  const facts = (): NodeFacts => nodeFacts(settings, machine.version, fingerprints)
  await joinNodes(database, nodeId, facts())
  const announce = async (): Promise<void> => {
    const misfits = await changeNode(database, nodeId, facts())
    if (misfits.length > 0)
      machine.log.warn(
        { misfits },
        'other nodes run with other settings: give all nodes the same settings, and reload or restart those that differ',
      )
  }
  return {
    watch: async () => {
      await keepRegistered(database, nodeId, facts())
      await watchClock(database, now, machine.log)
    },
    leave: () => leaveNodes(database, nodeId),
    reload: async ({ changed }) =>
      changed.size === 0
        ? undefined
        : {
            apply: () => void announce().catch((err: unknown) => machine.log.error({ err }, 'registering failed')),
          },
  }
}
