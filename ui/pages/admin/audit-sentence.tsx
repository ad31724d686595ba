import type { ComponentChildren } from 'preact'
import { type AuditEvent, contextOf, differencesIn, placeOf } from '../../lib/audit.ts'
import { part } from '../../lib/base.ts'
import { folderPath, itemPath } from '../../lib/files.ts'
import { bytes } from '../../lib/format.ts'
import { findMessage, t, tellWith } from '../../lib/language.ts'
import { tellPredicates } from '../../lib/predicates.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'

type Labels = ReadonlyMap<string, string>

interface AuditSentenceProps {
  readonly event: AuditEvent
  readonly labels: Labels
}

/** An event as a sentence with links, and below it what the sentence leaves out. */
export function AuditSentence({ event, labels }: AuditSentenceProps) {
  const notes = notesOn(event, labels)
  return (
    <div>
      <p class="said">{tellWith(keyOf(event), nodesOf(event, labels)) ?? event.event}</p>
      {notes.length > 0 && <div class="muted small">{notes.join(' · ')}</div>}
    </div>
  )
}

function keyOf({ event, detail }: AuditEvent): string {
  // A context that had no name is not renamed.
  if (event === 'context-renamed' && detail['name'] === '') return 'said.context-named'
  if (event === 'quota-threshold' || event === 'quota-changed') {
    const owner = ['group', 'store', 'user'].find(kind => detail[kind] !== undefined)
    const isUnlimited = event === 'quota-changed' && Number(detail['quota']) < 0
    return ['said', event, owner, isUnlimited && 'unlimited'].filter(Boolean).join('.')
  }
  if (event === 'operation-ended') return `said.operation-ended.${detail['operation']}`
  return `said.${event}`
}

function nodesOf(event: AuditEvent, labels: Labels): Readonly<Record<string, ComponentChildren>> {
  const { userId, userName, actorId, detail } = event
  const { from = '', to = '' } = detail
  return {
    actor: actorId === undefined ? t('theService') : <Person id={actorId} labels={labels} />,
    user:
      userId === undefined ? named(userName ?? t('someone')) : <Person id={userId} name={userName} labels={labels} />,
    group: <Group event={event} labels={labels} />,
    space: <Space event={event} labels={labels} />,
    item: <Item event={event} labels={labels} />,
    name: named(detail['name']),
    newName: named(detail['newName']),
    signature: named(detail['signature']),
    from: <Place place={String(from)} labels={labels} />,
    to: <Place place={String(to)} labels={labels} />,
    percent: String(detail['percent'] ?? ''),
    quota: bytes(Number(detail['quota'] ?? 0)),
    quotaGroup: named(detail['group']),
    quotaUser: <Person id={String(detail['user'] ?? '')} labels={labels} />,
  }
}

const named = (name: string | number | undefined): ComponentChildren => (
  <b>{name === undefined || name === '' ? t('withoutName') : visible(String(name))}</b>
)

interface PersonProps {
  readonly id: string
  readonly name?: string | undefined
  readonly labels: Labels
}

/** The present name of a user; the one at the time of the event if they no longer exist. */
function Person({ id, name, labels }: PersonProps) {
  const label = labels.get(`_principals/${id}`)
  if (label === undefined) return <>{named(name ?? id)}</>
  return <Link to={`admin/users/${part(id)}`}>{visible(label)}</Link>
}

function Group({ event: { detail }, labels }: AuditSentenceProps) {
  const { group, name, newName } = detail
  const place = String(group ?? '')
  const label = labels.get(place)
  if (label === undefined) return <>{named(newName ?? name ?? place)}</>
  return <Link to={`admin/groups/${part(place.slice(place.indexOf('/') + 1))}`}>{visible(label)}</Link>
}

function Space({ event, labels }: AuditSentenceProps) {
  const context = contextOf(event)
  if (context === undefined) return null
  if (context === '_principals') return <>{t('usersAndGroups')}</>
  const label = labels.get(`_contexts/${context}`)
  const { name, entry } = event.detail
  // An event about a context names it, one about an entry the entry.
  if (label === undefined)
    return <>{named(entry === undefined && name !== undefined && name !== '' ? name : context)}</>
  return <Link to={`admin/contexts/${part(context)}`}>{visible(label)}</Link>
}

function Item({ event, labels }: AuditSentenceProps) {
  const [context = '', entry = ''] = placeOf(event)?.split('/') ?? []
  const label = labels.get(`${context}/${entry}`)
  if (label === undefined) return <>{named(event.detail['name'] ?? entry)}</>
  return <Link to={addressOf(context, entry)}>{visible(label)}</Link>
}

/** A folder, or a space. */
function Place({ place, labels }: { readonly place: string; readonly labels: Labels }) {
  const [context = '', folder] = place.split('/')
  const label = labels.get(folder === undefined ? `_contexts/${context}` : place)
  if (label === undefined) return <>{named(folder ?? context)}</>
  return <Link to={folderPath({ context, folder })}>{visible(label)}</Link>
}

/** The page that shows an entry. */
function addressOf(context: string, entry: string): string {
  if (context === '_contexts') return `admin/contexts/${part(entry)}`
  if (context === '_principals') return `admin/users/${part(entry)}`
  return itemPath({ context, entryId: entry })
}

/** Members of `detail` that are in the sentence, or are shown in another way. */
const said = new Set(
  'context entry group user store link before after name newName from to quota percent signature fillLevel factor token entries operation'.split(
    ' ',
  ),
)

/** Members of `detail` that have one of a few words as their value. */
const coded = new Set('again by mechanism password role scope state temporary why'.split(' '))

/** Members of `detail` that are a number of bytes. */
const sizes = new Set(['size'])

function tellValue(key: string, value: string): string {
  if (key === 'maxFiles' && Number(value) < 0) return t('linkNoLimit')
  if (sizes.has(key)) return bytes(Number(value))
  if (key === 'changed') return visible(tellPredicates(value))
  return (coded.has(key) ? findMessage(`detail.value.${value}`) : undefined) ?? visible(value)
}

function notesOn(event: AuditEvent, labels: Labels): readonly string[] {
  const { detail } = event
  const { entries } = detail
  const others = Object.entries(detail)
    .filter(([key, value]) => !said.has(key) && value !== '')
    .map(([key, value]) => `${findMessage(`detail.${key}`) ?? key}: ${tellValue(key, String(value))}`)
  const changes = differencesIn(event).map(({ isGiven, slot, principal }) => {
    const who = findMessage(`principal.${principal}`) ?? labels.get(`_principals/${principal}`) ?? principal
    return `${isGiven ? '+' : '−'} ${visible(who)}${slot === 'member' ? '' : `: ${findMessage(`slot.${slot}`) ?? slot}`}`
  })
  const count = Number(entries) > 1 ? [t('countEntries', { count: Number(entries) })] : []
  return [...changes, ...count, ...others]
}
