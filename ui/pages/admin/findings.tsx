import { Button } from '../../components/button.tsx'
import { English } from '../../components/english.tsx'
import { Await, Card } from '../../components/page.tsx'
import { type Column, Table } from '../../components/table.tsx'
import { ask } from '../../lib/api.ts'
import { englishText, type Finding, findText, loadTexts } from '../../lib/findings.ts'
import { number } from '../../lib/format.ts'
import { findMessage, t } from '../../lib/language.ts'
import { useLoaded } from '../../lib/load.ts'
import { visible } from '../../lib/text.ts'
import { AdminPage } from './admin-page.tsx'

async function loadFindings(signal: AbortSignal): Promise<readonly Finding[]> {
  const texts = loadTexts()
  const { findings } = await ask<{ readonly findings: readonly Finding[] }>('management/findings', { signal })
  await texts
  return findings
}

/** The findings of `stowage doctor`. */
export function AdminFindings() {
  return (
    <AdminPage title={t('adminFindings')}>
      <Findings />
    </AdminPage>
  )
}

const levels = ['problem', 'warning', 'ok'] as const

function Findings() {
  const [loaded, again] = useLoaded(loadFindings, [])
  return (
    <Card
      title={t('adminFindings')}
      aside={
        <Button kind="quiet" size="small" onPress={again}>
          {t('findingsRun')}
        </Button>
      }
    >
      <p class="muted">{t('findingsText')}</p>
      <Await loaded={loaded} again={again}>
        {findings => (
          <>
            <Summary findings={findings} />
            <Table
              caption={t('adminFindings')}
              columns={columns()}
              rows={levels.flatMap(level => findings.filter(finding => finding.level === level))}
              keyOf={({ text }) => text}
            />
          </>
        )}
      </Await>
    </Card>
  )
}

function Summary({ findings }: { readonly findings: readonly Finding[] }) {
  const counts = (['problem', 'warning'] as const)
    .map(level => [level, findings.filter(finding => finding.level === level).length] as const)
    .filter(([, count]) => count > 0)
  if (counts.length === 0)
    return (
      <p class="notice good" role="status">
        {t('findingsGood')}
      </p>
    )
  return (
    <p class={counts.some(([level]) => level === 'problem') ? 'notice bad' : 'notice warn'} role="status">
      {counts.map(([level, count]) => findMessage(`findings.${level}`, { count: number(count) })).join(', ')}
    </p>
  )
}

const badges = { ok: 'badge', warning: 'badge warn', problem: 'badge bad' } as const

const columns = (): ReadonlyArray<Column<Finding>> => [
  {
    title: t('state'),
    cell: ({ level }) => <span class={badges[level]}>{findMessage(`level.${level}`) ?? level}</span>,
  },
  {
    title: t('finding'),
    kind: 'wide',
    cell: finding => <Told finding={finding} />,
  },
]

/** In the language of the page where there is such a text. */
function Told({ finding }: { readonly finding: Finding }) {
  const text = findText(finding)
  const [before = '', after] = text?.split('{reason}') ?? []
  return (
    <span class="long">
      {text === undefined && <English>{englishText(finding)}</English>}
      {visible(before)}
      {after !== undefined && <English>{String(finding.values['reason'])}</English>}
      {visible(after ?? '')}
    </span>
  )
}
