import { Await, Card } from '../../components/page.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import type { Graph } from '../../lib/graph.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { namesOf } from '../../lib/principals.ts'
import { Link } from '../../lib/router.tsx'
import { visible } from '../../lib/text.ts'

const HAS_MEMBER = 'http://entrystore.org/terms/hasGroupMember'

/** Ids and names of the groups that a user belongs to. @throws {Problem} */
async function loadGroups(user: string, signal: AbortSignal): Promise<ReadonlyArray<readonly [string, string]>> {
  const relations = await ask<Graph>(`_principals/relations/${part(user)}`, { signal })
  const groups = Object.entries(relations).filter(([, properties]) => properties[HAS_MEMBER])
  const ids = groups.map(([uri]) => uri.slice(uri.lastIndexOf('/') + 1))
  return [...(await namesOf(ids, signal))]
}

/** The groups of a user. */
export function UserGroups({ id }: { readonly id: string }) {
  const [loaded, again] = useLoaded(signal => loadGroups(id, signal), [id])
  return (
    <Card title={t('groupsOf')}>
      <Await loaded={loaded} again={again}>
        {groups =>
          groups.length === 0 ? (
            <p class="muted">{t('groupsOfNone')}</p>
          ) : (
            <ul class="badges">
              {groups.map(([group, name]) => (
                <li key={group}>
                  <Link class="badge" to={`admin/groups/${part(group)}`}>
                    {visible(name)}
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Await>
    </Card>
  )
}
