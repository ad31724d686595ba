import { Await } from '../../components/page.tsx'
import type { Item } from '../../lib/files.ts'
import { dateTime } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import { loadActivity } from './item-history.ts'

const words = { created: 'created', metadata: 'metadataChanged', changed: 'changed' } as const

/** What happened to an item, as far as it says so itself. */
export function ItemActivity({ item: { info } }: { readonly item: Item }) {
  const [loaded, again] = useLoaded(signal => loadActivity(info, signal), [info])
  return (
    <Await loaded={loaded} again={again}>
      {happenings => (
        <ol class="activity">
          {happenings.map(({ what, time, by }) => (
            <li key={`${what} ${time.getTime()}`}>
              <strong>{t(words[what])}</strong>
              <span class="muted small">
                {dateTime(time)}
                {by !== '' && ` · ${visible(by)}`}
              </span>
            </li>
          ))}
        </ol>
      )}
    </Await>
  )
}
