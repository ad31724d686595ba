import { Choice } from '../../components/field.tsx'
import { removeColumn } from '../../components/remove-column.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { type Access, type Place, type Role, roles } from '../../lib/access.ts'
import { ask, Problem } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { type Graph, valuesOf } from '../../lib/graph.ts'
import { findMessage, t } from '../../lib/language.ts'
import { accessNames, namesOf } from '../../lib/principals.ts'
import { useSession } from '../../lib/session.ts'
import { visible } from '../../lib/text.ts'

/** A user or group with access, and the reason. */
export interface AccessRow extends Access {
  readonly name: string
  /** `listed` means that the list itself has the name. */
  readonly why: 'listed' | 'group' | 'folder' | 'context' | 'admin'
  /** Name of the group that gives the access. */
  readonly group?: string
  /** Name of the folder that gives the access. */
  readonly folder?: string
}

/** Access that comes from above. */
export interface InheritedAccess extends Access {
  readonly why: 'folder' | 'context'
  readonly folder?: string
}

export const GUEST = '_guest'
const USERS = '_users'
/** Groups that nobody can send a message to. */
export const everybody: readonly string[] = [GUEST, USERS]
const ADMINS = '_admins'
/** Maximum number of listed members of a group. */
const MAX_MEMBERS = 50

export const tellRole = (role: Role): string => findMessage(`role.${role}`) ?? role

const tellName = (id: string, names: ReadonlyMap<string, string>): string =>
  findMessage(`principal.${id}`) ?? names.get(id) ?? id

/**
 * All users and groups with access: those listed, members of listed groups, and administrators.
 * @param inherited access that also applies, from folders and the context
 */
export async function loadAccessRows(
  listed: readonly Access[],
  inherited: readonly InheritedAccess[],
  { place, signal }: { readonly place: Place; readonly signal: AbortSignal },
): Promise<readonly AccessRow[]> {
  const all = [...listed.map(access => ({ ...access, why: 'listed' as const })), ...inherited]
  const members = await membersOf([...new Set(all.map(({ principal }) => principal))], signal)
  const ids = [...all.map(({ principal }) => principal), ...[...members.values()].flat()]
  const names = await namesFor(ids, place, signal)
  const rows = all.flatMap(access => {
    const name = tellName(access.principal, names)
    const ofGroup = (members.get(access.principal) ?? []).map(
      (principal): AccessRow => ({
        role: access.role,
        principal,
        name: tellName(principal, names),
        why: 'group',
        group: name,
      }),
    )
    return [{ ...access, name }, ...ofGroup]
  })
  return [...rows, { role: 'owner', principal: ADMINS, name: t('principal._admins'), why: 'admin' }]
}

/** Whoever sees this list administers the place, and may read the names of those with access even if they are hidden elsewhere. */
async function namesFor(ids: readonly string[], { context, entry }: Place, signal: AbortSignal) {
  const names = await namesOf(ids, signal)
  if (ids.every(id => names.has(id))) return names
  const others = entry === undefined ? accessNames('_contexts', context, signal) : accessNames(context, entry, signal)
  return new Map([...names, ...(await others)])
}

interface PrincipalEntry {
  readonly info: Graph
  readonly rights?: readonly string[]
}

interface GroupResource {
  readonly children: ReadonlyArray<{ readonly entryId: string }>
}

const TYPE = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type'

/** Ids of the members by group, if the user may read them. */
async function membersOf(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
  const load = async (id: string): Promise<readonly string[]> => {
    if (id === GUEST || id === USERS) return []
    try {
      const { info, rights = [] } = await ask<PrincipalEntry>(`_principals/entry/${part(id)}?includeAll`, { signal })
      const isGroup = valuesOf(info, TYPE).some(type => type.endsWith('/Group'))
      // An owner may lack the right to read the members of a group.
      const canRead = ['administer', 'writeresource', 'readresource'].some(right => rights.includes(right))
      if (!isGroup || !canRead) return []
      const { children } = await ask<GroupResource>(`_principals/resource/${part(id)}`, { signal })
      return children.slice(0, MAX_MEMBERS).map(({ entryId }) => entryId)
    } catch (error) {
      // The entry was deleted meanwhile, or has its own access list.
      if (error instanceof Problem && [403, 404].includes(error.status)) return []
      throw error
    }
  }
  return new Map(await Promise.all(ids.map(async id => [id, await load(id)] as const)))
}

interface AccessColumnsProps {
  /** Id of the person. */
  readonly me: string
  readonly onRemove: (access: Access) => unknown
  readonly onRole: (row: AccessRow, role: Role) => unknown
}

const reasons = {
  listed: () => t('whyListed'),
  group: ({ group = '' }: AccessRow) => t('whyGroup', { name: visible(group) }),
  folder: ({ folder }: AccessRow) =>
    folder === undefined ? t('whyFolderUnnamed') : t('whyFolder', { name: visible(folder) }),
  context: () => t('whyContext'),
  admin: () => t('whyAdmin'),
} as const

const accessColumns = ({ me, onRemove, onRole }: AccessColumnsProps): ReadonlyArray<Column<AccessRow>> => [
  {
    title: t('userOrGroup'),
    cell: ({ name, why }) => (why === 'group' ? <span>{visible(name)}</span> : <strong>{visible(name)}</strong>),
  },
  {
    title: t('may'),
    cell: row =>
      // Giving up a role of one's own, and access for everyone, are steps that the person confirms.
      row.why !== 'listed' || row.principal === me || row.principal === GUEST ? (
        tellRole(row.role)
      ) : (
        <select
          class="small"
          aria-label={t('permissionOf', { name: visible(row.name) })}
          value={row.role}
          onInput={({ currentTarget }) => {
            const role = roles.find(role => role === currentTarget.value)
            // What the list shows is what is stored.
            currentTarget.value = row.role
            if (role !== undefined) onRole(row, role)
          }}
        >
          {roles.map(role => (
            <option key={role} value={role}>
              {tellRole(role)}
            </option>
          ))}
        </select>
      ),
  },
  { title: t('why'), cell: row => reasons[row.why](row) },
  removeColumn(
    ({ why, name, role }: AccessRow) =>
      why === 'listed' ? t('removeAccess', { name: visible(name), role: tellRole(role) }) : undefined,
    ({ role, principal }) => onRemove({ role, principal }),
  ),
]

interface RoleChoiceProps {
  readonly value: Role
  readonly onValue: (role: Role) => void
}

/** A field for what somebody may do. */
export const RoleChoice = ({ value, onValue }: RoleChoiceProps) => (
  <Choice
    label={t('may')}
    value={value}
    options={roles.map(role => [role, tellRole(role)])}
    onValue={text => onValue(roles.find(role => role === text) ?? value)}
  />
)

interface AccessTableProps extends Omit<AccessColumnsProps, 'me'> {
  readonly rows: readonly AccessRow[]
}

/** All users and groups with access and the reason; those that are listed can get another role, or be removed. */
export function AccessTable({ rows, onRemove, onRole }: AccessTableProps) {
  const { me } = useSession()
  return (
    <Table
      caption={t('access')}
      columns={accessColumns({ me: me.id, onRemove, onRole })}
      rows={rows}
      keyOf={({ role, principal, why, group, folder }) => JSON.stringify([role, principal, why, group, folder])}
    />
  )
}
