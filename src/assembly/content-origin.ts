import type { Settings } from '../config/settings.ts'
import { ContentOrigin } from '../http/content-origin.ts'
import { ContentTickets } from '../http/content-tickets.ts'
import type { EphemeralStores } from './ephemeral-stores.ts'
import type { Machine } from './machine.ts'

/** The origin for active files; `undefined` when the settings have none. All nodes verify each other's tickets. */
export function createContentOrigin(
  settings: Settings,
  { system }: Machine,
  { tokenKeys }: Pick<EphemeralStores, 'tokenKeys'>,
): ContentOrigin | undefined {
  const href = settings['service.content.base-url']
  if (href === undefined) return undefined
  // With tokens in memory one process serves, and a restart ends all logins and tickets.
  const secrets = tokenKeys.length > 0 ? tokenKeys : [system.randomBytes(32)]
  return new ContentOrigin(href, new ContentTickets(secrets, system))
}
