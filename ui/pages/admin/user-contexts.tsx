import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { type Access, accessIn } from '../../lib/access.ts'
import { part } from '../../lib/base.ts'
import type { Item } from '../../lib/files.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { namesOf } from '../../lib/principals.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { loadContextsOf } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'
import { tellRole } from '../sharing/access-rows.tsx'

interface Row extends Access {
  readonly context: Item
}

/** The contexts that a user has access to, with the reason. */
export function UserContexts({ id }: { readonly id: string }) {
  const { me } = useSession()
  const load = async (signal: AbortSignal) => {
    const { contexts, groups } = await loadContextsOf(id, me, signal)
    const rows = contexts.flatMap((context): Row[] =>
      accessIn(context.info, { base: me.baseUri, context: context.entryId })
        .filter(({ principal }) => principal === id || groups.includes(principal))
        .map(access => ({ ...access, context })),
    )
    return { rows, names: await namesOf(groups, signal) }
  }
  const [loaded, again] = useLoaded(load, [id])
  return (
    <Card title={t('contextsOf')}>
      <Await loaded={loaded} again={again}>
        {({ rows, names }) =>
          rows.length === 0 ? (
            <p class="muted">{t('contextsOfNone')}</p>
          ) : (
            <Table
              caption={t('contextsOf')}
              columns={columns(id, names)}
              rows={rows}
              keyOf={({ context, role, principal }) => `${context.entryId} ${role} ${principal}`}
            />
          )
        }
      </Await>
    </Card>
  )
}

const columns = (user: string, names: ReadonlyMap<string, string>): ReadonlyArray<Column<Row>> => [
  {
    title: t('context'),
    kind: 'wide',
    cell: ({ context: { entryId, name } }) => (
      <Link class="strong" to={`admin/contexts/${part(entryId)}`}>
        {visible(name)}
      </Link>
    ),
  },
  { title: t('may'), cell: ({ role }) => tellRole(role) },
  {
    title: t('why'),
    cell: ({ principal }) =>
      principal === user ? t('whyListed') : t('whyGroup', { name: visible(names.get(principal) ?? principal) }),
  },
]
