import type { ComponentChildren } from 'preact'
import { English } from '../../components/english.tsx'
import { Fact } from '../../components/fact.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { ask } from '../../lib/api.ts'
import { bytes, dateTime, duration, number } from '../../lib/format.ts'
import { t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import { AdminPage } from './admin-page.tsx'

interface Run {
  readonly started: string
  readonly finished?: string
  readonly files?: number
  /** Absent when no backup was made. */
  readonly bytes?: number
  readonly problem?: string
  readonly proofEnded?: string
  readonly proofProblem?: string
  readonly proofNote?: string
  readonly proven?: string
  readonly restoreSeconds?: number
}

interface Generation {
  readonly created: string
  readonly program: string
  readonly files: number
  readonly bytes: number
  readonly rows: number
  readonly isEncrypted: boolean
  readonly isSigned: boolean
  /** What is wrong with the signature, in English. */
  readonly doubt?: string
  /** Why this backup may be of a store that was lost, in English. */
  readonly loss?: string
}

interface Backups {
  readonly isOn: boolean
  readonly schedule?: string
  readonly place?: string
  readonly keep?: string
  readonly isProven?: boolean
  readonly next?: string
  /** Why the place of the backups cannot be read, or what it lacks, in English. */
  readonly placeProblem?: string
  readonly lastGood?: string
  readonly runs: readonly Run[]
  readonly generations: readonly Generation[]
  readonly unreadable: number
}

/** The scheduled backups: when the next one is made, whether the last one can be restored, and which there are. */
export function AdminBackups() {
  return (
    <AdminPage title={t('backups')}>
      <Overview />
    </AdminPage>
  )
}

function Overview() {
  const [loaded, again] = useLoaded(signal => ask<Backups>('management/backups', { signal }), [])
  return (
    <Await loaded={loaded} again={again}>
      {backups =>
        backups.isOn ? (
          <>
            <State {...backups} />
            <Plan {...backups} />
            <Generations {...backups} />
            <Runs runs={backups.runs} />
          </>
        ) : (
          <div class="notice warn stack">
            <p>{t('backupsOff')}</p>
            <p>
              <code>service.backup.schedule</code>, <code>service.backup.target</code>
            </p>
          </div>
        )
      }
    </Await>
  )
}

const time = (text: string | undefined): string => (text === undefined ? '–' : dateTime(new Date(text)))

/** What is wrong, or that nothing is. */
function State({ runs, unreadable, placeProblem, generations, isProven = false }: Backups) {
  const ended = runs.find(({ finished }) => finished !== undefined)
  const checked = runs.find(({ proofEnded }) => proofEnded !== undefined)
  const [newest] = generations
  const problems: ComponentChildren[] = [
    placeProblem !== undefined && ended?.problem?.includes(placeProblem) !== true && <English>{placeProblem}</English>,
    ended?.problem !== undefined && (
      <>
        {t('lastBackupFailed')}: <English>{ended.problem}</English>
      </>
    ),
    checked?.proofProblem !== undefined && (
      <>
        {t('lastProofFailed')}: <English>{checked.proofProblem}</English>
      </>
    ),
    newest?.doubt !== undefined && <English>{newest.doubt}</English>,
    newest?.loss !== undefined && <English>{newest.loss}</English>,
    unreadable > 0 && t('backupsUnreadable', { count: unreadable }),
  ].filter(problem => problem !== false)
  if (problems.length > 0) {
    return (
      <ul class="notice bad plain-list stack" role="alert">
        {problems.map((problem, index) => (
          <li key={index}>{problem}</li>
        ))}
      </ul>
    )
  }
  if (!ended) return <p class="notice warn">{t('backupsNone')}</p>
  const proven = runs.find(run => run.proven !== undefined)
  if (isProven && !proven) return <p class="notice warn">{t('backupsUnproven')}</p>
  return <p class="notice good">{t('backupsGood')}</p>
}

function Plan({ schedule = '', place = '', keep = '', next, runs, lastGood, isProven = false }: Backups) {
  const made = runs.find(run => run.bytes !== undefined)
  const proven = runs.find(run => run.proven !== undefined)
  return (
    <Card title={t('backupPlan')}>
      <dl class="facts">
        <Fact name={t('lastBackup')}>{made ? `${time(made.started)}, ${bytes(made.bytes ?? 0)}` : '–'}</Fact>
        <Fact name={t('lastGoodBackup')}>{time(lastGood)}</Fact>
        <Fact name={t('nextBackup')}>
          {time(next)} <code>{schedule}</code>
        </Fact>
        <Fact name={t('lastProof')}>
          {isProven ? time(proven?.proven) : t('off')}
          {proven?.restoreSeconds !== undefined &&
            `; ${t('restoreTakes', { seconds: Math.ceil(proven.restoreSeconds) })}`}
          {proven?.proofNote !== undefined && (
            <div class="muted small">
              <English>{proven.proofNote}</English>
            </div>
          )}
        </Fact>
        <Fact name={t('backupKeep')}>
          <code>{keep}</code>
        </Fact>
        <Fact name={t('backupPlace')}>
          <code class="long">{visible(place)}</code>
        </Fact>
      </dl>
    </Card>
  )
}

const Generations = ({ generations }: Backups) => (
  <Card title={t('backupGenerations')}>
    <p class="muted small">{t('backupSizesText')}</p>
    <Table
      none={t('backupsNone')}
      caption={t('backupGenerations')}
      columns={generationColumns()}
      rows={generations}
      keyOf={({ created }) => created}
    />
  </Card>
)

const generationColumns = (): ReadonlyArray<Column<Generation>> => [
  { title: t('time'), kind: 'whole', cell: ({ created }) => time(created) },
  { title: t('filesOf'), kind: 'number', cell: ({ files }) => number(files) },
  { title: t('fileSize'), kind: 'number', cell: ({ bytes: size }) => bytes(size) },
  {
    title: t('state'),
    kind: 'wide',
    cell: ({ isEncrypted, isSigned, doubt, loss }) => (
      <>
        {isEncrypted && <span class="badge">{t('backupEncrypted')}</span>}{' '}
        {isSigned && <span class="badge">{t('backupSigned')}</span>}
        {[doubt, loss]
          .filter(remark => remark !== undefined)
          .map(remark => (
            <p class="error" key={remark}>
              <English>{remark}</English>
            </p>
          ))}
      </>
    ),
  },
  { title: t('version'), kind: 'whole', cell: ({ program }) => program },
]

const Runs = ({ runs }: { readonly runs: readonly Run[] }) => (
  <Card title={t('backupRuns')}>
    <Table
      none={t('backupsNone')}
      caption={t('backupRuns')}
      columns={runColumns()}
      rows={runs}
      keyOf={({ started }) => started}
    />
  </Card>
)

const runColumns = (): ReadonlyArray<Column<Run>> => [
  { title: t('started'), kind: 'whole', cell: ({ started }) => time(started) },
  {
    title: t('backupTook'),
    kind: 'whole',
    cell: ({ started, finished }) =>
      finished === undefined
        ? t('backupRunning')
        : duration(Math.max(1, Math.round((Date.parse(finished) - Date.parse(started)) / 1000))),
  },
  {
    title: t('backup'),
    kind: 'wide',
    cell: ({ bytes: size, files = 0, problem }) => (
      <>
        {size !== undefined && `${t('countFiles', { count: number(files) })}, ${bytes(size)}`}
        {problem !== undefined && (
          <p class="error">
            <English>{problem}</English>
          </p>
        )}
      </>
    ),
  },
  {
    title: t('backupProof'),
    kind: 'wide',
    cell: ({ proofEnded, proofProblem, proven }) =>
      proofProblem === undefined ? (
        time(proven ?? proofEnded)
      ) : (
        <p class="error">
          <English>{proofProblem}</English>
        </p>
      ),
  },
]
