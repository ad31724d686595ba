import { Button } from '../../components/button.tsx'
import { Fact } from '../../components/fact.tsx'
import { Await, Card } from '../../components/page.tsx'
import { ask, Problem } from '../../lib/api.ts'
import { bytes, dateTime, duration, number } from '../../lib/format.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { Link } from '../../lib/router.tsx'
import type { MessageKey } from '../../messages/en.ts'
import { AdminPage } from './admin-page.tsx'
import { Attention } from './attention.tsx'
import { LastDay } from './last-day.tsx'

interface Readiness {
  readonly ready: boolean
  readonly checks: Readonly<Record<string, 'up' | 'down'>>
}

interface Stats {
  readonly userCount: number
  readonly groupCount: number
  readonly contextCount: number
  readonly entryCount: number
  readonly fileCount: number
  readonly fileBytes: number
}

interface Status {
  readonly version: string
  readonly commit?: string
  readonly baseURI: string
  readonly startupTime: string
  readonly quota: boolean
  /** Absent without scheduled backups. */
  readonly backup?: {
    readonly made?: { readonly time: string; readonly bytes: number }
    readonly problem?: string
    /** The last restore of a backup that found nothing wrong. */
    readonly proven?: { readonly time: string; readonly restoreSeconds?: number }
  }
  readonly process: {
    readonly node: string
    readonly rss: number
    readonly heapUsed: number
    readonly uptime: number
  }
  readonly stats: Stats
}

interface System extends Status {
  readonly readiness: Readiness
}

async function loadSystem(signal: AbortSignal): Promise<System> {
  const [status, readiness] = await Promise.all([
    ask<Status>('management/status?extended&includeStats', { signal }),
    ask<Readiness>('management/ready', { signal }).catch(notReady),
  ])
  return { ...status, readiness }
}

/** The service reports that it is not ready by an error response, which has the reason. */
function notReady(error: unknown): Readiness {
  if (error instanceof Problem && error.extra['checks'] !== undefined) return error.extra as unknown as Readiness
  throw error
}

/** The state of the service. */
export function AdminSystem() {
  return (
    <AdminPage title={t('adminSystem')}>
      <Overview />
    </AdminPage>
  )
}

function Overview() {
  const [loaded, again] = useLoaded(loadSystem, [])
  return (
    <Await loaded={loaded} again={again}>
      {system => (
        <>
          <Ready {...system.readiness} again={again} />
          <Counts {...system.stats} />
          <Attention />
          <Facts {...system} />
          <LastDay />
        </>
      )}
    </Await>
  )
}

function Counts({ userCount, groupCount, contextCount, entryCount, fileCount, fileBytes }: Stats) {
  const counts: ReadonlyArray<readonly [MessageKey, string, string?]> = [
    ['adminUsers', number(userCount), 'admin/users'],
    ['adminGroups', number(groupCount), 'admin/groups'],
    ['adminContexts', number(contextCount), 'admin/contexts'],
    ['entries', number(entryCount)],
    ['filesOf', number(fileCount)],
    ['stored', bytes(fileBytes)],
  ]
  return (
    <dl class="counts card">
      {counts.map(([name, count, to]) => (
        <div key={name}>
          <dt>{to === undefined ? t(name) : <Link to={to}>{t(name)}</Link>}</dt>
          <dd>{count}</dd>
        </div>
      ))}
    </dl>
  )
}

/** One line where all is well; otherwise the parts that are down. */
function Ready({ ready, checks, again }: Readiness & { readonly again: () => void }) {
  const down = Object.entries(checks).filter(([, state]) => state !== 'up')
  return (
    <div class={ready ? 'notice good state' : 'notice bad state'}>
      <p role="status">
        {t(ready ? 'isReady' : 'isNotReady')}
        {down.length > 0 &&
          ` ${down.map(([name]) => `${findMessage(`part.${name}`) ?? name}: ${t('down')}`).join(', ')}`}
      </p>
      <Button kind="quiet" size="small" onPress={again}>
        {t('refresh')}
      </Button>
    </div>
  )
}

function Facts({ version, commit, baseURI, startupTime, quota, backup, process, readiness }: System) {
  return (
    <Card title={t('service')}>
      <dl class="facts">
        <Fact name={t('version')}>{commit === undefined ? version : `${version} (${commit.slice(0, 8)})`}</Fact>
        <Fact name={t('address')}>
          <span class="long">{baseURI}</span>
        </Fact>
        <Fact name={t('started')}>{dateTime(new Date(startupTime))}</Fact>
        <Fact name={t('uptime')}>{duration(process.uptime)}</Fact>
        {Object.entries(readiness.checks).map(([name, state]) => (
          <Fact key={name} name={findMessage(`part.${name}`) ?? name}>
            <span class={state === 'up' ? 'badge' : 'badge bad'}>{t(state === 'up' ? 'up' : 'down')}</span>
          </Fact>
        ))}
        {backup && (
          <Fact name={t('lastBackup')}>
            <Link to="admin/backups">{t('backups')}</Link>:{' '}
            {backup.made ? `${dateTime(new Date(backup.made.time))}, ${bytes(backup.made.bytes)}` : '–'}
            {backup.problem !== undefined && <span class="badge bad">{t('lastBackupFailed')}</span>}
          </Fact>
        )}
        {backup?.proven && (
          <Fact name={t('lastProof')}>
            {dateTime(new Date(backup.proven.time))}
            {backup.proven.restoreSeconds !== undefined &&
              `; ${t('restoreTakes', { seconds: Math.ceil(backup.proven.restoreSeconds) })}`}
          </Fact>
        )}
        <Fact name={t('quota')}>{t(quota ? 'on' : 'off')}</Fact>
        <Fact name={t('memory')}>{t('memoryUsed', { rss: bytes(process.rss), heap: bytes(process.heapUsed) })}</Fact>
        <Fact name="Node.js">{process.node}</Fact>
      </dl>
    </Card>
  )
}
