import { Await, Page } from '../../components/page.tsx'
import { type Access, accessIn } from '../../lib/access.ts'
import { part } from '../../lib/base.ts'
import { loadContext } from '../../lib/contexts.ts'
import { type Item, loadItem } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { EntryAccess } from './entry-access.tsx'
import { EntryLinks } from './entry-links.tsx'

interface Shared {
  readonly item: Item
  /** Access to the context; empty if the user may not read it. */
  readonly ofContext: readonly Access[]
}

/** The permissions of a file or folder, for users who may change them. */
export function EntrySharing({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const { context = '', entry = '' } = parts
  const { me } = useSession()
  const load = async (signal: AbortSignal): Promise<Shared> => {
    const [item, { info }] = await Promise.all([loadItem(context, entry, signal), loadContext(context, signal)])
    return { item, ofContext: accessIn(info, { base: me.baseUri, context }) }
  }
  const [loaded, again] = useLoaded(load, [context, entry])
  const name = loaded.state === 'ready' ? visible(loaded.value.item.name) : entry
  return (
    <Page
      title={t('shareContext', { name })}
      lead={<Link to={`contexts/${part(context)}/files`}>← {t('toFiles')}</Link>}
    >
      <Await loaded={loaded} again={again}>
        {shared =>
          shared.item.isOwner ? (
            <>
              <EntryAccess {...shared} again={again} />
              <EntryLinks context={context} entry={entry} />
            </>
          ) : (
            <p class="notice warn">{t('ownersOnly')}</p>
          )
        }
      </Await>
    </Page>
  )
}
