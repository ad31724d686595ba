import { Button } from '../../components/button.tsx'
import { Fact } from '../../components/fact.tsx'
import { tell } from '../../components/toast.tsx'
import { address, uiPath } from '../../lib/base.ts'
import { tellItemType } from '../../lib/file-types.ts'
import { detailsIn, fieldOf, placesIn, tagsOf, type TextKind } from '../../lib/details.ts'
import { type Item, itemPath, resourcePath } from '../../lib/files.ts'
import { bytes, dateTime } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import { EditDetails, labelOfText } from './edit-details.tsx'
import { loadHistory } from './item-history.ts'

interface ItemDetailsProps {
  readonly item: Item
  readonly onChanged: () => void
}

/** Title, description and tags of an item, and facts about it. */
export function ItemDetails({ item, onChanged }: ItemDetailsProps) {
  const facts = <Facts item={item} />
  if (item.canWriteMetadata) return <EditDetails item={item} onChanged={onChanged} after={facts} />
  return (
    <>
      <Texts item={item} />
      {facts}
    </>
  )
}

/** What others read who may not change it. */
function Texts({ item }: { readonly item: Item }) {
  const { metadata = {}, name } = item
  const fields = detailsIn(item, metadata)
  const tags = tagsOf(item, metadata)
  const textsOf = (kind: TextKind) =>
    placesIn(item, metadata, kind).map(place => [place, fields[fieldOf(place)] ?? ''] as const)
  const [[, title] = [], ...titles] = textsOf('title')
  const [[, description] = [], ...descriptions] = textsOf('description')
  const others = [
    ...titles.map(([place, text]) => ['title', place, text] as const),
    ...descriptions.map(([place, text]) => ['description', place, text] as const),
  ]
  return (
    <>
      {title !== undefined && title !== name && <h3>{visible(title)}</h3>}
      {description !== undefined && <p class="prose">{description}</p>}
      {others.length > 0 && (
        <dl class="facts">
          {others.map(([kind, place, text]) => (
            <Fact key={fieldOf(place)} name={labelOfText(kind, place)}>
              <span class="prose" lang={place.lang}>
                {text}
              </span>
            </Fact>
          ))}
        </dl>
      )}
      {tags.length > 0 && (
        <p class="badges">
          {tags.map(tag => (
            <span key={tag} class="badge plain">
              {visible(tag)}
            </span>
          ))}
        </p>
      )}
    </>
  )
}

function Facts({ item }: { readonly item: Item }) {
  const { size, mediaType, modified, info } = item
  const [history] = useLoaded(signal => loadHistory(info, signal), [info])
  const [digest] = useLoaded(signal => loadDigest(item, signal), [item])
  const created = history.state === 'ready' ? history.value.find(({ what }) => what === 'created') : undefined
  // All facts appear at once, so that none moves another.
  if (history.state === 'loading' || digest.state === 'loading') return null
  const url = new URL(uiPath + itemPath(item), location.href).href
  const copy = async (): Promise<void> => {
    // Browsers have a clipboard on secure pages only.
    await navigator.clipboard?.writeText(url)
    tell(t('copied'))
  }
  return (
    <>
      <dl class="facts">
        <Fact name={t('fileType')}>
          {tellItemType(item)}
          {mediaType !== undefined && <span class="muted small"> {visible(mediaType)}</span>}
        </Fact>
        {size !== undefined && <Fact name={t('fileSize')}>{bytes(size)}</Fact>}
        {created && (
          <Fact name={t('created')}>
            {[dateTime(created.time), visible(created.by)].filter(text => text !== '').join(' · ')}
          </Fact>
        )}
        {modified && <Fact name={t('changed')}>{dateTime(modified)}</Fact>}
        {digest.state === 'ready' && digest.value !== undefined && (
          <Fact name="SHA-256">
            <code class="small">{digest.value}</code>
          </Fact>
        )}
      </dl>
      <div class="line">
        <input type="text" readOnly value={url} aria-label={t('address')} />
        <Button kind="quiet" size="small" onPress={copy}>
          {t('copy')}
        </Button>
      </div>
    </>
  )
}

/** The SHA-256 of a file in hexadecimal digits, as tools print it. */
async function loadDigest(item: Item, signal: AbortSignal): Promise<string | undefined> {
  if (item.size === undefined) return undefined
  const response = await fetch(address(resourcePath(item)), { method: 'HEAD', signal })
  const [, digest] = /sha-256=:([^:]+):/.exec(response.headers.get('repr-digest') ?? '') ?? []
  if (!response.ok || digest === undefined) return undefined
  return [...atob(digest)].map(sign => sign.charCodeAt(0).toString(16).padStart(2, '0')).join('')
}
