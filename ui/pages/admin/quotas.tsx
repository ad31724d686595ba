import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Check } from '../../components/field.tsx'
import { Icon } from '../../components/icon.tsx'
import { Await, Card } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { FileCountBar, QuotaBar } from '../../components/quota-bar.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { Together } from '../../components/together.tsx'
import { ask, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { number } from '../../lib/format.ts'
import { labelsOf } from '../../lib/labels.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { useQuery } from '../../lib/query.ts'
import { hasQuotas, type OwnerQuota } from '../../lib/quotas.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'
import type { MessageKey } from '../../messages/en.ts'
import { AdminPage } from './admin-page.tsx'
import { NewGroupDialog } from './new-group.tsx'
import { OwnerQuotaCard } from './owner-quota.tsx'

/** The quotas of the store and of groups of contexts, and who uses most. */
export function AdminQuotas() {
  return (
    <AdminPage title={t('adminQuotas')}>{hasQuotas ? <Quotas /> : <p class="notice">{t('quotaOff')}</p>}</AdminPage>
  )
}

function Quotas() {
  const [{ full }, change] = useQuery({ full: '' })
  const isFullOnly = full !== ''
  return (
    <Together>
      <OwnerQuotaCard title={t('quotaOf.store')} name={t('quotaOf.store')} path="quota/store" />
      <Check label={t('quotasFullOnly')} isOn={isFullOnly} onChange={isOn => change({ full: isOn ? 'yes' : '' })} />
      {lists.map(list => (
        <Owners key={`${list.kind} ${full}`} {...list} isFullOnly={isFullOnly} />
      ))}
    </Together>
  )
}

interface List {
  readonly kind: 'groups' | 'users' | 'contexts'
  readonly title: MessageKey
  readonly column: MessageKey
  /** Where the pages of its rows are. */
  readonly pages: string
  /** The context whose entries name its rows. */
  readonly names?: string
}

const lists: readonly List[] = [
  { kind: 'groups', title: 'quotaGroups', column: 'quotaGroup', pages: 'admin/quotas' },
  { kind: 'users', title: 'largestUsers', column: 'userName', pages: 'admin/users', names: '_principals' },
  { kind: 'contexts', title: 'largestContexts', column: 'context', pages: 'admin/contexts', names: '_contexts' },
]

const PAGE = 10
/** In percent. */
const NEARLY_FULL = 80

function Owners({ kind, title, column, pages, names, isFullOnly }: List & { readonly isFullOnly: boolean }) {
  const [offset, setOffset] = useState(0)
  const [isMaking, setMaking] = useState(false)
  const load = async (signal: AbortSignal) => {
    const query = `limit=${PAGE}&offset=${offset}${isFullOnly ? `&reached=${NEARLY_FULL}` : ''}`
    const found = await ask<{ readonly items: readonly OwnerQuota[]; readonly results: number }>(
      `quota/${kind}?${query}`,
      { signal },
    )
    const places = names === undefined ? [] : found.items.map(({ owner }) => `${names}/${owner.id}`)
    const labels = places.length === 0 ? new Map<string, string>() : await labelsOf(places, signal)
    const rows = found.items.map(quota => ({
      ...quota,
      name: systemName(quota.owner.id) ?? labels.get(`${names}/${quota.owner.id}`) ?? quota.owner.id,
    }))
    return { rows, results: found.results }
  }
  const [loaded, again] = useLoaded(load, [kind, offset, isFullOnly])
  return (
    <Card
      title={t(title)}
      aside={
        kind === 'groups' && (
          <Button size="small" onPress={() => setMaking(true)}>
            <Icon name="plus" />
            {t('newQuotaGroup')}
          </Button>
        )
      }
    >
      {kind === 'groups' && <p class="muted small">{t('quotaGroupsText')}</p>}
      <Await loaded={loaded} again={again}>
        {({ rows, results }) =>
          rows.length === 0 ? (
            <p class="empty">{t(kind === 'groups' && !isFullOnly ? 'quotaGroupsNone' : 'nothingFound')}</p>
          ) : (
            <>
              <Table
                caption={t(title)}
                columns={columns(t(column), pages)}
                rows={rows}
                keyOf={({ owner }) => owner.id}
              />
              <Pager
                of={t(title)}
                step={PAGE}
                offset={offset}
                shown={rows.length}
                results={results}
                onOffset={setOffset}
              />
            </>
          )
        }
      </Await>
      {isMaking && (
        <NewGroupDialog
          title={t('newQuotaGroup')}
          label={t('quotaGroup')}
          hint={t('quotaGroupHint')}
          create={createQuotaGroup}
          onClose={() => setMaking(false)}
        />
      )}
    </Card>
  )
}

/** The contexts that hold users, groups and contexts have no title. */
function systemName(id: string): string | undefined {
  if (id === '_contexts') return t('adminContexts')
  return id === '_principals' ? t('usersAndGroups') : undefined
}

type Row = OwnerQuota & { readonly name: string }

const columns = (title: string, pages: string): ReadonlyArray<Column<Row>> => [
  {
    title,
    cell: ({ owner, name }) => (
      <Link class="strong" to={`${pages}/${part(owner.id)}${owner.kind === 'user' ? '?tab=access' : ''}`}>
        {visible(name)}
      </Link>
    ),
  },
  {
    title: t('quota'),
    kind: 'wide',
    cell: ({ name, ...quota }) => (
      <>
        <QuotaBar name={visible(name)} quota={quota} />
        <FileCountBar name={visible(name)} files={quota.files} maxFiles={quota.maxFiles} />
      </>
    ),
  },
  { title: t('filesOf'), kind: 'number', cell: ({ files }) => number(files) },
]

const createQuotaGroup = async (name: string): Promise<string> => {
  if (await exists(name)) throw new Problem(409, { code: 'name-taken' })
  await ask(`quota/groups/${part(name)}`, { method: 'PUT', json: {} })
  return `admin/quotas/${part(name)}`
}

/** Setting the quota of an existing group would replace its own. @throws {Problem} */
async function exists(group: string): Promise<boolean> {
  try {
    await ask(`quota/groups/${part(group)}`)
    return true
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return false
    throw error
  }
}
