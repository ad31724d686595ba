import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Await, Card } from '../../components/page.tsx'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { loadLinksOf } from '../../lib/public-links.ts'
import { LinkTable } from './link-table.tsx'
import { NewLinkDialog } from './new-link.tsx'

interface EntryLinksProps {
  readonly context: string
  readonly entry: string
}

/** The public links of a file or folder. Nothing where the service has them switched off. */
export function EntryLinks({ context, entry }: EntryLinksProps) {
  const [loaded, again] = useLoaded(signal => loadLinksOf(context, entry, signal), [context, entry])
  const [isCreating, setCreating] = useState(false)
  if (loaded.state === 'ready' && !loaded.value) return null
  return (
    <Card
      title={t('publicLinks')}
      aside={
        <Button kind="quiet" size="small" onPress={() => setCreating(true)}>
          {t('createLink')}
        </Button>
      }
    >
      <p class="muted">{t('publicLinksText')}</p>
      <Await loaded={loaded} again={again}>
        {(links = []) =>
          links.length === 0 ? (
            <p class="empty">{t('publicLinksNone')}</p>
          ) : (
            <LinkTable links={links} shows={['creator']} onRevoked={again} />
          )
        }
      </Await>
      {isCreating && (
        <NewLinkDialog context={context} entry={entry} onCreated={again} onClose={() => setCreating(false)} />
      )}
    </Card>
  )
}
