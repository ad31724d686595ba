import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Confirm } from '../../components/dialog.tsx'
import { Name } from '../../components/name.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { ShownOnce } from '../../components/shown-once.tsx'
import { attempt, tellFailure } from '../../components/toast.tsx'
import { Problem } from '../../lib/api.ts'
import { itemPath } from '../../lib/files.ts'
import { ago, dateTime, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { loadLinkUrl, type PublicLink, revokeLink } from '../../lib/public-links.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'
import { ChangeLinkDialog } from './new-link.tsx'

interface LinkTableProps {
  readonly links: readonly PublicLink[]
  /** What each row says beside the link itself: nothing where all are of one file and visible to its owners. */
  readonly shows: readonly ('item' | 'creator')[]
  /** Called after a change, too. */
  readonly onRevoked: () => void
}

/** Public links with their limits and use, and buttons to copy, change and revoke each. */
export function LinkTable({ links, shows, onRevoked }: LinkTableProps) {
  const { me } = useSession()
  const [revoking, setRevoking] = useState<PublicLink>()
  const [changing, setChanging] = useState<PublicLink>()
  const [shown, setShown] = useState<string>()
  const revoke = async ({ id }: PublicLink): Promise<void> => {
    await attempt(() => revokeLink(id), t('linkRevoked'))
    onRevoked()
  }
  const show = async ({ id }: PublicLink): Promise<void> => {
    try {
      setShown(await loadLinkUrl(id))
    } catch (error) {
      tellFailure(
        error instanceof Problem && error.status === 404 ? new Problem(404, { code: 'link-unreadable' }) : error,
      )
    }
  }
  const columns: ReadonlyArray<Column<PublicLink>> = [
    shows.includes('item') ? itemColumn() : noteColumn(),
    ...(shows.includes('creator') ? [creatorColumn()] : []),
    ...limitColumns(),
    {
      title: t('actions'),
      kind: 'actions',
      cell: link => {
        const name = visible(link.name ?? link.item ?? link.id)
        return (
          <div class="buttons">
            {link.createdBy.id === me.id && (
              <Button kind="quiet" size="small" label={`${t('copyLink')}: ${name}`} onPress={() => show(link)}>
                {t('copyLink')}
              </Button>
            )}
            <Button kind="quiet" size="small" label={`${t('changeLink')}: ${name}`} onPress={() => setChanging(link)}>
              {t('changeIt')}
            </Button>
            <Button
              kind="quiet danger"
              size="small"
              label={`${t('revoke')}: ${name}`}
              onPress={() => setRevoking(link)}
            >
              {t('revoke')}
            </Button>
          </div>
        )
      },
    },
  ]
  return (
    <>
      <Table caption={t('publicLinks')} columns={columns} rows={links} keyOf={({ id }) => id} />
      {shown !== undefined && (
        <ShownOnce
          title={t('publicLink')}
          text={t('linkOnce')}
          label={t('publicLink')}
          value={shown}
          onClose={() => setShown(undefined)}
        />
      )}
      {changing && <ChangeLinkDialog link={changing} onChanged={onRevoked} onClose={() => setChanging(undefined)} />}
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
  cell: link => {
    const { item, contextId, entryId, name } = link
    return (
      <div>
        {item === undefined ? (
          '–'
        ) : (
          <Link class="strong" to={itemPath({ context: contextId, entryId }, 'access')}>
            <Name>{item}</Name>
          </Link>
        )}
        <div class="muted small">
          {name !== undefined && `${visible(name)} · `}
          <Made {...link} />
        </div>
      </div>
    )
  },
})

const noteColumn = (): Column<PublicLink> => ({
  title: t('linkNote'),
  cell: link => (
    <div>
      {link.name === undefined ? <span class="muted">–</span> : visible(link.name)}
      <div class="muted small">
        <Made {...link} />
      </div>
    </div>
  ),
})

const Made = ({ created, hasPassword }: PublicLink) => (
  <>
    {dateTime(new Date(created))} {hasPassword && <span class="badge plain">{t('password')}</span>}
  </>
)

const creatorColumn = (): Column<PublicLink> => ({
  title: t('by'),
  cell: ({ createdBy: { id, name } }) => visible(name ?? id),
})

const states = { active: 'linkActive', expired: 'linkExpired', 'used-up': 'linkUsedUp', gone: 'linkAsleep' } as const

const limitColumns = (): ReadonlyArray<Column<PublicLink>> => [
  {
    title: t('state'),
    kind: 'whole',
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
    kind: 'whole',
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
