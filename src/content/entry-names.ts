import { renameGroup, setHomeContext } from '../accounts/groups.ts'
import { requireName } from '../accounts/names.ts'
import { changeUser, findUser } from '../accounts/users.ts'
import { Forbidden } from '../base/errors.ts'
import { CONTEXTS, contextIdOf, type EntryAddress, PRINCIPALS } from '../model/addresses.ts'
import type { Entry } from '../model/entry.ts'
import type { Queries } from '../stores/database.ts'
import type { EntryWriter } from './changes.ts'
import { renameContext, requireContextName, requireHomeContext } from './contexts.ts'
import type { InfoRequest } from './info.ts'

/** The entries of a new store; in system contexts no other entry gets such an id. */
export const isSystemEntry = ({ context, id }: EntryAddress): boolean =>
  (context === CONTEXTS || context === PRINCIPALS) && id.startsWith('_')

/** Sets the name of a context, group or user; an empty one removes it. Part of a change whose right has been checked. */
export async function setName(writer: EntryWriter, entry: Entry, raw: string): Promise<void> {
  if (isSystemEntry(entry)) throw new Forbidden('not-allowed', 'The names of system entries cannot be changed.')
  const { tx } = writer
  const isEmpty = raw.trim() === ''
  if (entry.context === CONTEXTS) {
    await renameContext(tx, entry.id, isEmpty ? undefined : requireContextName(raw))
  } else if (entry.graphType === 'Group') {
    await renameGroup(tx, entry.id, isEmpty ? undefined : requireName(raw))
  } else {
    const user = await findUser(tx, entry.id)
    if (!user) return
    const { name } = await changeUser(tx, user, { name: requireName(raw) })
    writer.record({ event: 'user-renamed', userId: user.id, userName: name })
  }
}

/** Clients send the home context of a user or group as a statement of `info`. */
export async function applyHomeContext(tx: Queries, entry: Entry, { homeContextUri }: InfoRequest): Promise<void> {
  if (entry.context !== PRINCIPALS || entry.entryType !== 'Local') return
  const wanted = homeContextUri === undefined ? undefined : (contextIdOf(homeContextUri) ?? homeContextUri)
  await setHomeContext(tx, entry.id, wanted === undefined ? undefined : await requireHomeContext(tx, wanted))
}
