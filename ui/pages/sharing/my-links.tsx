import { useState } from 'preact/hooks'
import { ProblemNotice, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { PAGE } from '../../lib/portions.ts'
import { loadLinks } from '../../lib/public-links.ts'
import { LinkTable } from './link-table.tsx'

interface LinksProps {
  readonly title: string
  /** Those of all users, for administrators. */
  readonly isAll: boolean
}

/** The public links of the user, or of all users. Nothing where the service has them switched off. */
export function Links({ title, isAll }: LinksProps) {
  const [offset, setOffset] = useState(0)
  const [loaded, again] = useLoaded(signal => loadLinks({ isAll, offset, limit: PAGE }, signal), [isAll, offset])
  if (loaded.state === 'failed') return <ProblemNotice error={loaded.error} again={again} />
  if (loaded.state === 'loading' || !loaded.value) return null
  const { items, results } = loaded.value
  return (
    <Card title={title}>
      {results === 0 ? (
        <p class="empty">{t('publicLinksNone')}</p>
      ) : (
        <>
          <LinkTable links={items} shows={isAll ? ['item', 'creator'] : ['item']} onRevoked={again} />
          <Pager of={title} step={PAGE} offset={offset} shown={items.length} results={results} onOffset={setOffset} />
        </>
      )}
    </Card>
  )
}
