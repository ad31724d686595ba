import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Name } from '../../components/name.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { attempt } from '../../components/toast.tsx'
import { part } from '../../lib/base.ts'
import { ago, dateTime, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { type PublicLink, revokeLink } from '../../lib/public-links.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'

interface LinkTableProps {
  readonly links: readonly PublicLink[]
  /** What each row says beside the link itself: nothing where all are of one file and visible to its owners. */
  readonly shows: readonly ('item' | 'creator')[]
  readonly onRevoked: () => void
}

/** Public links with their limits and use, and a button to revoke each. */
export function LinkTable({ links, shows, onRevoked }: LinkTableProps) {
  const [revoking, setRevoking] = useState<PublicLink>()
  const revoke = async ({ id }: PublicLink): Promise<void> => {
    await attempt(() => revokeLink(id), t('linkRevoked'))
    onRevoked()
  }
  const columns: ReadonlyArray<Column<PublicLink>> = [
    ...(shows.includes('item') ? [itemColumn()] : []),
    ...(shows.includes('creator') ? [creatorColumn()] : []),
    ...limitColumns(),
    {
      title: t('revoke'),
      kind: 'actions',
      cell: link => (
        <Button
          kind="quiet danger"
          size="small"
          label={`${t('revoke')}: ${visible(link.name ?? link.item ?? link.id)}`}
          onPress={() => setRevoking(link)}
        >
          {t('revoke')}
        </Button>
      ),
    },
  ]
  return (
    <>
      <Table caption={t('publicLinks')} columns={columns} rows={links} keyOf={({ id }) => id} />
      {revoking && (
        <Confirm
          title={t('linkRevoke')}
          text={t('linkRevokeText')}
          action={t('revoke')}
          onConfirm={() => revoke(revoking)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  )
}

const itemColumn = (): Column<PublicLink> => ({
  title: t('fileOrFolder'),
  kind: 'wide',
  cell: ({ item, contextId, entryId }) =>
    item === undefined ? (
      '–'
    ) : (
      <Link to={`contexts/${part(contextId)}/sharing/${part(entryId)}`}>
        <Name>{item}</Name>
      </Link>
    ),
})

const creatorColumn = (): Column<PublicLink> => ({
  title: t('by'),
  cell: ({ createdBy: { id, name } }) => visible(name ?? id),
})

const states = { active: 'linkActive', expired: 'linkExpired', 'used-up': 'linkUsedUp', gone: 'linkAsleep' } as const

const limitColumns = (): ReadonlyArray<Column<PublicLink>> => [
  {
    title: t('linkNote'),
    cell: ({ name, hasPassword, created }) => (
      <div>
        {name === undefined ? <span class="muted">–</span> : visible(name)}{' '}
        {hasPassword && <span class="badge plain">{t('password')}</span>}
        <div class="muted small">{dateTime(new Date(created))}</div>
      </div>
    ),
  },
  {
    title: t('state'),
    cell: ({ state, expires }) => (
      <div>
        <span class={state === 'active' ? 'badge plain' : 'badge'}>{t(states[state])}</span>
        {expires !== undefined && (
          <div class="muted small">{t('linkUntil', { time: dateTime(new Date(expires)) })}</div>
        )}
      </div>
    ),
  },
  {
    title: t('linkDownloads'),
    cell: ({ downloads, maxDownloads, lastUsed }) => (
      <div>
        {maxDownloads === undefined
          ? number(downloads)
          : t('linkDownloadsOf', { count: number(downloads), limit: number(maxDownloads) })}
        {lastUsed !== undefined && <div class="muted small">{ago(new Date(lastUsed))}</div>}
      </div>
    ),
  },
]
