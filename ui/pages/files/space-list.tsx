import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { Name } from '../../components/name.tsx'
import { contextTitle, type ListedContext } from '../../lib/contexts.ts'
import { number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { loadMyContexts, type MyContexts } from '../../lib/my-contexts.ts'
import { visible } from '../../lib/text.ts'

interface SpaceListProps {
  /** The first of them. */
  readonly first: MyContexts
  readonly onOpen: (space: ListedContext) => void
}

/** The spaces that the user can write to, to open one of them. */
export function SpaceList({ first: { contexts, results }, onOpen }: SpaceListProps) {
  const [more, setMore] = useState<readonly ListedContext[]>([])
  const shown = [...contexts, ...more]
  const showMore = async (): Promise<void> =>
    setMore([...more, ...(await loadMyContexts('write', shown.length)).contexts])
  return (
    <ul class="things folders" aria-label={t('contexts')}>
      {shown.map(space => (
        <li key={space.contextId}>
          <Icon name="folder" />
          <button
            type="button"
            class="link"
            aria-label={t('openSpace', { name: visible(contextTitle(space)) })}
            onClick={() => onOpen(space)}
          >
            <Name>{contextTitle(space)}</Name>
          </button>
        </li>
      ))}
      {shown.length === 0 && <li class="none">{t('spacesNone')}</li>}
      {shown.length < results && (
        <li>
          <Button kind="quiet" size="small" onPress={showMore}>
            {t('showMore', { count: number(results - shown.length) })}
          </Button>
        </li>
      )}
    </ul>
  )
}
