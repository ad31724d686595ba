import { useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { Await, Card } from '../components/page.tsx'
import { QuotaBar } from '../components/quota-bar.tsx'
import { ask } from '../lib/api.ts'
import { part } from '../lib/base.ts'
import { contextTitle, type WritableContext } from '../lib/contexts.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { Link } from '../lib/router.tsx'

interface Answer {
  readonly contexts: readonly WritableContext[]
  readonly results: number
}

const STEP = 20

const MAX_AT_ONCE = 100

/** The first so many contexts, fetched in the portions that the service gives. */
async function loadContexts(wanted: number, signal: AbortSignal): Promise<Answer> {
  const contexts: WritableContext[] = []
  for (;;) {
    const limit = Math.min(MAX_AT_ONCE, wanted - contexts.length)
    const portion = await ask<Answer>(`auth/user/contexts?limit=${limit}&offset=${contexts.length}`, { signal })
    contexts.push(...portion.contexts)
    const isEnough = contexts.length >= Math.min(wanted, portion.results)
    if (isEnough || portion.contexts.length === 0) return { contexts, results: portion.results }
  }
}

/** The contexts that one may write to, with the room in each. */
export function Contexts() {
  const [limit, setLimit] = useState(STEP)
  const [loaded, again] = useLoaded(signal => loadContexts(limit, signal), [limit])
  return (
    <Card title={t('contexts')}>
      <Await loaded={loaded} again={again}>
        {({ contexts, results }) => (
          <>
            {contexts.length === 0 && <p class="empty">{t('contextsNone')}</p>}
            <ul class="items tiles">
              {contexts.map(context => (
                <Tile key={context.contextId} context={context} />
              ))}
            </ul>
            {contexts.length < results && (
              <div class="buttons">
                <Button kind="quiet" onPress={() => setLimit(limit + STEP)}>
                  {t('contextsMore')}
                </Button>
              </div>
            )}
          </>
        )}
      </Await>
    </Card>
  )
}

function Tile({ context }: { readonly context: WritableContext }) {
  const title = contextTitle(context)
  const { contextId, quota } = context
  return (
    <li class="tile">
      <div>
        <Link to={`contexts/${part(contextId)}/files`}>{title}</Link>
        {title !== contextId && <code class="muted small">{contextId}</code>}
      </div>
      {quota && <QuotaBar name={title} quota={quota} />}
    </li>
  )
}
