import { useId, useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Choice } from '../../components/field.tsx'
import { Await } from '../../components/page.tsx'
import { tell, tellFailure, undoBy } from '../../components/toast.tsx'
import type { Item } from '../../lib/files.ts'
import { dateTime } from '../../lib/format.ts'
import { nameOfLanguage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { tellPredicate } from '../../lib/predicates.ts'
import { visible } from '../../lib/text.ts'
import type { Triple } from '../../lib/triples.ts'
import {
  type Difference,
  differencesOf,
  loadVersion,
  loadVersions,
  putBack,
  restoreVersion,
  type Version,
} from '../../lib/versions.ts'

interface ItemVersionsProps {
  readonly item: Item
  readonly onChanged: () => void
}

/** The versions of the metadata of an item: what changed in each, and a way back to it. */
export function ItemVersions({ item, onChanged }: ItemVersionsProps) {
  const [loaded, again] = useLoaded(signal => loadVersions(item, signal), [item])
  return (
    <Await loaded={loaded} again={again}>
      {versions => (
        <>
          <p class="muted small">{t('versionsText')}</p>
          <ol class="activity">
            {versions.map((version, index) => (
              <VersionRow
                key={version.number}
                item={item}
                version={version}
                latest={versions[0]?.number ?? 0}
                isLatest={index === 0}
                onChanged={onChanged}
              />
            ))}
          </ol>
          {(versions.at(-1)?.number ?? 1) > 1 && <p class="muted small">{t('versionsEarlier')}</p>}
        </>
      )}
    </Await>
  )
}

interface VersionRowProps extends ItemVersionsProps {
  readonly version: Version
  /** Number of the present version. */
  readonly latest: number
  readonly isLatest: boolean
}

function VersionRow({ item, version, latest, isLatest, onChanged }: VersionRowProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  const { number, time, by } = version
  const name = t('versionNumber', { number })
  const restore = async (): Promise<void> => {
    try {
      const before = await restoreVersion(item, number)
      tell(
        t('versionRestored', { number }),
        undoBy(() => putBack(item, before), onChanged),
      )
    } catch (error) {
      tellFailure(error)
    }
    onChanged()
  }
  return (
    <li>
      <strong>
        {name}
        {isLatest && <span class="badge plain">{t('versionPresent')}</span>}
      </strong>
      <span class="muted small">
        {dateTime(time)}
        {by !== '' && ` · ${visible(by)}`}
      </span>
      <div class="buttons">
        <button
          type="button"
          class="button quiet small"
          aria-expanded={isOpen}
          aria-controls={isOpen ? id : undefined}
          aria-label={`${t('versionChanges')}: ${name}`}
          onClick={() => setOpen(!isOpen)}
        >
          {t('versionChanges')}
        </button>
        {!isLatest && item.canWriteMetadata && (
          <Button kind="quiet" size="small" label={`${t('versionRestore')}: ${name}`} onPress={restore}>
            {t('versionRestore')}
          </Button>
        )}
      </div>
      {isOpen && (
        <div id={id} class="stack">
          <Changes item={item} number={number} latest={latest} />
        </div>
      )}
    </li>
  )
}

interface ChangesProps {
  readonly item: Item
  readonly number: number
  readonly latest: number
}

/** How a version differs from the one before it, or from the present one. */
function Changes({ item, number, latest }: ChangesProps) {
  const [isToLatest, setToLatest] = useState(false)
  const [from, to] = isToLatest ? [number, latest] : [number - 1, number]
  const load = async (signal: AbortSignal): Promise<readonly Difference[]> => {
    const [before, after] = await Promise.all([loadVersion(item, from, signal), loadVersion(item, to, signal)])
    return differencesOf(before, after)
  }
  const [loaded, again] = useLoaded(load, [item.context, item.entryId, from, to])
  return (
    <>
      {number < latest && (
        <Choice
          label={t('versionCompare')}
          value={String(isToLatest)}
          options={[
            ['false', t('versionWithBefore')],
            ['true', t('versionWithPresent')],
          ]}
          onValue={value => setToLatest(value === 'true')}
        />
      )}
      <Await loaded={loaded} again={again}>
        {differences =>
          differences.length === 0 ? (
            <p class="empty">{t('versionSame')}</p>
          ) : (
            <table class="statements small">
              <caption class="hidden">{t('versionChanges')}</caption>
              <thead>
                <tr>
                  <th scope="col">{t('metadataProperty')}</th>
                  <th scope="col">{t('versionBefore')}</th>
                  <th scope="col">{t('versionAfter')}</th>
                </tr>
              </thead>
              <tbody>
                {differences.map((difference, index) => (
                  <DifferenceRow key={index} {...difference} />
                ))}
              </tbody>
            </table>
          )
        }
      </Await>
    </>
  )
}

function DifferenceRow({ before, after }: Difference) {
  const { predicate = '', object } = before ?? after ?? {}
  return (
    <tr>
      <td title={predicate}>
        {visible(tellPredicate(predicate))}
        {object?.lang !== undefined && <span class="muted"> ({nameOfLanguage(object.lang)})</span>}
      </td>
      <Value triple={before} />
      <Value triple={after} />
    </tr>
  )
}

const Value = ({ triple }: { readonly triple: Triple | undefined }) =>
  triple ? <td class="prose">{triple.object.value}</td> : <td class="muted">–</td>
