import { Button } from '../../components/button.tsx'
import { Choice } from '../../components/field.tsx'
import { Await, Card } from '../../components/page.tsx'
import { QuotaBar } from '../../components/quota-bar.tsx'
import { attempt } from '../../components/toast.tsx'
import { ask } from '../../lib/api.ts'
import { part } from '../../lib/base.ts'
import { contextTitle, loadContext } from '../../lib/contexts.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { createSpaceOf } from '../../lib/new-users.ts'
import { Link } from '../../lib/router.tsx'
import { useSession } from '../../lib/session.ts'
import { loadContextsOf } from '../../lib/shared.ts'
import { visible } from '../../lib/text.ts'

interface UserSpaceProps {
  readonly id: string
  readonly name: string
  /** Id of the home context. */
  readonly space: string | undefined
  readonly again: () => void
}

/** The space that belongs to a user: shown, chosen among those with access, or created. */
export function UserSpace({ id, name, space, again }: UserSpaceProps) {
  const { me } = useSession()
  const load = async (signal: AbortSignal) => {
    const [{ contexts }, home] = await Promise.all([
      loadContextsOf(id, me, signal),
      // It may have been deleted.
      space === undefined ? undefined : loadContext(space, signal).catch(() => undefined),
    ])
    return { contexts, home }
  }
  const [loaded, reload] = useLoaded(load, [id, space])
  const choose = async (homecontext: string): Promise<void> => {
    await attempt(() => ask(`_principals/resource/${part(id)}`, { method: 'PUT', json: { homecontext } }), t('saved'))
    again()
  }
  const create = async (): Promise<void> => {
    await attempt(() => createSpaceOf(me.baseUri, { id, title: name, quota: undefined }), t('contextCreated', { name }))
    again()
  }
  return (
    <Card title={t('homeContext')}>
      <Await loaded={loaded} again={reload}>
        {({ contexts, home }) => (
          <>
            {home ? (
              <div class="stack">
                <Link class="strong" to={`admin/contexts/${part(home.contextId)}`}>
                  {visible(contextTitle(home))}
                </Link>
                {home.quota && <QuotaBar name={contextTitle(home)} quota={home.quota} />}
              </div>
            ) : (
              <p class="muted">{t('homeContextNone')}</p>
            )}
            {contexts.length > 0 && (
              <Choice
                label={t('homeContextChoose')}
                value={space ?? ''}
                options={[
                  ...(space === undefined ? [['', t('none')] as const] : []),
                  ...(home && !contexts.some(({ entryId }) => entryId === space)
                    ? [[home.contextId, contextTitle(home)] as const]
                    : []),
                  ...contexts.map(({ entryId, name }) => [entryId, visible(name)] as const),
                ]}
                onValue={chosen => void choose(chosen)}
              />
            )}
            {!home && (
              <div class="buttons">
                <Button kind="quiet" onPress={create}>
                  {t('createContext')}
                </Button>
              </div>
            )}
          </>
        )}
      </Await>
    </Card>
  )
}
