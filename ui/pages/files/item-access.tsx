import { Await } from '../../components/page.tsx'
import { accessIn } from '../../lib/access.ts'
import { loadContext } from '../../lib/contexts.ts'
import type { Item } from '../../lib/files.ts'
import { useLoaded } from '../../lib/load.ts'
import { useSession } from '../../lib/session.ts'
import { EntryAccess } from '../sharing/entry-access.tsx'
import { EntryLinks } from '../sharing/entry-links.tsx'

/** Who has access to an item, and its public links. */
export function ItemAccess({ item, onChanged }: { readonly item: Item; readonly onChanged: () => void }) {
  const { me } = useSession()
  const { context, entryId } = item
  const [loaded, again] = useLoaded(
    async signal => accessIn((await loadContext(context, signal)).info, { base: me.baseUri, context }),
    [context],
  )
  return (
    <Await loaded={loaded} again={again}>
      {ofContext => (
        <>
          <EntryAccess item={item} ofContext={ofContext} again={onChanged} />
          <EntryLinks context={context} entry={entryId} />
        </>
      )}
    </Await>
  )
}
