import { Await } from '../../components/page.tsx'
import { accessIn, type Role } from '../../lib/access.ts'
import { loadContext } from '../../lib/contexts.ts'
import type { Item } from '../../lib/files.ts'
import { useLoaded } from '../../lib/load.ts'
import { useSession } from '../../lib/session.ts'
import { loadAccess, type AccessFolder } from '../../lib/principals.ts'
import type { InheritedAccess } from '../sharing/access-rows.tsx'
import { EntryAccess } from '../sharing/entry-access.tsx'
import { EntryLinks } from '../sharing/entry-links.tsx'

/** Who has access to an item, and its public links. */
export function ItemAccess({ item, onChanged }: { readonly item: Item; readonly onChanged: () => void }) {
  const { me } = useSession()
  const { context, entryId } = item
  const load = async (signal: AbortSignal) => {
    const [{ info }, { folders, fromContext }] = await Promise.all([
      loadContext(context, signal),
      loadAccess(context, entryId, signal),
    ])
    const ofContext = accessIn(info, { base: me.baseUri, context })
    const counting = ofContext.filter(({ role }) => fromContext || role === 'owner')
    const inherited: InheritedAccess[] = [
      ...folders.flatMap(ofFolder),
      // Owners of the context own everything in it.
      ...counting.map(access => ({ ...access, why: 'context' as const })),
    ]
    return { ofContext, inherited }
  }
  const [loaded, again] = useLoaded(load, [context, entryId, JSON.stringify(item.info)])
  return (
    <Await loaded={loaded} again={again}>
      {({ ofContext, inherited }) => (
        <>
          <EntryAccess item={item} ofContext={ofContext} inherited={inherited} again={onChanged} />
          {/* A public link leads to a file, or to those in a folder. */}
          {['file', 'folder'].includes(item.kind) && <EntryLinks context={context} entry={entryId} />}
        </>
      )}
    </Await>
  )
}

/** Those whom a folder gives access, each with their first role. */
function ofFolder({ name, acl: { admin = [], rwrite = [], rread = [] } }: AccessFolder): InheritedAccess[] {
  const as = (role: Role, ids: readonly string[]): InheritedAccess[] =>
    ids.map(principal => ({ role, principal, why: 'folder', ...(name === undefined ? {} : { folder: name }) }))
  return [...as('owner', admin), ...as('writer', rwrite), ...as('reader', rread)]
}
