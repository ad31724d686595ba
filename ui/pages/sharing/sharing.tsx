import { ReservedInContext } from '../../components/my-quotas.tsx'
import { Await, Page } from '../../components/page.tsx'
import { Together } from '../../components/together.tsx'
import { part } from '../../lib/base.ts'
import { contextTitle, loadContext } from '../../lib/contexts.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { hasQuotas } from '../../lib/quotas.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import { ContextAccess } from './context-access.tsx'
import { RenameSpace } from './rename-space.tsx'

/** Grants and revokes access to a context, for its owners. */
export function Sharing({ parts }: { readonly parts: Readonly<Record<string, string>> }) {
  const key = parts['context'] ?? ''
  const [loaded, again] = useLoaded(signal => loadContext(key, signal), [key])
  const name = loaded.state === 'ready' ? visible(contextTitle(loaded.value)) : key
  return (
    <Page title={t('shareContext', { name })} lead={<Link to={`contexts/${part(key)}/files`}>← {t('toFiles')}</Link>}>
      <Await loaded={loaded} again={again}>
        {({ contextId, info, isOwner }) =>
          isOwner ? (
            <Together>
              <ContextAccess id={contextId} info={info} again={again} />
              <RenameSpace id={contextId} again={again} />
              {hasQuotas && <ReservedInContext context={contextId} />}
            </Together>
          ) : (
            <p class="notice warn">{t('ownersOnly')}</p>
          )
        }
      </Await>
    </Page>
  )
}
