import { Await } from '../../components/page.tsx'
import type { Item } from '../../lib/files.ts'
import { dateTime } from '../../lib/format.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import type { MessageKey } from '../../messages/en.ts'
import { loadActivity } from './item-history.ts'

const words: Readonly<Record<string, MessageKey>> = {
  created: 'created',
  metadata: 'metadataChanged',
  changed: 'changed',
}

const tellWhat = (what: string): string => {
  const key = words[what]
  return key ? t(key) : (findMessage(`event.${what}`) ?? what)
}

/** What happened to an item. */
export function ItemActivity({ item }: { readonly item: Item }) {
  const [loaded, again] = useLoaded(signal => loadActivity(item, signal), [item])
  return (
    <Await loaded={loaded} again={again}>
      {happenings => (
        <ol class="activity">
          {happenings.map(({ what, time, by, detail = '' }) => (
            <li key={`${what} ${time.getTime()}`}>
              <strong>{tellWhat(what)}</strong>
              <span class="muted small">
                {dateTime(time)}
                {by !== '' && ` · ${visible(by)}`}
              </span>
              {detail !== '' && <span class="small">{visible(detail)}</span>}
            </li>
          ))}
        </ol>
      )}
    </Await>
  )
}
